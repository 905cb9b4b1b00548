"""Tables of any library are taken apart, and put together again."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from mercer.exceptions import DataError
from mercer.tables.frames import take_apart

arrow = pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]), arrow.table([[1], [2]], names=["a", "a"])],
    ids=["pandas", "pyarrow"],
)
def test_columns_of_the_same_name_are_refused(table):
    with pytest.raises(DataError, match="same name: - 'a' 2 times; rename them"):
        take_apart(table)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_that_pandas_has_from_arrow_are_times(unit, zone):
    """With a zone they were objects, and no dates."""
    times = pd.Series(pd.date_range("2024-01-01", periods=3, freq="D"))
    dtype = pd.ArrowDtype(arrow.timestamp(unit, zone))
    table = pd.DataFrame({"t": times.astype(dtype)}, index=["x", "y", "z"])
    frame = take_apart(table)
    assert frame.columns["t"].dtype == np.dtype(f"M8[{unit}]")
    back = frame.make(frame.columns)
    pd.testing.assert_frame_equal(back, table)


def test_rows_by_name_are_a_table():
    """Records were "1D", a single row was "'float' object is not iterable"."""
    rows = [{"a": 1.5, "b": "x"}, {"b": "y", "c": Decimal("0.25")}]
    columns = take_apart(rows).columns
    assert {name: values.tolist()[1] for name, values in columns.items()} == {
        "a": pytest.approx(np.nan, nan_ok=True), "b": "y", "c": 0.25,
    }  # fmt: skip
    one = take_apart({"a": 1.5, "b": "Rome"}).columns
    assert [values.tolist() for values in one.values()] == [[1.5], ["Rome"]]


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (pd.to_timedelta([1, 2], "h"), r"'d' holds Timedelta; .* table\['d'\].dt.total_seconds"),
        (pd.period_range("2020", periods=2, freq="M"), r"holds Period; .*to_timestamp"),
        ([[1], [2]], r"holds list; make them all numbers"),
        ([1, "a"], r"values of several kinds \(int, str\)"),
    ],
)
def test_values_of_other_kinds_are_named(values, words):
    """One kind was called several."""
    with pytest.raises(DataError, match=words):
        take_apart(pd.DataFrame({"d": values}))


def test_a_series_is_neither_a_row_nor_a_column():
    with pytest.raises(DataError, match=r"one row is table.iloc\[\[0\]\]"):
        take_apart(pd.Series([1.0, 2.0]))


def test_masked_arrays_are_refused():
    """Their masks were lost: what was hidden counted as any other value."""
    hidden = np.ma.masked_array([[1.0, 2.0], [1e9, 4.0]], mask=[[0, 0], [1, 0]])
    for table in (hidden, {"a": hidden[:, 0], "b": [1.0, 2.0]}):
        with pytest.raises(DataError, match="masked arrays"):
            take_apart(table)
