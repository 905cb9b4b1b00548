"""Files as people have them: titles, names that repeat or are missing, months and times of day."""

import sys
import time

import numpy as np
import pytest

from mercer.cli import main
from tests.tables.test_files import write_xlsx

pytestmark = pytest.mark.filterwarnings("always")
ROWS = [[(7 * i) % 13 + 0.5, (3 * i) % 17, i % 5] for i in range(40)]
LINES = "\n".join(",".join(map(str, row)) for row in ROWS)


def fit(mercer, tmp_path, text, *args, status=0, name="x.csv"):
    (tmp_path / name).write_text(text)
    return mercer("fit", tmp_path / name, "-o", tmp_path / "m.mercer", *args, status=status)


@pytest.mark.parametrize("title", ["A report\n\n", '"One, two"\nof 2024\n', "A report,,\n"])
@pytest.mark.parametrize("last", ["", ",kind"])
def test_titles_are_found_and_said(mercer, tmp_path, title, last):
    rows = "\n".join(
        f"{line},{'ab'[i % 2]}" if last else line for i, line in enumerate(LINES.split())
    )
    text = f"{title}a,b,c{last}\n{rows}\n"
    done = fit(mercer, tmp_path, text)
    line = 1 + title.count("\n")
    assert f"begins in line {line}, after" in done.err
    assert done.err.count("begins in line") == 1
    out = mercer("transform", tmp_path / "m.mercer", tmp_path / "x.csv").out
    assert len(out.splitlines()) == 41


def test_the_line_of_names_can_be_given(mercer, tmp_path):
    text = f"1,2,3\nx,y\na,b,c\n{LINES}\n"
    assert "line 2" in fit(mercer, tmp_path, text, status=3).err
    fit(mercer, tmp_path, text, "--header-row", 3)
    out = mercer("denoise", tmp_path / "m.mercer", tmp_path / "x.csv", "--header-row", "3").out
    assert out.startswith("a,b,c\n")
    assert "--header-row" in fit(mercer, tmp_path, text, "--header-row", 0, status=2).err


@pytest.mark.parametrize("last", ["", ",kind"])
def test_names_that_repeat_or_are_missing_are_numbered_and_said(mercer, tmp_path, last):
    rows = "\n".join(
        f"{line},{'ab'[i % 2]}" if last else line for i, line in enumerate(LINES.split())
    )
    done = fit(mercer, tmp_path, f"a,a,{last}\n{rows}\n")
    assert "are called 'a_2', 'column_3' here" in done.err
    assert done.err.count("are called") == 1
    out = mercer("denoise", tmp_path / "m.mercer", tmp_path / "x.csv").out
    assert out.startswith(f"a,a_2,column_3{last}\n")


def test_months_and_times_of_day_are_dates(mercer, tmp_path):
    rows = "\n".join(f"2024-{1 + i % 12:02d},{i % 24}:15,{i}.5" for i in range(40))
    done = fit(mercer, tmp_path, f"month,at,x\n{rows}\n")
    assert "month: date as %Y-%m" in done.err
    assert "at: time of day as %H:%M" in done.err


def test_sheets_by_name_and_number(mercer, tmp_path):
    pytest.importorskip("python_calamine")
    first = [["Title", None], ["a", "b"], *([i, i * i % 7] for i in range(30))]
    write_xlsx(tmp_path / "x.xlsx", first, [["c", "c"], *([i % 5, i * i % 11] for i in range(30))])
    target = tmp_path / "m.mercer"
    done = mercer("fit", tmp_path / "x.xlsx", "-o", target)
    assert "--sheet" in done.err
    assert "begins in line 2" in done.err
    done = mercer("fit", tmp_path / "x.xlsx", "-o", target, "--force", "--sheet", "2")
    assert "c_2" in done.err
    mercer.fails(
        *("fit", tmp_path / "x.xlsx", "-o", target, "--force", "--sheet", "none"),
        status=3,
        words=["no sheet 'none'", "name one of"],
    )


def test_what_is_said_of_a_layout_that_the_file_does_not_have(mercer, tmp_path):
    """--sheet of a text file, and --header-row of an array, were ignored in silence."""
    path, array = tmp_path / "x.csv", tmp_path / "x.npy"
    path.write_text(LINES)
    np.save(array, np.eye(9))
    for options, words in (
        ((path, "--sheet", "2"), ["--sheet is for workbooks", "not for"]),
        ((array, "--header-row", "2"), ["--header-row is for text files and workbooks"]),
    ):
        mercer.fails("fit", *options, "-o", tmp_path / "m.mercer", status=2, words=words)
    late = ("fit", path, "--header-row", "500", "-o", tmp_path / "m.mercer")
    last = len(LINES.rstrip().split("\n"))
    mercer.fails(*late, status=3, words=[f"in line 500; its last line is {last}."])


@pytest.mark.parametrize("line", [5, 30])
def test_a_typing_error_is_named_by_its_line(mercer, tmp_path, line):
    lines = ["a,b,c", "", *LINES.split()]
    lines[line - 1] = "oops,1,2"
    done = fit(mercer, tmp_path, "\n".join(lines), status=3)
    assert f"line {line} of" in done.err
    assert "row" not in done.err.partition("oops")[0]


def test_a_mistyped_model_is_answered_before_the_library_is_loaded(tmp_path, capsys):
    loaded = {name for name in sys.modules if name.startswith(("numpy", "sklearn"))}
    start = time.process_time()
    assert main(["info", str(tmp_path / "nothere.mercer")]) == 4
    assert "there is no model file" in capsys.readouterr().err
    assert time.process_time() - start < 1
    assert {name for name in sys.modules if name.startswith(("numpy", "sklearn"))} == loaded
