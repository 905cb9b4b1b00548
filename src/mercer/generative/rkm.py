"""Kernel PCA seen as a Restricted Kernel Machine (Suykens 2017; Schreurs & Suykens 2018)."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer._base.linalg import square_sums
from mercer._base.machine import lapack_threads
from mercer._base.numbers import check_count, check_one_of
from mercer._base.types import Array, ArrayLike, RowsLike
from mercer.exceptions import DataError, KernelError
from mercer.kernels import Basis, Kernel
from mercer.model import Subspace, from_features

# The energies of the Restricted Kernel Machine, on coordinates (Schreurs & Suykens 2018).
#
# Visible units :math:`v_i` (rows of V), hidden units :math:`h_i` (rows of H) and the interaction
# matrix W between them. In a feature space without coordinates the same energies come from
# :class:`~mercer.generative.RKM`, where W is never formed.


def train_energy(V: Array, H: Array, W: Array, lam: ArrayLike, eta: float = 1.0) -> float:
    r"""Energy of training: the visible units are clamped, H and W are sought.

    .. math:: \bar J_{train} = -\sum_i v_i^\top W h_i + \tfrac{1}{2} \sum_i h_i^\top \Lambda h_i
              + \tfrac{\eta}{2} \operatorname{Tr}(W^\top W)

    Stationary where :math:`W^\top v_i = \Lambda h_i` and
    :math:`W = \frac{1}{\eta} \sum_i v_i h_i^\top`, eqs. (1) and (2): at the
    eigenvectors of :math:`K/\eta`, where its value is zero.

    Parameters
    ----------
    V : (n, D) visible units, centred
    H : (n, q) hidden units
    W : (D, q) interaction matrix
    lam : float or (q,) array
        λ; at the solution one for each hidden coordinate.
    eta : float, default=1.0

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import train_energy
    >>> V = np.random.default_rng(0).standard_normal((20, 3))
    >>> U, s, Wt = np.linalg.svd(V, full_matrices=False)
    >>> abs(train_energy(V, U, Wt.T * s, s**2)) < 1e-10
    True
    """
    return float((H * lam * H).sum() / 2 - (V @ W * H).sum() + eta / 2 * (W * W).sum())


def generation_energy(V: Array, H: Array, W: Array) -> float:
    r"""Energy of generation: hidden units are clamped, visible ones are sought.

    .. math:: \bar J_{gen} = -\sum_i v_i^\top W h_i + \tfrac{1}{2} \sum_i v_i^\top v_i

    Least at :math:`v_i = W h_i`, eq. (4).

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import generation_energy
    >>> W, h = np.array([[1.0], [2.0]]), np.array([[3.0]])
    >>> generation_energy(h @ W.T, h, W), generation_energy(h @ W.T + 0.5, h, W)
    (-22.5, -22.25)
    """
    return float((V * V).sum() / 2 - (V @ W * H).sum())


def total_energy(V: Array, H: Array, W: Array, lam: ArrayLike, eta: float = 1.0) -> Array:
    r"""Energy of each pair of a visible and a hidden unit, as in (3): (n,).

    .. math:: \bar J(v, h, W) = -v^\top W h + \tfrac{1}{2} h^\top \Lambda h + \tfrac{1}{2} v^\top v
              + \tfrac{\eta}{2} \operatorname{Tr}(W^\top W)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import total_energy
    >>> one = np.ones((1, 1))
    >>> total_energy(one, one, one, lam=1.0)
    array([0.5])
    """
    per_pair = (H * lam * H / 2 - V @ W * H).sum(axis=1) + square_sums(V) / 2
    return np.asarray(per_pair + eta / 2 * (W * W).sum())


@dataclass(frozen=True)
class RKM:
    r"""Visible and hidden units with an interaction matrix that stays implicit.

    A Subspace and its eigenvalues are enough. With :math:`\Lambda = \mathrm{eigenvalues}/\eta` the
    interaction matrix is :math:`W = \Phi_S B \Lambda^{1/2}`, so that

    .. math:: h(x) = \Lambda^{-1} W^\top \varphi(x) = \Lambda^{-1/2} z(x), \qquad
              W h = \Phi_S B \Lambda^{1/2} h = \Phi_S B z

    for centred :math:`\varphi`: hidden units are the scores in units of their own size, whatever
    solver found them. On the training rows :math:`H^\top H = \eta I` (the paper's unit
    eigenvectors for η = 1), which makes both energies stationary for every η.

    Attributes
    ----------
    subspace : Subspace
    eigenvalues : (q,) array
        Of the centred Gram matrix.
    eta : float
        η, the weight of W; it scales the hidden units and changes no generated point.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.generative import RKM
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> model = KernelPCA(4).fit(X)
    >>> rkm = RKM(model.subspace_, model.eigenvalues_, eta=1.0)
    >>> H = rkm.hidden(model.transform(X))
    >>> bool(np.allclose(H.T @ H, np.eye(4))), bool(abs(rkm.train_energy(X)) < 1e-8)
    (True, True)
    """

    subspace: Subspace
    eigenvalues: Array
    eta: float = 1.0

    @property
    def lam(self) -> Array:
        """Δ, the eigenvalues of K/η."""
        return np.asarray(self.eigenvalues / self.eta)

    @property
    def gain(self) -> Array:
        """Λ^(1/2): lengths of the columns of W, and scores per hidden unit."""
        return np.sqrt(self.lam).astype(self.eigenvalues.dtype, copy=False)

    def hidden(self, Z: Array) -> Array:
        """Hidden units from scores, eq. (1)."""
        return np.asarray(Z / self.gain)

    def scores(self, H: Array) -> Array:
        """Scores of the generated feature ``W h``, eq. (4)."""
        return np.asarray(H * self.gain)

    @property
    def interaction(self) -> Array:
        """(m, q) coefficients A of ``W = Φ_S A``; ``S.T @ A`` is W itself for a linear kernel."""
        return np.asarray(self.subspace.coef * self.gain)

    # In the orthonormal directions a row is its scores and W is diagonal; the residual is outside.

    def train_energy(self, X: RowsLike, H: Array | None = None) -> float:
        """Energy of training on rows with hidden units, their own if not given."""
        Z = self.subspace.scores(X)
        return train_energy(Z, self._check(Z, H), np.diag(self.gain), self.lam, self.eta)

    def generation_energy(self, X: RowsLike, H: Array | None = None) -> float:
        """Energy of generating rows from hidden units, their own if not given."""
        Z, residual = self.subspace.scores_and_residual(X)
        inside = generation_energy(Z, self._check(Z, H), np.diag(self.gain))
        return inside + float(residual.sum()) / 2

    def total_energy(self, X: RowsLike, H: Array | None = None) -> Array:
        """Energy of each row with its hidden unit, as in (3): (n,)."""
        Z, residual = self.subspace.scores_and_residual(X)
        inside = total_energy(Z, self._check(Z, H), np.diag(self.gain), self.lam, self.eta)
        return np.asarray(inside + residual / 2)

    def _check(self, Z: Array, H: Array | None) -> Array:
        H = self.hidden(Z) if H is None else H
        if H.shape != Z.shape:
            needed = f"{Z.shape} are needed: give one row of hidden units for each row of X."
            raise DataError(f"hidden units have shape {H.shape}, but {needed}")
        return H


# Paths through score space: from one point to another, and along a component.


def straight_line(start: Array, end: Array, steps: int) -> Array:
    """(steps, q) scores from one point to the other, both included.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative.rkm import straight_line
    >>> straight_line(np.zeros(2), np.array([2.0, 4.0]), 3)
    array([[0., 0.],
           [1., 2.],
           [2., 4.]])
    """
    return np.linspace(start, end, check_count("steps", steps, 2), dtype=start.dtype)


def along_component(
    start: Array, component: int, deviations: Array, span: ArrayLike, steps: int
) -> Array:
    """(steps, q) scores that differ from ``start`` in one component.

    Parameters
    ----------
    start : (q,) scores
    component : int
        Counted from 0.
    deviations : (q,) array
        Standard deviations of the components over the training rows.
    span : float or pair of floats
        Ends of the way in standard deviations from ``start``; one number stands for (-span, span).
    steps : int

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative.rkm import along_component
    >>> along_component(np.zeros(2), 1, np.array([1.0, 0.5]), span=2.0, steps=3)
    array([[ 0., -1.],
           [ 0.,  0.],
           [ 0.,  1.]])
    """
    q, path = len(start), np.repeat(start[None], check_count("steps", steps, 2), axis=0)
    component = check_one_of("component", component, 0, q - 1, f"the model has {q}")
    ends = np.ravel([-span, span] if isinstance(span, Real) else span)
    if ends.dtype.kind not in "iuf" or len(ends) != 2 or not 0 < abs(ends[1] - ends[0]) < np.inf:
        raise DataError(
            f"span={span!r}: give a positive number of standard deviations, or two different ones."
        )
    path[:, component] += deviations[component] * np.linspace(ends[0], ends[1], steps)
    return path


def largest_step(points: Array) -> float:
    """Largest step over mean step of a path: 1 for an even one, large where it jumps.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative.rkm import largest_step
    >>> largest_step(np.array([[0.0], [1.0], [2.0], [6.0]]))
    2.0
    """
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    mean = lengths.mean()
    return float(lengths.max() / mean) if mean > 0 else 1.0


@dataclass(frozen=True)
class LeastSquaresMachine:
    """A fitted machine: everything is a sum over the training rows.

    Attributes
    ----------
    kernel : Kernel
    support : (n, d) array
    hidden : (n, p) array
        h_i, one coordinate for each target.
    bias : (p,) array
    eta : float
    """

    kernel: Kernel
    support: RowsLike
    hidden: Array
    bias: Array
    eta: float

    def predict(self, X: RowsLike) -> Array:
        """``Wᵀφ(x) + b``, (m, p); O(m n (d + p))."""
        return self.basis.matmat(X, self.hidden) / self.eta + self.bias

    @cached_property
    def basis(self) -> Basis:
        """The functions k(x_i, ·) of the training rows, ready for tiles."""
        return Basis(self.kernel, self.support)

    @cached_property
    def products(self) -> Array:
        """``K A`` with W = Φ_S A, A = H/η; (n, p). O(n² (d + p)) time, once."""
        return self.basis.matmat(self.support, self.hidden / self.eta)

    def subspace(self) -> Subspace:
        """The span of the columns of W: where all features ``W h`` lie, and nothing else.

        Orthonormal directions ``Φ_S B`` from ``WᵀW = Hᵀ K H / η²``; directions of no length,
        such as that of the sum over all classes, are left out.
        """
        A = self.hidden / self.eta
        G = A.T @ self.products
        values, vectors = np.linalg.eigh((G + G.T) / 2)
        keep = values > 1e-10 * max(values[-1], np.finfo(G.dtype).tiny)
        if not keep.any():
            raise DataError("the targets are constant: there is nothing to generate from.")
        B = (A @ vectors[:, keep] / np.sqrt(values[keep]))[:, ::-1]
        one = np.eye(B.shape[1], dtype=B.dtype)
        return from_features(self.kernel, self.support, B, 0 * one[0], one)


def fit_least_squares(
    kernel: Kernel, X: RowsLike, Y: Array, *, lam: float, eta: float = 1.0
) -> LeastSquaresMachine:
    r"""Solve the linear system of the stationary point.

    .. math:: \begin{pmatrix} K/\eta + \lambda I & 1 \\ 1^\top & 0 \end{pmatrix}
              \begin{pmatrix} H \\ b^\top \end{pmatrix} = \begin{pmatrix} Y \\ 0 \end{pmatrix}

    Parameters
    ----------
    kernel : Kernel, resolved
    X : (n, d) array
    Y : (n, p) array of targets
    lam : float
        λ > 0, the penalty of hidden units; λη is the ridge of kernel ridge regression.
    eta : float, default=1.0

    Notes
    -----
    O(n³/3) time and an n × n array.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import fit_least_squares
    >>> from mercer.kernels import Gaussian
    >>> X = np.linspace(-3, 3, 50)[:, None]
    >>> machine = fit_least_squares(Gaussian(gamma=1.0), X, np.sin(X), lam=1e-3)
    >>> bool(np.abs(machine.predict(X) - np.sin(X)).max() < 0.01)
    True
    """
    n = len(X)
    A = Basis(kernel, X).gram() / eta
    A[np.diag_indices_from(A)] += lam
    try:
        with lapack_threads(n):
            factor = cho_factor(A, lower=True, overwrite_a=True)
            solved = cho_solve(factor, np.column_stack([np.ones(n, dtype=A.dtype), Y]))
    except np.linalg.LinAlgError as error:
        raise KernelError(
            f"K/eta + {lam:g} I is not positive definite; use a larger lam, or a Mercer kernel."
        ) from error
    # b from 1ᵀH = 0; then H = A⁻¹ (Y - 1 bᵀ)
    ones, targets = solved[:, :1], solved[:, 1:]
    bias = targets.sum(axis=0) / ones.sum()
    return LeastSquaresMachine(kernel, X, targets - ones * bias, bias, float(eta))


def machine_energy(
    V: Array, Y: Array, H: Array, W: Array, bias: Array, *, lam: float, eta: float = 1.0
) -> float:
    """The energy at the head of this module, on coordinates V of the features.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.generative import machine_energy
    >>> one = np.ones((1, 1))
    >>> machine_energy(one, one, one, 0 * one, np.zeros(1), lam=1.0)
    0.5
    """
    errors = Y - V @ W - bias
    return float((errors * H).sum() - lam / 2 * (H * H).sum() + eta / 2 * (W * W).sum())
