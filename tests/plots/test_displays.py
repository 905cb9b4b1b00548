"""What the displays compute and draw, and what they say without matplotlib."""

import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mercer import KernelNovelty
from mercer.exceptions import DataError
from mercer.plots import ContributionsDisplay, NoveltyDisplay


@pytest.fixture
def close_figures():
    yield
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")


@pytest.fixture
def X(rng):
    return rng.standard_normal((80, 2))


@pytest.mark.usefixtures("close_figures")
def test_contours(X):
    model = KernelNovelty(5, random_state=0).fit(X)
    display = NoveltyDisplay.from_estimator(model, X, grid=15)
    corner = model.p_values([[display.x[0], display.y[0]]])
    assert_allclose(display.p_values[0, 0], corner)
    assert display.x[0] < X[:, 0].min()
    assert display.y[-1] > X[:, 1].max()
    lines = [path for path in display.threshold_.get_paths() if len(path.vertices)]
    assert lines
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "normal",
        "called new",
        "threshold",
    ]


@pytest.mark.usefixtures("close_figures")
def test_contours_into_given_axes(X):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = pyplot.subplots()[1]
    model = KernelNovelty(5, random_state=0).fit(X)
    assert NoveltyDisplay.from_estimator(model, X, grid=10, ax=ax).ax_ is ax


def test_contours_need_two_variables(rng):
    X = rng.standard_normal((50, 3))
    with pytest.raises(DataError, match="two variables"):
        NoveltyDisplay.from_estimator(KernelNovelty(3).fit(X), X)


@pytest.mark.usefixtures("close_figures")
def test_bars_are_the_largest_on_top(rng):
    frame = pd.DataFrame(rng.standard_normal((60, 4)), columns=["a", "b", "c", "d"])
    model = KernelNovelty(5, random_state=0).fit(frame)
    row = frame.head(1).copy()
    row["c"] = 6.0
    display = ContributionsDisplay.from_estimator(model, row, limit=3)
    assert len(display.bars_) == 3
    assert display.bars_[-1].get_width() == display.contributions.max()
    assert display.ax_.get_yticklabels()[-1].get_text() == "c"
    assert_allclose(display.contributions, model.contributions(row)[0])


def test_without_matplotlib(X, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    model = KernelNovelty(5, random_state=0).fit(X)
    with pytest.raises(ImportError, match=r"mercer\[plot\]"):
        NoveltyDisplay.from_estimator(model, X, grid=5)


def test_importing_mercer_does_not_import_matplotlib():
    import subprocess

    code = "import sys, mercer.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_arrays_are_kept(X):
    display = ContributionsDisplay(np.array([1.0, -2.0]), ["a", "b"])
    assert display.ax_ is None
