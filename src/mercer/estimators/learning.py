"""Kernel PCA of rows that have been checked: what lies below every estimator's door."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, RowsLike
from mercer.io import is_source
from mercer.model import Count, Model, Subspace
from mercer.points import Points, Vectors
from mercer.points.source import MemoryRows, Source
from mercer.solvers import Plan, Problem, Solver, as_solver


def plan_of(problem: Problem, solver: str | Solver) -> Plan:
    """What :func:`learn` is going to do with a problem of this size, or of this stand-in's."""
    # The size decides; random numbers and the kernel's width play no part yet.
    return as_solver(solver).plan(problem)


def learn(problem: Problem, plan: Plan) -> Model:
    """Kernel PCA of clean rows, as it was planned; nothing is checked, and nothing remembered."""
    kernel = problem.kernel.resolve(problem.X, problem.weight)
    return plan.fit(replace(problem, kernel=kernel, rule=plan.rule))


def relearn(subspace: Subspace, X: Array) -> tuple[Subspace, Array]:
    """As many components of these rows, or as many as they have."""
    rows, rule = Vectors(X), Count(max(1, min(subspace.n_components, len(X) - 1)))
    center = bool(np.any(subspace.mean))
    problem = Problem(subspace.kernel, rows, rule, fixed_rng(0), center=center)
    model = learn(problem, plan_of(problem, "dense"))
    return model.subspace, model.explained_variance


def scores_of(model: Model, rows: Points, weight: Array | None = None) -> Array:
    """Scores of the rows that were learnt, without a pass where the solver has them."""
    scores, subspace = model.scores(weight), model.subspace
    if scores is None:
        rows = rows.cast(subspace.coef.dtype)  # they may have been learnt in a finer one
        scores = by_blocks(subspace.scores, rows, subspace, subspace.n_components)
    return scores


def by_blocks(
    function: Callable[[Points], Array], rows: Points, subspace: Subspace, width: int
) -> Any:
    """``function(rows)`` in memory; block by block, (n, width), of rows that are elsewhere."""
    if not isinstance(rows, Source):
        return function(rows)
    dtype = subspace.coef.dtype
    # Unlike a lambda a partial function can be sent to workers.
    return rows.apply(partial(_in_precision, function, dtype), width, dtype)


def _in_precision(function: Callable[[Points], Array], dtype: np.dtype, block: Array) -> Array:
    return function(Vectors(block).cast(dtype))


def owned(model: Model, X: RowsLike) -> Model:
    """The model, safe from changes that the caller may make to X afterwards."""
    X = X.X if isinstance(X, MemoryRows) else X
    points = model.subspace.points
    support = points.arrays()[0]
    if not points.can_wait or is_source(X) or not support.flags.writeable:
        return model
    memory = getattr(X, "data", None) if points.is_sparse else np.asarray(X)
    if not (isinstance(memory, np.ndarray) and np.may_share_memory(support, memory)):
        return model
    return replace(model, subspace=replace(model.subspace, support=points.rows.copy()))
