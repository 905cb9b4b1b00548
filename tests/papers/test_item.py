"""Verdicts are computed: from the bars, and from the data that were used."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer.exceptions import MercerError
from mercer.papers import ITEMS, PAPERS, Check, Result, Setting, select


def result(*checks, stands_in=""):
    return Result([], checks, lambda: None, {}, stands_in=stands_in)


@given(found=st.floats(allow_nan=True), low=st.floats(-5, 0), high=st.floats(0, 5))
def test_a_check_holds_inside_its_bars_only(found, low, high):
    check = Check("x", found, low, high)
    assert check.holds == (low <= found <= high)
    assert bool(check.fault) != check.holds


def test_nan_never_holds():
    assert not Check("x", np.nan).holds


@pytest.mark.parametrize(
    ("check", "bar"),
    [
        (Check("x", 1, low=0.5), "≥ 0.5"),
        (Check("x", 1, high=2), "≤ 2"),
        (Check("x", 1, 0.5, 2), "≥ 0.5, ≤ 2"),
        (Check("x", 1, 40, 40), "= 40"),
    ],
)
def test_bars_in_words(check, bar):
    assert check.bar == bar


def test_verdicts():
    good, low, high = Check("a", 2, low=1), Check("b", 0.5, low=1), Check("c", 3.0, high=1)
    assert result(good, good).verdict.reproduced
    assert str(result(good).verdict) == "reproduced: the one check holds"
    one = result(good, low).verdict
    assert not one.reproduced
    assert str(one) == "differs, because b is 0.5, below 1"
    many = result(low, high, high, low, low).verdict
    assert many.reason == "b is 0.5, below 1; c is 3, above 1; c is 3, above 1, and 2 more"


def test_a_stand_in_never_reproduces():
    verdict = result(Check("a", 2, low=1), stands_in="the data are others").verdict
    assert str(verdict) == ("differs, because the data are others; 1 of 1 checks hold all the same")


def test_without_checks_nothing_is_reproduced():
    assert not result().verdict.reproduced


def test_the_table_has_every_table_and_figure():
    counts = {paper: [i.name for i in ITEMS if i.paper == paper] for paper in PAPERS}
    assert counts == {
        "mika1999": ["table1", "figure1", "figure2", "figure3", "figure4"],
        "tipping2001": [f"figure{i}" for i in range(1, 5)],
        "schreurs2018": ["figure1", "figure2"],
        "baran2018": [f"figure{i}" for i in range(1, 8)],
    }
    assert len({item.key for item in ITEMS}) == len(ITEMS)


def test_select():
    assert select("all") == list(ITEMS)
    assert {item.paper for item in select("baran2018")} == {"baran2018"}
    assert [item.key for item in select("tipping2001/figure4")] == ["tipping2001/figure4"]
    with pytest.raises(MercerError, match="tipping2001 has figure1"):
        select("tipping2001/figure9")
    with pytest.raises(MercerError, match="one of mika1999"):
        select("mica1999")


def test_setting_chooses():
    assert Setting().choose(1, 2) == 1
    assert Setting(full=True).choose(1, 2) == 2
