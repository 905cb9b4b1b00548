r"""Candidates compared on noisy rows by entries that were hidden from them.

A tenth of the entries is hidden and drawn anew from the others, by the conditional distribution
that :func:`mercer.robust.fit_gaussian` learns from the rest: the rows are as before, but what
stands there knows nothing of the noise that was hidden. A candidate is fitted to these rows and
fills the entries in (:func:`mercer.robust.impute`), and is compared with what was hidden: the clean
entry plus noise. Noise that is independent between columns cannot be foretold, so that the error is
that of the clean entries, plus the variance of the noise, which is the same for every candidate
(after Batson & Royer 2019). Nothing else need be known of the noise, neither its level nor its
kind. A model that keeps what it is given keeps the draw, and is found out.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mercer._base.numbers import counted, fixed_rng
from mercer._base.types import Array, Estimator
from mercer.exceptions import DataError
from mercer.preimage import Shrunk, as_preimage
from mercer.robust.impute import MOST_COLUMNS, Imputer, fit_gaussian, impute
from mercer.selection.noise_level import GIVE, NoiseLevel, UnseenNoiseError, as_large_as_seen
from mercer.selection.search import fit_quietly, fitted

#: How often entries are hidden, and the share of them.
TRIALS, HIDDEN = 3, 0.1
#: Fewer columns than this say too little about each other, and fewer rows about the columns.
FEWEST_COLUMNS, FEWEST_ROWS = 4, 30
#: How far off a level is that nothing but hidden entries shows, as a share; where they keep more
#: than the second number of their variance, they show nothing.
UNSURE, MOST_LEFT = 0.3, 0.9
#: A few rounds tell candidates apart.
LIMITS = Imputer(tol=3e-3, max_iter=20)
#: How a choice by hidden entries is said to have been made.
SOURCE = "of any kind, chosen by entries that were hidden and filled in from other columns"


@dataclass(frozen=True)
class BlindSpots:
    """Noisy rows, of which some entries were drawn anew, and which."""

    X: Array
    rows: Array
    where: Array  # (n, d) bool, as many in each row
    #: Models by kernel and number of components, which all ways back share.
    fits: dict[tuple[str, int, None], Estimator] = field(default_factory=dict)

    @classmethod
    def of(cls, X: Array) -> list[BlindSpots]:
        """One version of the rows for each trial, drawn with a fixed seed."""
        n, d = X.shape
        if not FEWEST_COLUMNS <= d <= MOST_COLUMNS or n < FEWEST_ROWS:
            few = (
                f"{counted(n, 'row')} with {counted(d, 'column')} do not show what can be filled in"
            )
            takes = f"{FEWEST_ROWS} rows and {FEWEST_COLUMNS} to {MOST_COLUMNS} columns"
            raise DataError(f"{few}, which takes {takes}; " + GIVE)
        versions = []
        for s in range(TRIALS):
            rng = fixed_rng([s, TRIALS])
            where = rng.random(X.shape).argsort(axis=1) < max(1, round(HIDDEN * d))
            holes = np.where(where, np.nan, X)
            rows = fit_gaussian(holes).draw(holes, rng)
            versions.append(cls(X, rows.astype(X.dtype), where))
        return versions

    def errors(self, candidate: Estimator, q: int, _: bool) -> Array:
        """Those of the rows, squared, if hidden entries are as all the others."""
        return np.asarray(self.missed(candidate, q).sum(axis=1) / self.where[0].mean())

    def missed(self, candidate: Estimator, q: int) -> Array:
        """Squared differences of hidden entries from what the candidate fills in, (n, d)."""
        model = fitted(self.fits, candidate, None, lambda: fit_quietly(candidate, self.rows))
        solver = as_preimage(candidate.preimage)
        subspace = model.subspace_.leading(min(q, model.subspace_.n_components))
        factors = solver.shrinkage(model.explained_variance_[: subspace.n_components])
        plain = solver.preimage if isinstance(solver, Shrunk) else solver
        holes = np.where(self.where, np.nan, self.rows)
        filled = impute(subspace, holes, plain, self.rows, LIMITS, factors).points
        return np.where(self.where, (filled - self.X) ** 2, 0)


def level_of(versions: list[BlindSpots], candidate: Estimator, q: int) -> NoiseLevel:
    """What the candidate leaves of hidden entries, as large as the rows show noise to be.

    It leaves noise, and what cannot be filled in: where nothing else shows the size, it is an
    upper bound, and very uncertain.
    """
    X = versions[0].X
    total = np.sum([version.missed(candidate, q).sum(axis=0) for version in versions], axis=0)
    number = np.sum([version.where.sum(axis=0) for version in versions], axis=0)
    left = np.sqrt(total / np.maximum(number, 1))
    if (left**2).sum() > MOST_LEFT * X.var(axis=0).sum():
        raise UnseenNoiseError(
            "columns do not predict each other, so that noise cannot be told apart from the rows "
            "themselves; " + GIVE
        )
    try:
        return as_large_as_seen(X, left, SOURCE)
    except UnseenNoiseError:
        return NoiseLevel(left, f"at most, {SOURCE}", UNSURE)
