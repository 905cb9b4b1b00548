"""Latent densities: the draws have the moments that they should, and densities integrate to 1."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

from mercer.exceptions import DataError
from mercer.generative import KDE, Interpolate, Local, Mixture, Normal, as_density
from mercer.generative import densities as local
from mercer.preimage.nearest import mix

ALL = [Normal(), Mixture(), KDE(), Local(), Interpolate()]
WITH_DENSITY = [Normal(), Mixture(3), Mixture(2, covariance="full"), KDE()]


@pytest.fixture
def Z(rng):
    """Two clusters of different size and direction."""
    A = rng.standard_normal((120, 2)) * [1.0, 0.1] + [3, 0]
    B = rng.standard_normal((80, 2)) * [0.1, 1.0] - [3, 0]
    return np.vstack([A, B])


@pytest.mark.parametrize("density", ALL, ids=repr)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_draws_have_the_shape_type_and_mean_of_the_data(density, dtype, Z, rng):
    drawn = density.fit(Z.astype(dtype), rng).sample(4000, rng)
    assert drawn.shape == (4000, 2)
    assert drawn.dtype == dtype
    assert_allclose(drawn.mean(axis=0), Z.mean(axis=0), atol=0.25)


@pytest.mark.parametrize("density", ALL, ids=repr)
def test_the_same_numbers_for_the_same_seed(density, Z):
    first, second = (
        density.fit(Z, np.random.default_rng(1)).sample(9, np.random.default_rng(2))
        for _ in range(2)
    )
    assert_array_equal(first, second)


@pytest.mark.parametrize("density", WITH_DENSITY, ids=repr)
def test_densities_integrate_to_one(density, Z, rng):
    fitted = density.fit(Z, rng)
    side = np.linspace(-14, 14, 400)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    volume = (side[1] - side[0]) ** 2
    assert_allclose(np.exp(fitted.log_density(grid)).sum() * volume, 1, atol=2e-3)


@pytest.mark.parametrize("density", WITH_DENSITY, ids=repr)
def test_draws_follow_the_density(density, Z, rng):
    """Counts in cells beside the integral of the density over them."""
    fitted = density.fit(Z, rng)
    drawn = fitted.sample(20_000, rng)
    edges = np.linspace(-8, 8, 9)
    counts = np.histogram2d(*drawn.T, bins=[edges, edges])[0] / 20_000
    fine = np.linspace(-8, 8, 401)[:-1] + 0.02
    grid = np.stack(np.meshgrid(fine, fine, indexing="ij"), axis=-1).reshape(-1, 2)
    values = np.exp(fitted.log_density(grid)).reshape(8, 50, 8, 50).sum(axis=(1, 3)) * 0.04**2
    assert_allclose(counts, values, atol=0.02)


def test_normal_is_scipys(Z, rng):
    fitted = Normal().fit(Z, rng)
    wanted = multivariate_normal(Z.mean(axis=0), np.cov(Z.T)).logpdf(Z[:7])
    assert_allclose(fitted.log_density(Z[:7]), wanted)
    assert_allclose(np.cov(fitted.sample(20_000, rng).T), np.cov(Z.T), rtol=0.05, atol=0.1)


def test_normal_with_fewer_rows_than_columns_stays_in_their_span(rng):
    Z = rng.standard_normal((4, 10))
    fitted = Normal().fit(Z, rng)
    drawn = fitted.sample(50, rng) - Z.mean(axis=0)
    assert np.linalg.matrix_rank(drawn, tol=1e-8) == 3
    with pytest.raises(DataError, match="no density"):
        fitted.log_density(Z)


@pytest.mark.parametrize("covariance", ["diag", "full"])
def test_mixture_is_scikit_learns(covariance, rng):
    Z = rng.standard_normal((150, 3)) * [1, 2, 3]
    Z[:75] += 8
    unit = Z.std(axis=0)
    fitted = Mixture(2, covariance=covariance).fit(Z, np.random.default_rng(0))
    theirs = GaussianMixture(2, covariance_type=covariance, reg_covar=1e-4, random_state=1)
    theirs.fit(Z / unit)
    wanted = theirs.score_samples(Z / unit) - np.log(unit).sum()
    assert_allclose(fitted.log_density(Z), wanted, atol=1e-3)


def test_bic_finds_the_number_of_clusters(rng):
    centres = rng.uniform(-20, 20, (5, 3))
    Z = np.concatenate([c + rng.standard_normal((60, 3)) for c in centres])
    assert Mixture().fit(Z, rng).n_parts == 5
    assert Mixture().fit(rng.standard_normal((300, 3)), rng).n_parts == 1


def test_kde_is_scikit_learns(Z, rng):
    fitted = KDE(bandwidth=0.4).fit(Z, rng)
    theirs = KernelDensity(bandwidth=0.4).fit(Z / Z.std(axis=0))
    wanted = theirs.score_samples(Z / Z.std(axis=0)) - np.log(Z.std(axis=0)).sum()
    assert_allclose(fitted.log_density(Z), wanted)


def test_kde_chooses_the_bandwidth_by_left_out_rows(rng):
    """Narrow for clusters, wide for one normal; and better than its neighbours."""
    cluster = np.concatenate([rng.standard_normal((100, 2)) * 0.05 + c for c in (-1, 0, 1)])
    wide = KDE().fit(rng.standard_normal((300, 2)), rng).bandwidth
    narrow = KDE().fit(cluster, rng).bandwidth
    assert narrow < 0.1 < 0.2 < wide


def test_local_draws_follow_the_neighbours(rng):
    """On a line the draws stay on the line; around a row they have the moments of the formula."""
    line = np.column_stack([np.linspace(0, 10, 101), np.zeros(101)])
    fitted = Local(4, bandwidth=0.6).fit(line, rng)
    assert_allclose(fitted.sample(3000, rng)[:, 1], 0, atol=1e-12)
    # At the end of the line the row itself is 0, and its neighbours are 1, 2, 3 and 4 steps away.
    i, near, weights = fitted.around(np.zeros(40_000, dtype=int), rng)
    drawn = mix(line, i, near, weights)[:, 0]
    assert_allclose(drawn.mean(), 0.2 + 0.8 * (0 - 0.2), atol=1e-3)
    assert_allclose(drawn.var(), 0.6**2 * np.var([0, 0.1, 0.2, 0.3, 0.4]), rtol=0.05)


@pytest.mark.parametrize("bandwidth", [0.3, 0.6, 0.85, 1.0])
def test_local_draws_do_not_spread_wider_than_the_data(bandwidth, rng):
    """Noise around rows alone would add its variance, here up to a third, to theirs."""
    Z = rng.standard_normal((300, 3))
    fitted = Local(bandwidth=bandwidth).fit(Z, rng)
    ratio = fitted.sample(30_000, rng).std(axis=0) / Z.std(axis=0)
    assert (ratio < 1.01).all()
    assert (ratio > 0.85).all()


def test_every_row_is_drawn_around_as_often_as_another(Z, rng):
    starts = Local().fit(Z, rng).starts(2 * len(Z) + 7, rng)
    assert_array_equal(np.unique(np.bincount(starts)), [2, 3])


def test_interpolated_draws_lie_between_neighbours(rng):
    Z = rng.standard_normal((40, 3))
    drawn = Interpolate(3).fit(Z, rng).sample(200, rng)
    first = cdist(Z, Z)
    for z in drawn[:50]:
        # On the segment between i and j: distances add up to that of the ends.
        to = np.linalg.norm(Z - z, axis=1)
        assert (np.abs(to[:, None] + to - first) < 1e-9).any()


@pytest.mark.parametrize("density", [Local(), Interpolate()], ids=repr)
def test_no_density_is_said(density, Z, rng):
    with pytest.raises(DataError, match="no density; use Normal"):
        density.fit(Z, rng).log_density(Z)


def test_neighbours_are_at_most_the_other_rows(rng):
    fitted = Local(50).fit(rng.standard_normal((5, 2)), rng)
    assert fitted.neighbors.shape == (5, 4)


@pytest.mark.parametrize("density", ALL, ids=repr)
def test_one_row_is_refused(density, rng):
    with pytest.raises(DataError, match="at least 2"):
        density.fit(np.zeros((1, 2)), rng)


@pytest.mark.parametrize("density", ALL, ids=repr)
def test_equal_rows_give_that_row(density, rng):
    Z = np.full((6, 2), 3.0)
    drawn = density.fit(Z, rng).sample(20, rng)
    # A bandwidth and a floor of the variances remain, in units of 1 where there is no spread.
    assert np.isfinite(drawn).all()
    assert_allclose(drawn, 3, atol=8)


def test_many_rows_are_thinned(monkeypatch, rng):
    monkeypatch.setattr(local, "LARGEST", 10)
    assert len(Local(2).fit(rng.standard_normal((35, 2)), rng).points) == 10


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (Local(0), "n_neighbors=0"),
        (Local(2.5), "n_neighbors=2.5"),
        (Local(bandwidth=0), "bandwidth=0: give a number above 0"),
        (Local(bandwidth=1.5), "bandwidth=1.5"),
        (Local(bandwidth="wide"), "bandwidth='wide'"),
        (Mixture(0), "n_parts=0"),
        (Mixture("aic"), "n_parts='aic'"),
        (Mixture(500), "at most 200"),
        (Mixture(covariance="round"), "covariance='round'"),
        (KDE(-1.0), "bandwidth=-1.0"),
        (KDE("wide"), "bandwidth='wide'"),
    ],
)
def test_mistakes_are_named(wrong, message, Z, rng):
    with pytest.raises(DataError, match=message):
        wrong.fit(Z, rng)


def test_names():
    assert isinstance(as_density("kde"), KDE)
    assert as_density(Local(3)).n_neighbors == 3
    with pytest.raises(DataError, match="'mixture', 'normal'"):
        as_density("gauss")


@pytest.mark.parametrize("density", WITH_DENSITY, ids=repr)
def test_no_rows_have_no_densities(density, Z, rng):
    assert density.fit(Z, rng).log_density(Z[:0]).shape == (0,)
