"""`mercer relevance`, and the pictures that go with it."""

import csv
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import load
from tests.cli.conftest import NAMES


def read(path):
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return rows


def test_a_row_for_each_variable(mercer, model, test, tmp_path):
    out = tmp_path / "out.csv"
    done = mercer("relevance", model, test, "-o", out)
    rows = read(out)
    assert [row["variable"] for row in rows] == list(NAMES)
    found = load(model).relevance(str(test), unit="share")
    assert_allclose([float(row["component 1"]) for row in rows], found.components[1], rtol=1e-9)
    assert_allclose([float(row["overall"]) for row in rows], found.overall, rtol=1e-9)
    assert_allclose([float(row["error"]) for row in rows], found.error, rtol=1e-9)
    assert "component 0: " in done.err
    assert "4 variables" in done.err


def test_without_data_to_standard_output(mercer, model):
    lines = mercer("relevance", model).out.splitlines()
    assert len(lines) == 1 + len(NAMES)
    assert lines[0].startswith("component 0,component 1")


def test_intervals_and_advice(mercer, model, tmp_path):
    out = tmp_path / "out.csv"
    done = mercer("relevance", model, "--intervals", "--json", "-o", out)
    assert "components are stable" in json.loads(done.out)["advice"][0]
    row = read(out)[0]
    assert float(row["component 0 low"]) <= float(row["component 0"])
    assert float(row["component 0"]) <= float(row["component 0 high"])


def test_units(mercer, model, test, tmp_path):
    out = tmp_path / "out.npz"
    mercer("relevance", model, test, "--unit", "raw", "-o", out, "-q")
    wanted = load(model).relevance(str(test), unit="raw").table.T
    assert_allclose(np.load(out)["X"], wanted, rtol=1e-9)


def test_wrong_ways(mercer, model, train, test, tmp_path):
    mercer.fails("relevance", model, "--intervals", "--unit", "raw", status=2, words=["--unit"])
    mercer.fails("relevance", tmp_path / "none.mercer", status=4, words=["no model file"])
    landmarks = tmp_path / "l.mercer"
    options = ("--label", "kind", "--components", 2, "--solver", "landmarks", "--landmarks", 10)
    mercer("fit", train, *options, "-o", landmarks, "-q")
    mercer.fails("relevance", landmarks, "--intervals", status=3, words=["name their file as DATA"])
    mercer("relevance", landmarks, test, "-q")


@pytest.mark.parametrize("kind", ["relevance", "biplot"])
def test_pictures(mercer, model, test, tmp_path, kind):
    out = tmp_path / "out.png"
    mercer("plot", kind, model, test, "-o", out)
    assert out.read_bytes()[:4] == b"\x89PNG"


def test_pictures_with_intervals(mercer, model, test, tmp_path):
    for kind in ("scree", "relevance"):
        mercer("plot", kind, model, "--intervals", "-o", tmp_path / f"{kind}.png")
    wrong = ("plot", "biplot", model, "--intervals", "-o", tmp_path / "b.png")
    mercer.fails(*wrong, status=2, words=["scree"])


def test_fit_says_what_cannot_be_told_apart(mercer, train, tmp_path):
    done = mercer(
        "fit", train, "--label", "kind", "--components", 4, "-o", tmp_path / "m", "--json"
    )
    assert "advice" in json.loads(done.out)


def test_relevance_on_a_terminal_has_words(mercer, fitted):
    done = mercer("relevance", fitted)
    assert done.out.startswith("component 0,")
    assert "component 0: " in done.err
