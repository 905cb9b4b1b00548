"""A plan says before the fit what the report says after it."""

import tracemalloc
from contextlib import suppress

import numpy as np
import pytest

import mercer
from mercer import (
    GenerativeKernelPCA,
    IncrementalKernelPCA,
    KernelNovelty,
    KernelPCA,
    MissingKernelPCA,
    ParallelAnalysis,
    ReweightedKernelPCA,
    SparseKernelPCA,
)
from mercer.exceptions import DataError
from mercer.io import from_batches, open_rows
from mercer.kernels import Gaussian
from mercer.model import All, Count
from mercer.solvers import Auto, Davidson, Dense, Lanczos, Landmarks, Problem

SOLVERS = [Auto(), Dense(), Lanczos(), Davidson(), Landmarks(50)]


def rows_of(n, d=4):
    return np.random.default_rng(0).standard_normal((n, d))


@pytest.fixture
def path(tmp_path):
    np.save(tmp_path / "x.npy", rows_of(800))
    return tmp_path / "x.npy"


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("source", ["array", "file"])
def test_fit_does_what_the_plan_says(solver, source, path):
    X = path if source == "file" else rows_of(800)
    model = KernelPCA(5, solver=solver, random_state=0)
    plan = model.plan(X)
    assert not [name for name in vars(model) if name.endswith("_")]  # nothing was fitted
    report = model.fit(X).report_
    assert (report.solver, report.reason) == (plan.name, plan.reason)
    assert plan.loads == (source == "file" and not isinstance(solver, Landmarks))
    assert plan.resumable == isinstance(solver, Landmarks | Davidson)
    assert plan.bytes >= (800 * 4 * 8 if plan.loads else 1)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_every_solver_estimates_its_memory(solver):
    def needed(n):
        problem = Problem(Gaussian(), rows_of(n), Count(5), np.random.default_rng(0))
        return solver.estimate_bytes(problem, 5)

    assert 0 < needed(100) <= needed(1000)


def test_loaded_rows_count(path):
    far, near = (KernelPCA(5, solver="dense").plan(X) for X in (path, rows_of(800)))
    assert far.bytes == near.bytes + 800 * 4 * 8


def test_rows_beyond_the_budget_stay_in_the_file(path):
    plan = KernelPCA(5, solver=Auto(memory=50_000)).plan(path)
    assert (type(plan.solver), plan.loads, plan.resumable) == (Landmarks, False, True)


def test_the_checkpoint_goes_to_landmarks(tmp_path):
    X = np.broadcast_to(np.float32(0), (200_000, 3))
    plan = KernelPCA(5, solver=Auto(checkpoint=tmp_path / "state")).plan(X)
    assert plan.solver.checkpoint == tmp_path / "state"


def test_the_number_of_components_is_part_of_the_plan():
    assert isinstance(KernelPCA().plan(rows_of(100)).rule, All)
    assert KernelPCA().plan(rows_of(3001, 1)).rule.n_components == 32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "k", "solver"),
    [
        (5_000, 300, Davidson),
        (5_000, 400, Lanczos),
        (5_000, 501, Dense),
        (10_000, 700, Lanczos),
        (12_000, 1_000, Davidson),
    ],
)
def test_many_components_are_not_for_davidson(n, k, solver, dtype):
    X = np.broadcast_to(dtype(0), (n, 3))
    plan = KernelPCA(k, solver=Auto(memory=1 << 32)).plan(X)
    assert type(plan.solver) is solver
    if solver is Lanczos:
        small = KernelPCA(k, solver=Auto(memory=plan.bytes - 1)).plan(X)
        assert not isinstance(small.solver, Lanczos | Dense)
        assert plan.solver.keep  # a thousand products with a matrix that is not kept take for ever


def test_rows_of_no_weight_do_not_count(path):
    """A plan for 800 rows would take Lanczos; what is left of them is for LAPACK."""
    weight = np.zeros(800)
    weight[:60] = 1.0
    for X in (rows_of(800), path, open_rows(path)):
        model = KernelPCA(5).fit(X, sample_weight=weight)
        assert model.report_.solver == "Dense"
        expected = KernelPCA(5).fit(rows_of(800)[:60])
        np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, rtol=1e-9)


