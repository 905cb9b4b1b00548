"""Conditional means and draws of a Gaussian, from rows with holes."""

from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import ledoit_wolf

from mercer.robust import fit_gaussian
from tests import naive

# The package has a function of this name.
gaussian = import_module("mercer.robust.impute")


@pytest.fixture
def rows(rng):
    L = rng.standard_normal((6, 6))
    return rng.standard_normal((400, 6)) @ L.T + rng.standard_normal(6)


def pierced(X, share, rng):
    holes = rng.random(X.shape) < share
    holes[holes.all(axis=1), 0] = False
    return np.where(holes, np.nan, X), holes


def test_complete_rows_have_the_covariance_of_ledoit_and_wolf(rows):
    model = fit_gaussian(rows)
    assert_allclose(model.location, rows.mean(axis=0))
    assert_allclose(model.covariance * np.outer(model.scale, model.scale), ledoit_wolf(rows)[0])


@pytest.mark.parametrize("exact", [200, 0], ids=["by patterns", "by gradients"])
def test_conditional_means_are_those_of_the_textbook(exact, rows, rng, monkeypatch):
    monkeypatch.setattr(gaussian, "EXACT_VALUES", exact)
    monkeypatch.setattr(gaussian, "CG_TOL", 1e-10)
    model = fit_gaussian(rows)
    given, holes = pierced(rows[:50], 0.4, rng)
    covariance = model.covariance * np.outer(model.scale, model.scale)
    expected = naive.conditional_means(model.location, covariance, given)
    assert_allclose(model.fill(given), expected, rtol=1e-6)
    assert_array_equal(model.fill(given)[~holes], rows[:50][~holes])


def test_what_is_left_is_between_nothing_and_all(rng):
    """The third column is the sum of the others, the fourth has nothing to do with them."""
    X = rng.standard_normal((500, 4))
    X[:, 2] = X[:, 0] + X[:, 1]
    model = fit_gaussian(X)
    given = np.repeat(X[:1], 3, axis=0)
    given[0, 2], given[1, 3] = np.nan, np.nan
    left = model.fill_and_left(given)[1]
    assert left[0] < 0.05 < 0.9 < left[1] <= 1.05
    assert left[2] == 0


@pytest.mark.parametrize("work", [5e7, 0], ids=["exact", "bound"])
def test_expectation_maximisation_finds_the_covariance_behind_the_holes(work, rng, monkeypatch):
    monkeypatch.setattr(gaussian, "EXACT_WORK", work)
    X = rng.standard_normal((3000, 1)) + 0.3 * rng.standard_normal((3000, 5))
    given, holes = pierced(X, 0.3, rng)
    model = fit_gaussian(given)
    found = model.covariance * np.outer(model.scale, model.scale)
    filled_in = np.cov(np.where(holes, np.nanmean(given, axis=0), X).T)
    error, crude = np.abs(found - np.cov(X.T)).max(), np.abs(filled_in - np.cov(X.T)).max()
    assert error < 0.1 < 0.3 < crude


def test_draws_have_the_conditional_mean_and_variance(rows, rng):
    model = fit_gaussian(rows)
    given, holes = pierced(rows[:1], 0.5, rng)
    draws = np.array([model.draw(np.repeat(given, 2000, axis=0), rng)])[0]
    covariance = model.covariance * np.outer(model.scale, model.scale)
    m = holes[0]
    within = np.linalg.inv(np.linalg.inv(covariance)[np.ix_(m, m)])
    assert_array_equal(draws[:, ~m], np.repeat(given[:, ~m], 2000, axis=0))
    spread = np.sqrt(np.diag(within))
    assert np.abs(draws[:, m].mean(axis=0) - model.fill(given)[0, m]).max() < 0.1 * spread.max()
    assert_allclose(np.cov(draws[:, m].T), within, atol=0.1 * spread.max() ** 2)


def test_columns_that_never_vary_and_units_that_differ(rng):
    X = rng.standard_normal((200, 1)) * [1.0, 1e6, 0.0, 1e-6] + 3
    given = X.copy()
    given[:50, 1], given[50:100, 2], given[100:150, 3] = np.nan, np.nan, np.nan
    filled = fit_gaussian(given).fill(given)
    assert_allclose((filled - X) / [1, 1e6, 1, 1e-6], 0, atol=0.3)
    assert_allclose(filled[:, 2], 3)
