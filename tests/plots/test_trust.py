"""A map coloured by how much of each neighbourhood it keeps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from mercer import KernelPCA, MapModel
from mercer.exceptions import DataError
from mercer.plots import TrustDisplay
from tests.plots.pictures import picture


@pytest.fixture(scope="module")
def torn():
    """A ring that the map has cut: the rows at the cut lose half of their neighbours."""
    t = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    X = np.column_stack([np.cos(t), np.sin(t), np.zeros(300)])
    return MapModel().fit(X, np.column_stack([t, np.sin(3 * t)])), X


def test_each_row_has_the_colour_of_its_trust(torn):
    model, _ = torn
    display = TrustDisplay.from_estimator(model, n_neighbors=10)
    assert_allclose(display.trust, model.trust(n_neighbors=10))
    assert_allclose(display.points_.get_array(), display.trust)
    assert_allclose(display.points_.get_offsets(), model.embedding_)
    assert display.trust[[0, -1]].max() < 0.7 < display.trust.mean()


def test_words_that_a_person_reads(torn):
    model, X = torn
    display = TrustDisplay.from_estimator(model)
    kept = round(100 * model.trust().mean())
    assert display.ax_.get_title() == f"The map keeps {kept} % of a row's 15 nearest rows."
    assert "torn apart  ←  nearest rows that stay near  →  kept" in display.bar_.ax.get_ylabel()
    deep = MapModel(PCA(3)).fit(X + np.random.default_rng(0).standard_normal(X.shape))
    assert TrustDisplay.from_estimator(deep).ax_.get_ylabel() == "mapmodel1 (2 of 3)"


def test_other_rows_with_their_map_or_ours(torn):
    model, X = torn
    new = X[:100] + 0.01
    display = TrustDisplay.from_estimator(model, new)
    assert_allclose(display.trust, model.trust(new, model.transform(new)))
    scattered = np.random.default_rng(0).standard_normal((100, 2))
    assert TrustDisplay.from_estimator(model, new, Z=scattered).trust.mean() < 0.4


def test_a_map_of_one_dimension_has_trust_as_height(torn):
    _, X = torn
    display = TrustDisplay.from_estimator(MapModel().fit(X, np.arange(300.0)))
    assert display.ax_.get_ylabel() == "share of nearest rows kept"
    assert_allclose(np.sort(display.points_.get_offsets()[:, 1]), np.sort(display.trust))


def test_another_model_is_refused(torn):
    with pytest.raises(DataError, match="KernelPCA is not a model of a map; give a MapModel"):
        TrustDisplay.from_estimator(KernelPCA(2).fit(torn[1]))


@picture
def test_trust(torn):
    return TrustDisplay.from_estimator(torn[0]).figure_
