"""Each column of the picture is the spectrum of a fit with that width."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA, SparseKernelPCA
from mercer.exceptions import DataError, KernelError
from mercer.kernels import Gaussian, Matern, Polynomial
from mercer.plots import WidthSpectrumDisplay
from tests.plots.pictures import picture


def test_columns_are_spectra(ring):
    model = KernelPCA(3, kernel=Gaussian(width=0.7), solver="dense").fit(ring)
    display = WidthSpectrumDisplay.from_estimator(model, factors=[2, 0.5, 1], n_components=3)
    assert_allclose(display.lengths, [0.35, 0.7, 1.4])
    assert display.length == pytest.approx(0.7)
    assert_allclose(display.shares[1], model.explained_variance_ratio_)
    wide = KernelPCA(3, kernel=Gaussian(width=1.4)).fit(ring)
    assert_allclose(display.shares[2], wide.explained_variance_ratio_)
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in display.areas_]
    assert_allclose(tops, np.cumsum(display.shares, axis=1).max(axis=0))
    assert_allclose(display.mark_.get_xdata(), 0.7)


def test_the_limits_of_narrow_and_wide(ring):
    """K becomes the identity at one end, and the linear kernel at the other."""
    model = KernelPCA(2).fit(ring)
    display = WidthSpectrumDisplay.from_estimator(model, factors=[1e-4, 1e3], n_components=5)
    assert_allclose(display.shares[0], 1 / (len(ring) - 1), rtol=1e-6)
    variance = np.linalg.eigvalsh(np.cov(ring.T))[::-1]
    assert_allclose(display.shares[1, :2], variance / variance.sum(), rtol=1e-3)


def test_other_models_and_kernels(ring):
    uncentred = SparseKernelPCA(20, kernel=Matern(0.8)).fit(ring)
    display = WidthSpectrumDisplay.from_estimator(uncentred, ring, factors=[1, 2])
    full = KernelPCA(8, kernel=Matern(0.8), center=False).fit(ring)
    assert_allclose(display.shares[0], full.explained_variance_ratio_, rtol=1e-6)


def test_wrong_arguments(ring):
    model = KernelPCA(2, kernel=Polynomial(2)).fit(ring)
    with pytest.raises(KernelError, match="has no width"):
        WidthSpectrumDisplay.from_estimator(model)
    model = KernelPCA(2).fit(ring)
    for factors in ([1], [1, -1], [1, np.nan], 3):
        with pytest.raises(DataError, match="two positive numbers"):
            WidthSpectrumDisplay.from_estimator(model, factors=factors)


@picture
def test_widths(ring):
    return WidthSpectrumDisplay.from_estimator(KernelPCA(4).fit(ring)).figure_
