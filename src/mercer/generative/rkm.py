"""Kernel PCA seen as a Restricted Kernel Machine (Suykens 2017; Schreurs & Suykens 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.numbers import check_count
from mercer._base.types import Array, ArrayLike, RowsLike
from mercer.exceptions import DataError
from mercer.model import Subspace

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
    return float(-_interaction(V, H, W).sum() + _hidden(H, lam).sum() + _weights(W, eta))


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
    return float((-_interaction(V, H, W) + square_sums(V) / 2).sum())


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
    per_pair = -_interaction(V, H, W) + _hidden(H, lam) + square_sums(V) / 2
    return np.asarray(per_pair + _weights(W, eta))


def _interaction(V: Array, H: Array, W: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", V @ W, H))


def _hidden(H: Array, lam: ArrayLike) -> Array:
    return np.asarray(np.einsum("ij,ij->i", H * lam, H) / 2)


def _weights(W: Array, eta: float) -> float:
    return float(eta / 2 * np.vdot(W, W))


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

    def train_energy(self, X: RowsLike, H: Array | None = None) -> float:
        """Energy of training on rows with hidden units, their own if not given."""
        Z = self.subspace.scores(X)
        H = self._check(Z, H)
        pairs = -(Z * self.scores(H)).sum() + (H * H * self.lam).sum() / 2
        return float(pairs + self._weights())

    def generation_energy(self, X: RowsLike, H: Array | None = None) -> float:
        """Energy of generating rows from hidden units, their own if not given."""
        Z, residual = self.subspace.scores_and_residual(X)
        squares = square_sums(Z) + residual
        return float((squares / 2 - (Z * self.scores(self._check(Z, H))).sum(axis=1)).sum())

    def total_energy(self, X: RowsLike, H: Array | None = None) -> Array:
        """Energy of each row with its hidden unit, as in (3): (n,)."""
        Z, residual = self.subspace.scores_and_residual(X)
        H = self._check(Z, H)
        pairs = (H * H * self.lam).sum(axis=1) / 2 - (Z * self.scores(H)).sum(axis=1)
        return np.asarray(pairs + (square_sums(Z) + residual) / 2 + self._weights())

    def _weights(self) -> float:
        """``η/2 Tr(WᵀW)``, with ``WᵀW = Λ`` since the directions are orthonormal."""
        return float(self.eta / 2 * self.lam.sum())

    def _check(self, Z: Array, H: Array | None) -> Array:
        if H is None:
            return self.hidden(Z)
        if H.shape != Z.shape:
            raise DataError(
                f"hidden units have shape {H.shape}, but {Z.shape} are needed: "
                "give one row of hidden units for each row of X."
            )
        return H


# Ways through score space: from one point to another, and along a component.


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
    check_count("steps", steps, 2)
    share = np.linspace(0, 1, steps)[:, None]
    return np.asarray((1 - share) * start + share * end, dtype=start.dtype)


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
    check_count("steps", steps, 2)
    q = len(start)
    if not isinstance(component, Integral) or not 0 <= component < q:
        raise DataError(
            f"component={component!r}: the model has {q}; give a whole number from 0 to {q - 1}."
        )
    low, high = _ends(span)
    path = np.repeat(start[None], steps, axis=0)
    path[:, component] += deviations[component] * np.linspace(low, high, steps)
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


def _ends(span: ArrayLike) -> tuple[float, float]:
    pair = (-span, span) if isinstance(span, Real) else tuple(np.ravel(span))
    if (
        len(pair) != 2
        or not all(isinstance(end, Real) for end in pair)
        or not np.isfinite(pair).all()
        or pair[0] == pair[1]
    ):
        raise DataError(
            f"span={span!r}: give a positive number of standard deviations, or two different ones."
        )
    return float(pair[0]), float(pair[1])
