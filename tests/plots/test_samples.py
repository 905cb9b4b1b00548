"""The sheet holds what sample draws, and the rows nearest to it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import GenerativeKernelPCA
from mercer.exceptions import DataError
from mercer.plots import SampleSheetDisplay, TraversalDisplay
from tests.plots.pictures import picture


@pytest.fixture(scope="module")
def generator(digits):
    return GenerativeKernelPCA(20, random_state=0).fit(digits[0], digits[1])


def test_samples_fill_the_sheet_line_by_line(generator):
    display = SampleSheetDisplay.from_estimator(generator, n_samples=18, random_state=3)
    drawn = generator.sample(18, random_state=np.random.default_rng(3))
    assert display.samples.shape == (3, 6, 64)
    assert_allclose(display.samples.reshape(18, 64), drawn)
    assert_allclose(display.image_.get_array()[:8, 9:17], drawn[1].reshape(8, 8))
    assert display.distances is None


def test_nearest_rows(digits, generator):
    X = digits[0]
    display = SampleSheetDisplay.from_estimator(generator, X, n_samples=8)
    for sample, nearest, distance in zip(
        display.samples.reshape(-1, 64),
        display.nearest.reshape(-1, 64),
        display.distances.ravel(),
        strict=True,
    ):
        gaps = np.sqrt(((X - sample) ** 2).sum(axis=1))
        assert_allclose(distance, gaps.min())
        assert_allclose(nearest, X[gaps.argmin()])
    assert_allclose(display.image_.get_array()[-8:, -8:], display.nearest[-1, -1].reshape(8, 8))


def test_the_scale_is_that_of_the_model(digits, generator):
    """Else one sample that overshoots would turn all ink grey, and two sheets could not compare."""
    for n in (4, 18):
        display = SampleSheetDisplay.from_estimator(generator, n_samples=n)
        assert display.image_.get_clim() == (digits[0].min(), digits[0].max())


def test_a_line_for_each_class(generator):
    display = SampleSheetDisplay.from_estimator(generator, y=[7, 1, 7, 1], n_samples=6)
    assert display.samples.shape == (2, 3, 64)
    assert display.labels == [1, 7]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["1", "7"]
    assert display.ax_.get_ylabel() == "class"
    rng = np.random.default_rng(0)
    assert_allclose(display.samples[0], generator.sample(3, label=1, random_state=rng))
    assert_allclose(display.samples[1], generator.sample(3, label=7, random_state=rng))


def test_wrong_arguments(generator, digits_model):
    with pytest.raises(DataError, match="use GenerativeKernelPCA"):
        SampleSheetDisplay.from_estimator(digits_model)
    with pytest.raises(DataError, match="n_samples=0"):
        SampleSheetDisplay.from_estimator(generator, n_samples=0)
    with pytest.raises(DataError, match="not among the classes"):
        SampleSheetDisplay.from_estimator(generator, y=["cat"])


def test_the_way_along_a_component_is_that_of_the_model(digits, generator):
    """Of an exact model √λ is the standard deviation of the training rows' scores."""
    row = digits[2][:1]
    display = TraversalDisplay.from_estimator(generator, row, components=[1], span=1.0, steps=5)
    expected = generator.traverse(row, 1, span=1.0, steps=5)
    assert_allclose(display.images[0], expected, atol=1e-8)


@picture
def test_sample_sheet(digits):
    """Drawn from rows in place of samples: a better generator is no other picture."""
    X, y, new, truth = digits
    lines = [(new[truth == digit][:5], X[y == digit][:5]) for digit in (3, 1, 7)]
    samples, nearest = map(np.stack, zip(*lines, strict=True))
    return SampleSheetDisplay(samples, (8, 8), nearest, [3, 1, 7]).plot().figure_
