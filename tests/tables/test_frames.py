"""Tables of any library are taken apart, and put together again."""

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
