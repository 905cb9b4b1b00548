"""Sample measures beside loops, and on samples whose fault is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.exceptions import DataError
from mercer.generative import judge
from mercer.generative.metrics import (
    coverage,
    density,
    mmd2,
    nearest_distances,
    precision,
    recall,
)
from mercer.kernels import Gaussian
from tests import naive_generative as naive


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from([0.2, 1.0, 3.0]))
def test_loops(seed, k, scale):
    rng = np.random.default_rng(seed)
    samples, real = scale * rng.standard_normal((9, 2)), rng.standard_normal((11, 2))
    assert_allclose(precision(samples, real, k), naive.precision(samples, real, k))
    assert_allclose(recall(samples, real, k), naive.precision(real, samples, k))
    assert_allclose(density(samples, real, k), naive.density(samples, real, k))
    assert_allclose(coverage(samples, real, k), naive.coverage(samples, real, k))
    found = mmd2(samples, real, Gaussian(gamma=0.4))
    assert_allclose(found, naive.mmd2(samples, real, 0.4), atol=1e-12)


def test_samples_of_the_same_distribution(rng):
    real, samples, train = rng.standard_normal((3, 400, 3))
    report = judge(samples, real, train=train)
    assert report.precision > 0.9 < report.recall
    assert_allclose(report.density, 1, atol=0.1)
    assert report.coverage > 0.95
    assert abs(report.mmd2) < 0.005
    assert_allclose(report.nearest_train, report.nearest_real, rtol=0.1)


def test_one_mode_has_precision_but_neither_recall_nor_coverage(rng):
    real = np.concatenate([rng.standard_normal((200, 2)) + c for c in (-8, 8)])
    samples = rng.standard_normal((400, 2)) + 8
    report = judge(samples, real)
    assert report.precision > 0.9
    assert report.recall < 0.6
    assert report.coverage < 0.6
    assert report.mmd2 > 0.1
    assert np.isnan(report.nearest_train)


def test_copies_are_told_by_their_distance(rng):
    real, train = rng.standard_normal((2, 300, 3))
    copies = train[rng.integers(300, size=300)]
    report = judge(copies, real, train=train)
    assert report.coverage > 0.5  # by which they look fine
    assert report.nearest_train == 0 < report.nearest_real


def test_an_outlier_fools_precision_but_not_density(rng):
    """Naeem et al.'s reason: one real row far out has an enormous ball."""
    real = np.vstack([rng.standard_normal((200, 2)), [[60.0, 60.0]]])
    samples = rng.standard_normal((200, 2)) + 15
    assert precision(samples, real) == 1
    assert density(samples, real) < 0.3


def test_blocks_do_not_change_the_answer(monkeypatch, rng):
    from mercer.generative import metrics

    samples, real = rng.standard_normal((2, 50, 2))
    whole = judge(samples, real, train=real)
    monkeypatch.setattr(metrics, "ROWS", 7)
    parts = judge(samples, real, train=real)
    assert_allclose(list(vars(parts).values()), list(vars(whole).values()), atol=1e-12)


def test_features(rng):
    samples, real = rng.standard_normal((2, 60, 4))
    report = judge(samples, real, features=lambda X: X[:, :1])
    assert report.recall == recall(samples[:, :1], real[:, :1])
    assert report.mmd2 == mmd2(samples, real)


def test_nearest_distances(rng):
    A, B = rng.standard_normal((5, 3)), rng.standard_normal((7, 3))
    wanted = [min(naive.distance(a, b) for b in B) for a in A]
    assert_allclose(nearest_distances(A, B), wanted)


def test_mistakes_are_named(rng):
    X = rng.standard_normal((10, 2))
    with pytest.raises(DataError, match="k=10 neighbours of 10 rows"):
        judge(X, X, k=10)
    with pytest.raises(DataError, match=r"samples: shape \(10,\)"):
        judge(X[:, 0], X)
    with pytest.raises(DataError, match="samples have 2 columns and real rows 1"):
        judge(X, X[:, :1])
    with pytest.raises(DataError, match="real"):
        judge(X, X * np.nan)
