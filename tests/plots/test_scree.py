"""Bars and curves carry the model's shares, and those of other rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from mercer import KernelNovelty, KernelPCA, ReweightedKernelPCA
from mercer.exceptions import DataError
from mercer.kernels import Linear
from mercer.plots import ScreeDisplay
from tests.plots.pictures import picture


def test_bars_and_line_are_the_shares(digits_model):
    display = ScreeDisplay.from_estimator(digits_model)
    shares = digits_model.explained_variance_ratio_
    assert_allclose([bar.get_height() for bar in display.bars_], shares)
    assert_allclose(display.line_.get_ydata(), np.cumsum(shares))
    assert_allclose(display.line_.get_xdata(), np.arange(32))
    assert f"{shares.sum():.1%}" in [text.get_text() for text in display.ax_.texts]
    assert display.new_line_ is None
    assert display.figure_ is display.ax_.figure


def test_shares_of_other_rows_are_those_of_pca_for_the_linear_kernel(digits):
    X, _, new, _ = digits
    display = ScreeDisplay.from_estimator(KernelPCA(10, kernel=Linear()).fit(X), new)
    pca = PCA(10).fit(X)
    Z, around = pca.transform(new), new - pca.mean_
    assert_allclose(display.new_rows, np.cumsum((Z**2).sum(0)) / (around**2).sum(), rtol=1e-8)
    assert_allclose(display.new_line_.get_ydata(), display.new_rows)


def test_a_wrapped_model_has_the_shares_of_the_one_inside(ring):
    model = ReweightedKernelPCA(KernelPCA(5), random_state=0).fit(ring)
    display = ScreeDisplay.from_estimator(model)
    assert_allclose(display.shares, model.estimator_.explained_variance_ratio_)


def test_a_detector_has_shares_and_a_foreign_model_may_have_none(ring):
    model = KernelNovelty(5, kernel="gaussian", random_state=0).fit(ring)
    assert_allclose(
        ScreeDisplay.from_estimator(model).shares, KernelPCA(5).fit(ring).explained_variance_ratio_
    )
    foreign = SimpleNamespace(subspace_=model.subspace_)
    with pytest.raises(DataError, match="draw the KernelPCA"):
        ScreeDisplay.from_estimator(foreign)


@picture
def test_scree(digits, digits_model):
    return ScreeDisplay.from_estimator(digits_model, digits[2]).figure_


@picture
def test_scree_of_many(digits):
    return ScreeDisplay.from_estimator(KernelPCA(100).fit(digits[0])).figure_
