"""What all displays have in common; novelty contours and contributions; life without matplotlib."""

import inspect
import sys

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from mercer import KernelNovelty, KernelPCA, SparseKernelPCA, plots
from mercer.exceptions import DataError
from mercer.plots import ContributionsDisplay, NoveltyDisplay
from tests.plots.pictures import picture

DISPLAYS = [name for name in plots.__all__ if name != "ContributionsDisplay"]


@pytest.fixture
def X(rng):
    return rng.standard_normal((80, 2))


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


def test_contours_into_given_axes(X):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    ax = pyplot.subplots()[1]
    model = KernelNovelty(5, random_state=0).fit(X)
    assert NoveltyDisplay.from_estimator(model, X, grid=10, ax=ax).ax_ is ax


def test_contours_need_two_variables(rng):
    X = rng.standard_normal((50, 3))
    with pytest.raises(DataError, match="two variables"):
        NoveltyDisplay.from_estimator(KernelNovelty(3, random_state=0).fit(X), X)


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


def test_five_rows_are_five_charts(rng):
    frame = pd.DataFrame(rng.standard_normal((60, 4)), columns=["a", "b", "c", "d"])
    model = KernelNovelty(5, random_state=0).fit(frame)
    rows = frame.tail(5)
    display = ContributionsDisplay.from_estimator(model, rows)
    assert_allclose(display.contributions, model.contributions(rows))
    assert [ax.get_title() for ax in display.axes_] == [f"row {i}" for i in range(55, 60)]
    for ax, row in zip(display.axes_, display.contributions, strict=True):
        widths = [bar.get_width() for bar in ax.patches]
        assert_allclose(widths, row[np.argsort(-np.abs(row))][::-1])


def test_an_axes_for_each_of_five_rows(rng):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    X, axes = rng.standard_normal((60, 4)), pyplot.subplots(1, 5)[1]
    model = KernelNovelty(5, random_state=0).fit(X)
    display = ContributionsDisplay.from_estimator(model, X[:5], ax=axes)
    assert list(display.axes_) == list(axes)
    assert all(ax.get_xlabel() == "contribution to the novelty score" for ax in axes)


def test_rows_as_a_list_are_numbered(rng):
    model = KernelNovelty(5, random_state=0).fit(rng.standard_normal((60, 2)))
    display = ContributionsDisplay.from_estimator(model, [[0.0, 4.0], [3.0, 0.0]])
    assert display.titles == ["row 0", "row 1"]
    assert ContributionsDisplay.from_estimator(model, [[0.0, 4.0]]).titles is None


def test_contours_of_the_detector_alone(X):
    model = KernelNovelty(5, random_state=0).fit(X)
    display = NoveltyDisplay.from_estimator(model, grid=5)
    assert_allclose(display.rows, X)
    assert_allclose(display.is_outlier, model.predict(X) == -1)
    with pytest.raises(DataError, match="from_fitted"):
        NoveltyDisplay.from_estimator(KernelPCA(2).fit(X), X)


def test_data_frames_are_drawn_without_a_word(X):
    """Names of columns are checked once, and reach the axes; warnings are errors here."""
    frame = pd.DataFrame(X, columns=["mass", "age"])
    display = NoveltyDisplay.from_estimator(KernelNovelty(5, random_state=0).fit(frame), frame)
    assert display.ax_.get_xlabel() == "mass"
    model = KernelPCA(3).fit(frame)
    plots.DenoisingDisplay.from_estimator(model, frame, image_shape=(1, 2))
    plots.TraversalDisplay.from_estimator(model, frame, image_shape=(1, 2))
    plots.PreImageGalleryDisplay.from_estimator(model, frame, image_shape=(1, 2))
    plots.EmbeddingDisplay.from_estimator(model, frame, X_new=frame.head(2))
    plots.WidthSpectrumDisplay.from_estimator(model, frame, factors=[1, 2])
    sparse = plots.RepresentingVectorsDisplay.from_estimator(SparseKernelPCA(6).fit(frame), frame)
    assert sparse.ax_.get_ylabel() == "age"
    with pytest.raises(DataError, match="feature names"):
        plots.EmbeddingDisplay.from_estimator(model, frame.rename(columns={"age": "size"}))