HELD = [
    KernelNovelty(5, random_state=0),
    MissingKernelPCA(KernelPCA(5), random_state=0),
    ReweightedKernelPCA(KernelPCA(5), random_state=0),
    SparseKernelPCA(20, n_components=5, random_state=0),
    SparseKernelPCA(20, solver="column_generation", random_state=0),
]


@pytest.mark.parametrize("model", HELD, ids=repr)
def test_estimators_that_hold_their_rows_count_them(model, path):
    near, far = model.plan(rows_of(800)), model.plan(path)
    assert (near.loads, far.loads) == (False, True)
    assert not near.resumable
    assert not far.resumable
    assert far.bytes == near.bytes + 800 * 4 * 8
    assert type(far.solver) is type(near.solver)
    model.fit(rows_of(800))
    if hasattr(model, "report_"):
        assert model.report_.solver == type(near.solver).__name__
        assert model.report_.reason.startswith(near.reason)


def test_a_generator_reads_in_place(path):
    model = GenerativeKernelPCA(5, solver=Landmarks(50), random_state=0)
    plan = model.plan(path)
    assert (plan.loads, plan.resumable) == (False, True)
    assert model.fit(path).report_.solver == "Landmarks"


def test_many_rows_of_novelty_go_to_landmarks():
    assert isinstance(KernelNovelty().plan(rows_of(2001)).solver, Landmarks)
    assert not isinstance(KernelNovelty().plan(rows_of(2000)).solver, Landmarks)


@pytest.mark.parametrize("solver", [Auto(memory=50_000), Landmarks(50)], ids=repr)
def test_a_rule_that_permutes_columns_loads_the_rows(solver, path):
    """Refused before: columns in a file cannot be permuted."""
    model = KernelPCA(ParallelAnalysis(5, n_permutations=2), solver=solver, random_state=0)
    plan = model.plan(path)
    assert (plan.loads, plan.resumable) == (True, False)
    near = KernelPCA(ParallelAnalysis(5, n_permutations=2), solver=solver, random_state=0).fit(
        rows_of(800)
    )
    assert model.fit(path).n_components_ == near.n_components_


@pytest.mark.parametrize(
    "model", [IncrementalKernelPCA(5), MissingKernelPCA(IncrementalKernelPCA(5))], ids=repr
)
def test_without_a_solver_there_is_nothing_to_plan(model):
    assert not hasattr(model, "plan")


def test_many_components_say_what_they_cost():
    rows, few = rows_of(6000), Auto().plan(Problem(Gaussian(), rows_of(6000), Count(20), None))
    many = Auto().plan(Problem(Gaussian(), rows, Count(500), None))
    assert "Landmarks(2000)" in many.reason
    assert "Landmarks" not in few.reason


def test_copies_of_rows_do_not_count():
    """5,000 rows of which 1,000 differ are as many as 1,000 to a solver."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    repeated = X[rng.integers(1000, size=5000)]
    assert isinstance(KernelPCA(5).plan(repeated).solver, Lanczos)
    assert isinstance(KernelPCA(5).plan(rng.normal(size=(5000, 3))).solver, Davidson)


class ReadError(Exception):
    """Somebody wants more than the first batch."""


def endless():
    yield np.zeros((1000, 64))
    raise ReadError


STREAMED = {"KernelPCA", "GenerativeKernelPCA", "IncrementalKernelPCA"}
#: All that learn from rows alone.
NAMES = [
    name
    for name in mercer.__all__
    if hasattr(getattr(mercer, name), "capabilities") and not name.startswith("RKM")
]


@pytest.mark.parametrize("name", NAMES)
def test_more_rows_than_fit_into_memory_are_planned_at_once_and_streamed_or_refused(name):
    rows, model = from_batches(endless, n=10**9), getattr(mercer, name)()
    tracemalloc.start()
    try:
        with suppress(DataError):  # what no budget of time allows
            plan = model.plan(rows) if hasattr(model, "plan") else None
            assert plan is None or not plan.loads or plan.bytes > 10**9 * 64 * 8
        with pytest.raises((ReadError, DataError)) as refused:
            model.fit(rows)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    if refused.type is DataError:
        assert "in memory, which this step needs; give it a part of them" in str(refused.value)
    else:
        assert name in STREAMED
