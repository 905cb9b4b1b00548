"""Values come back as they came: with the decimals of their column, whole ones whole."""

import csv

import numpy as np
import pytest


@pytest.fixture(params=["mixed", "numbers"])
def rows(request, tmp_path):
    """Tenths of which some are written whole, whole numbers, hundredths; two are missing."""
    a = np.random.default_rng(0).normal(38, 5, 80)
    tenths = [f"{x:.1f}".removesuffix(".0") if i % 5 else f"{x:.0f}" for i, x in enumerate(a)]
    tenths[3] = tenths[9] = ""
    lines = [f"{t},{x * 20:.0f},{x + 1:.2f}" for t, x in zip(tenths, a, strict=True)]
    name, extra = ("", "") if request.param == "numbers" else (",sex", ",MF")
    lines = [line + (f",{extra[1 + i % 2]}" if extra else "") for i, line in enumerate(lines)]
    path = tmp_path / "x.csv"
    path.write_text("\n".join([f"a,b,c{name}", *lines]) + "\n")
    return path


def columns_of(text):
    records = list(csv.DictReader(text.splitlines()))
    return {name: [record[name] for record in records] for name in records[0]}


def decimals(texts):
    return max(len(text.partition(".")[2]) for text in texts)


def test_filled_and_denoised_values_have_the_decimals_of_their_column(mercer, rows, tmp_path):
    model, filled = tmp_path / "m.mercer", tmp_path / "filled.csv"
    mercer("fit", rows, "-o", model, "--model", "missing", "-q")
    mercer("impute", model, rows, "-o", filled, "-q")
    before, after = columns_of(rows.read_text()), columns_of(filled.read_text())
    assert after["b"] == before["b"]
    assert [float(x) for x in after["c"]] == [float(x) for x in before["c"]]
    assert decimals(after["a"]) == 1
    if "sex" in before:
        kept = [i for i, text in enumerate(before["a"]) if text]
        assert [after["a"][i] for i in kept] == [before["a"][i] for i in kept]
    clean = columns_of(mercer("denoise", model, filled, "-q").out)
    assert [decimals(clean[name]) for name in "abc"] == [1, 0, 2]


def test_all_digits_for_those_who_want_them(mercer, rows, tmp_path):
    model = tmp_path / "m.mercer"
    mercer("fit", rows, "-o", model, "--model", "missing", "-q")
    filled = columns_of(mercer("impute", model, rows, "--digits", "all", "-q").out)
    assert decimals([filled["a"][3]]) > 6
    mercer.fails("impute", model, rows, "--digits", "3", status=2, words=["--digits"])
