"""Each image is the pre-image of scores one step further."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelNovelty, KernelPCA
from mercer.exceptions import DataError
from mercer.plots import TraversalDisplay
from tests.plots.pictures import picture


def test_steps_from_the_mean(digits_model):
    display = TraversalDisplay.from_estimator(digits_model, components=[1, 3], span=1.5, steps=5)
    assert display.images.shape == (2, 5, 64)
    assert_allclose(display.positions, [-1.5, -0.75, 0, 0.75, 1.5])
    for i, k in enumerate([1, 3]):
        for j, t in enumerate(display.positions):
            z = np.zeros((1, 32))
            z[0, k] = t * np.sqrt(digits_model.eigenvalues_[k] / 300)
            expected = digits_model.inverse_transform(z)[0]
            assert_allclose(display.images[i, j], expected, atol=1e-6)


def test_steps_from_a_row(digits, digits_model):
    row = digits[2][:1]
    display = TraversalDisplay.from_estimator(digits_model, row, components=2, steps=3)
    assert_allclose(display.images[0, 1], digits_model.reconstruct(row)[0], atol=1e-6)
    assert_allclose(display.images[1, 1], display.images[0, 1], atol=1e-6)
    drawn = display.image_.get_array()
    assert_allclose(drawn[:8, :8], display.images[0, 0].reshape(8, 8))
    labels = [text.get_text() for text in display.ax_.get_xticklabels()]
    assert labels == ["−2", "0", "+2"]
    several = digits[2][:5]
    display = TraversalDisplay.from_estimator(digits_model, several, components=1, steps=3)
    z = digits_model.transform(several).mean(axis=0, keepdims=True)
    assert_allclose(display.images[0, 1], digits_model.inverse_transform(z)[0], atol=1e-6)


def test_an_uncentred_model_starts_at_its_mean(digits):
    X = digits[0]
    model = KernelPCA(8, center=False).fit(X)
    display = TraversalDisplay.from_estimator(model, components=1, steps=3)
    middle = model.inverse_transform(model.transform(X).mean(axis=0, keepdims=True))
    assert_allclose(display.images[0, 1], middle[0], atol=1e-6)


def test_wrong_arguments(digits_model, ring):
    draw = TraversalDisplay.from_estimator
    with pytest.raises(DataError, match="steps=1"):
        draw(digits_model, steps=1)
    with pytest.raises(DataError, match="span=0"):
        draw(digits_model, span=0)
    with pytest.raises(DataError, match="span='2'"):
        draw(digits_model, span="2")
    with pytest.raises(DataError, match="2 columns form no square image"):
        draw(KernelPCA(2).fit(ring))
    with pytest.raises(DataError, match="no way back"):
        draw(KernelNovelty(3, random_state=0).fit(ring))


@picture
def test_traversal(digits, digits_model):
    return TraversalDisplay.from_estimator(digits_model, digits[2][5:6]).figure_
