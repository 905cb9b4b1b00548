r"""The energies of the Restricted Kernel Machine, on coordinates (Schreurs & Suykens 2018).

Visible units :math:`v_i` (rows of V), hidden units :math:`h_i` (rows of H) and the interaction
matrix W between them. In a feature space without coordinates the same energies come from
:class:`~mercer.generative.RKM`, where W is never formed.
"""

from __future__ import annotations

import numpy as np

from mercer._linalg import Array, square_sums
from mercer._types import ArrayLike


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
