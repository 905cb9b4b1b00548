"""The paper's iterations: equal to what is printed, monotone, and stable where the print is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.exceptions import DataError
from mercer.kernels import Gaussian
from mercer.papers.tipping2001 import three_clusters
from mercer.sparse import EM, MM, Fast, Greedy, KernelRows, as_sparse_solver
from tests import naive_sparse
from tests.sparse.problems import everywhere, random_problem, stiff_gram


@pytest.mark.parametrize(
    ("update", "literal"), [(EM(), naive_sparse.literal_em), (Fast(), naive_sparse.literal_fast)]
)
def test_steps_are_the_printed_ones(update, literal, rng):
    K = naive_sparse.gaussian_gram(rng.standard_normal((15, 2)), 1.0)
    w = rng.uniform(0.02, 0.2, 15)
    at = everywhere(K, w, 0.1)
    new = update.step(at)
    assert new.value > at.value
    assert_allclose(new.weights, literal(K, w, 0.1), rtol=1e-9)


@pytest.mark.parametrize("update", [EM(), MM(), Fast()], ids=["em", "mm", "fast"])
def test_no_step_loses_likelihood_on_300_random_problems(update):
    for seed in range(300):
        _, K, w, variance = random_problem(np.random.default_rng(seed))
        at = everywhere(K, w, variance)
        for _ in range(5):
            new = update.step(at)
            assert new.value >= at.value - at.rounding, f"problem {seed}"
            at = new


@pytest.mark.parametrize("update", [EM(), MM(), Fast()], ids=["em", "mm", "fast"])
def test_steps_survive_a_condition_of_1e18(update, rng):
    at = everywhere(stiff_gram(40, 1e18, rng), np.full(40, 1 / 40), 1e-6)
    for _ in range(300):
        new = update.step(at)
        assert np.isfinite(new.weights).all()
        assert (new.weights >= 0).all()
        assert new.value >= at.value - at.rounding
        at = new


def test_the_printed_fast_update_ends_in_nan_and_ours_at_the_optimum():
    """Regression: on the paper's own toy data eq. (14) with W⁻¹ fails within 2,000 iterations."""
    X, _ = three_clusters(0)
    K, w = naive_sparse.gaussian_gram(X, 0.25), np.full(90, 1 / 90)
    with np.errstate(all="ignore"):
        for _ in range(2000):
            try:
                w = naive_sparse.literal_fast(K, w, 0.0625)
            except np.linalg.LinAlgError:
                w = np.full(90, np.nan)
            if not np.isfinite(w).all():
                break
    assert not np.isfinite(w).all()
    rows = KernelRows(Gaussian(width=0.25), X, np.random.default_rng(0))
    ours = Fast(max_iter=5000).bind(rows, None).solve(0.0625)
    best = Greedy().bind(rows, None).solve(0.0625)
    assert ours.converged
    assert ours.log_likelihood <= best.log_likelihood + 1e-3
    assert_allclose(ours.log_likelihood, best.log_likelihood, rtol=1e-4)


def test_early_stopping_inflates_the_number_of_kernels():
    X, _ = three_clusters(0)
    rows = KernelRows(Gaussian(width=0.25), X, np.random.default_rng(0))
    counts = [len(Fast(max_iter=k).bind(rows, None).solve(0.0625)) for k in (20, 100, 500)]
    assert counts[0] > counts[1] > counts[2] > len(Greedy().bind(rows, None).solve(0.0625)) - 1
    assert counts[0] > 40


def test_names_are_known_and_others_refused():
    assert isinstance(as_sparse_solver("mm"), MM)
    with pytest.raises(DataError, match="'greedy'"):
        as_sparse_solver("newton")
