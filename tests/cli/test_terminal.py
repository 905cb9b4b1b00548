"""What a person sees who gives no --output, and draws a picture twice."""

import io
import sys

import pytest
from rich.console import Console
from sklearn.datasets import load_iris

from mercer._base.progress import announce
from mercer.cli import console, main


@pytest.fixture
def flowers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = "length,width,long,wide"
    rows = [",".join(map(str, row)) for row in load_iris().data.tolist()]
    (tmp_path / "iris.csv").write_text("\n".join([names, *rows]) + "\n")
    assert main(["fit", "iris.csv", "--components", "3", "-q", "-o", "m.mercer"]) == 0
    return tmp_path


def test_a_terminal_gets_four_digits_with_the_name_first(flowers, monkeypatch, capsys):
    capsys.readouterr()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["relevance", "m.mercer"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["variable", "component"]
    name, *numbers = first.split()
    assert name == "length"
    assert all(len(number) <= 9 for number in numbers)


def test_a_terminal_gets_the_columns_that_fit(flowers, monkeypatch, capsys):
    """A table of 37 components took six lines for each row."""
    capsys.readouterr()
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "50")
    assert main(["relevance", "m.mercer"]) == 0
    seen = capsys.readouterr()
    head, *rows = seen.out.splitlines()
    assert all(len(row) <= 50 for row in [head, *rows])
    assert head.split() == ["variable", "component", "0", "overall", "error"]
    assert "2 more columns do not fit here; -o FILE writes all of them" in seen.err


def test_a_pipe_gets_all_digits(flowers, capsys):
    capsys.readouterr()
    assert main(["transform", "m.mercer", "iris.csv"]) == 0
    second = capsys.readouterr().out.splitlines()[1]
    assert max(map(len, second.split(","))) > 12


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_a_plot_replaces_its_own_picture_alone(flowers, ending, capsys):
    pytest.importorskip("matplotlib")
    picture = flowers / f"scree.{ending}"
    for _ in range(2):
        assert main(["plot", "scree", "m.mercer", "-o", picture.name]) == 0
    picture.write_bytes(b"another's picture")
    assert main(["plot", "scree", "m.mercer", "-o", picture.name]) != 0
    assert "--force" in capsys.readouterr().err


def test_a_bar_counts_steps_also_of_an_unknown_number(monkeypatch):
    """An iteration has no number of steps: a bar in motion alone does not say how far it is."""
    seen = io.StringIO()
    screen = Console(file=seen, force_terminal=True, width=120)
    monkeypatch.setattr(console, "Terminal", lambda **_: screen)
    with console.progress():
        announce("passes", 7)
        announce("rows", 30, 80)
    assert "7/?" in seen.getvalue()
    assert "30/80" in seen.getvalue()
