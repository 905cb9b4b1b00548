"""Rows in batches: the same fit as of the array, whatever the batches are."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from mercer import KernelNovelty, KernelPCA
from mercer.exceptions import DataError
from mercer.io import from_batches
from mercer.solvers import Landmarks

SIZES = (1, 7, 100, 3, 250)
NAMES = ["a", "b", "c"]
KINDS = {
    "array": np.asarray,
    "pandas": lambda part: pd.DataFrame(part, columns=NAMES),
    "polars": lambda part: pl.DataFrame(part, schema=NAMES),
    "table": lambda part: pa.table(dict(zip(NAMES, part.T, strict=True))),
    "record batch": lambda part: pa.record_batch(dict(zip(NAMES, part.T, strict=True))),
    "tuples": lambda part: list(map(tuple, part.tolist())),
}


@pytest.fixture
def X(rng):
    return rng.standard_normal((sum(SIZES), 3))


def cut(X, kind="array"):
    parts = np.split(X, np.cumsum(SIZES)[:-1])
    return lambda: map(KINDS[kind], parts)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_batch_holds_the_rows(kind, X):
    rows = from_batches(cut(X, kind))
    assert rows.shape == X.shape
    assert rows.columns == (None if kind in ("array", "tuples") else tuple(NAMES))
    assert_array_equal(rows[:], X)
    assert_array_equal(rows[5:120], X[5:120])
    assert_array_equal(rows[np.array([0, 8, 107, 360])], X[[0, 8, 107, 360]])


def test_the_fit_is_that_of_the_array(X):
    for model in (KernelPCA(4, solver=Landmarks(40), random_state=0), KernelPCA(4)):
        expected = model.fit(X).transform(X)
        rows = from_batches(cut(X), n=len(X))
        assert_array_equal(model.fit(rows).transform(rows), expected)
    assert KernelNovelty(random_state=0).fit(from_batches(cut(X))).p_values(X[:5]).shape == (5,)


def test_float32_stays(X):
    assert from_batches(cut(X.astype(np.float32))).dtype == np.float32


def test_null_is_a_missing_value(X):
    def batches():
        return [[(1.0, 2.0), (None, 3.0)]]

    rows = from_batches(batches)
    with pytest.raises(DataError, match="nan at row 1, column 0"):
        rows[:]
    rows.allow_nan = True
    assert np.isnan(rows[:][1, 0])


def once(X):
    used = iter([X])
    return lambda: used


MISTAKES = {
    "not a function": (lambda X: from_batches([X]), "used up after one pass"),
    "empty": (lambda X: from_batches(list), "there is no batch"),
    "words": (lambda X: from_batches(lambda: [[("x", 1.0)]]), "not numbers"),
    "mixed": (lambda X: from_batches(lambda: [[("x", None)]]), "not a number"),
    "names": (lambda X: from_batches(lambda: [X], columns=["a"]), "1 names were given for 3"),
    "widths": (lambda X: from_batches(lambda: [X, X[:, :2]]), r"batch 1 has shape \(361, 2\)"),
    "flat": (lambda X: from_batches(lambda: [X[:, 0]]), "not that of a table"),
    "too few": (lambda X: from_batches(lambda: [X], n=400)[:], "361 rows, and 400 were expected"),
    "too many": (lambda X: from_batches(lambda: [X], n=300)[:], "361 rows, and 300 were expected"),
    "used up": (lambda X: from_batches(once(X), n=len(X))[:], "0 rows, and 361 were expected"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name, X):
    make, words = MISTAKES[name]
    with pytest.raises(DataError, match=words):
        make(X)
