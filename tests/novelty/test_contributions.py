"""Contributions add up, and point at the variable that did it."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelNovelty, KernelPCA
from mercer.kernels import Cauchy, Gaussian, Polynomial
from mercer.novelty import contributions, novelty_score


@pytest.mark.parametrize("kernel", [Gaussian(), Cauchy(), Polynomial(2)], ids=repr)
@pytest.mark.parametrize("kind", ["reconstruction", "combined"])
def test_they_sum_to_the_difference_of_scores(kernel, kind, rng):
    X = rng.standard_normal((80, 3))
    model = KernelPCA(6, kernel=kernel).fit(X)
    score = novelty_score(kind, model.subspace_, model.explained_variance_)
    Y, reference = 2 * rng.standard_normal((20, 3)), rng.standard_normal((20, 3))
    parts = contributions(score, Y, reference, nodes=24)
    difference = score(Y) - score(reference)
    assert_allclose(parts.sum(axis=1), difference, atol=1e-5 * np.abs(difference).max())


def test_where_nothing_differs_nothing_contributes(rng):
    X = rng.standard_normal((80, 3))
    model = KernelPCA(6).fit(X)
    score = novelty_score("reconstruction", model.subspace_, model.explained_variance_)
    Y, reference = rng.standard_normal((5, 3)), rng.standard_normal((5, 3))
    reference[:, 1] = Y[:, 1]
    assert_allclose(contributions(score, Y, reference)[:, 1], 0)


def sensors(n, rng):
    """Fifty variables driven by three causes."""
    frame = np.random.default_rng(5).standard_normal((3, 50))
    return np.tanh(rng.standard_normal((n, 3)) @ frame) + 0.1 * rng.standard_normal((n, 50))


@pytest.mark.parametrize("measure", ["reconstruction", "combined"])
def test_a_planted_fault_ranks_first(measure, rng):
    model = KernelNovelty(measure=measure, calibration="split", random_state=0)
    model.fit(sensors(600, rng))
    faulty, variable = sensors(200, rng), rng.integers(0, 50, 200)
    faulty[np.arange(200), variable] += 1.5 * rng.choice([-1, 1], 200)
    assert (model.contributions(faulty).argmax(axis=1) == variable).mean() >= 0.95


@pytest.mark.slow
def test_many_rows_take_seconds(rng):
    model = KernelNovelty(calibration="split", random_state=0).fit(sensors(2667, rng))
    assert model.score_.subspace.n_support == 2000
    rows = sensors(10_000, rng)
    started = time.perf_counter()
    assert np.isfinite(model.contributions(rows)).all()
    assert time.perf_counter() - started < 60  # 5 s on a quiet machine of two cores
