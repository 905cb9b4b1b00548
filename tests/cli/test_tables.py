"""Tables as people have them: holes, old encodings, spaces between numbers, infinities."""

import csv
import json
import re
import subprocess

import numpy as np
import pytest

from tests.cli.conftest import make_rows, write_csv

pytestmark = pytest.mark.filterwarnings("default:.*is read as Latin-1")


@pytest.fixture
def customers(tmp_path):
    """Semicolons, decimal commas, dates, holes; in the encoding of an old spreadsheet."""
    rng = np.random.default_rng(0)
    lines = ["Nr;Datum;Stadt;Größe"]
    for i in range(60):
        tall = "n/a" if i % 9 == 0 else f"{rng.normal(172, 9):.2f}".replace(".", ",")
        lines.append(f"K{i:03d};{1 + i % 28:02d}.03.2024;{'Köln' if i % 2 else 'Rom'};{tall}")
    path = tmp_path / "customers.csv"
    path.write_bytes("\r\n".join(lines).encode("cp1252"))
    return path


def test_an_old_encoding_is_read_with_a_warning(mercer, customers, tmp_path):
    target = tmp_path / "m.mercer"
    done = mercer("fit", customers, "--model", "missing", "-o", target)
    assert "warning: " in done.err
    assert "is read as Latin-1" in done.err
    assert "Stadt: category of 2 (Köln, Rom)" in done.err or "(Rom, Köln)" in done.err


def test_a_model_of_rows_with_holes_takes_rows_with_holes(mercer, customers, tmp_path):
    target, out = tmp_path / "m.mercer", tmp_path / "out.csv"
    mercer("fit", customers, "--model", "missing", "--drop", "Nr", "-o", target)
    mercer("transform", target, customers, "--keep", "Nr", "-o", out)
    assert len(out.read_text().splitlines()) == 61
    mercer("plot", "embedding", target, customers, "--label", "Stadt", "-o", tmp_path / "a.png")


def test_the_same_for_numbers_alone(mercer, tmp_path):
    X = make_rows()
    X[3, 1] = np.nan
    data, target, out = write_csv(tmp_path / "x.csv", X), tmp_path / "m.mercer", tmp_path / "o.csv"
    mercer("fit", data, "--model", "missing", "-o", target)
    mercer("transform", target, data, "-o", out)
    assert np.isfinite(np.loadtxt(out, delimiter=",", skiprows=1)).all()


def test_holes_are_answered_with_what_fit_can_do(mercer, customers, tmp_path):
    model = tmp_path / "m.mercer"
    done = mercer("fit", customers, "-o", model, "--missing", "refuse", status=3)
    assert "missing in column 'Größe'" in done.err
    assert "Fill them in by --missing auto" in done.err
    assert "'Größe'" in mercer("fit", customers, "-o", model).err.partition("missing value")[2]


def test_infinities_are_not_said_to_be_filled(mercer, tmp_path):
    X = make_rows()
    X[3, 1] = np.inf
    data = write_csv(tmp_path / "x.csv", X)
    for more in ((), ("--model", "missing")):
        done = mercer("fit", data, *more, "-o", tmp_path / "m.mercer", status=3)
        assert "leave the field empty, which then counts as a missing value" in done.err


def test_a_line_without_values_is_named_by_its_line(mercer, tmp_path):
    data = tmp_path / "x.csv"
    data.write_text("a,b,c\n" + "".join(f"{i % 7},{i % 5},x\n" for i in range(30)) + ",,\n")
    model = tmp_path / "m.mercer"
    assert "1 row left out without any value" in mercer("fit", data, "-o", model).err
    for verb in ("impute", "transform"):
        done = mercer(verb, model, data, "-o", tmp_path / "o.csv", status=3)
        assert "line 32 has no value at all" in done.err


def test_numbers_between_spaces_are_named_and_the_remedy_works(mercer, tmp_path):
    X, target = make_rows(), tmp_path / "m.mercer"
    np.savetxt(tmp_path / "my x.txt", X, fmt="%25.17g")
    done = mercer("fit", tmp_path / "my x.txt", "-o", target, status=3)
    assert "separates numbers by spaces" in done.err
    command = done.err.partition("change them: ")[2].strip()
    subprocess.run(command, shell=True, check=True)
    np.testing.assert_array_equal(np.loadtxt(tmp_path / "my x.csv", delimiter=","), X)
    mercer("fit", tmp_path / "my x.csv", "-o", target)


