"""The law of the command line: help at once, one line per error, the right exit status."""

import subprocess
import sys
import warnings

import click
import pytest

from mercer.cli import main
from mercer.cli.run import mercer
from mercer.exceptions import ConvergenceError, DataError, KernelError, ModelFileError, RankWarning


@pytest.fixture
def command(monkeypatch):
    """A command `mercer act` that does what the test says."""

    def register(act):
        monkeypatch.setitem(mercer.commands, "act", click.Command("act", callback=act))

    return register


def raising(error):
    def act():
        raise error

    return act


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"], ["demo", "--help"]])
def test_help(capsys, args):
    assert main(args) == 0
    assert "Usage: mercer" in capsys.readouterr().out


def test_version(capsys):
    import mercer as package

    assert main(["--version"]) == 0
    assert package.__version__ in capsys.readouterr().out


def test_help_loads_no_numerics():
    """What makes --help instant; a time limit would measure the machine instead."""
    code = (
        "import sys; from mercer.cli import main; main(['--help']); main(['fit', '--help']);"
        "main(['fit', 'x.csv', '--solver', 'arpack']);"
        "heavy = {'numpy', 'scipy', 'sklearn', 'rich'} & set(sys.modules); assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (DataError("row 3 is NaN. Impute it first."), 3, "row 3"),
        (ModelFileError("truncated. Save it again."), 4, "truncated"),
        (ConvergenceError("after 9 passes. Raise max_iter."), 5, "9 passes"),
        (KernelError("gamma is negative. Choose a positive one."), 1, "gamma"),
        (click.UsageError("what?"), 2, "--help"),
        (FileNotFoundError(2, "No such file or directory", "x.npy"), 1, "x.npy"),
        (OSError(28, "No space left on device"), 1, "Free some space"),
        (MemoryError(), 1, "landmarks"),
        (ZeroDivisionError("float\ndivision"), 1, "ZeroDivisionError: float division"),
        (ValueError("not ours"), 1, "--debug"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_errors(capsys, command, error, status, words):
    command(raising(error))
    assert main(["act"]) == status
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1, err
    assert err.startswith("mercer: error: ")
    assert words in err


def test_debug_shows_the_traceback(capsys, command):
    command(raising(DataError("row 3 is NaN. Impute it first.")))
    assert main(["--debug", "act"]) == 3
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("Traceback")
    assert lines[-1] == "mercer: error: row 3 is NaN. Impute it first."


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), click.Abort()])
def test_interruption(capsys, command, interruption):
    command(raising(interruption))
    assert main(["act"]) == 130
    assert capsys.readouterr().err == "mercer: interrupted\n"


def test_warnings_are_one_line(capsys, command):
    command(lambda: warnings.warn("only 3 components exist", RankWarning, stacklevel=1))
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # pytest turns warnings into errors
        assert main(["act"]) == 0
    assert capsys.readouterr().err == "mercer: warning: only 3 components exist\n"
