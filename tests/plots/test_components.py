"""Contours are the scores on a grid, and panels find their place."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.plots import ComponentsDisplay
from tests.plots.pictures import picture


def test_values_are_scores_on_the_grid(clusters, clusters_model):
    X, _ = clusters
    display = ComponentsDisplay.from_estimator(clusters_model, X, components=[0, 4], grid=12)
    corner = clusters_model.transform([[display.x[3], display.y[7]]])[0]
    assert_allclose(display.values[:, 7, 3], corner[[0, 4]])
    assert (display.x[0] < X[:, 0].min()) & (display.y[-1] > X[:, 1].max())
    for contour, values in zip(display.contours_, display.values, strict=True):
        assert_allclose(contour.levels[[0, -1]], np.abs(values).max() * np.array([-1, 1]))
    titles = [ax.get_title() for ax in display.axes_]
    assert titles[1] == f"component 4 ({clusters_model.explained_variance_ratio_[4]:.1%})"


def test_rows_are_drawn_by_class(clusters, clusters_model):
    X, labels = clusters
    display = ComponentsDisplay.from_estimator(clusters_model, y=labels, components=1, grid=5)
    dots = [artist for artist in display.axes_[0].collections if len(artist.get_offsets()) == 30]
    assert len(dots) == 3
    assert_allclose(dots[0].get_offsets(), X[labels == np.unique(labels)[0]])


def test_other_variables_are_held_at_their_mean(digits):
    frame = pd.DataFrame(digits[0][:, 10:13], columns=["a", "b", "c"])
    model = KernelPCA(2).fit(frame)
    display = ComponentsDisplay.from_estimator(model, frame, features=(2, 0), grid=6)
    point = pd.DataFrame([[display.y[1], frame.b.mean(), display.x[4]]], columns=["a", "b", "c"])
    assert_allclose(display.values[:, 1, 4], model.transform(point)[0], atol=1e-12)
    assert display.rows is None
    assert display.names == ("c", "a")


def test_into_given_axes(clusters_model):
    draw = ComponentsDisplay.from_estimator
    single = pyplot.subplots()[1]
    assert draw(clusters_model, components=1, grid=5, ax=single).axes_[0] is single
    several = pyplot.subplots(1, 4)[1]
    assert list(draw(clusters_model, components=4, grid=5, ax=several).axes_) == list(several)
    figure, (left, right) = pyplot.subplots(1, 2)
    display = draw(clusters_model, components=2, grid=5, ax=right)
    assert display.figure_ is figure
    assert all(ax.get_position().x0 >= right.get_position().x0 - 1e-9 for ax in display.axes_)
    assert not left.collections
    with pytest.raises(DataError, match="2 axes were given"):
        draw(clusters_model, components=4, grid=5, ax=[left, right])
    with pytest.raises(DataError, match=r"one made by plt\.subplots"):
        draw(clusters_model, components=4, grid=5, ax=figure.add_axes((0, 0, 1, 1)))


@pytest.mark.parametrize("features", [(0, 0), (0, 2), (-1, 0), (0,)])
def test_wrong_features(clusters_model, features):
    with pytest.raises(DataError, match="span no plane"):
        ComponentsDisplay.from_estimator(clusters_model, features=features)


def test_wrong_grid(clusters_model):
    with pytest.raises(DataError, match="grid=1"):
        ComponentsDisplay.from_estimator(clusters_model, grid=1)


def test_classes_and_colours_are_explained(clusters, clusters_model):
    X, y = clusters
    display = ComponentsDisplay.from_estimator(clusters_model, X, y, components=3, grid=10)
    names = [text.get_text() for text in display.legend_.get_texts()]
    assert names == [str(name) for name in np.unique(y)]
    bars = [contours.colorbar for contours in display.contours_]
    assert all(bar is not None for bar in bars)
    assert bars[-1].ax.get_ylabel() == "score"
    plain = ComponentsDisplay.from_estimator(clusters_model, X, components=3, grid=10)
    assert plain.legend_ is None


@picture
def test_components(clusters, clusters_model):
    display = ComponentsDisplay.from_estimator(clusters_model, y=clusters[1], components=5, grid=60)
    return display.figure_