@pytest.mark.parametrize("name", DISPLAYS)
def test_all_are_called_alike(name):
    """``from_estimator(estimator, X=None, y=None, *, ..., ax=None)`` and ``plot(*, ax=None)``."""
    display = getattr(plots, name)
    made = list(inspect.signature(display.from_estimator).parameters.values())
    assert [p.name for p in made][:3] == ["estimator", "X", "y"]
    assert made[1].default is None
    assert all(p.kind is p.KEYWORD_ONLY for p in made[3:])
    assert made[2].kind is made[1].kind
    assert made[2].default is None
    assert made[-1].name == "ax"
    # Those of images take their colours, too.
    assert list(inspect.signature(display.plot).parameters)[:2] == ["self", "ax"]
    assert set(inspect.signature(display.plot).parameters) <= {"self", "ax", "cmap"}
    assert all(hasattr(display, drawn) for drawn in ("figure_", "ax_", "axes_"))


def test_a_stream(X, rng):
    model = KernelNovelty(5, random_state=0).fit(X)
    monitor, calm = model.monitor(), rng.standard_normal((200, X.shape[1]))
    display = plots.MonitorDisplay.from_estimator(monitor, np.r_[calm, calm + 3])
    assert display.alarm_at > 200
    assert abs(display.since - 200) < 10
    assert monitor.state_.rows == 0  # it was only played to
    legend = display.axes_[0, 0].get_legend().get_texts()
    assert [text.get_text() for text in legend][1] == f"alarm at row {display.alarm_at}"
    with pytest.raises(DataError, match="watches no stream"):
        plots.MonitorDisplay.from_estimator(model, calm)
    with pytest.raises(DataError, match="give them as X"):
        plots.MonitorDisplay.from_estimator(monitor)


def test_pictures_are_compared(pytestconfig):
    """Without --mpl the tests of pictures would pass whatever is drawn."""
    assert pytestconfig.getoption("--mpl")


def test_dark_paper_gets_light_ink(X):
    from matplotlib import pyplot

    model = KernelPCA(3).fit(X)
    with pyplot.style.context("dark_background"):
        assert plots.ScreeDisplay.from_estimator(model).line_.get_color() == "white"
    assert plots.ScreeDisplay.from_estimator(model).line_.get_color() == "black"


def test_without_matplotlib(X, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    model, pca = KernelNovelty(5, random_state=0).fit(X), KernelPCA(3).fit(X)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        NoveltyDisplay.from_estimator(model, X, grid=5)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plots.ComponentsDisplay.from_estimator(pca, grid=5)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plots.PreImageGalleryDisplay.from_estimator(pca, image_shape=(1, 2))


def test_importing_mercer_does_not_import_matplotlib():
    import subprocess

    code = "import sys, mercer.plots; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_arrays_are_kept(X):
    display = ContributionsDisplay(np.array([1.0, -2.0]), ["a", "b"])
    assert display.ax_ is None


@picture
def test_novelty(ring):
    model = KernelNovelty(20, kernel="gaussian", random_state=0).fit(ring)
    shown = np.vstack([ring[:60], np.random.default_rng(5).uniform(-1.4, 1.4, (12, 2))])
    return NoveltyDisplay.from_estimator(model, shown, grid=60).figure_


@picture
def test_contributions(rng):
    frame = pd.DataFrame(rng.standard_normal((60, 4)), columns=["mass", "age", "dose", "size"])
    model = KernelNovelty(5, kernel="gaussian", random_state=0).fit(frame)
    row = frame.head(1).copy()
    row["dose"] = 4.0
    return ContributionsDisplay.from_estimator(model, row).figure_


def test_contributions_of_several_rows_need_no_titles(rng):
    display = ContributionsDisplay(rng.standard_normal((3, 4)), list("abcd")).plot()
    assert [ax.get_title() for ax in display.axes_] == ["", "", ""]
