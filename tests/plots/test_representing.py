"""Circles stand on the representing vectors, and images come by weight."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from mercer import KernelPCA, ReweightedKernelPCA, SparseKernelPCA, compress
from mercer.exceptions import DataError
from mercer.plots import RepresentingVectorsDisplay
from tests.plots.pictures import picture


def test_circles_in_the_plane(clusters, sparse_model):
    X, _ = clusters
    display = RepresentingVectorsDisplay.from_estimator(sparse_model, X, grid=9)
    order = np.argsort(-sparse_model.weights_)
    assert_allclose(display.circles_.get_offsets(), X[sparse_model.support_indices_][order])
    sizes = display.circles_.get_sizes()
    weights = np.sort(sparse_model.weights_)[::-1]
    assert_allclose((sizes / sizes[0]) ** 2, weights / weights[0])
    assert_allclose(display.points_.get_offsets(), X)
    x, y, distance = display.grid
    assert_allclose(distance[2, 5], sparse_model.span_error([[x[5], y[2]]])[0])


def test_images_by_weight(digits):
    model = SparseKernelPCA(12).fit(digits[0])
    display = RepresentingVectorsDisplay.from_estimator(model, limit=7)
    order = np.argsort(-model.weights_)[:7]
    assert_allclose(display.vectors, digits[0][model.support_indices_][order])
    assert_allclose(display.image_.get_array()[:8, :8], display.vectors[0].reshape(8, 8))
    assert display.circles_ is None
    assert display.ax_.get_title().startswith("7 of 12 representing rows")


def test_other_tables_in_the_plane_of_two_components():
    X = load_iris().data
    model = SparseKernelPCA(9).fit(X)
    display = RepresentingVectorsDisplay.from_estimator(model, X)
    order = np.argsort(-model.weights_)
    Z = model.transform(X)[:, :2]
    assert_allclose(display.circles_.get_offsets(), Z[model.support_indices_][order], atol=1e-12)
    assert_allclose(display.points_.get_offsets(), Z, atol=1e-12)
    assert display.ax_.get_xlabel() == "component 0"
    one = SparseKernelPCA(9, n_components=1).fit(X)
    with pytest.raises(DataError, match="needs 2 components"):
        RepresentingVectorsDisplay.from_estimator(one)


def test_a_compressed_model(clusters, clusters_model):
    small = compress(clusters_model, 10)
    display = RepresentingVectorsDisplay.from_estimator(small, clusters[0], grid=5)
    assert len(display.places) == 10


def test_models_without(digits_model, ring):
    with pytest.raises(DataError, match="compress"):
        RepresentingVectorsDisplay.from_estimator(digits_model)
    reweighted = ReweightedKernelPCA(KernelPCA(2), random_state=0).fit(ring)
    with pytest.raises(DataError, match="SparseKernelPCA"):  # its weights are another thing
        RepresentingVectorsDisplay.from_estimator(reweighted)


@picture
def test_representing_rows(clusters, sparse_model):
    return RepresentingVectorsDisplay.from_estimator(sparse_model, clusters[0], grid=60).figure_


@picture
def test_representing_images(digits):
    return RepresentingVectorsDisplay.from_estimator(SparseKernelPCA(21).fit(digits[0])).figure_
