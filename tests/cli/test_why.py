"""`mercer novelty` says why a row is new, and finds outliers among the rows of the fit."""

import csv

import numpy as np
import pytest


def write(path, n, odd=(), seed=0):
    rng = np.random.default_rng(seed)
    lines = ["id,mass,bill,depth,sex"]
    for i in range(n):
        a = rng.normal()
        mass, bill, depth = 3800 + 300 * a, 40 + 3 * a + rng.normal(), 17 + rng.normal()
        depth += 6 * (i in odd)
        lines.append(f"p{i},{mass + 30 * rng.normal():.0f},{bill:.1f},{depth:.1f},{'MF'[a > 0]}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def model(mercer, tmp_path):
    mercer("fit", write(tmp_path / "x.csv", 200), "-o", tmp_path / "m.mercer", "--model", "novelty")
    return tmp_path / "m.mercer"


def test_the_columns_that_make_a_row_new(mercer, model, tmp_path):
    data, scores = write(tmp_path / "q.csv", 30, odd=(7, 20), seed=1), tmp_path / "s.csv"
    done = mercer("novelty", model, data, "--id", "id", "--why", "-o", scores)
    rows = list(csv.DictReader(scores.read_text().splitlines()))
    names = list(rows[0])
    assert names.index("why") == names.index("new") + 1, "the reason follows the verdict"
    assert [row["id"] for row in rows] == [f"p{i}" for i in range(30)]
    assert all(rows[i]["why"].startswith("depth ") for i in (7, 20))
    assert all(bool(row["why"]) == (row["new"] == "1") for row in rows)
    told = [line for line in done.err.splitlines() if ": p = " in line]
    assert {told[0].split(":")[1].strip(), told[1].split(":")[1].strip()} == {"p7", "p20"}


def test_without_ids_a_row_is_named_by_its_line(mercer, model, tmp_path):
    data = write(tmp_path / "q.csv", 30, odd=(7,), seed=1)
    assert data.read_text().splitlines()[8].startswith("p7,")
    assert "mercer: line 9: p = " in mercer("novelty", model, data, "-o", tmp_path / "s.csv").err


def test_blank_lines_are_counted(mercer, tmp_path):
    X, model = np.random.default_rng(0).standard_normal((200, 3)), tmp_path / "m.mercer"
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c", comments="")
    mercer("fit", tmp_path / "x.csv", "-o", model, "--model", "novelty")
    (tmp_path / "q.csv").write_text("a,b,c\n0,0,0\n\n\n9,9,9\n")
    assert "mercer: line 5: p = " in mercer("novelty", model, tmp_path / "q.csv").err


def test_outliers_among_the_rows_of_the_fit_in_the_same_call(mercer, tmp_path):
    data, model = write(tmp_path / "x.csv", 200, odd=(50,)), tmp_path / "m.mercer"
    mercer("fit", data, "-o", model, "--model", "novelty")
    assert "add --outliers" in mercer("novelty", model, data, "-o", tmp_path / "s.csv").err
    done = mercer("novelty", model, data, "--outliers", "--id", "id", "-o", tmp_path / "t.csv")
    assert "less new to it" not in done.err
    assert "mercer: p50: p = " in done.err
    mercer("fit", data, "-o", tmp_path / "k.mercer")
    done = mercer("novelty", tmp_path / "k.mercer", data, "--outliers", status=2)
    assert "--model novelty" in done.err


def test_an_incomplete_training_file_is_known_again(mercer, tmp_path):
    data, model = write(tmp_path / "x.csv", 120), tmp_path / "m.mercer"
    lines = data.read_text().splitlines()
    lines[5], lines[9] = "p4,,40.1,17.0,M", "p8,3800,40.0,,"
    data.write_text("\n".join(lines) + "\n")
    mercer("fit", data, "-o", model, "--model", "novelty")
    assert "add --outliers" in mercer("novelty", model, data, "-o", tmp_path / "s.csv").err
    lines[6] = "p5,3801,40.1,17.0,F"
    (tmp_path / "other.csv").write_text("\n".join(lines) + "\n")
    done = mercer("novelty", model, tmp_path / "other.csv", "-o", tmp_path / "t.csv")
    assert "add --outliers" not in done.err


def test_clean_rows_are_rarely_called_outliers_and_the_rate_is_said(mercer, tmp_path):
    data, model = tmp_path / "x.csv", tmp_path / "m.mercer"
    X = np.random.default_rng(1).standard_normal((300, 4))
    np.savetxt(data, X, delimiter=",", header="a,b,c,d", comments="")
    mercer("fit", data, "-o", model, "--model", "novelty")
    done = mercer("novelty", model, data, "--outliers", "-o", tmp_path / "s.csv")
    scored = csv.DictReader((tmp_path / "s.csv").read_text().splitlines())
    found = sum(int(row["new"]) for row in scored)
    assert found <= 0.04 * 300
    assert f"{found} outliers, far beyond the others; of clean rows about 2 % are" in done.err
