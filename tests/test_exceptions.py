"""Remedies are data: what to write in Python, at a shell and on a page, without reading texts."""

import ast
import pickle
from pathlib import Path

import pytest

import mercer
from mercer.exceptions import DataError, MercerWarning, Remedy, argument, said, warn

ROOT = Path(mercer.__file__).parent
MORE = Remedy("raise max_iter", shell="give more --rows")


def test_an_error_is_said_in_the_words_of_the_place():
    error = DataError("it moved; " + MORE + ", or " + Remedy("stop", page="press Stop") + ".")
    assert str(error) == "it moved; raise max_iter, or stop."
    assert said(error, "shell") == "it moved; give more --rows, or stop."
    assert said(error, "page") == "it moved; raise max_iter, or press Stop."


def test_a_warning_is_said_in_the_words_of_the_place():
    with pytest.warns(MercerWarning, match="raise max_iter") as caught:
        warn("it moved; " + MORE, MercerWarning)
    assert said(caught[0].message, "shell") == "it moved; give more --rows"


def test_an_error_without_other_words_is_its_text():
    assert said(DataError("no rows."), "shell") == "no rows."
    assert said(OSError(2, "gone", "x.csv"), "shell") == "[Errno 2] gone: 'x.csv'"
    assert said(DataError(), "page") == ""


def test_other_words_come_back_from_another_process():
    error = pickle.loads(pickle.dumps(DataError("it moved; " + MORE)))
    assert (str(error), said(error, "shell")) == (
        "it moved; raise max_iter",
        "it moved; " + MORE.elsewhere["shell"],
    )


@pytest.mark.parametrize(
    ("name", "value", "python", "shell"),
    [
        ("label", "x;ls", "label='x;ls'", "--label 'x;ls'"),
        ("drop", ["a b", "one,two"], "drop=['a b', 'one,two']", "--drop 'a b,\"one,two\"'"),
        ("n_components", 3, "n_components=3", "--components 3"),
        ("width", -1.0, "width=-1.0", "--width -1.0"),
        ("scale", "std", "scale='std'", "--scale std"),
        ("array", "a b", "array='a b'", "--array 'a b'"),
        ("alpha", 2, "alpha=2", "alpha=2"),
    ],
)
def test_an_argument_is_an_option(name, value, python, shell):
    assert (str(argument(name, value)), said(argument(name, value), "shell")) == (python, shell)


def test_no_remedy_is_lost_in_an_f_string():
    """Formatted, it would be Python's words everywhere, in silence."""
    made = {"Remedy", "argument", "as_kind", "remedy_for", "fill_in"}
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FormattedValue):
                calls = [n.func for n in ast.walk(node) if isinstance(n, ast.Call)]
                names = {getattr(f, "id", getattr(f, "attr", "")) for f in calls}
                assert not names & made, f"{path}:{node.lineno}"
