"""Components count from 0 wherever one is shown: ``Z[:, 0]``, ``kernelpca0``, “component 0”."""

import csv
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import KernelPCA
from mercer.cli import main
from mercer.relevance import spectrum_advice

ROOT = Path(__file__).parents[1]
Q = 4


@pytest.fixture(scope="module")
def rows():
    return load_iris().data


@pytest.fixture(scope="module")
def model(rows):
    return KernelPCA(Q).fit(rows)


def numbers(texts):
    """What stands last in words such as ``component 2 (3.1%)`` and ``kernelpca2``."""
    return [int(re.match(r"(?:component ?|kernelpca)?(\d+)", text)[1]) for text in texts]


def test_names_of_scores(model):
    assert numbers(model.get_feature_names_out()) == [0, 1, 2, 3]


def test_pictures(model, rows):
    pytest.importorskip("matplotlib")
    from mercer import plots

    shown = [1, 3]
    pairs = plots.EmbeddingDisplay.from_estimator(model, rows, components=shown)
    assert numbers([pairs.ax_.get_xlabel(), pairs.ax_.get_ylabel()]) == shown
    biplot = plots.BiplotDisplay.from_estimator(model, rows, components=shown)
    assert numbers([biplot.ax_.get_xlabel(), biplot.ax_.get_ylabel()]) == shown
    plane = plots.ComponentsDisplay.from_estimator(model, rows, components=shown, grid=5)
    assert numbers([ax.get_title() for ax in np.ravel(plane.axes_)]) == shown
    bars = plots.RelevanceDisplay.from_estimator(model, rows, components=shown)
    assert numbers([ax.get_title() for ax in bars.axes_]) == shown
    heat = plots.RelevanceDisplay.from_estimator(model, rows, components=shown, kind="heatmap")
    assert numbers([tick.get_text() for tick in heat.axes_[0].get_yticklabels()][:2]) == shown
    walk = plots.TraversalDisplay.from_estimator(model, components=shown, image_shape=(2, 2))
    assert numbers([tick.get_text() for tick in walk.ax_.get_yticklabels()]) == shown
    widths = plots.WidthSpectrumDisplay.from_estimator(model, rows, n_components=3)
    texts = [text.get_text() for text in widths.ax_.get_legend().get_texts()]
    assert numbers(texts)[::-1] == [0, 1, 2]


def test_bars_of_a_scree_stand_at_their_numbers(model):
    pytest.importorskip("matplotlib")
    from mercer.plots import ScreeDisplay

    display = ScreeDisplay.from_estimator(model, uncertainty=model.uncertainty())
    middles = [bar.get_x() + bar.get_width() / 2 for bar in display.bars_]
    assert middles == pytest.approx(range(Q))
    assert display.line_.get_xdata().tolist() == list(range(Q))


def test_words():
    assert "components 1 and 2 are too close" in spectrum_advice([5.0, 3.0, 2.95, 1.0], n=200)


def test_the_command_line(model, rows, tmp_path, capsys):
    data, saved = tmp_path / "rows.csv", tmp_path / "m.mercer"
    model.save(saved)
    np.savetxt(data, rows, delimiter=",", header="a,b,c,d", comments="")
    for command, prefix in (("transform", "kernelpca"), ("relevance", "component ")):
        target = tmp_path / f"{command}.csv"
        assert main([command, str(saved), str(data), "-o", str(target)]) == 0
        with target.open() as file:
            head = next(csv.reader(file))
        assert numbers([name for name in head if name.startswith(prefix)]) == [0, 1, 2, 3]
    said = re.findall(r"component \d", capsys.readouterr().err, re.MULTILINE)
    assert numbers(said) == [0, 1, 2, 3]


def test_nobody_counts_from_1():
    """Sources of pictures, pages and the live page: ``component {k + 1}`` and its like."""
    counted = re.compile(r"(component|z|kernelpca) ?\$?\{[\w.\[\]]+ \+ 1\}|\"component\": \w+ \+ 1")
    files = [
        path
        for folder in ("src", "docs", "examples", "benchmarks")
        for kind in ("py", "js", "md")
        for path in (ROOT / folder).rglob(f"*.{kind}")
        if "_build" not in path.parts
    ]
    assert len(files) > 300
    assert [
        f"{path}: {found[0]}" for path in files if (found := counted.search(path.read_text()))
    ] == []
