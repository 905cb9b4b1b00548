"""`mercer reproduce`, the right and the wrong ways."""

import json

import pytest

from mercer.papers import ITEMS


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("MERCER_DATA", raising=False)


def test_without_a_name_it_lists(mercer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = mercer("reproduce")
    for item in ITEMS:
        assert item.key in done.out
    assert not list(tmp_path.iterdir())
    assert len(json.loads(mercer("reproduce", "--json").out)) == len(ITEMS)


def test_a_paper(mercer, tmp_path):
    done = mercer("reproduce", "baran2018", "-o", tmp_path / "out")
    lines = done.out.splitlines()
    assert [line.split()[1] for line in lines[:7]] == ["reproduced:"] * 7
    assert lines[-1].startswith("7 of 7 reproduced.")
    assert (tmp_path / "out" / "report.html").stat().st_size > 50_000


def test_items_come_once_and_in_the_order_of_the_paper(mercer, tmp_path):
    names = ["baran2018/figure3", "baran2018/figure1", "baran2018/figure3"]
    done = mercer("reproduce", *names, "-o", tmp_path, "--json")
    assert [record["item"] for record in json.loads(done.out)] == ["figure1", "figure3"]


def test_quiet(mercer, tmp_path):
    done = mercer("reproduce", "baran2018/figure1", "-o", tmp_path, "-q")
    assert done.out == done.err == ""


@pytest.mark.filterwarnings("default::mercer.exceptions.MercerWarning")
def test_stand_ins_are_announced_and_marked(mercer, tmp_path):
    done = mercer("reproduce", "schreurs2018/figure2", "--offline", "-o", tmp_path)
    assert "differs, because the data are scikit-learn's digits, not MNIST" in done.out
    assert "mercer: warning: MNIST is not here" in done.err
    assert "--data" in done.err


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["mica1999"], ["no paper 'mica1999'", "mika1999"]),
        (["mika1999/figure9"], ["mika1999 has table1"]),
        (["all", "--data", "nowhere"], ["nowhere", "does not exist"]),
    ],
)
def test_wrong_names(mercer, args, words):
    mercer.fails("reproduce", *args, status=2, words=words)


def test_a_file_in_the_place_of_the_folder(mercer, tmp_path):
    (tmp_path / "out").write_text("")
    mercer.fails("reproduce", "baran2018", "-o", tmp_path / "out", status=2, words=["out"])


def test_a_wrong_data_file(mercer, tmp_path):
    (tmp_path / "Pima.tr.csv").write_text("a\n" + "1,2,3,4,5,6,7,Yes\n" * 3)
    (tmp_path / "Pima.te.csv").write_text("a\n" + "1,2,3,4,5,6,7,No\n" * 3)
    args = ("tipping2001/figure4", "--data", tmp_path, "-o", tmp_path / "out")
    mercer.fails("reproduce", *args, status=3, words=["not Pima"])
