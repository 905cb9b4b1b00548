"""The bottleneck autoencoder on the half circle, and its restarts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.alternatives import BottleneckAutoencoder
from mercer.exceptions import ConvergenceWarning
from mercer.papers.mika1999 import half_circle, linear_denoise


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 6))]
)
def test_half_circle(seed):
    data = half_circle(np.random.default_rng(seed))
    model = BottleneckAutoencoder(random_state=seed).fit(data.points)
    points = model.denoise(data.points)
    straight = linear_denoise(data.points, data.points, 1)
    assert data.squared_distance(points) <= 0.0012
    assert data.squared_distance(points) <= data.squared_distance(data.points) / 7
    assert data.squared_distance(points) <= data.squared_distance(straight) / 25
    assert data.coverage(points) >= 0.95


def test_the_code_is_that_of_the_network():
    X = half_circle(np.random.default_rng(0)).points
    model = BottleneckAutoencoder(n_init=2, random_state=0).fit(X)
    scaled = (X - model._center) / model._scale
    expected = model._center + model._scale * model.network_.predict(scaled)
    assert_allclose(model.denoise(X), expected, atol=1e-12)
    Z = model.transform(X)
    assert Z.shape == (200, 1)
    assert (np.abs(Z) < 1).all()


def test_the_best_start_is_kept():
    X = half_circle(np.random.default_rng(1)).points
    model = BottleneckAutoencoder(hidden=5, n_init=6, random_state=0).fit(X)
    assert model.losses_.shape == (6,)
    assert model.network_.loss_ == model.losses_.min()
    assert model.losses_.max() > model.losses_.min()  # the starts differ


def test_two_codes_follow_a_bowl(rng):
    """A paraboloid in three dimensions, which two linear components cannot follow."""
    flat = rng.uniform(-1, 1, (300, 2))
    X = np.column_stack([flat, 1.5 * (flat**2).sum(axis=1)])
    model = BottleneckAutoencoder(2, n_init=2, random_state=0).fit(X)
    straight = ((linear_denoise(X, X, 2) - X) ** 2).sum(axis=1).mean()
    assert -model.score(X) < straight / 10


def test_the_seed_decides():
    X = half_circle(np.random.default_rng(0)).points
    first, second, other = (
        BottleneckAutoencoder(n_init=1, random_state=seed).fit(X).transform(X) for seed in (0, 0, 1)
    )
    assert_allclose(first, second)
    assert np.abs(first - other).max() > 1e-3


def test_too_few_steps_are_reported():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        BottleneckAutoencoder(n_init=1, max_iter=5, random_state=0).fit(
            half_circle(np.random.default_rng(0)).points
        )
