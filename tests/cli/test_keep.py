"""Columns of the data that go to the output as they are: ``--keep`` and ``--id``."""

import csv

import numpy as np
import pytest

from tests.cli.conftest import NAMES, make_rows
from tests.cli.test_mixed import customers, write


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def named(tmp_path):
    """Rows with a name that looks like a number, whole numbers, and text."""
    rows = [
        [f"{i:04}", *row, 7 * i, f"note {i}"] for i, row in enumerate(make_rows(25, 1).tolist())
    ]
    return write(tmp_path / "named.csv", rows, header=["key", *NAMES, "count", "note"])


@pytest.mark.parametrize("command", ["transform", "denoise", "impute", "novelty"])
def test_kept_columns_are_as_they_were(mercer, model, named, tmp_path, command):
    out = tmp_path / "out.csv"
    done = mercer(command, model, named, "--id", "key", "--keep", "note,count", "-o", out)
    rows = read(out)
    assert [row["key"] for row in rows] == [f"{i:04}" for i in range(25)]
    assert [row["count"] for row in rows] == [str(7 * i) for i in range(25)]
    assert rows[3]["note"] == "note 3"
    assert list(rows[0])[-3:] == ["key", "note", "count"]
    assert "does not know" not in done.err


def test_the_way_back_keeps_them_too(mercer, model, named, tmp_path):
    scores, out = tmp_path / "z.csv", tmp_path / "out.csv"
    mercer("transform", model, named, "--id", "key", "-o", scores)
    mercer("inverse", model, scores, "--id", "key", "-o", out)
    assert [row["key"] for row in read(out)] == [f"{i:04}" for i in range(25)]


def test_a_column_that_the_model_uses_gets_another_name(mercer, model, named, tmp_path):
    out = tmp_path / "out.csv"
    mercer("denoise", model, named, "--keep", "width", "-o", out)
    rows, X = read(out), make_rows(25, 1)
    np.testing.assert_array_equal([float(row["data_width"]) for row in rows], X[:, 1])
    assert not np.array_equal([float(row["width"]) for row in rows], X[:, 1])


@pytest.mark.parametrize("command", ["transform", "denoise", "impute", "novelty"])
def test_of_a_table_of_all_kinds(mercer, tmp_path, command):
    table = write(tmp_path / "customers.csv", customers())
    model, out = tmp_path / "m.mercer", tmp_path / "out.csv"
    mercer("fit", table, "-o", model, "--components", 6, "--drop", "id", "-q")
    mercer(command, model, table, "--id", "id", "--keep", "city", "-o", out)
    rows = read(out)
    assert [row["id"] for row in rows] == [str(row[0]) for row in customers()]
    assert {row["city"] for row in rows} <= {"Oslo", "Rome", "Bonn", "Lyon"}


def test_wrong_names_are_told(mercer, model, named, tmp_path):
    mercer.fails("transform", model, named, "--keep", "key,wrong", status=3,
                 words=["'wrong'", "'note'"])  # fmt: skip
    np.save(tmp_path / "x.npy", make_rows(5))
    mercer.fails("transform", model, tmp_path / "x.npy", "--id", "key", status=2,
                 words=["--id", "x.npy"])  # fmt: skip


def test_samples_carry_their_class(mercer, train, tmp_path):
    model, out = tmp_path / "g.mercer", tmp_path / "new.csv"
    mercer("fit", train, "--label", "kind", "--model", "generative", "-o", model, "-q")
    mercer("sample", model, "-n", 5, "--label", "left", "-o", out)
    assert [row["label"] for row in read(out)] == ["left"] * 5
    mercer("sample", model, "-n", 5, "--label", "left", "-o", tmp_path / "new.npy")
    assert np.load(tmp_path / "new.npy").shape == (5, 4)
    mercer("sample", model, "-n", 5, "-o", tmp_path / "any.csv")
    assert "label" not in read(tmp_path / "any.csv")[0]
