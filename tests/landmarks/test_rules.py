"""Which points stand for all: every rule keeps the contract, and each its own promise."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mercer.kernels import Gaussian, Polynomial
from mercer.landmarks import (
    Given,
    KMeans,
    RPCholesky,
    Uniform,
    partial_cholesky,
    random_pivots,
    sample_rows,
)
from mercer.landmarks.kmeans import lloyd

RULES = [Uniform(), RPCholesky(), KMeans(), KMeans(Uniform(), steps=1, sample=200)]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_rules_give_distinct_finite_points(rule, dtype, rng):
    X = rng.standard_normal((400, 3)).astype(dtype)
    Z = rule.select(Gaussian(sigma=0.5), X, 25, np.random.default_rng(1))
    again = rule.select(Gaussian(sigma=0.5), X, 25, np.random.default_rng(1))
    assert Z.shape == (25, 3)
    assert Z.dtype == dtype
    assert np.isfinite(Z).all()
    assert len(np.unique(Z, axis=0)) == 25
    np.testing.assert_array_equal(Z, again)


@pytest.mark.parametrize("rule", RULES[:3], ids=repr)
def test_as_many_landmarks_as_rows_are_the_rows(rule, rng):
    X = rng.standard_normal((30, 2))
    Z = rule.select(Gaussian(sigma=0.2), X, 30, rng)
    np.testing.assert_array_equal(np.sort(Z, axis=0), np.sort(X, axis=0))


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_landmarks_do_not_change_with_the_rows(rule, rng):
    X = rng.standard_normal((30, 2))
    Z = rule.select(Gaussian(sigma=0.2), X, 30, rng)
    assert not np.shares_memory(X, Z)


def test_rpcholesky_finds_a_rare_group(rng):
    X = rng.standard_normal((2000, 2)) * 0.1
    X[:4] += 50
    found = [
        RPCholesky(200).select(Gaussian(sigma=1.0), X, 10, np.random.default_rng(seed)).max() > 40
        for seed in range(5)
    ]
    assert all(found)


def test_partial_cholesky_reproduces_the_matrix_on_its_pivots(rng):
    X = rng.standard_normal((200, 3))
    kernel = Gaussian(sigma=1.0)
    K = kernel(X)
    pivots, F = partial_cholesky(kernel, X, 60, rng, block=16)
    assert len(np.unique(pivots)) == F.shape[1] == 60
    np.testing.assert_allclose((F @ F.T)[pivots], K[pivots], atol=1e-8)
    assert np.linalg.eigvalsh(K - F @ F.T)[0] > -1e-8


def test_partial_cholesky_stops_at_the_rank(rng):
    X = np.repeat(rng.standard_normal((7, 2)), 30, axis=0)
    pivots, _ = partial_cholesky(Gaussian(sigma=1.0), X, 50, rng)
    assert len(pivots) == 7


@pytest.mark.parametrize("width", [0.02, 0.5, 10.0])
def test_pivots_found_in_single_precision_first_explain_as_much(width, rng):
    X, kernel = rng.standard_normal((500, 2)), Gaussian(width=width)
    K = kernel(X)

    def left(pivots):
        inner, cross = K[np.ix_(pivots, pivots)], K[pivots]
        return 500 - np.trace(cross.T @ np.linalg.lstsq(inner, cross, rcond=1e-15)[0])

    quick = random_pivots(kernel, X, 80, np.random.default_rng(0))
    plain = partial_cholesky(kernel, X, 80, np.random.default_rng(0))[0]
    assert len(np.unique(quick)) == len(quick)
    assert left(quick) <= 2 * left(plain) + 1e-9


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_pivots_of_kernel_values_beyond_single_precision(scale, rng):
    X = scale * rng.standard_normal((100, 3))
    pivots = random_pivots(Polynomial(degree=4, coef0=scale**2), X, 20, rng)
    assert len(np.unique(pivots)) == 20


@pytest.mark.parametrize("rank", [3, 400])
def test_many_columns_are_compared_along_few_axes(rank, rng):
    groups = np.repeat(np.arange(150), 8)
    X = 4 * rng.standard_normal((150, rank))[groups] + rng.standard_normal((1200, rank))
    X = X @ rng.standard_normal((rank, 500)) / np.sqrt(rank)
    C = X[::8].copy()
    nearest = cdist(X, C).argmin(axis=1)
    expected = np.array([X[nearest == j].mean(axis=0) for j in range(150)])
    off = np.linalg.norm(lloyd(X, C, 1) - expected, axis=1) / np.linalg.norm(expected, axis=1)
    assert np.mean(off < 1e-5) > 0.9


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_a_lloyd_step_moves_centres_to_means(offset, rng):
    X = rng.standard_normal((300, 2)) + offset
    C = X[:9] + 0.01
    nearest = ((X[:, None] - C) ** 2).sum(axis=2).argmin(axis=1)
    expected = np.array([X[nearest == j].mean(axis=0) for j in range(9)])
    np.testing.assert_allclose(lloyd(X, C, 1) - offset, expected - offset, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e20, 1e300])
def test_lloyd_steps_in_any_unit(scale, rng):
    X = rng.standard_normal((300, 2))
    expected = lloyd(X, X[:9] + 0.01, 3)
    np.testing.assert_allclose(lloyd(scale * X, scale * (X[:9] + 0.01), 3) / scale, expected)


def test_a_far_centre_does_not_spoil_the_others(rng):
    X = np.concatenate([rng.standard_normal((200, 2)), [[1e9, 1e9]]])
    moved = lloyd(X, np.concatenate([X[:5], X[-1:]]), 1)
    assert len(np.unique(moved[:5].round(6), axis=0)) == 5
    np.testing.assert_array_equal(moved[5], X[-1])


def test_given_points_and_samples(rng):
    X = rng.standard_normal((50, 2)).astype(np.float32)
    Z = Given([[0, 1], [2, 3]]).select(Gaussian(), X, 99, rng)
    assert Z.dtype == np.float32
    sample = sample_rows(X, 10, rng)
    assert sample.shape == (10, 2)
    np.testing.assert_array_equal(sample_rows(X, 100, rng), X)
