"""Held-out scores come from models that have not seen the row."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer.exceptions import DataError
from mercer.novelty import CrossFit, Split, as_calibration, held_out_scores


class Recorder:
    """A learner whose score of a row is whether the model had seen it (rows are their numbers)."""

    def __init__(self):
        self.fits, self.likes = [], []

    def __call__(self, rows, like=None):
        self.fits.append(rows)
        self.likes.append(like)
        return lambda X: np.isin(X[:, 0], rows).astype(float)


def numbered(n):
    return np.arange(float(n))[:, None]


@pytest.mark.parametrize(("n", "folds"), [(2, 10), (7, 3), (50, 10), (11, 11)])
def test_no_row_is_scored_by_a_model_that_saw_it(n, folds):
    learn = Recorder()
    seen = held_out_scores(learn, numbered(n), folds, np.random.default_rng(0))
    assert not seen.any()
    assert len(learn.fits) == min(n, folds)
    counts = np.bincount(np.concatenate(learn.fits), minlength=n)
    assert (counts == len(learn.fits) - 1).all()


def test_cross_fit_ends_with_all_rows():
    learn = Recorder()
    found = CrossFit(5).calibrate(learn, numbered(20), np.random.default_rng(0))
    assert found.score(numbered(20)).all()
    assert not found.held_out.any()
    assert_array_equal(found.rows, np.arange(20))
    assert learn.likes == [None] + 5 * [found.score]  # the folds copy the choices of the final one


def test_split_keeps_its_rows_apart():
    learn = Recorder()
    found = Split(0.25).calibrate(learn, numbered(40), np.random.default_rng(0))
    assert learn.likes == [None]
    assert len(found.rows) == 10
    assert not np.intersect1d(found.rows, learn.fits[0]).size
    assert not found.held_out.any()


def test_auto_sets_rows_aside_when_there_are_many():
    assert isinstance(as_calibration("auto", 500), CrossFit)
    assert isinstance(as_calibration("auto", 50_000), Split)
    with pytest.raises(DataError, match="'auto', 'cross', 'split'"):
        as_calibration("train", 10)


@pytest.mark.parametrize("share", [0.0, 0.99, 1.0])
def test_split_needs_rows_on_both_sides(share):
    with pytest.raises(DataError, match="leave at least 2 rows"):
        Split(share).calibrate(Recorder(), numbered(20), np.random.default_rng(0))


def test_one_fold_cannot_hold_out():
    with pytest.raises(DataError, match="at least 2"):
        held_out_scores(Recorder(), numbered(20), 1, np.random.default_rng(0))
