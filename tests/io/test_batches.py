"""Rows in batches: the same fit as of the array, whatever the batches are."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from mercer import KernelNovelty, KernelPCA
from mercer.exceptions import DataError, MercerWarning
from mercer.io import batches, from_batches
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
    rows = from_batches(lambda: [[(1.0, 2.0), (None, 3.0)]])
    with pytest.raises(DataError, match="nan at row 1, column 0"):
        rows[:]
    rows.allow_nan = True
    assert np.isnan(rows[:][1, 0])


def test_a_batch_may_be_made_in_the_place_of_the_last_one(X):
    def parts():
        place = np.empty((19, 3))
        for part in np.split(X, 19):
            place[:] = part
            yield place

    assert_array_equal(from_batches(parts)[:], X)


def test_batches_without_rows_are_passed_over(X):
    make = lambda: [[], X[:0], X[:5], [], X[5:], []]  # noqa: E731
    assert_array_equal(from_batches(make)[:], X)


def test_whole_numbers_that_float64_changes_are_named(X):
    late = np.full((2, 3), 2**53 + 1)
    with pytest.warns(MercerWarning, match="column 'a' holds 9007199254740993"):
        from_batches(lambda: [X, late], columns=NAMES)


def test_masked_entries_are_missing(X):
    rows = from_batches(lambda: [np.ma.masked_array(X, mask=X > 2)])
    rows.allow_nan = True
    assert_array_equal(np.isnan(rows[:]), X > 2)


def changing(X):
    """Other rows, of the same number, in each pass."""
    passes = iter(range(9))
    return lambda: [X[:100], X[100:] + next(passes)]


@pytest.mark.parametrize("n", [None, 361])
def test_rows_that_change_between_passes_are_refused(n, X):
    rows = from_batches(changing(X), n=n)
    with pytest.raises(DataError, match="are not those of an earlier pass"):
        KernelPCA(2, solver=Landmarks(20), random_state=0).fit(rows)


def test_rows_in_another_order_are_refused_by_a_pass_that_does_not_reach_the_end(X, monkeypatch):
    monkeypatch.setattr(batches, "EDGE", 64)
    rng = np.random.default_rng(0)
    rows = from_batches(lambda: [rng.permutation(X)], n=len(X))
    rows[:200]
    with pytest.raises(DataError, match="are not those of an earlier pass"):
        rows[:200]


def moved(X):
    parts = (pd.DataFrame(part, columns=NAMES) for part in (X[:9], X[9:]))
    frames = [part if i == 0 else part[["b", "a", "c"]] for i, part in enumerate(parts)]
    return lambda: frames


def once(X):
    used = iter([X])
    return lambda: used


MISTAKES = {
    "not a function": (lambda X: from_batches([X]), "a function that starts anew, not list"),
    "empty": (lambda X: from_batches(list), "there is no batch"),
    "words": (lambda X: from_batches(lambda: [[("x", 1.0)]]), "not numbers"),
    "mixed": (lambda X: from_batches(lambda: [[("x", None)]]), "not a number"),
    "names": (lambda X: from_batches(lambda: [X], columns=["a"]), "1 names were given for 3"),
    "widths": (lambda X: from_batches(lambda: [X, X[:, :2]]), r"batch 1 has shape \(361, 2\)"),
    "flat": (lambda X: from_batches(lambda: [X[:, 0]]), "not that of a table"),
    "too few": (lambda X: from_batches(lambda: [X], n=400)[:], "361 rows, and 400 were expected"),
    "too many": (lambda X: from_batches(lambda: [X], n=300)[:], "361 rows, and 300 were expected"),
    "columns moved": (lambda X: from_batches(moved(X)), "columns b, a, c, and the first a, b, c"),
    "names moved": (
        lambda X: from_batches(cut(X, "pandas"), columns=["b", "a", "c"]),
        "batch 0 has columns a, b, c",
    ),
    "coarse first": (
        lambda X: from_batches(lambda: [X[:9].astype(np.float32), X]),
        "batch 1 holds float64, and the first float32",
    ),
    "dates later": (lambda X: from_batches(lambda: [X, X.astype("M8[s]")]), "batch 1 holds date"),
    "words later": (lambda X: from_batches(lambda: [X, X.astype(str)]), "batch 1 holds <U"),
    "complex later": (lambda X: from_batches(lambda: [X, X + 1j]), "batch 1 holds complex128"),
    "text": (lambda X: from_batches(lambda: [[("1", None)]]), "not a number .*text"),
    "sparse": (lambda X: from_batches(lambda: [csr_array(X)]), "what is not a number"),
    "no batches": (lambda X: from_batches(lambda: 5), "returned int"),
    "negative": (lambda X: from_batches(lambda: [X], n=-5), "n=-5"),
    "half a row": (lambda X: from_batches(lambda: [X], n=360.5), "n=360.5"),
    "used up": (lambda X: from_batches(once(X), n=len(X))[:], "0 rows, and 361 were expected"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_named(name, X):
    make, words = MISTAKES[name]
    with pytest.raises(DataError, match=words):
        make(X)
