"""What is left in the folder."""

import csv
import json
import re

import numpy as np
import pytest

from mercer.papers import Check, Item, Result, Setting, reproduce, select
from mercer.papers.item import drawing


@drawing((2, 2))
def draw(ax):
    ax.plot([1, 2])


def fake(name="figure7", value=2.0, remark="a < b & c"):
    numbers = [{"n": 1, "value": np.float64(value)}, {"n": 2, "value": np.float64(1 / 3)}]
    checks = [Check("<script>x</script>", value, low=1, paper=1.5)]
    run = Result(numbers, checks, draw, {"points": np.int64(3)}, (remark,))
    return Item("baran2018", name, "A <title>", lambda _: run)


def read(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def test_files_of_an_item(tmp_path):
    told = []
    reproduce([fake()], Setting(seed=7), tmp_path, told.append)
    place = tmp_path / "baran2018"
    assert sorted(p.name for p in place.iterdir()) == [
        "figure7-paper.csv",
        "figure7.csv",
        "figure7.json",
        "figure7.png",
    ]
    record = json.loads((place / "figure7.json").read_text())
    assert record["verdict"] == "reproduced"
    assert record["seed"] == 7
    assert record["run"] == "fast"
    assert record["setting"] == {"points": 3}
    rows = read(place / "figure7.csv")
    assert [float(row["value"]) for row in rows] == pytest.approx([2, 1 / 3], rel=1e-5)
    (beside,) = read(place / "figure7-paper.csv")
    assert beside["paper"] == "1.5"
    assert beside["mercer"] == "2"
    assert beside["bar"] == "≥ 1"
    assert [o.item.key for o in told] == ["baran2018/figure7"]


def test_pictures_of_two_runs_are_equal(tmp_path):
    for folder in ("a", "b"):
        reproduce([fake()], Setting(), tmp_path / folder)
    a, b = ((tmp_path / f / "baran2018" / "figure7.png").read_bytes() for f in ("a", "b"))
    assert a == b


def test_the_report_fetches_nothing_and_escapes(tmp_path):
    reproduce([fake()], Setting(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "<script" not in page
    assert "A &lt;title&gt;" in page
    assert not re.search(r"(src|href)=\"(?!data:|#|baran2018/)", page)
    assert "prefers-color-scheme:dark" in page
    assert "1 reproduced, 0 differ" in page


def test_the_report_keeps_what_was_run_before(tmp_path):
    reproduce([fake("figure1")], Setting(), tmp_path)
    reproduce([fake("figure2", value=0.5)], Setting(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    assert "2 tables and figures: 1 reproduced, 1 differ" in page
    assert page.index("baran2018/figure1") < page.index("baran2018/figure2")


def test_an_item_that_fails_leaves_the_others(tmp_path):
    def fail(_):
        raise MemoryError

    with pytest.raises(MemoryError):
        reproduce([fake(), Item("baran2018", "figure1", "", fail)], Setting(), tmp_path)
    assert (tmp_path / "baran2018" / "figure7.json").is_file()
    assert not list(tmp_path.rglob("*.part"))


def test_without_matplotlib_the_remedy_comes_before_the_work(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        reproduce(select("all"), Setting(), tmp_path)
