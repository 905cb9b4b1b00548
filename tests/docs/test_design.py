"""The walk of one row in docs/design.md is the way that a row takes; pages name what exists."""

import re
from collections import Counter

import numpy as np
import pytest

from benchmarks._counting import calls
from mercer.cli import main
from tests.conftest import ROOT

#: Files that a row may pass on its way.
MOST = 75


def files_of_the_walk():
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    walk = text[text.index("## The walk of one row") : text.index("## Configuration")]
    return re.findall(r"`([\w/]+\.py)`", walk)


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((1500, 4))
    np.savetxt("x.csv", X, delimiter=",", header="a,b,c,d", comments="")


def walk(output):
    assert main(["fit", "x.csv", "-o", f"{output}.mercer"]) == 0
    assert main(["denoise", f"{output}.mercer", "x.csv", "-o", f"{output}.csv", "-q"]) == 0


def test_each_file_is_named_once():
    twice = [name for name, count in Counter(files_of_the_walk()).items() if count > 1]
    assert not twice


def test_the_files_that_are_named_are_those_that_a_row_passes(table):
    walk("first")  # imports every module
    with calls() as passed:
        walk("second")
    named = set(files_of_the_walk())
    assert named - passed.files == set(), "named, and not passed"
    assert passed.files - named == set(), "passed, and not named"
    assert len(named) <= MOST


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "NOTATION.md", "README.md", "docs/design.md"])
def test_files_that_a_page_names_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|benchmarks)/[\w/.]+)`", text)
    named += [f"src/mercer/{name}" for name in re.findall(r"`(\w+/\w+\.py)`", text)]
    gone = [name for name in named if not (ROOT / name).exists()]
    assert not [n for n in gone if not (ROOT / n.removeprefix("src/mercer/")).exists()]
