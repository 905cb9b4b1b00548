"""The spectrum that chance gives: the same rows, their columns permuted independently."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from mercer._linalg import Array
from mercer.exceptions import DataError, Remedy
from mercer.rows import Rows
from mercer.sparse_rows import permuted_columns
from mercer.subspace import Count
from mercer.subspace.rank import NullSpectra

if TYPE_CHECKING:
    from mercer.eigen.base import Problem, Solver


def null_spectra(problem: Problem, solver: Solver) -> NullSpectra:
    """For rules that compare with chance: a fit for each repeat, made when they ask for it."""

    def spectra(k: int, repeats: int) -> Array:
        if isinstance(problem.X, Rows):
            raise DataError(
                "columns can only be permuted in memory; give a number of components, or "
                + Remedy("rows[:n].", shell="fewer rows.")
            )
        k = min(k, problem.rank_limit)
        rows = []
        for _ in range(repeats):
            X = permuted_columns(problem.X, problem.rng)
            values = solver.fit(replace(problem, X=X, rule=Count(k))).eigenvalues
            rows.append(np.pad(values, (0, k - len(values))))
        return np.array(rows)

    return spectra
