"""Screening and column generation against the dense optimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import SparseKernelPCA
from mercer.exceptions import KernelError
from mercer.kernels import Gaussian, Precomputed
from mercer.sparse import ColumnGeneration, Greedy, KernelRows, Likelihood, Pool
from mercer.sparse.base import violation
from mercer.sparse.column_generation import ExactScreen, LowRankScreen


@pytest.fixture
def rows(rng):
    centres = rng.uniform(-3, 3, (12, 4))
    X = centres[rng.integers(12, size=900)] + 0.4 * rng.standard_normal((900, 4))
    return KernelRows(Gaussian(width=3.0), X, rng)


@pytest.fixture
def model(rows):
    index = np.array([3, 400, 777])
    columns = rows.columns(index)
    pool = Pool.of_columns(columns, index, rows)
    return Likelihood(pool, np.arange(3), np.array([0.2, 0.05, 0.4]), 0.01), columns, index


def test_exact_screening_is_the_dense_formula(rows, model):
    at, columns, index = model
    dense = Pool.of_all(rows)
    S, q = Likelihood(dense, index, at.weights, at.variance).candidates()
    for dtype, rtol in ((np.float64, 1e-8), (np.float32, 1e-4)):
        S_, q_ = ExactScreen(rows, dtype).candidates(at, columns, index)
        assert_allclose(S_, S, rtol=1e-8)
        assert_allclose(q_, q, rtol=rtol)
    assert_allclose(ExactScreen(rows, np.float64).start(), (dense.K**2).mean(axis=1), rtol=1e-10)


def test_low_rank_screening_is_exact_at_full_rank_and_close_below(rows, model):
    at, columns, index = model
    S, q = ExactScreen(rows, np.float64).candidates(at, columns, index)
    full = LowRankScreen(rows, 900).candidates(at, columns, index)
    assert_allclose(full[0], S, rtol=1e-8)
    assert_allclose(full[1], q, rtol=1e-4)
    low = LowRankScreen(rows, 150)
    assert np.median(np.abs(low.candidates(at, columns, index)[1] / q - 1)) < 0.02
    assert_allclose(low.start(), ExactScreen(rows, np.float64).start(), rtol=0.02)


@pytest.mark.parametrize("solver", [Greedy(), ColumnGeneration(200)])
def test_a_start_from_a_larger_noise_ends_as_high(rows, solver):
    bound = solver.bind(rows, None)
    cold, warm = (bound.solve(0.01, start=start) for start in (None, bound.solve(0.03)))
    assert abs(warm.log_likelihood - cold.log_likelihood) < 1e-3 * rows.n
    assert warm.steps <= cold.steps
    assert np.abs(warm.likelihood.ratio - 1).max() <= 1e-6


@pytest.mark.parametrize("solver", [ColumnGeneration(200), ColumnGeneration(rank=0, sweeps=20)])
def test_it_finds_what_the_dense_optimiser_finds(rows, solver):
    dense = Greedy().bind(rows, None).solve(0.01)
    found = solver.bind(rows, None).solve(0.01)
    assert found.converged
    assert abs(found.log_likelihood - dense.log_likelihood) < 1e-3 * rows.n
    assert np.abs(found.likelihood.ratio - 1).max() <= 1e-6


def test_sweeps_certify_over_all_rows(rows):
    found = ColumnGeneration(50, sweeps=20).bind(rows, None).solve(0.01)
    assert "certified" in found.note
    everywhere = Likelihood(Pool.of_all(rows), found.indices, found.weights, 0.01)
    # A gain of 1e-6 per row is an excess of 2e-3 in q/S.
    assert violation(everywhere) <= 2.1e-3
    assert_allclose(found.kkt, violation(everywhere), atol=2e-4)


def test_a_poor_screen_is_put_right_by_sweeps(rows):
    alone = ColumnGeneration(10).bind(rows, None).solve(0.01)
    swept = ColumnGeneration(10, sweeps=20).bind(rows, None).solve(0.01)
    assert swept.log_likelihood > alone.log_likelihood - 1e-6 * rows.n
    dense = Greedy().bind(rows, None).solve(0.01)
    assert abs(swept.log_likelihood - dense.log_likelihood) < 1e-3 * rows.n


def test_precomputed_matrices_are_screened_exactly(rows):
    K = rows.kernel(rows.X)
    pre = KernelRows(Precomputed(), K, rows.rng)
    with pytest.raises(KernelError, match="rank=0"):
        ColumnGeneration().bind(pre, None)
    solver = ColumnGeneration(rank=0, sweeps=20)
    a, b = solver.bind(pre, None).solve(0.01), solver.bind(rows, None).solve(0.01)
    assert abs(a.log_likelihood - b.log_likelihood) < 1e-3 * rows.n


def test_a_memmap_gives_the_same(tmp_path, rows):
    path = tmp_path / "rows.npy"
    np.save(path, rows.X)
    mapped = np.load(path, mmap_mode="r")
    solver = ColumnGeneration(100)
    a, b = (
        SparseKernelPCA(noise=0.1, kernel=rows.kernel, solver=solver, random_state=0).fit(X)
        for X in (rows.X, mapped)
    )
    assert list(a.support_indices_) == list(b.support_indices_)
    assert_allclose(a.weights_, b.weights_, rtol=1e-10)


def test_float32_rows_choose_nearly_the_same(rows):
    narrow = KernelRows(rows.kernel, rows.X.astype(np.float32), np.random.default_rng(0))
    wide = KernelRows(rows.kernel, rows.X, np.random.default_rng(0))
    a, b = (ColumnGeneration(200).bind(r, None).solve(0.01) for r in (narrow, wide))
    assert abs(a.log_likelihood - b.log_likelihood) < 1e-3 * rows.n
