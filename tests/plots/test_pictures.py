"""The comparison of pictures is worth something: it sees what is wrong in one."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.testing.compare import compare_images

from mercer import KernelNovelty, KernelPCA
from mercer.plots import (
    ComponentsDisplay,
    EmbeddingDisplay,
    NoveltyDisplay,
    PreImageGalleryDisplay,
    ScreeDisplay,
    WidthSpectrumDisplay,
)
from tests.plots.pictures import STYLE, TOLERANCE, wordless

BASELINE = Path(__file__).parent / "baseline"


@pytest.fixture
def differs(tmp_path):
    """Whether a figure would fail the comparison with a picture of the baseline."""

    def compare(figure, name):
        drawn = tmp_path / "drawn.png"
        wordless(figure).savefig(drawn, **STYLE["savefig_kwargs"])
        return compare_images(BASELINE / name, drawn, TOLERANCE) is not None

    with pyplot.style.context(STYLE["style"]):
        yield compare


def test_a_flipped_component(clusters, clusters_model, differs):
    draw = ComponentsDisplay.from_estimator
    display = draw(clusters_model, y=clusters[1], components=5, grid=60)
    assert not differs(display.figure_, "test_components.png")
    display.values[3] *= -1
    assert differs(display.plot().figure_, "test_components.png")


def test_classes_in_disorder(digits, digits_model, differs):
    X, y, new, _ = digits
    display = EmbeddingDisplay.from_estimator(digits_model, X, y=y, X_new=new[:6])
    assert not differs(display.figure_, "test_embedding.png")
    display.labels = 9 - display.labels
    assert differs(display.plot().figure_, "test_embedding.png")


def test_a_component_in_place_of_another(digits, digits_model, differs):
    X, y, new, _ = digits
    draw = EmbeddingDisplay.from_estimator
    display = draw(digits_model, X, y=y, X_new=new[:6], components=[0, 2])
    assert differs(display.figure_, "test_embedding.png")


def test_a_curve_that_is_not_there(digits_model, differs):
    assert differs(ScreeDisplay.from_estimator(digits_model).figure_, "test_scree.png")


def test_two_images_exchanged(digits, digits_model, differs):
    display = PreImageGalleryDisplay.from_estimator(digits_model, digits[2], y=digits[3])
    assert not differs(display.figure_, "test_gallery.png")
    display.preimages[2, [3, 7]] = display.preimages[2, [7, 3]]
    assert differs(display.plot().figure_, "test_gallery.png")


def test_another_threshold(ring, differs):
    shown = np.vstack([ring[:60], np.random.default_rng(5).uniform(-1.4, 1.4, (12, 2))])
    model = KernelNovelty(20, kernel="gaussian", random_state=0).fit(ring)
    display = NoveltyDisplay.from_estimator(model, shown, grid=60)
    assert not differs(display.figure_, "test_novelty.png")
    display.margin = display.margin - 0.1
    assert differs(display.plot().figure_, "test_novelty.png")


def test_spectra_in_disorder(ring, differs):
    display = WidthSpectrumDisplay.from_estimator(KernelPCA(4).fit(ring))
    display.shares = display.shares[::-1]
    assert differs(display.plot().figure_, "test_widths.png")
