"""Tables as people have them: holes, old encodings, spaces between numbers, infinities."""

import json

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
    done = mercer("fit", customers, "-o", tmp_path / "m.mercer", status=3)
    assert "'Größe' are missing" in done.err
    assert "Fit with --model missing" in done.err


def test_infinities_are_not_said_to_be_filled(mercer, tmp_path):
    X = make_rows()
    X[3, 1] = np.inf
    data = write_csv(tmp_path / "x.csv", X)
    for more in ((), ("--model", "missing")):
        done = mercer("fit", data, *more, "-o", tmp_path / "m.mercer", status=3)
        assert "leave the field empty and fit with --model missing" in done.err


def test_numbers_between_spaces_are_named(mercer, tmp_path):
    np.savetxt(tmp_path / "x.txt", make_rows())
    words = ["parts its numbers by spaces", "sed "]
    mercer.fails("fit", tmp_path / "x.txt", "-o", tmp_path / "m.mercer", status=3, words=words)


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
    mercer.fails("fit", train, *given, status=2, words=["leave --width out"])
