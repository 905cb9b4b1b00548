"""Bars, heat maps and images of relevance, and the map with local arrows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from mercer import KernelNovelty, KernelPCA
from mercer.exceptions import DataError
from mercer.kernels import FunctionKernel
from mercer.plots import BiplotDisplay, RelevanceDisplay, ScreeDisplay
from tests.plots.pictures import picture


@pytest.fixture(scope="module")
def wine():
    data = load_wine()
    return StandardScaler().fit_transform(data.data), data.target


@pytest.fixture(scope="module")
def model(wine):
    return KernelPCA(4, solver="dense").fit(wine[0])


@pytest.fixture(scope="module")
def sure(model):
    return model.uncertainty()


def test_bars_are_the_largest_shares(model, wine, sure):
    display = RelevanceDisplay.from_estimator(model, wine[0], limit=5, uncertainty=sure)
    shares = model.relevance(wine[0], unit="share").components
    assert_allclose(display.values, shares[:3])
    widths = [bar.get_width() for bar in display.artists_[1]]
    assert_allclose(widths, np.sort(shares[1])[-5:])
    best = display.axes_[1].get_yticklabels()[-1].get_text()
    assert best == f"x{shares[1].argmax()}"
    assert_allclose(display.interval.low, sure.relevance.low[:3])
    assert display.axes_[0].get_title() == "component 0"


def test_heat_map_shows_the_strongest_in_their_order(model, wine):
    display = RelevanceDisplay.from_estimator(model, wine[0], kind="heatmap", limit=6)
    table = display.artists_[0].get_array()
    overall = model.relevance(wine[0], unit="share").overall
    shown = np.sort(np.argsort(-overall)[:6])
    assert table.shape == (5, 6)
    assert_allclose(table[-1], overall[shown])
    labels = [label.get_text() for label in display.axes_[0].get_xticklabels()]
    assert labels == [f"x{j}" for j in shown]


def test_images_of_pixels(digits, digits_model):
    display = RelevanceDisplay.from_estimator(digits_model, digits[0], kind="images", components=3)
    sheet = np.asarray(display.artists_[0].get_array())
    assert np.nanmax(sheet[:8, :8]) == 1
    assert sheet.shape[0] == 8


def test_detectors_have_relevance_too(wine):
    model = KernelNovelty(3, random_state=0).fit(wine[0])
    assert RelevanceDisplay.from_estimator(model).values.shape == (3, 13)


def test_arrows_are_local_derivatives(model, wine):
    X, y = wine
    display = BiplotDisplay.from_estimator(model, X, y=y, at=X[:3], variables=2)
    J = model.sensitivity(X[:3])[:, :2] * X.std(axis=0)
    order = np.argsort(-(J**2).sum(axis=(0, 1)))[:2]
    assert display.names == [f"x{j}" for j in order]
    assert_allclose(display.arrows, np.moveaxis(J[:, :, order], 1, 2), rtol=1e-8)
    assert_allclose(display.feet, model.transform(X[:3])[:, :2])
    assert len(display.points_) == 3


def test_names_of_arrows_do_not_cover_each_other(model, wine):
    display = BiplotDisplay.from_estimator(model, wine[0], variables=6)
    boxes = [text.get_window_extent() for text in display.texts_ if text is not None]
    assert len(boxes) >= 3
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


def test_arrows_change_along_a_bend():
    """On a circle the same variable pushes one way on one side and the other way on the other."""
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ring = np.c_[np.cos(angle), np.sin(angle)]
    model = KernelPCA(3, kernel="gaussian").fit(ring)
    at = np.array([[1.0, 0.0], [-1.0, 0.0]])
    arrows = BiplotDisplay.from_estimator(model, ring, components=(0, 2), at=at).arrows
    assert (arrows[0, :, 1] * arrows[1, :, 1] < 0).any()


def test_scree_with_intervals(model, sure):
    display = ScreeDisplay.from_estimator(model, uncertainty=sure)
    segments = display.intervals_[2][0].get_segments()
    assert_allclose([segment[0, 1] for segment in segments], sure.shares.low)
    assert_allclose([segment[1, 1] for segment in segments], sure.shares.high)


def test_wrong_words(model, wine, sure):
    with pytest.raises(DataError, match="kind='pie' is not known"):
        RelevanceDisplay.from_estimator(model, kind="pie")
    with pytest.raises(DataError, match="two"):
        BiplotDisplay.from_estimator(model, components=(0, 1, 2))
    words = ["abc", "abd", "xyz", "axz", "bdc"]
    strings = KernelPCA(2, kernel=FunctionKernel(lambda a, b: float(len(set(a) & set(b)))))
    with pytest.raises(ValueError, match="vectors"):
        BiplotDisplay.from_estimator(strings.fit(words))
    larger = KernelPCA(6).fit(wine[0])
    with pytest.raises(DataError, match="4 components"):
        RelevanceDisplay.from_estimator(larger, components=6, uncertainty=sure)


@picture
def test_relevance_bars(model, wine, sure):
    return RelevanceDisplay.from_estimator(model, wine[0], limit=6, uncertainty=sure).figure_


@picture
def test_biplot(model, wine):
    return BiplotDisplay.from_estimator(model, wine[0], y=wine[1]).figure_


@picture
def test_scree_intervals(model, sure):
    return ScreeDisplay.from_estimator(model, uncertainty=sure).figure_
