"""Which columns of a file are read, and as what."""

import numpy as np
import pytest

from mercer.exceptions import DataError
from mercer.io import Choice, open_rows, open_table
from mercer.tables import read_table


@pytest.fixture
def unnamed(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(50.0).reshape(5, 10))
    return tmp_path / "x.npy"


def test_columns_by_number(unnamed):
    assert open_table(unnamed, Choice(drop=["0", "5-8"])).rows[:1].tolist() == [[1, 2, 3, 4, 9]]


@pytest.mark.parametrize("choice", [Choice(drop=["8-5"]), Choice(columns=["8-5"])])
def test_a_range_that_runs_backwards_is_no_range(unnamed, choice):
    """It used to mean no column at all: nothing was dropped, in silence."""
    with pytest.raises(DataError, match=r"'8-5' means nothing .*; give numbers from 0 to 9"):
        open_table(unnamed, choice)


@pytest.mark.parametrize("text", ["10", "3-99999999999999", "²", "-", "a"])
def test_what_numbers_no_column_is_named(unnamed, text):
    """A range beyond the columns was made before it was looked at."""
    with pytest.raises(DataError, match=rf"'{text}' means nothing .*; give numbers from 0 to 9"):
        open_table(unnamed, Choice(columns=[text]))


@pytest.mark.parametrize(
    "choice", [Choice(drop=["0-9"]), Choice(columns=["3"], drop=["3"]), Choice(["2"], label="2")]
)
def test_at_least_one_column_is_left(unnamed, choice):
    with pytest.raises(DataError, match=r"no column of 'x\.npy' is left"):
        open_table(unnamed, choice)


def test_an_underscore_makes_no_number(tmp_path):
    """Python reads 12_3 as 123; in a table it is a code."""
    path = tmp_path / "x.csv"
    path.write_text("code,value\n12_3,1\n4_56,2\n")
    assert read_table(path).columns["code"].tolist() == ["12_3", "4_56"]
    with pytest.raises(DataError, match="line 2 .*'12_3' is not a number"):
        open_rows(path)[:]


@pytest.mark.parametrize("texts", [("1_0", "10"), ("007", "7"), ("+1", "1")])
def test_classes_that_are_written_differently_stay_different(tmp_path, texts):
    path = tmp_path / "x.csv"
    path.write_text("value,kind\n1,{}\n2,{}\n".format(*texts))
    assert open_table(path, Choice(label="kind")).label.tolist() == list(texts)


def test_classes_that_are_whole_numbers_are_numbers(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("value,kind\n1,3\n2,7\n3,3\n")
    assert open_table(path, Choice(label="kind")).label.tolist() == [3, 7, 3]
