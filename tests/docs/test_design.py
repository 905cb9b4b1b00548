"""The walk of one row in docs/design.md is the way that a row really takes."""

import re
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.cli import main

SOURCE = Path(mercer.__file__).parent
ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "design.md"


def files_of_the_walk():
    text = PAGE.read_text(encoding="utf-8")
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


def files_that_run(work):
    """Files of mercer of which a function is called; imports came before."""
    seen = set()

    def note(frame, event, _argument):
        if event == "call":
            seen.add(frame.f_code.co_filename)

    threading.setprofile(note)
    try:
        work()
    finally:
        threading.setprofile(None)
        sys.setprofile(None)
    inside = (Path(name) for name in seen)
    return {p.relative_to(SOURCE).as_posix() for p in inside if p.is_relative_to(SOURCE)}


def test_each_file_is_named_once():
    twice = [name for name, count in Counter(files_of_the_walk()).items() if count > 1]
    assert not twice


def test_the_row_passes_every_file_that_is_named(table):
    walk("first")  # imports every module
    named, passed = set(files_of_the_walk()), files_that_run(lambda: walk("second"))
    # The command runs in a thread of its own; what answers signals does not.
    assert named - passed <= {"cli/run.py", "cli/stop.py"}
    assert len(named) > 40


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "NOTATION.md", "README.md", "docs/design.md"])
def test_files_that_a_page_names_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|benchmarks)/[\w/.]+)`", text)
    named += [f"src/mercer/{name}" for name in re.findall(r"`(\w+/\w+\.py)`", text)]
    gone = [name for name in named if not (ROOT / name).exists()]
    assert not [n for n in gone if not (ROOT / n.removeprefix("src/mercer/")).exists()]
