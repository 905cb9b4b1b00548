r"""The noise of rows with few columns, from a mixture of flat pieces.

Rows near a curve or a surface are noise around pieces of it that are nearly flat. A mixture of K
Gaussians with p wide axes each and one variance :math:`\sigma^2` in all other directions (Tipping &
Bishop 1999) says how large that noise is. K and p are those of the largest likelihood of rows that
were held out; those that are not worse beyond chance count as well, and their spread says how
sure the level is.
"""

import numpy as np
from scipy.special import logsumexp

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array
from mercer.selection.search import is_beyond, sample

#: Rows that are looked at, and parts of them that are held out in turn.
ROWS, FOLDS = 600, 4
#: Of fewer rows nothing can be said.
FEWEST = 30
#: Numbers of pieces, and the most axes that a piece has.
PIECES, MOST_AXES = (1, 2, 4, 8, 12, 16, 24, 32, 48), 3
STEPS = 40
#: More pieces are tried until the likelihood of a row has fallen by so much.
FALLEN = 0.05
#: Standard errors by which pieces must be likelier than one Gaussian, or there is nothing to see.
SURE = 3.0

#: Shares, centres and covariances of the pieces.
Mixture = tuple[Array, Array, Array]


def noise_around_pieces(X: Array) -> tuple[float, float] | None:
    """Standard deviation and its uncertainty; None if the rows are no more than one Gaussian.

    O(K n d²) for each of some hundred steps, of at most 600 rows.
    """
    if len(X) < FEWEST:
        return None
    X = sample(X, ROWS)
    scale = np.sqrt(X.var(axis=0).mean())
    X = (X - X.mean(axis=0)) / scale
    d = X.shape[1]
    held_out = {}
    for p in range(min(d, MOST_AXES + 1)):
        most = -np.inf
        for K in PIECES:
            if len(X) < 3 * K * (p + 1):
                break
            held_out[K, p] = _held_out(X, K, p)
            if held_out[K, p].mean() < most - FALLEN:
                break
            most = max(most, held_out[K, p].mean())
    best = max(held_out, key=lambda pieces: held_out[pieces].mean())
    if not is_beyond(held_out[best], _held_out(X, 1, d - 1), SURE):
        return None
    alike = [pieces for pieces in held_out if not is_beyond(held_out[best], held_out[pieces], 1.0)]
    levels = [_mixture(X, K, p)[1] for K, p in alike]
    few = np.mean(levels) / np.sqrt(2 * len(X))  # chance alone
    return scale * float(np.mean(levels)), scale * float(np.hypot(np.std(levels), few))


def _held_out(X: Array, K: int, p: int) -> Array:
    """Log-likelihood of each row, from the rows of the other parts."""
    part = np.arange(len(X)) % FOLDS
    log_density = np.empty(len(X))
    for k in range(FOLDS):
        mixture, _ = _mixture(X[part != k], K, p)
        log_density[part == k] = logsumexp(_log_densities(X[part == k], mixture), axis=1)
    return log_density


def _mixture(X: Array, K: int, p: int) -> tuple[Mixture, float]:
    """K pieces with p axes by expectation and maximisation, and the noise around them."""
    from scipy.cluster.vq import kmeans2

    n, d = X.shape
    nearest = kmeans2(X, K, minit="++", rng=fixed_rng(0))[1] if K > 1 else np.zeros(n, dtype=int)
    R = np.eye(K)[nearest]
    for _ in range(STEPS):
        R = R[:, R.sum(axis=0) > p + 2]
        size = R.sum(axis=0)
        centres = R.T @ X / size[:, None]
        products = np.einsum("nk,ni,nj->kij", R, X, X, optimize=True) / size[:, None, None]
        values, axes = np.linalg.eigh(products - centres[:, :, None] * centres[:, None, :])
        # A centre and p axes of each piece were fitted to the rows, too.
        free = max(1 - len(size) * (1 + p) / n, 0.1)
        square = max(float(size @ values[:, : d - p].sum(axis=1)) / n / (d - p) / free, 1e-12)
        values[:, : d - p] = square
        spread = (axes * np.maximum(values, square)[:, None, :]) @ axes.swapaxes(1, 2)
        mixture = size / n, centres, spread
        if len(size) == 1:
            break
        logs = _log_densities(X, mixture)
        R = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    return mixture, float(np.sqrt(square))


def _log_densities(X: Array, mixture: Mixture) -> Array:
    """Of each row and piece, without the constant, (n, K)."""
    shares, centres, spread = mixture
    root = np.linalg.cholesky(spread)
    away = np.linalg.solve(root, (X - centres[:, None, :]).swapaxes(1, 2))
    logs = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    return np.asarray((np.log(shares) - logs) - 0.5 * (away**2).sum(axis=1).T)
