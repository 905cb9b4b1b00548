"""Folders of images: an image is a row on the way in, and a row an image on the way out."""

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

import mercer as package
from mercer.io import open_rows
from mercer.io.images import encode_png, to_bytes

IMAGES = to_bytes(load_digits().images[:40] / 16)


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "digits"
    folder.mkdir()
    for i, image in enumerate(IMAGES):
        (folder / f"{i:02d}.png").write_bytes(encode_png(image))
    return folder


@pytest.fixture
def model(mercer, folder, tmp_path):
    path = tmp_path / "m.mercer"
    mercer("fit", folder, "--components", 10, "-o", path, "-q")
    return path


def test_images_to_images(mercer, folder, model, tmp_path):
    fitted, target = package.load(model), tmp_path / "clean"
    mercer("denoise", model, folder, "-o", target)
    expected = to_bytes(fitted.denoise(open_rows(folder)))
    names = sorted(path.name for path in target.iterdir())
    assert names == sorted(path.name for path in folder.iterdir())
    found = np.array([np.asarray(Image.open(target / name)) for name in names])
    np.testing.assert_array_equal(found.reshape(40, -1), expected)
    mercer.fails("denoise", model, folder, "-o", target, status=1, words=["--force"])
    mercer("denoise", model, folder, "-o", target, "--force")


def test_scores_and_back(mercer, folder, model, tmp_path):
    scores, target = tmp_path / "z.csv", tmp_path / "back"
    mercer("transform", model, folder, "-o", scores)
    mercer("inverse", model, scores, "-o", target)
    assert sorted(path.name for path in target.iterdir())[0] == "000000.png"
    with Image.open(target / "000039.png") as image:
        assert image.size == (8, 8)


def test_a_folder_with_other_things_is_not_replaced(mercer, folder, model, tmp_path):
    target = tmp_path / "mine"
    target.mkdir()
    (target / "letter.txt").write_text("dear")
    mercer.fails("denoise", model, folder, "-o", target, "--force", status=1, words=["letter.txt"])
    assert (target / "letter.txt").read_text() == "dear"
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def transparent(path):
    Image.new("RGBA", (8, 8), (1, 2, 3, 100)).save(path)


def larger(path):
    Image.new("L", (9, 8)).save(path)


def coloured(path):
    Image.new("RGB", (8, 8)).save(path)


def broken(path):
    path.write_bytes(encode_png(IMAGES[0])[:60])


def other(path):
    Image.new("L", (8, 8)).save(path, format="GIF")


@pytest.mark.parametrize("spoil", [transparent, larger, coloured, broken, other])
def test_images_that_do_not_fit(mercer, folder, tmp_path, spoil):
    spoil(folder / "07.png")
    target = tmp_path / "m.mercer"
    mercer.fails("fit", folder, "-o", target, "-q", status=3, words=["07.png"])
    assert not target.exists()


def test_columns_of_images_mean_nothing(mercer, folder):
    mercer.fails("fit", folder, "--drop", "a", status=3, words=["folder of images"])


def test_colour_sixteen_bits_and_palettes(tmp_path, mercer):
    rng = np.random.default_rng(0)
    for mode in ("RGB", "I;16", "P"):
        folder = tmp_path / mode.replace(";", "")
        folder.mkdir()
        for i in range(5):
            values = rng.integers(0, 256, (4, 6, 3), dtype=np.uint8)
            image = Image.fromarray(values)
            if mode == "I;16":
                image = Image.fromarray(values[..., 0].astype(np.uint16) * 257)
            if mode == "P":
                image = image.convert("P", palette=Image.Palette.ADAPTIVE)
            image.save(folder / f"{i}.png")
        table = tmp_path / f"{folder.name}.npy"
        mercer("convert", folder, table)
        X = np.load(table)
        assert X.shape == (5, 24 if mode == "I;16" else 72)
        assert 0 <= X.min() < X.max() <= 1