def test_no_column_is_left(mercer, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("name\n" + "\n".join(f"shop {i}" for i in range(40)))
    words = ["no column is left", "--category NAME"]
    mercer.fails("fit", path, "-o", tmp_path / "m.mercer", status=3, words=words)


def test_advice_names_a_command(mercer, tmp_path):
    data = write_csv(tmp_path / "x.csv", make_rows())
    done = mercer("fit", data, "-o", tmp_path / "m.mercer", "--json")
    advice = json.loads(done.out)["advice"]
    assert "uncertainty()" not in advice
    assert "mercer relevance MODEL --intervals" in advice


def test_data_in_the_place_of_the_model(mercer, model, test, tmp_path):
    words = ["is not a model", "MODEL comes before DATA"]
    mercer.fails("transform", test, model, "-o", tmp_path / "o.csv", status=4, words=words)


def test_a_width_for_a_kernel_without_one(mercer, train, tmp_path):
    given = ("--kernel", "linear", "--width", "1", "-o", tmp_path / "m.mercer")
    mercer.fails("fit", train, *given, status=2, words=["no 'width'; it takes no parameters"])


def ugly(kind, n=60):
    """A table with one column that people write in a way of their own; the others are plain."""
    rng = np.random.default_rng(0)
    made = {
        "weight": lambda i: f"{60 + i % 30}.5 kg",
        "share": lambda i: f"{i % 50} %",
        "price": lambda i: f'"${1000 + 37 * i:,}.50"',
        "swiss": lambda i: f"{100_000 + 1237 * i:,}".replace(",", "'"),
        "since": lambda i: f"{1 + i % 28:02d}-Mar-2024",
        "zip": lambda i: f"0{1000 + i % 7}",
    }[kind]
    rows = [f"{rng.normal(50, 9):.3f},{'ab'[i % 2]},{made(i)}" for i in range(n)]
    return f"age,group,{kind}\n" + "\n".join(rows) + "\n"


LIKE = {
    "weight": r"-?[\d.]+(e-?\d+)? kg",
    "share": r"\d+ %",
    "price": r"\$-?[\d.]+",
    "swiss": r"\d+",
    "since": r"\d\d-\w\w\w-20\d\d",
    "zip": r"0100[0-6]",
}


@pytest.mark.parametrize("kind", LIKE)
def test_every_command_gives_rows_that_could_stand_in_the_file(mercer, tmp_path, kind):
    data, target, out = tmp_path / "x.csv", tmp_path / "m.mercer", tmp_path / "o.csv"
    data.write_text(ugly(kind))
    fitted = mercer("fit", data, "--model", "generative", "-o", target)
    assert f"{kind}: left out" not in fitted.err
    holes = data.read_text().splitlines()
    for i in range(1, 30, 3):  # every third row lacks the column
        holes[i] = ",".join(holes[i].split(",")[:2]) + ","
    (tmp_path / "holes.csv").write_text("\n".join(holes))
    for command in (
        ("denoise", target, data),
        ("impute", target, tmp_path / "holes.csv"),
        ("sample", target, "-n", 20),
    ):
        mercer(*command, "-o", out, "--force")
        with out.open(newline="") as file:
            found = [row[kind] for row in csv.DictReader(file)]
        assert len(found) in (20, 60)
        assert all(re.fullmatch(LIKE[kind], text) for text in found), (command[0], found[:5])
    mercer("transform", target, data, "-o", out, "--force")


@pytest.mark.filterwarnings("default:.*left out:mercer.exceptions.MercerWarning")
def test_a_number_of_the_row_and_an_empty_column_are_left_out(mercer, tmp_path):
    data, target, out = tmp_path / "x.csv", tmp_path / "m.mercer", tmp_path / "o.csv"
    rows = "\n".join(f"{i},{x:.4f},{y:.4f}," for i, (x, y) in enumerate(make_rows()[:, :2]))
    data.write_text(f",a,b,c\n{rows}\n")
    done = mercer("fit", data, "-o", target)
    assert "column 1: left out: id-like, 60 different whole numbers" in done.err
    assert "c: left out: no values" in done.err
    assert "60 rows, 2 columns" in done.err
    mercer("transform", target, data, "-o", out)


def test_a_name_with_a_line_break(mercer, tmp_path):
    data = tmp_path / "x.csv"
    rows = "\n".join(f"{x:.4f},{y:.4f}" for x, y in make_rows()[:, :2])
    data.write_text(f'"a\nb","the ""c"""\n{rows}\n')
    done = mercer("fit", data, "-o", tmp_path / "m.mercer")
    assert "a b: number" in done.err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A report\nof\n{}", ["line 3", "if titles come before it"]),
        ("a,b\n{}", ["where 2 are expected", "if lines end with ','"]),
    ],
    ids=["title", "trailing delimiter"],
)
def test_the_remedy_for_lines_of_another_length_works(mercer, tmp_path, text, words):
    data, target = tmp_path / "x y.csv", tmp_path / "m.mercer"
    end = "," if "trailing" in words[-1] or "lines end" in words[-1] else ""
    rows = "\n".join(f"{x:.4f},{y:.4f}{end}" for x, y in make_rows()[:, :2])
    data.write_text(text.format(rows))
    done = mercer("fit", data, "-o", target, status=3)
    for word in words:
        assert word in done.err
    command = done.err.strip().partition("them: " if "title" in done.err else "off: ")[2]
    subprocess.run(command, shell=True, check=True)
    mercer("fit", tmp_path / "x y.new.csv", "-o", target)


def test_lines_of_an_old_mac(mercer, tmp_path):
    data, target = tmp_path / "x.csv", tmp_path / "m.mercer"
    data.write_text("a,b\r" + "\r".join(f"{x},{y}" for x, y in make_rows()[:, :2]), newline="")
    done = mercer("fit", data, "-o", target, status=3)
    command = done.err.strip().partition("change them: ")[2]
    subprocess.run(command, shell=True, check=True)
    mercer("fit", tmp_path / "x.new.csv", "-o", target)


def test_a_category_is_the_remedy_for_words_among_numbers(mercer, tmp_path):
    data, target = tmp_path / "x.csv", tmp_path / "m.mercer"
    data.write_text("a,b\n" + "".join(f"{i % 5},{i % 3 or 'unknown'}\n" for i in range(40)))
    done = mercer("fit", data, "-o", target, status=3)
    assert "fix it, empty it, leave the column out" in done.err
    option = done.err.strip().partition("a category: ")[2].rstrip(".").split()
    assert option == ["--category", "b"]
    mercer("fit", data, *option, "-o", target)
