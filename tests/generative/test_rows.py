"""Rows of mixtures: columns keep their distribution, categories stay whole, copies are rare."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from mercer.generative import Local, RowMixtures
from mercer.generative import rows as module
from mercer.generative.rows import Column


@pytest.fixture
def X(rng):
    """A long tail, a mass at zero, whole numbers, two numbers that go together, and categories."""
    n = 500
    kind = rng.integers(3, size=n)
    size = rng.lognormal(1.5 * kind)
    spare = np.where(rng.random(n) < 0.7, 0.0, rng.exponential(size=n))
    u = rng.standard_normal(n)
    one_hot = (kind[:, None] == np.arange(3)) * 0.8
    switch = np.where(rng.random(n) < 0.2 + 0.3 * kind, 5.0, -1.0)
    years = rng.integers(20, 60, n).astype(float)
    return np.column_stack(
        [size, spare, years, u, u + 0.1 * rng.standard_normal(n), one_hot, switch]
    )


@pytest.fixture
def mixtures(X, rng):
    return RowMixtures.of(Local().fit(X, rng), X)


def test_no_value_lies_outside_and_every_spread_is_that_of_the_data(X, mixtures, rng):
    drawn = mixtures.sample(20_000, rng)
    assert (drawn >= X.min(axis=0)).all()
    assert (drawn <= X.max(axis=0)).all()
    assert_allclose(drawn.std(axis=0), X.std(axis=0), rtol=0.1)
    ours, theirs = (
        np.quantile(rows, [0.1, 0.5, 0.9], axis=0) / X.std(axis=0) for rows in (drawn, X)
    )
    assert_allclose(ours[:, :5], theirs[:, :5], atol=0.15)


def test_correlations_are_those_of_the_data(X, mixtures, rng):
    drawn = mixtures.sample(20_000, rng)
    assert_allclose(np.corrcoef(drawn.T), np.corrcoef(X.T), atol=0.1)


def test_values_that_repeat_are_values_of_the_data(X, mixtures, rng):
    drawn = mixtures.sample(2000, rng)
    for j in (1, 2):
        assert np.isin(drawn[:, j], X[:, j]).all()
    assert 0.65 < (drawn[:, 1] == 0).mean() < 0.75
    assert not np.isin(drawn[:, 0], X[:, 0]).all()


def test_categories_are_drawn_whole(X, mixtures, rng):
    drawn = mixtures.sample(3000, rng)
    assert_array_equal((drawn[:, 5:8] == 0.8).sum(axis=1), 1)
    assert_array_equal(np.unique(drawn[:, 8]), [-1, 5])
    assert_allclose(drawn[:, 5:8].mean(axis=0), X[:, 5:8].mean(axis=0), atol=0.05)


def test_a_class_does_not_get_values_of_another(rng):
    """Two clusters apart, told by a category: numbers go with their category."""
    kind = np.repeat([0.0, 1.0], 100)
    X = np.column_stack([kind, 20 * kind + rng.standard_normal(200)])
    drawn = RowMixtures.of(Local().fit(X, rng), X).sample(2000, rng)
    assert ((drawn[:, 1] > 10) == (drawn[:, 0] == 1)).mean() > 0.99


def test_near_copies_are_made_again(rng, monkeypatch):
    X = rng.standard_normal((300, 2))
    own = np.sort(cdist(X, X), axis=1)[:, 1]

    def near_copies():
        drawn = RowMixtures.of(Local().fit(X, rng), X).sample(3000, rng)
        return (cdist(drawn, X).min(axis=1) <= np.quantile(own, 0.05)).mean()

    assert near_copies() <= 0.01
    monkeypatch.setattr(module, "TRIES", 0)
    assert near_copies() > 0.04


def test_answers_that_few_gave_are_not_copied(rng):
    """In a survey many rows are alike; those that are not should not come again as they are."""
    mood = rng.integers(1, 4, (800, 1))
    X = np.clip(mood + rng.integers(-1, 2, (800, 6)) * (rng.random((800, 6)) < 0.3), 1, 5) * 1.0
    train, fresh = X[:400], X[400:]
    different, counts = np.unique(train, axis=0, return_counts=True)
    single = different[counts == 1]
    drawn = RowMixtures.of(Local().fit(train, rng), train).sample(400, rng)
    copies, natural = ((cdist(rows, single).min(axis=1) == 0).mean() for rows in (drawn, fresh))
    assert copies <= 0.02 < natural
    assert (cdist(drawn, different[counts > 1]).min(axis=1) == 0).mean() > 0.5


def test_rows_of_levels_that_stand_alone_are_not_copied(rng, monkeypatch):
    """In a table of biopsies 4 % of the draws were: all mixtures around a row were that row."""
    calm = np.where(rng.random((150, 4)) < 0.15, 2.0, 1.0)
    X = np.concatenate([calm, rng.choice([1.0, 5.0, 10.0], (60, 4))])
    different, counts = np.unique(X, axis=0, return_counts=True)

    def copies():
        drawn = RowMixtures.of(Local().fit(X, rng), X).sample(2000, rng)
        return (cdist(drawn, different[counts == 1]).min(axis=1) == 0).mean()

    assert copies() <= 0.001
    monkeypatch.setattr(module, "EQUAL", 0.0)
    assert copies() > 0.005


def test_rows_that_all_repeat_end(rng):
    """Of six different rows every draw is near to one; there is nothing to wait for."""
    X = np.repeat(rng.standard_normal((6, 2)), 10, axis=0)
    drawn = RowMixtures.of(Local(5).fit(X, rng), X).sample(40, rng)
    assert drawn.shape == (40, 2)
    assert np.isin(drawn, X).all()


def test_two_rows_are_enough(rng):
    X = np.array([[0.0, 1.0], [1.0, 3.0]])
    drawn = RowMixtures.of(Local().fit(X, rng), X).sample(9, rng)
    assert drawn.min() >= 0
    assert drawn.max() <= 3


def test_ties_of_the_draws_stand_in_the_middle_of_their_ranks():
    """Draws that are 0 more often than the data are still 0."""
    known = np.repeat([0.0, 4.0], [50, 50])
    drawn = np.repeat([0.0, 1.0], [80, 20])
    assert_array_equal(Column.of(drawn, known).back(np.array([0.0, 1.0])), [0.0, 4.0])


def test_blocks_of_one_hot_columns_are_found():
    kind = np.array([0, 1, 2, 0, 1, 2])
    one_hot = (kind[:, None] == np.arange(3)) * 1.0
    flag, other = np.array([[0, 1, 0, 1, 0, 1], [2, 3, 2, 2, 3, 3]]).astype(float)
    number = np.arange(6.0)
    X = np.column_stack([flag, number, one_hot, other])
    two = np.array([True, False, True, True, True, True])
    blocks = [block.tolist() for block in module._categories(X, two)]
    assert blocks == [[0], [2, 3, 4], [5]]
