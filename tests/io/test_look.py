"""A file is looked at once, and what was seen is handed on."""

import numpy as np
import pytest

from benchmarks._counting import calls, opens
from mercer.cli import main
from mercer.exceptions import DataError
from mercer.io import open_rows
from mercer.io.look import Look, numbers_of

N, D = 300, 6


@pytest.fixture(params=["one unit", "many units", "mixed", "long"])
def data(request, tmp_path, monkeypatch):
    """Raw rows, rows that are scaled, a table, and rows of which the look sees only the first."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    if request.param == "long":
        monkeypatch.setattr("mercer.io.look.LOOK", 1 << 12)
    X = rng.standard_normal((N, D)) * 10.0 ** np.arange(D) ** (request.param != "one unit")
    columns = [[f"{value:.6g}" for value in column] for column in X.T]
    if request.param == "mixed":
        columns[-1] = ["red" if x > 0 else "blue" for x in X[:, 0]]
    lines = ["a,b,c,d,e,f", *map(",".join, zip(*columns, strict=True))]
    (tmp_path / "data.csv").write_text("\n".join(lines))


@pytest.mark.parametrize("command", ["transform", "denoise", "novelty"])
def test_a_command_looks_once(command, data):
    """Before there was one look, a fit took 15 opens, 6 sniffs, 6 questions for each field."""
    fit = ["fit", "data.csv", "-o", "m.mercer", "-q", "--components", "3"]
    if command == "novelty":
        fit += ["--model", "novelty"]
    for arguments in (fit, [command, "m.mercer", "data.csv", "-o", "out.npz", "-q"]):
        with calls() as counted, opens("data.csv") as opened:
            assert main(arguments) == 0
            assert 0 < opened() <= 3
        assert counted.of("sniff") <= 1  # a model of tables reads its columns without a look
        assert counted.of("is_number") <= N * D


def test_a_look_at_a_short_file_has_all_of_it(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf\n# a comment\na,b\n1,x\n,y\n")
    look = Look(path)
    assert (look.names, look.non_numeric) == (["a", "b"], ["b"])
    assert look.first_fields["a"] == ("1", "")
    with look.open() as file:
        assert file.read() == path.read_bytes()


def test_a_look_sees_rows_after_a_long_line_of_names(tmp_path):
    names = [f"a_rather_long_name_{j}" for j in range(20_000)]
    path = tmp_path / "x.csv"
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * 19_999 + ["x"]))
    assert Look(path).non_numeric == names[-1:]


def test_rows_that_are_kept_are_not_those_that_were_given(tmp_path):
    """A pass after the first reads no text, whatever was done to its rows."""
    np.savetxt(tmp_path / "x.csv", np.eye(4), delimiter=",")
    rows = open_rows(tmp_path / "x.csv")
    for _ in range(3):
        X = rows[:]
        np.testing.assert_array_equal(X, np.eye(4))
        X += 1


def test_the_end_of_a_line_of_an_old_mac_among_others_is_named(tmp_path):
    """Where titles are looked for, it was an error of the csv module."""
    (tmp_path / "x.csv").write_bytes(b"a,b\n1,2\n3\r,4\n5,6\n")
    with pytest.raises(DataError, match="line 3 of"):
        open_rows(tmp_path / "x.csv")[:]


def test_blank_lines_and_comments_before_the_rows_are_limited(tmp_path, monkeypatch):
    """They are held in memory."""
    monkeypatch.setattr("mercer.io.look.MAX_LINE", 1000)
    (tmp_path / "x.csv").write_text("# a line\n\n" * 200 + "1,2\n")
    with pytest.raises(DataError, match="only blank lines and comments; remove them"):
        open_rows(tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", " 2.5", "-1e3"], [1, 2.5, -1000]),
        (["1", "NA", "", "nan"], [1, np.nan, np.nan, np.nan]),
        (["1", "1_000"], None),
        (["1", "1,5"], None),
        ([], []),
    ],
)
def test_numbers_of_fields(texts, numbers):
    found = numbers_of(texts)
    if numbers is None:
        assert found is None
    else:
        np.testing.assert_array_equal(found, numbers)
