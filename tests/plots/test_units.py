"""Pictures of tables: values of the columns beside the axes, and categories as one column."""

import numpy as np
import pandas as pd
import pytest

from mercer import KernelNovelty, KernelPCA, SparseKernelPCA, TableModel
from mercer.plots import (
    ComponentsDisplay,
    NoveltyDisplay,
    RelevanceDisplay,
    RepresentingVectorsDisplay,
)

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2007-01-01") + pd.to_timedelta(rng.integers(0, 900, 80), "D")
    columns = {
        "mass": rng.normal(3500, 300, 80).round(),
        "income": np.exp(rng.normal(8, 1.5, 80)).round(2),
        "since": days,
        "kind": rng.choice(["a", "b", "c"], 80),
    }
    return pd.DataFrame(columns)


def labels_of(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def check_axis(axis, column):
    """Each number stands where the encoder puts it."""
    texts = labels_of(axis)
    assert len(texts) >= 3
    values = np.array([float(text.replace(",", "")) for text in texts])
    places = column.encode(values)[:, 0]
    np.testing.assert_allclose(axis.get_ticklocs(), places, atol=1e-9)
    span = np.ptp(axis.get_view_interval())
    assert (np.diff(places) > span / 10).all()


DISPLAYS = {
    "novelty": (NoveltyDisplay, KernelNovelty(5, random_state=0)),
    "components": (ComponentsDisplay, KernelPCA(3)),
    "vectors": (RepresentingVectorsDisplay, SparseKernelPCA(n_kernels=8)),
}


@pytest.mark.parametrize("name", DISPLAYS)
def test_axes_have_the_values_of_the_table(table, name):
    display, model = DISPLAYS[name]
    two = table[["mass", "income"]]
    fitted = TableModel(model).fit(two)
    drawn = display.from_estimator(fitted, two, grid=20)
    ax = drawn.axes_[0] if name == "components" else drawn.ax_
    check_axis(ax.xaxis, fitted.encoder_.columns_["mass"])
    check_axis(ax.yaxis, fitted.encoder_.columns_["income"])
    assert all(float(text.replace(",", "")) >= 0 for text in labels_of(ax.yaxis))


def test_dates_stand_beside_the_axis_as_dates(table):
    two = table[["mass", "since"]]
    drawn = NoveltyDisplay.from_estimator(
        TableModel(KernelNovelty(5, random_state=0)).fit(two), two, grid=20
    )
    texts = labels_of(drawn.ax_.yaxis)
    assert all(text[:2] == "20" and text.endswith("-01") for text in texts)


def test_a_model_of_plain_numbers_keeps_its_axes(table):
    X = np.random.default_rng(0).standard_normal((60, 2))
    drawn = NoveltyDisplay.from_estimator(KernelNovelty(5, random_state=0).fit(X), X, grid=20)
    assert drawn.units == (None, None)


def test_relevance_of_a_category_is_that_of_its_column(table):
    fitted = TableModel(KernelPCA(3)).fit(table)
    drawn = RelevanceDisplay.from_estimator(fitted, table)
    assert list(drawn.names) == list(table.columns)
    expected = fitted.relevance(table, unit="share").components[:3]
    np.testing.assert_allclose(drawn.values, expected, rtol=1e-9)
