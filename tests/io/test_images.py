"""Folders of images as rows, and rows as images."""

import io

import numpy as np
import pytest
from PIL import Image

from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.io import Choice, image_shape, open_rows, open_table, pixel_names, write_table
from mercer.io.images import encode_png


def test_png_is_read_by_others():
    rng = np.random.default_rng(0)
    for shape in ((5, 7), (5, 7, 3), (1, 1)):
        image = rng.integers(0, 256, shape, dtype=np.uint8)
        np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(encode_png(image)))), image)


def test_names_tell_the_shape():
    for shape in ((2, 3), (2, 3, 3), (1, 1)):
        assert image_shape(pixel_names(shape)) == shape
    assert image_shape(["pixel 0,0", "pixel 1,1"]) is None
    assert image_shape(None) is None


@pytest.mark.parametrize("shape", [(4, 6), (4, 6, 3)])
def test_there_and_back(tmp_path, shape):
    """Pixels are whole numbers of 255ths, so that nothing is lost on the way."""
    ink = np.random.default_rng(0).integers(0, 256, (12, *shape)).reshape(12, -1) / 255
    folder = write_table(tmp_path / "images", ink, columns=pixel_names(shape))
    assert sorted(path.name for path in folder.iterdir())[0] == "000000.png"
    np.testing.assert_allclose(open_rows(folder)[:], ink, rtol=0, atol=1e-15)
    table = open_table(folder)
    assert image_shape(table.rows.columns) == shape
    again = write_table(tmp_path / "again", table)
    assert [path.name for path in sorted(again.iterdir())] == table.files


def test_an_estimator_takes_a_folder(tmp_path):
    ink = np.random.default_rng(0).random((20, 9))
    folder = write_table(tmp_path / "images", ink, columns=pixel_names((3, 3)))
    model = KernelPCA(3).fit(folder)
    assert list(model.feature_names_in_) == list(pixel_names((3, 3)))
    with pytest.raises(DataError, match="no columns"):
        open_table(folder, Choice(drop=["pixel 0,0"]))
