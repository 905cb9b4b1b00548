"""Every line holds the reconstructions from so many scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import GenerativeKernelPCA, KernelNovelty, KernelPCA
from mercer.exceptions import ConvergenceWarning, DataError
from mercer.plots import PreImageGalleryDisplay
from mercer.preimage import FixedPoint
from tests.plots.pictures import picture


def test_lines_are_the_reconstructions_of_smaller_models(digits, digits_model):
    X, _, new, y = digits
    display = PreImageGalleryDisplay.from_estimator(digits_model, new, y=y)
    assert display.n_components == [1, 4, 16, 32]
    first = [int(np.flatnonzero(y == digit)[0]) for digit in display.labels]
    assert sorted(display.labels) == list(range(10))
    assert_allclose(display.originals, new[first])
    assert_allclose(display.preimages[-1], digits_model.reconstruct(new[first]))
    small = KernelPCA(4, solver="dense").fit(X)
    assert_allclose(display.preimages[1], small.reconstruct(new[first]), atol=1e-4)
    gaps = ((display.preimages - display.originals) ** 2).sum(axis=2).mean(axis=1)
    assert_allclose(display.errors, gaps)
    assert (np.diff(gaps) < 0).all()


def test_a_model_goes_its_own_way_back(digits):
    """A generator does not return by the solver that its parameter names elsewhere."""
    model = GenerativeKernelPCA(12, random_state=0).fit(digits[0])
    display = PreImageGalleryDisplay.from_estimator(model, digits[2][:3], n_components=[3, 12])
    assert_allclose(display.preimages[1], model.reconstruct(digits[2][:3]))
    assert model.n_components_ == 12


def test_a_way_back_that_fails_says_so(digits):
    model = KernelPCA(16, preimage=FixedPoint(max_iter=1)).fit(digits[0])
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        PreImageGalleryDisplay.from_estimator(model, digits[2], n_components=[16])


def test_the_picture_shows_them(digits, digits_model):
    display = PreImageGalleryDisplay.from_estimator(
        digits_model, digits[2], n_components=[2, 8], n_images=3
    )
    drawn = display.image_.get_array()
    assert_allclose(drawn[:8, :8], display.originals[0].reshape(8, 8))
    assert_allclose(drawn[-8:, -8:], display.preimages[1, 2].reshape(8, 8))
    assert display.image_.get_clim() == (0.0, 1.0)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert labels == ["original", "2", "8"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_components": [1, 33]}, "the model has 32"),
        ({"n_components": [0]}, "n_components=0|n_components=np.int64"),
        ({"n_components": []}, "the model has 32"),
        ({"n_images": 0}, "n_images=0"),
        ({"image_shape": (5, 5)}, "does not fit 64"),
    ],
)
def test_wrong_arguments(digits_model, arguments, message):
    with pytest.raises(DataError, match=message):
        PreImageGalleryDisplay.from_estimator(digits_model, **arguments)


def test_a_detector_has_no_way_back(ring):
    with pytest.raises(DataError, match="no way back"):
        PreImageGalleryDisplay.from_estimator(KernelNovelty(3, random_state=0).fit(ring))


@picture
def test_gallery(digits, digits_model):
    return PreImageGalleryDisplay.from_estimator(digits_model, digits[2], y=digits[3]).figure_
