"""Intervals cover, turned components are told, and words say what the numbers say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA, SparseKernelPCA
from mercer.exceptions import DataError
from mercer.kernels import Gaussian
from mercer.points import Vectors
from mercer.relevance import close_groups, measure_uncertainty, spectrum_advice
from mercer.relevance.uncertainty import Directions, GroupSums
from mercer.solvers import Landmarks

TRUE = np.array([9.0, 4.0, 1.0, 0.25])


def normal_rows(n, seed):
    return np.random.default_rng(seed).standard_normal((n, 4)) * np.sqrt(TRUE)


@pytest.fixture(scope="module")
def ring():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 400)
    return np.c_[np.cos(angle), np.sin(angle)] + 0.1 * rng.standard_normal((400, 2))


def test_intervals_of_a_known_spectrum_cover():
    """Linear kernel: the truth is the covariance. 60 samples, so that 4 misses in 20 are luck."""
    hits = np.zeros((60, 2, 3))
    for i in range(60):
        X = normal_rows(300, i)
        found = KernelPCA(3, kernel="linear").fit(X).uncertainty(X)
        hits[i, 0] = found.eigenvalues.times(1 / 300).contains(TRUE[:3])
        hits[i, 1] = found.shares.contains(TRUE[:3] / TRUE.sum())
    assert (hits.mean(axis=0) >= 0.85).all()
    assert 0.9 <= hits.mean() <= 0.99


def test_half_widths_are_those_of_normal_theory():
    """Var(log λ) = 2/n for normal data, so that a 95 % interval is ±1.96 √(2/n)."""
    X = normal_rows(20_000, 0)
    found = KernelPCA(3, kernel="linear", solver="landmarks", random_state=0).fit(X).uncertainty(X)
    half = np.log(found.eigenvalues.high / found.eigenvalues.low) / 2
    assert_allclose(half, 1.96 * np.sqrt(2 / 20_000), rtol=0.05)


def test_estimates_are_the_models_own(ring):
    model = KernelPCA(5, kernel=Gaussian(gamma=0.7)).fit(ring)
    found = model.uncertainty(ring)
    assert_allclose(found.eigenvalues.estimate, model.eigenvalues_, rtol=1e-8)
    assert_allclose(found.shares.estimate, model.explained_variance_ratio_, rtol=1e-8)
    assert_allclose(model.uncertainty().shares.low, found.shares.low)


def test_pairs_of_a_ring_turn_into_each_other(ring):
    found = KernelPCA(4, kernel=Gaussian(gamma=0.7)).fit(ring).uncertainty()
    assert found.neighbours == [(1,), (0,), (3,), (2,)]
    assert not found.stable.any()
    assert found.subspace_angle < 20  # as a whole the four stay where they are
    text = str(found)
    assert "Components 0 and 1 are not distinguishable" in text
    assert "Components 2 and 3 are not distinguishable" in text
    assert not found.noise.any()


def test_components_of_noise_are_called_noise():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 20))
    X[:, 0] *= 4
    found = KernelPCA(3, kernel="linear").fit(X).uncertainty()
    assert found.stable.tolist() == [True, False, False]
    assert not found.noise[0]
    assert found.noise[2]
    assert "cannot be distinguished from noise" in str(found)
    assert str(found).startswith("1 of 3 components are stable")


def test_more_rows_are_surer():
    few, many = (KernelPCA(3, kernel="linear").fit(normal_rows(n, 1)) for n in (200, 3200))
    a, b = few.uncertainty(), many.uncertainty()
    width = np.log(a.shares.high / a.shares.low) / np.log(b.shares.high / b.shares.low)
    assert_allclose(width, 4, rtol=0.35)
    assert (b.angle < a.angle).all()
    spread = a.relevance.high - a.relevance.low
    assert (spread >= 0).all()
    assert spread.mean() > 2 * (b.relevance.high - b.relevance.low).mean()


def test_relevance_intervals_hold_the_estimate(ring):
    rng = np.random.default_rng(1)
    X = np.c_[ring, 0.2 * rng.standard_normal((400, 3))]
    model = KernelPCA(3, kernel=Gaussian(gamma=0.5)).fit(X)
    found = model.uncertainty().relevance
    assert found.estimate.shape == (3, 5)
    assert (found.low <= found.estimate).all()
    assert (found.estimate <= found.high).all()
    assert_allclose(found.estimate, model.relevance(unit="share").components, rtol=0.05, atol=1e-3)


def test_landmarks_are_no_sample(ring):
    model = KernelPCA(3, solver=Landmarks(50), random_state=0).fit(ring)
    with pytest.raises(DataError, match="50 points, which are not a sample"):
        model.uncertainty()
    assert (model.uncertainty(ring).shares.high > 0).all()
    with pytest.raises(DataError, match="not a sample"):
        SparseKernelPCA(20, n_components=2).fit(ring[:100]).uncertainty()


def test_uncentred_models_are_not_centred():
    X = normal_rows(500, 0) + 3
    model = KernelPCA(2, kernel="linear", center=False).fit(X)
    assert_allclose(model.uncertainty().eigenvalues.estimate, model.eigenvalues_, rtol=1e-8)


def test_weight_two_has_the_estimates_of_rows_given_twice():
    X = normal_rows(300, 0)
    weight = np.where(np.arange(300) < 100, 2.0, 1.0)
    model = KernelPCA(3, kernel="linear").fit(X, sample_weight=weight)
    found = model.uncertainty(X, sample_weight=weight)
    assert_allclose(found.eigenvalues.estimate, model.eigenvalues_, rtol=1e-8)
    assert_allclose(model.uncertainty().shares.high, found.shares.high, rtol=1e-8)


def test_streamed_is_in_memory(tmp_path):
    X = normal_rows(40_000, 0)
    model = KernelPCA(3, kernel="linear", solver=Landmarks(20), random_state=0).fit(X)
    np.save(tmp_path / "x.npy", X)
    wanted, found = model.uncertainty(X), model.uncertainty(tmp_path / "x.npy")
    assert_allclose(found.eigenvalues.low, wanted.eigenvalues.low, rtol=1e-10)
    assert_allclose(found.angle, wanted.angle, rtol=1e-6)


def test_directions_are_orthonormal_and_written_on_points(ring):
    model = KernelPCA(4, kernel=Gaussian(gamma=0.7)).fit(ring)
    rng = np.random.default_rng(0)
    directions = Directions.of(model.subspace_, Vectors(ring), np.ones(400), 12, rng)
    points, coef = directions.coefficients()
    K = model.kernel_(points, points)
    assert_allclose(coef.T @ K @ coef, np.eye(12), atol=1e-6)
    Z, total = directions.features(Vectors(ring))
    assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    assert_allclose(np.abs(Z[:, :4]), np.abs(model.transform(ring)), atol=1e-6)
    exact = KernelPCA(12, kernel=Gaussian(gamma=0.7)).fit(ring)
    assert_allclose((Z**2).sum(axis=0)[:8], exact.eigenvalues_[:8], rtol=0.02)
    error = model.reconstruction_error(ring)
    assert_allclose(total, (Z[:, :4] ** 2).sum(axis=1) + error, atol=1e-9)


def test_group_sums_add_up():
    rng = np.random.default_rng(0)
    Z, t, w = rng.standard_normal((90, 3)), rng.random(90), rng.random(90)
    group = rng.integers(0, 7, 90)
    whole = GroupSums.of(Z, t, w, group, 7)
    parts = GroupSums.of(Z[:40], t[:40], w[:40], group[:40], 7)
    parts = parts + GroupSums.of(Z[40:], t[40:], w[40:], group[40:], 7)
    for name in whole.__dataclass_fields__:
        assert_allclose(getattr(parts, name), getattr(whole, name))
    C = whole.covariances(np.ones((1, 7)), True)[0]
    assert_allclose(C, np.cov(Z.T, aweights=w, bias=True))


def test_only_the_leading_components_are_looked_at(ring):
    X = np.random.default_rng(0).standard_normal((150, 20))
    assert len(KernelPCA(100).fit(X).uncertainty().angle) == 64


def test_wrong_calls(ring):
    model = KernelPCA(2).fit(ring)
    with pytest.raises(DataError, match="level=95"):
        model.uncertainty(level=95)
    with pytest.raises(DataError, match="at least 8"):
        measure_uncertainty(model.subspace_, ring[:5])


def test_close_eigenvalues_are_named_in_the_report(ring):
    model = KernelPCA(4, kernel=Gaussian(gamma=0.7)).fit(ring)
    assert "components 2 and 3 are too close" in model.report_.advice
    apart = KernelPCA(3, kernel="linear").fit(normal_rows(500, 0))
    assert apart.report_.advice == ""


def test_close_groups():
    assert close_groups([5, 4.9, 4.8, 2, 1], 100) == [(0, 2)]
    assert close_groups([5.0], 100) == []
    assert "components 0 to 2 are too close" in spectrum_advice(np.array([5, 4.9, 4.8, 2]), 100)
