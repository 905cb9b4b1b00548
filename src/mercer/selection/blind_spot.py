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
from functools import cached_property, partial

import numpy as np

from mercer._base.numbers import counted, fixed_rng
from mercer._base.types import Array, Estimator
from mercer.exceptions import DataError, Remedy
from mercer.preimage import Shrunk, as_preimage
from mercer.robust.impute import MOST_COLUMNS, Imputer, fit_gaussian, impute
from mercer.selection.noise_level import NoiseLevel, UnseenNoiseError, as_large_as_seen
from mercer.selection.search import CACHED, Errors, Trial, fit_quietly

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
class Hidden:
    """Rows of which some entries were drawn anew, and which."""

    rows: Array
    where: Array  # (n, d) bool, as many in each row
    #: Models by kernel and number of components, which all ways back share.
    fits: dict[tuple[str, int], Estimator] = field(default_factory=dict)

    def filled(self, candidate: Estimator, q: int) -> Array:
        """The rows, with what the candidate makes of the entries that were drawn."""
        model, solver = self._fitted(candidate), as_preimage(candidate.preimage)
        subspace = model.subspace_.leading(min(q, model.subspace_.n_components))
        factors = solver.shrinkage(model.explained_variance_[: subspace.n_components])
        plain = solver.preimage if isinstance(solver, Shrunk) else solver
        holes = np.where(self.where, np.nan, self.rows)
        return np.asarray(impute(subspace, holes, plain, self.rows, LIMITS, factors).points)

    def _fitted(self, candidate: Estimator) -> Estimator:
        kernel, most = repr(candidate.kernel), int(candidate.n_components)
        for (other, count), model in self.fits.items():
            if other == kernel and count >= most:
                return model
        if len(self.fits) >= CACHED:
            self.fits.pop(next(iter(self.fits)))
        self.fits[kernel, most] = fit_quietly(candidate, self.rows)
        return self.fits[kernel, most]


@dataclass(frozen=True)
class BlindSpots:
    """Noisy rows, and versions of them with hidden entries."""

    X: Array

    def __post_init__(self) -> None:
        n, d = self.X.shape
        if not FEWEST_COLUMNS <= d <= MOST_COLUMNS or n < FEWEST_ROWS:
            raise DataError(
                f"{counted(n, 'row')} with {counted(d, 'column')} do not show what can be filled "
                f"in, which takes {FEWEST_ROWS} rows and {FEWEST_COLUMNS} to {MOST_COLUMNS} "
                "columns; "
                + Remedy("give noise=, its standard deviation.", shell="give it by --noise.")
            )

    @cached_property
    def hidden(self) -> list[Hidden]:
        """One version for each trial, drawn with a fixed seed."""
        trials = []
        for s in range(TRIALS):
            rng = fixed_rng([s, TRIALS])
            order = rng.random(self.X.shape).argsort(axis=1)
            where = order < max(1, round(HIDDEN * self.X.shape[1]))
            holes = np.where(where, np.nan, self.X)
            rows = fit_gaussian(holes).draw(holes, rng)
            trials.append(Hidden(rows.astype(self.X.dtype), where))
        return trials

    @property
    def trials(self) -> list[Trial]:
        """One for each time that entries were hidden."""
        return [partial(self._errors, hidden) for hidden in self.hidden]

    def _errors(self, hidden: Hidden, candidate: Estimator) -> Errors:
        def errors(q: int, _: bool) -> Array:
            missed = hidden.filled(candidate, q) - self.X
            share = hidden.where[0].mean()
            return np.asarray(np.where(hidden.where, missed**2, 0).sum(axis=1) / share)

        return errors

    def level(self, candidate: Estimator, q: int) -> NoiseLevel:
        """What the candidate leaves of hidden entries, as large as the rows show noise to be.

        It leaves noise, and what cannot be filled in: where nothing else shows the size, it is an
        upper bound, and very uncertain.
        """
        total, number = np.zeros(self.X.shape[1]), np.zeros(self.X.shape[1])
        for hidden in self.hidden:
            missed = hidden.filled(candidate, q) - self.X
            total += np.where(hidden.where, missed**2, 0).sum(axis=0)
            number += hidden.where.sum(axis=0)
        left = np.sqrt(total / np.maximum(number, 1))
        if (left**2).sum() > MOST_LEFT * self.X.var(axis=0).sum():
            raise UnseenNoiseError(
                "columns do not predict each other, so that noise cannot be told apart from the "
                "rows themselves; "
                + Remedy("give noise=, its standard deviation.", shell="give it by --noise.")
            )
        try:
            return as_large_as_seen(self.X, left, SOURCE)
        except UnseenNoiseError:
            return NoiseLevel(left, f"at most, {SOURCE}", UNSURE)
