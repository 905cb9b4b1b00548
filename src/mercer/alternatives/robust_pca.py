"""Robust PCA: rows of low rank, with gross errors in some of their entries."""

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

import numpy as np

from mercer._base import linalg, machine, numbers, progress
from mercer._base.config import with_parameters
from mercer._base.types import Array, RowsLike, Seed
from mercer.alternatives import _base as base
from mercer.estimators.door import verb
from mercer.exceptions import RankWarning, warn
from mercer.points.source import check_no_empty_row

#: The first penalty in units of 1/‖M‖₂ (Lin et al.), its growth, and the bar for the dual residual.
FIRST, GROWTH, SETTLED = 1.25, 2.0, 1e-5


@dataclass(frozen=True)
class Pursuit:
    """M = L + S with L = U diag(s) Vt, and how well it was solved."""

    U: Array
    s: Array
    Vt: Array
    sparse: Array
    #: ‖M - L - S‖ / ‖M‖, and the last change of μS in units of the multiplier.
    primal: float
    dual: float
    n_iter: int
    converged: bool

    @property
    def low_rank(self) -> Array:
        """L as a matrix."""
        return np.asarray((self.U * self.s) @ self.Vt)


def principal_component_pursuit(
    M: Array,
    penalty: float,
    *,
    observed: Array | None = None,
    tol: float = 1e-8,
    max_iter: int = 1000,
    rng: np.random.Generator,
) -> Pursuit:
    r"""Minimise :math:`\|L\|_* + \lambda \|S\|_1` subject to :math:`L + S = M` where observed.

    Inexact augmented Lagrangian: one shrinkage of the singular values for L, one of the entries
    for S, one step of the multiplier Y. The penalty μ grows only where the dual residual is below
    the primal one: a penalty that races ahead freezes L and S short of the minimum.

    Parameters
    ----------
    M : (n, d) array
        Not zero everywhere; what stands at missing entries is ignored.
    penalty : float
        λ, the price of the sparse part.
    observed : (n, d) array of bool, optional
        False where an entry is missing: there S costs nothing and is reported as zero.
    tol : float
        Bar for the violation ‖M - L - S‖ in units of ‖M‖.
    max_iter : int
    rng : Generator
        For directions that the partial decompositions look at first.

    Notes
    -----
    O(n d r) time per step for rank r, O(n d) memory.

    References
    ----------
    Z. Lin, M. Chen & Y. Ma, "The augmented Lagrange multiplier method for exact recovery of
    corrupted low-rank matrices", 2010; E. J. Candès, X. Li, Y. Ma & J. Wright, "Robust principal
    component analysis?", Journal of the ACM 58, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.alternatives import principal_component_pursuit
    >>> rng = np.random.default_rng(0)
    >>> low_rank = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 60))
    >>> spikes = 5 * (rng.random((60, 60)) < 0.05)
    >>> found = principal_component_pursuit(low_rank + spikes, 1 / np.sqrt(60), rng=rng)
    >>> len(found.s), bool(np.abs(found.sparse - spikes).max() < 1e-5)
    (2, True)
    """
    price = penalty if observed is None else np.where(observed, penalty, 0.0)
    M = M if observed is None else np.where(observed, M, 0.0)
    size = np.linalg.norm(M)
    largest = float(np.linalg.norm(M, 2))
    Y = M / max(largest, np.abs(M).max() / penalty)
    S = np.zeros_like(M)
    mu = FIRST / largest
    Vt = np.empty((0, M.shape[1]))
    for step in range(1, max_iter + 1):
        progress.announce("principal component pursuit", step)
        # As many new directions as a quarter of the old ones: the rank may grow by that in a step.
        new = rng.standard_normal((M.shape[1], 5 + len(Vt) // 4))
        U, s, Vt = shrink_singular_values(M - S + Y / mu, 1 / mu, np.hstack([Vt.T, new]))
        L = (U * s) @ Vt
        before, S = S, shrink(M - L + Y / mu, price / mu)
        gap = M - L - S
        Y = Y + mu * gap
        primal = float(np.linalg.norm(gap) / size)
        dual = float(mu * np.linalg.norm(S - before) / np.linalg.norm(Y))
        if converged := primal <= tol and dual <= SETTLED:
            break
        if dual <= primal:
            mu *= GROWTH
    if observed is not None:
        S = np.where(observed, S, 0.0)
    return Pursuit(U, s, Vt, S, primal, dual, step, converged)


@with_parameters
class RobustPCA(base.ReversibleAlternative):
    r"""Robust principal component analysis by principal component pursuit.

    Splits the rows into a matrix of low rank and a sparse one, by the convex problem

    .. math:: \min \|L\|_* + \lambda \|S\|_1 \quad \text{subject to } L + S = M.

    Gross errors of any size are found and removed exactly, as long as they are few in each row and
    column and the rank is low (Candès et al. 2011). New rows are split in the same sense, with the
    row space of L held fast: codes are the scores of their low-rank part. Missing values (NaN) are
    allowed everywhere and filled in by L.

    Parameters
    ----------
    n_components : int, optional
        How many components of L are kept; all of them if not given.
    penalty : float, optional
        λ. By default :math:`1/\sqrt{\rho \max(n, d)}` with ρ the share of observed entries, the
        universal choice of Candès et al.; more leaves less to the sparse part.
    tol : float, default=1e-8
        Bar for ‖M − L − S‖/‖M‖.
    max_iter : int, default=1000
    random_state : int, Generator, RandomState or None, default=0
        For the first guesses of the partial decompositions; the result does not depend on it
        beyond ``tol``.

    Attributes
    ----------
    low_rank_, sparse_ : (n, d) arrays
        L, without missing values, and S, which is zero where values are missing.
    components_ : (q, d) array
        Orthonormal directions of the row space of L.
    singular_values_ : (q,) array
    n_components_ : int
        The rank that was found, or the number that was asked for.
    penalty_ : float
    n_iter_ : int
    residual_ : float
        ‖M − L − S‖/‖M‖ at the end.

    Notes
    -----
    O(n d r) time per step for rank r (some tens of steps where the recovery is exact, hundreds
    where it is not), O(n d) memory. Nothing is centred: a mean far from zero is one of the
    components. Not for small dense noise alone, which is neither sparse nor of low rank: ordinary
    PCA is better there. Not for whole rows that are outliers: see
    :class:`~mercer.ReweightedKernelPCA`.

    References
    ----------
    E. J. Candès, X. Li, Y. Ma & J. Wright, "Robust principal component analysis?", Journal of the
    ACM 58, 2011. Z. Lin, M. Chen & Y. Ma, "The augmented Lagrange multiplier method for exact
    recovery of corrupted low-rank matrices", 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.alternatives import RobustPCA
    >>> rng = np.random.default_rng(0)
    >>> clean = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 80))
    >>> wrong = rng.random(clean.shape) < 0.05
    >>> model = RobustPCA().fit(clean + 20 * wrong)
    >>> model.n_components_, bool(np.abs(model.low_rank_ - clean).max() < 1e-5)
    (3, True)
    >>> bool((model.sparse_[wrong] > 19).all())
    True
    """

    _takes = ("allow_nan",)
    _saved = ("components_", "singular_values_", "penalty_", "n_iter_", "residual_", *base.SEEN)

    n_components: int | None = None
    _: KW_ONLY
    penalty: float | None = None
    tol: float = 1e-8
    max_iter: int = 1000
    random_state: Seed = 0

    def _learn(self, rows: Array, dtype: np.dtype) -> None:
        observed = ~np.isnan(rows)
        check_no_empty_row(rows)
        check_no_empty_row(rows.T, "column {}".format)
        universal = 1 / np.sqrt(observed.mean() * max(rows.shape))
        self.penalty_ = float(universal if self.penalty is None else self.penalty)
        scale = base.largest_entry(rows[observed])  # squares of 1e300 would overflow
        parts = principal_component_pursuit(
            rows / scale,
            self.penalty_,
            observed=None if observed.all() else observed,
            tol=self.tol,
            max_iter=self.max_iter,
            rng=numbers.make_rng(self.random_state),
        )
        r = len(parts.s)
        q = r if self.n_components is None else self.n_components
        if q > r:
            warn(f"the low-rank part has rank {r}, below {q}; raise the penalty.", RankWarning)
        if not parts.converged:
            residuals = f"with residuals of {parts.primal:.1e} and {parts.dual:.1e}"
            base.warn_unsettled(f"the pursuit stopped after {parts.n_iter} steps {residuals}")
        Vt = parts.Vt[:q] * linalg.fix_signs(parts.Vt[:q].T)[:, None]
        self.components_ = Vt.astype(dtype)
        self.singular_values_ = (scale * parts.s[:q]).astype(dtype)
        self.low_rank_ = (scale * parts.low_rank).astype(dtype)
        self.sparse_ = (scale * parts.sparse).astype(dtype)
        self.n_iter_, self.residual_ = parts.n_iter, parts.primal

    def _encode(self, rows: Array) -> Array:
        return np.asarray(self._split(rows) @ self.components_.T)

    def _decode(self, codes: Array) -> Array:
        return np.asarray(codes @ self.components_)

    @verb()
    def split(self, X: RowsLike) -> tuple[Array, Array]:
        """The low-rank and the sparse part of new rows, or of samples with modes.

        The sparse part has the least sum of magnitudes for which the rest lies in the row space;
        both are what ``low_rank_`` and ``sparse_`` are for the training rows.

        Parameters
        ----------
        X : as for :meth:`fit`

        Returns
        -------
        two arrays of the shape of X; they add up to it where it is observed

        Examples
        --------
        >>> import numpy as np
        >>> from mercer.alternatives import RobustPCA
        >>> rng = np.random.default_rng(0)
        >>> basis = rng.standard_normal((2, 50))
        >>> model = RobustPCA().fit(rng.standard_normal((100, 2)) @ basis)
        >>> row = np.array([[1.0, -2.0]]) @ basis
        >>> row[0, 7] += 100
        >>> low_rank, sparse = model.split(row)
        >>> np.flatnonzero(np.abs(sparse[0]) > 1e-4).tolist()
        [7]
        """
        rows, dtype = self._samples(X)
        low_rank = self._split(rows)
        sparse = np.where(np.isnan(rows), 0.0, rows - low_rank)
        return np.asarray(low_rank.astype(dtype)), np.asarray(sparse.astype(dtype))

    @property
    def n_components_(self) -> int:
        """Number of components that the model has."""
        return len(self.components_)

    _n_features_out = n_components_

    def _split(self, rows: Array) -> Array:
        """The low-rank part."""
        check_no_empty_row(rows)
        V = self.components_.astype(np.float64)
        return split_rows(rows, lambda A: np.asarray((A @ V.T) @ V))[0]


#: Beyond this share of all directions the complete decomposition is cheaper.
WHOLE = 0.4
#: Residual of a triplet, in units of the largest singular value.
ACCURACY = 1e-9
#: Triplets below the threshold that are looked at, too.
BELOW = 5


def shrink(A: Array, tau: float | Array) -> Array:
    """sign(a) max(|a| - τ, 0) for each entry: the minimiser of τ|s| + (s - a)²/2."""
    return np.asarray(A - np.clip(A, -tau, tau))


def shrink_singular_values(A: Array, tau: float, start: Array) -> tuple[Array, Array, Array]:
    """The minimiser U s Vᵀ of τ‖L‖_* + ‖L - A‖²/2, in factors: (n, r), (r,) and (r, d).

    Only the triplets above τ are computed, from a Krylov basis that begins at ``start`` (d, k), the
    leading right singular vectors of the step before and something new, and grows by blocks of
    residuals; the complete decomposition takes over when many are above it. O(n d r) time.
    """
    triplets = _leading(A, tau, start)
    if triplets is None:
        with machine.lapack_threads(min(A.shape)):
            triplets = np.linalg.svd(A, full_matrices=False)
    U, s, Vt = triplets
    keep = s > tau
    return U[:, keep], s[keep] - tau, Vt[keep]


def _leading(A: Array, tau: float, start: Array) -> tuple[Array, Array, Array] | None:
    """All singular triplets above τ, and some below; None if they are too many."""
    limit = int(WHOLE * min(A.shape))
    if start.shape[1] > limit:
        return None
    basis = linalg.orthonormalize(start)
    image = A @ basis
    while True:
        U, s, Wt = np.linalg.svd(image, full_matrices=False)
        V = basis @ Wt.T
        residual = A.T @ U - V * s
        size = np.linalg.norm(residual, axis=0)
        r = int((s > tau).sum())
        # The next value lies within its residual; if that is below τ, no more are above it.
        if r < len(s) and s[r] + size[r] <= tau and (size[:r] <= ACCURACY * s[0]).all():
            return U, s, V.T
        # Residuals of the triplets in doubt, up to a few below τ, are where the basis lacks most.
        doubtful = np.flatnonzero(size[: r + BELOW] > ACCURACY * max(s[0], tau))
        if basis.shape[1] + len(doubtful) > limit or not len(doubtful):
            return None
        fresh = linalg.orthonormalize(residual[:, doubtful], basis)
        basis = np.hstack([basis, fresh])
        image = np.hstack([image, A @ fresh])


#: Steps in which a row's penalty adapts, by which factor, and how far residuals may lie apart.
ADAPT, FACTOR, APART = 100, 1.5, 3.0
#: Stop below the first; above the second, in units of a row's length, say that rows still moved.
STILL, MOVING = 1e-8, 1e-3


def split_rows(
    X: Array, project: Callable[[Array], Array], max_iter: int = 1000
) -> tuple[Array, Array]:
    r"""Minimise :math:`\|s\|_1` subject to :math:`x = \ell + s` with :math:`\ell` in the subspace.

    What principal component pursuit does to a row when the row space is known: gross errors in a
    few columns do not move ``ℓ``, while a least-squares projection smears them over all columns.
    Missing values (NaN) are left out of the norm, and zero in s. Alternating directions, one
    penalty per row; a row stops by itself, so that no row depends on its company. ``project`` takes
    (n, d) rows onto the subspace.
    """
    observed = ~np.isnan(X)
    X = np.where(observed, X, 0.0)
    size = np.abs(X).max(axis=1, keepdims=True)  # squares of 1e300 would overflow
    size[size == 0] = 1.0
    size *= np.maximum(np.linalg.norm(X / size, axis=1, keepdims=True), 1.0)  # 0 for rows of zeros
    X = X / size
    L, S, Y = np.empty_like(X), np.zeros_like(X), np.zeros_like(X)
    mu = np.full_like(size, 10 * np.sqrt(X.shape[1]))  # shrinks by a tenth of the typical entry
    change = np.zeros(len(X))
    i = np.arange(len(X))  # rows that still move
    for step in range(max_iter):
        L[i] = project(X[i] - S[i] + Y[i] / mu[i])
        new = shrink(X[i] - L[i] + Y[i] / mu[i], observed[i] / mu[i])
        gap = X[i] - L[i] - new
        primal = np.linalg.norm(gap, axis=1, keepdims=True)
        dual = np.linalg.norm(new - S[i], axis=1, keepdims=True)
        S[i], Y[i] = new, Y[i] + mu[i] * gap
        if step < ADAPT:  # a penalty that moves for ever would keep the rows moving
            scaled = np.where(primal > APART * dual, FACTOR, 1.0)
            mu[i] *= np.where(dual > APART * primal, 1 / FACTOR, scaled)
        change[i] = np.maximum(primal, dual).ravel()
        i = i[change[i] > STILL]
        if not i.size:
            break
    if (moving := int((change > MOVING).sum())) > 0:
        still = f"{moving} of {len(change)} rows still moved after {max_iter} steps, by up to"
        length = f"{change.max():.1g} of their length"
        base.warn_unsettled(f"{still} {length}", "fewer components settle sooner")
    return L * size, np.where(observed, S, 0.0) * size
