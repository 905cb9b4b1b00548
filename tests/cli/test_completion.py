"""What the shell offers after the tab key."""

import shlex

import pytest
from click.shell_completion import ShellComplete

from mercer.cli import options
from mercer.cli.run import mercer as group
from mercer.io import writing


@pytest.fixture
def offered(monkeypatch):
    def offer(args, begun):
        args = [str(arg) for arg in args]
        # As the script of the shell does.
        monkeypatch.setenv("COMP_WORDS", shlex.join(["mercer", *args, begun]))
        complete = ShellComplete(group, {}, "mercer", "_MERCER_COMPLETE")
        return [item.value for item in complete.get_completions(args, begun)]

    return offer


def test_kernels_and_solvers(offered):
    assert offered(["fit", "x.csv", "--kernel"], "po") == ["polynomial"]
    assert offered(["fit", "x.csv", "--solver"], "da") == ["davidson"]


@pytest.mark.parametrize("option", ["--label", "--columns", "--drop", "--category", "--index"])
def test_columns_of_the_file_that_is_named(offered, train, option):
    assert offered(["fit", train, option], "w") == ["width", "weight"]
    assert "kind" in offered(["fit", train, option], "")


def test_columns_after_a_comma(offered, model, train):
    begun = offered(["transform", model, train, "--keep"], "kind,wi")
    assert begun == ["kind,width"]


def test_nothing_where_there_is_no_file(offered, tmp_path):
    assert offered(["fit", tmp_path / "no.csv", "--label"], "") == []
    (tmp_path / "empty.csv").write_text("")
    assert offered(["fit", tmp_path / "empty.csv", "--label"], "") == []


def test_the_names_in_help_are_those_of_the_library():
    assert options.FORMATS == writing.FORMATS
