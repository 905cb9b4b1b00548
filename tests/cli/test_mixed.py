"""One command on a table as people have it: an id, texts, dates, units of all sizes, holes."""

import csv
import gzip
import json
from datetime import date, timedelta

import numpy as np
import pytest

CITIES = ("Oslo", "Rome", "Bonn", "Lyon")
HEADER = ["id", "sex", "city", "age", "income", "ratio", "since", "member"]


def customers(n=90, seed=0):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        kind = int(rng.integers(2))
        age = int(np.clip(rng.normal(35 + 20 * kind, 5), 18, 99))
        rows.append(
            [
                1000 + i,
                "fm"[kind],
                CITIES[2 * kind + int(rng.integers(2))],
                age,
                round(float(np.exp(rng.normal(10 + kind, 0.8))), 2),
                round(float(rng.beta(2, 5)), 4),
                str(date(2020, 1, 1) + timedelta(days=int(rng.integers(900)))),
                ["no", "yes"][kind],
            ]
        )
    return rows


def write(path, rows, delimiter=",", header=HEADER):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([header, *rows])
    return path


@pytest.fixture
def table(tmp_path):
    return write(tmp_path / "customers.csv", customers())


def read(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def assert_legal(rows, *, filled=True):
    """Every row could stand in the file."""
    for row in rows:
        assert list(row) == HEADER
        assert row["sex"] in "fm"
        assert row["city"] in CITIES
        assert row["member"] in ("no", "yes")
        assert int(row["age"]) >= 0
        assert float(row["income"]) >= 0
        assert 0 <= float(row["ratio"]) <= 1
        assert date.fromisoformat(row["since"])
    assert not filled or rows


def test_fit_says_what_it_did_with_each_column(mercer, table, tmp_path):
    done = mercer("fit", table, "-o", tmp_path / "m.mercer")
    assert "id: left out: id-like, 90 different whole numbers" in done.err
    assert "city: category of 4" in done.err
    assert "since: date, days since 2020-" in done.err
    assert "income: number, asinh((x - " in done.err


def test_rows_come_back_as_they_could_stand_in_the_file(mercer, table, tmp_path):
    model, out = tmp_path / "m.mercer", tmp_path / "y.csv"
    mercer("fit", table, "-o", model, "--components", 6, "-q")
    mercer("denoise", model, table, "-o", out)
    rows = read(out)
    assert_legal(rows)
    assert [row["id"] for row in rows] == [row["id"] for row in read(table)]
    scores = tmp_path / "z.csv"
    mercer("transform", model, table, "-o", scores)
    mercer("inverse", model, scores, "-o", out, "--force")
    assert_legal(read(out))


def test_holes_are_filled_with_legal_values(mercer, table, tmp_path):
    model, out = tmp_path / "m.mercer", tmp_path / "y.csv"
    rows = customers()
    for i, row in enumerate(rows):
        row[1 + i % 7] = ""
    holes = write(tmp_path / "holes.csv", rows)
    mercer("fit", table, "-o", model, "--components", 6, "-q")
    mercer("impute", model, holes, "-o", out)
    filled = read(out)
    assert_legal(filled)
    for row, known in zip(filled, read(holes), strict=True):
        for name, value in known.items():
            if value:
                same = row[name] == value
                assert same or float(row[name]) == float(value)


def test_a_model_of_holes(mercer, tmp_path):
    rows = customers()
    for i, row in enumerate(rows[::3]):
        row[1 + i % 7] = ""
    holes, model = write(tmp_path / "holes.csv", rows), tmp_path / "m.mercer"
    refuse = ("fit", holes, "-o", model, "-q", "--missing", "refuse")
    mercer.fails(*refuse, status=3, words=["missing", "--missing auto", "--missing drop"])
    mercer("fit", holes, "-o", model, "--model", "missing", "--components", 4, "-q")
    mercer("impute", model, holes, "-o", tmp_path / "y.csv")
    assert_legal(read(tmp_path / "y.csv"))


def test_new_rows_are_legal(mercer, table, tmp_path):
    model, out = tmp_path / "m.mercer", tmp_path / "y.csv"
    mercer("fit", table, "--model", "generative", "--components", 6, "-o", model, "-q")
    mercer("sample", model, "-n", 500, "-o", out)
    rows = read(out)
    assert len(rows) == 500
    assert_legal(rows)


def test_novelty_keeps_the_names_of_the_rows(mercer, table, tmp_path):
    model, out = tmp_path / "m.mercer", tmp_path / "y.csv"
    mercer("fit", table, "--model", "novelty", "--index", "id", "-o", model, "-q")
    mercer("novelty", model, table, "-o", out)
    rows = read(out)
    assert [int(row["id"]) for row in rows] == [row[0] for row in customers()]
    assert np.mean([int(row["new"]) for row in rows]) < 0.2


def test_decimal_commas_and_compressed_files(mercer, table, tmp_path):
    rows = [
        [str(v).replace(".", ",") if isinstance(v, float) else v for v in r] for r in customers()
    ]
    german = write(tmp_path / "german.csv", rows, ";")
    packed = tmp_path / "packed.csv.gz"
    packed.write_bytes(gzip.compress(table.read_bytes()))
    answers = []
    for path in (table, german, packed):
        model = tmp_path / f"{path.name}.mercer"
        mercer("fit", path, "-o", model, "--components", 4, "-q")
        answers.append(mercer("transform", model, path).out)
    assert answers[0] == answers[1] == answers[2]


def test_numbers_of_many_units_are_scaled_and_those_of_one_are_not(mercer, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    many = write(tmp_path / "many.csv", (X * [1, 100, 1e4]).tolist(), header=["a", "b", "c"])
    one = write(tmp_path / "one.csv", X.tolist(), header=["a", "b", "c"])
    said = mercer("fit", many, "-o", tmp_path / "many.mercer").err
    assert "c: number, (x -" in said
    assert "a: number" not in mercer("fit", one, "-o", tmp_path / "one.mercer").err
    assert (
        json.loads(mercer("info", tmp_path / "one.mercer", "--json").out)["class_name"]
        == "KernelPCA"
    )
    mercer("fit", many, "--raw", "-o", tmp_path / "raw.mercer", "-q")
    assert (
        json.loads(mercer("info", tmp_path / "raw.mercer", "--json").out)["class_name"]
        == "KernelPCA"
    )
    mercer("denoise", tmp_path / "many.mercer", many, "-o", tmp_path / "y.csv")
    assert list(read(tmp_path / "y.csv")[0]) == ["a", "b", "c"]


def test_kinds_can_be_said(mercer, table, tmp_path):
    done = mercer(
        "fit", table, "-o", tmp_path / "m.mercer", "--category", "age", "--drop", "id,income",
        "--scale", "std",
    )  # fmt: skip
    assert "age: category of" in done.err
    assert "income" not in done.err


def test_a_typing_error_is_no_category(mercer, tmp_path):
    rows = customers()
    rows[40][3] = "4o"
    path = write(tmp_path / "x.csv", rows)
    mercer.fails("fit", path, "-q", status=3, words=["line 42", "'age'", "4o"])


def test_score_relevance_and_plots(mercer, table, tmp_path):
    model = tmp_path / "m.mercer"
    mercer("fit", table, "-o", model, "--components", 4, "-q")
    assert json.loads(mercer("score", model, table, "--json").out)["rows"] == 90
    out = mercer("relevance", model, table).out
    assert "city" in out
    assert "city=Oslo" not in out
    mercer("plot", "embedding", model, table, "-o", tmp_path / "e.png")


def test_parts_of_a_date_that_come_again(mercer, table, tmp_path):
    done = mercer("fit", table, "-o", tmp_path / "m.mercer", "--date", "since:month+weekday")
    assert "with month and weekday as angles" in done.err
    mercer("denoise", tmp_path / "m.mercer", table, "-o", tmp_path / "clean.csv")
    assert_legal(read(tmp_path / "clean.csv"))
    plain = mercer("fit", table, "-o", tmp_path / "p.mercer", "--date", "since")
    assert "angles" not in plain.err
    mercer.fails(
        *("fit", table, "-o", tmp_path / "h.mercer", "--date", "since:hour"),
        status=3,
        words=["'since' holds whole days"],
    )


def test_rows_without_the_names_that_the_fit_had(mercer, tmp_path):
    rows = customers(60)
    named = write(tmp_path / "named.csv", rows)
    bare = write(tmp_path / "bare.csv", [row[1:] for row in rows], header=HEADER[1:])
    model = tmp_path / "m.mercer"
    mercer("fit", named, "--index", "id", "-o", model, "-q")
    scores = mercer("transform", model, bare).out.splitlines()
    assert len(scores) == 61
    assert not scores[0].endswith(",id")
    assert mercer("transform", model, named).out.splitlines()[0].endswith(",id")


def test_new_rows_are_compared_with_the_data(mercer, table, tmp_path):
    model, out = tmp_path / "m.mercer", tmp_path / "y.csv"
    mercer("fit", table, "--model", "generative", "-o", model, "-q")
    done = mercer("sample", model, "-n", 20, "-o", out)
    assert "1,000 draws compared with the data" in done.out
    assert "correlations" in done.out
    assert done.out.count("in the data") >= 4
    assert "compared with the data" not in mercer("sample", model, "-n", 3).out
    assert not mercer("sample", model, "-n", 3, "-o", out, "--force", "--quiet").out
    facts = json.loads(mercer("sample", model, "-n", 3, "-o", out, "--force", "--json").out)
    assert facts["rows"] == 3
    assert facts["correlation_error"] < 0.1
    assert all(pair["difference"] < 0.3 for pair in facts["columns_compared"].values())
