r"""The least-squares Restricted Kernel Machine: hidden units that predict (Suykens 2017).

.. math:: \bar J = \sum_i e_i^\top h_i - \frac{\lambda}{2} \sum_i h_i^\top h_i
          + \frac{\eta}{2} \operatorname{Tr}(W^\top W), \qquad e_i = y_i - W^\top \varphi(x_i) - b

with targets :math:`y_i` of p columns. By conjugate feature duality it bounds from
below :math:`\frac{1}{2\lambda} \sum_i e_i^\top e_i + \frac{\eta}{2} \operatorname{Tr}(W^\top W)`,
the least-squares objective, and touches it where it is stationary:

.. math:: h_i = e_i / \lambda, \qquad W = \frac{1}{\eta} \sum_i \varphi(x_i) h_i^\top, \qquad
          \sum_i h_i = 0
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from mercer._base.machine import lapack_threads
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError, KernelError
from mercer.kernels import Basis, Kernel
from mercer.model import Subspace, from_features


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
