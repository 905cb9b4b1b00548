"""`mercer plot`: labels, options and the names in a picture."""

import re

import numpy as np
import pytest

from tests.cli.conftest import make_rows, told, write_csv


@told
@pytest.mark.parametrize("kind", ["embedding", "roc"])
def test_a_column_of_the_model_may_be_the_label(mercer, fitted, log, tmp_path, kind):
    pytest.importorskip("matplotlib")
    label = {"embedding": "temperature", "roc": "state"}[kind]
    more = ["--positive", "stop"] if kind == "roc" else []
    guard = tmp_path / "guard.mercer"
    mercer("fit", log, "--drop", "time", "--model", "novelty", "-o", guard, "-q")
    model = guard if kind == "roc" else fitted
    done = mercer("plot", kind, model, log, "--label", label, *more, "-o", tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()
    assert ("'state' is one of the columns that the model has learnt from" in done.err) == (
        kind == "roc"
    )


@pytest.mark.parametrize("kind", ["biplot", "relevance"])
def test_pictures_of_tables_name_their_columns(mercer, fitted, log, tmp_path, kind):
    pytest.importorskip("matplotlib")
    for name, data in (("a.svg", [log]), ("b.svg", [])):
        mercer("plot", kind, fitted, *data, "-o", tmp_path / name)
        drawn = (tmp_path / name).read_text()
        assert "<!-- pressure -->" in drawn
        assert "<!-- x0 -->" not in drawn


def test_the_look_of_a_picture(mercer, model, train, test, tmp_path):
    pytest.importorskip("matplotlib")
    shape = ("--image-shape", "2x2", "--cmap", "viridis", "--title", "four numbers")
    mercer("plot", "gallery", model, test, *shape, "-o", tmp_path / "gallery.png")
    mercer("plot", "embedding", model, test, "--components", "0,2,3", "-o", tmp_path / "e.png")
    mercer("plot", "roc", model, train, "--label", "kind", "--positive", "left",
           "-o", tmp_path / "roc.png")  # fmt: skip
    wrong = {
        ("scree", model, "--cmap", "gray"): ["--cmap goes with", "gallery"],
        ("gallery", model, "--cmap", "grey tone"): ["no 'grey tone'"],
        ("gallery", model, "--image-shape", "2by2"): ["2by2", "28x28"],
        ("embedding", model, "--components", "a"): ["0,2"],
        ("scree", model, "--positive", "left"): ["goes with roc"],
        ("roc", model, train): ["--label"],
    }
    for arguments, words in wrong.items():
        mercer.fails("plot", *arguments, "-o", tmp_path / "no.png", status=2, words=words)
    roc = ("plot", "roc", model, train, "--label", "kind", "-o", tmp_path / "no.png")
    mercer.fails(*roc, status=3, words=["left, right", "new by --positive"])


def test_numbers_as_labels_are_a_scale(mercer, model, train, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    from mercer.plots import EmbeddingDisplay

    numbered = write_csv(tmp_path / "n.csv", make_rows(), label=np.linspace(0, 1, 60))
    drawn, plot = [], EmbeddingDisplay.plot
    monkeypatch.setattr(
        EmbeddingDisplay, "plot", lambda self, **how: drawn.append(self) or plot(self, **how)
    )
    mercer("plot", "embedding", model, numbered, "--label", "kind", "-o", tmp_path / "e.png")
    assert len(drawn[0].points_) == 1
    assert drawn[0].label_name == "kind"


def test_labels_with_gaps(mercer, train, tmp_path):
    """A number that was missing made texts of a scale: "60 different texts"."""
    from mercer.cli.plot import _as_numbers

    assert np.isnan(_as_numbers(np.array(["1.5", "", "3"]))).tolist() == [False, True, False]
    lines = train.read_text().splitlines()
    lines[0], lines[1:] = f"{lines[0]},age", [f"{x},{i}.5" for i, x in enumerate(lines[1:])]
    lines[4] = lines[4].rpartition(",")[0] + ","
    data = tmp_path / "gaps.csv"
    data.write_text("\n".join(lines) + "\n")
    mercer("fit", data, "--drop", "kind", "-o", tmp_path / "m.mercer", "-q")
    mercer("plot", "live", tmp_path / "m.mercer", data, "--label", "age",
           "-o", tmp_path / "m.html")  # fmt: skip


def test_the_page_knows_the_incomplete_table_of_the_fit(mercer, train, tmp_path):
    """It said that the rows were new to a detector, and that none of them was flagged."""
    lines = train.read_text().splitlines()
    lines[3] = "," + lines[3].partition(",")[2]
    data = tmp_path / "gaps.csv"
    data.write_text("\n".join(lines) + "\n")
    mercer("fit", data, "--model", "novelty", "-o", tmp_path / "m.mercer", "-q")
    mercer("plot", "live", tmp_path / "m.mercer", data, "-o", tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text()
    assert re.search('"tooKind": ?true', page)


def test_a_live_page_takes_title_and_shape_or_refuses(mercer, model, train, tmp_path):
    """They were ignored: images stood there as columns of numbers."""
    live = ("plot", "live", model, train, "-o", tmp_path / "live.html", "--force")
    mercer(*live, "--image-shape", "2x2", "--title", "Four numbers")
    page = (tmp_path / "live.html").read_text()
    assert re.search(r'"imageShape": ?\[2, ?2\]', page)
    assert '"Four numbers"' in page
    mercer.fails(
        *live, "-q", "--image-shape", "3x2", status=3, words=["3x2 does not fit 4 columns"]
    )
    for option in (("--cmap", "gray"), ("--components", "2"), ("--positive", "left")):
        mercer.fails(*live, *option, status=2, words=[option[0], "not with live"])
