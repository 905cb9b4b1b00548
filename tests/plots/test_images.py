"""Rows as images: shapes, and where each lands in the mosaic."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.plots import DenoisingDisplay, PreImageGalleryDisplay, TraversalDisplay
from mercer.plots._base import first_of_each, mosaic, shape_of_image, show_tiles, tile_centres


def test_a_square_is_an_image():
    assert shape_of_image(64, None) == (8, 8)
    assert shape_of_image(12, (3, 4)) == (3, 4)
    assert shape_of_image(12, (2, 2, 3)) == (2, 2, 3)


@pytest.mark.parametrize(
    ("d", "shape", "message"),
    [
        (10, None, r"image_shape=\(height, width\), or \(1, 10\)"),
        (10, (3, 3), "does not fit 10 columns"),
        (10, (2, 5, 1), "does not fit 10 columns"),
        (10, (-2, -5), "does not fit 10 columns"),
        (10, 10, "does not fit 10 columns"),
    ],
)
def test_what_is_no_image(d, shape, message):
    with pytest.raises(DataError, match=message):
        shape_of_image(d, shape)


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3)])
def test_every_tile_lands_in_its_place(rng, shape):
    tiles = rng.random((2, 3, int(np.prod(shape))))
    sheet = mosaic(tiles, shape)
    rows = tile_centres(2, 4, shape) - 1.5
    columns = tile_centres(3, 6, shape) - 2.5
    seen = np.zeros(sheet.shape, dtype=bool)
    for i, top in enumerate(rows.astype(int)):
        for j, left in enumerate(columns.astype(int)):
            place = np.s_[top : top + 4, left : left + 6]
            assert_array_equal(sheet[place], tiles[i, j].reshape(shape))
            seen[place] = True
    assert np.isnan(sheet[~seen]).all()


def test_colours_and_their_gaps(rng):
    tiles = 5 * rng.random((1, 2, 27))
    _, image = show_tiles(None, tiles, (3, 3, 3), limits=(0.0, 5.0))
    drawn = np.asarray(image.get_array())
    assert_array_equal(drawn[:, :3, :3], tiles[0, 0].reshape(3, 3, 3) / 5)
    assert_array_equal(drawn[:, 3], np.zeros((3, 4)))  # no colour, no opacity
    assert (drawn[:, 4:, 3] == 1).all()


def test_the_first_of_each_class():
    labels = np.array([3, 3, 1, 2, 1, 3])
    assert_array_equal(first_of_each(labels, 6, 10), [0, 2, 3])
    assert_array_equal(first_of_each(labels, 6, 2), [0, 2])
    assert_array_equal(first_of_each(None, 6, 4), [0, 1, 2, 3])


def test_photographs_are_no_negatives(digits):
    photos = np.random.default_rng(0).normal(0.5, 0.15, (2, 3, 64)).clip(0, 1)
    for tiles, cmap in ((digits[0][:6].reshape(2, 3, 64), "gray_r"), (photos, "gray")):
        _, image = show_tiles(None, tiles, (8, 8), limits=(0, 1), cmap=None)
        assert image.get_cmap().name == cmap
    model = KernelPCA(4).fit(photos.reshape(6, 64))
    for display in (PreImageGalleryDisplay, TraversalDisplay, DenoisingDisplay):
        assert display.from_estimator(model).image_.get_cmap().name == "gray", display
        assert display.from_estimator(model, cmap="viridis").image_.get_cmap().name == "viridis"
