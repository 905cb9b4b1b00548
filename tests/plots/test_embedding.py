"""Points stand where transform puts them, in the colours of their classes."""

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelPCA, compat
from mercer.exceptions import DataError, KernelError, NotFittedError
from mercer.kernels import FunctionKernel
from mercer.plots import BiplotDisplay, EmbeddingDisplay
from tests.plots.pictures import picture


def test_each_class_stands_where_transform_puts_it(digits, digits_model):
    _, _, X, y = digits
    display = EmbeddingDisplay.from_estimator(digits_model, X, y=y, components=[2, 0])
    Z = digits_model.transform(X)
    assert [artist.get_label() for artist in display.points_] == [str(k) for k in range(10)]
    for digit, artist in enumerate(display.points_):
        assert_allclose(artist.get_offsets(), Z[y == digit][:, [2, 0]])
    looks = {(to_rgb(a.get_facecolor()[0][:3]), str(a.get_paths())) for a in display.points_}
    assert len(looks) == 10
    share = digits_model.explained_variance_ratio_[2]
    assert display.ax_.get_xlabel() == f"component 2 ({share:.1%})"


def test_without_rows_the_training_rows_are_drawn(digits, digits_model):
    X, y, _, _ = digits
    display = EmbeddingDisplay.from_estimator(digits_model, y=y)
    drawn = np.vstack([artist.get_offsets() for artist in display.points_])
    order = np.concatenate([np.flatnonzero(y == digit) for digit in range(10)])
    assert_allclose(drawn, digits_model.transform(X)[order, :2])


def test_new_points(digits, digits_model):
    X, _, new, _ = digits
    display = EmbeddingDisplay.from_estimator(digits_model, X, X_new=new[:7])
    assert_allclose(display.new_points_[0].get_offsets(), digits_model.transform(new[:7])[:, :2])
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["rows", "new"]


def test_every_pair_is_drawn_once(digits, digits_model):
    _, _, X, y = digits
    three = y < 3
    display = EmbeddingDisplay.from_estimator(digits_model, X[three], y=y[three], components=4)
    assert display.axes_.shape == (4, 4)
    assert len(display.points_) == 6 * 3
    Z = digits_model.transform(X[three])[y[three] == 0]
    assert_allclose(display.axes_[3, 1].collections[0].get_offsets(), Z[:, [1, 3]])
    assert display.axes_[3, 1].get_xlabel().startswith("component 1")
    counted = sum(patch.get_path().vertices[:, 1].max() for patch in display.axes_[0, 0].patches)
    assert counted > 0


def test_numbers_become_a_scale(digits, digits_model):
    X = digits[0]
    display = EmbeddingDisplay.from_estimator(digits_model, X, y=X.sum(axis=1))
    assert len(display.points_) == 1
    assert_allclose(display.points_[0].get_array(), X.sum(axis=1))


def test_whole_numbers_with_many_values_are_a_scale_with_a_name(digits, digits_model):
    pandas = pytest.importorskip("pandas")
    ages = pandas.Series(np.arange(len(digits[0])) % 90, name="age")
    display = EmbeddingDisplay.from_estimator(digits_model, digits[0], y=ages)
    assert len(display.points_) == 1
    assert display.figure_.axes[-1].get_ylabel() == "age"
    biplot = BiplotDisplay.from_estimator(digits_model, digits[0], y=ages)
    assert len(biplot.points_) == 1


def test_many_classes_differ_in_colour_or_shape(digits, digits_model):
    X = digits[0]
    display = EmbeddingDisplay.from_estimator(
        digits_model, X, y=[f"class {i % 30}" for i in range(len(X))]
    )
    looks = {
        (tuple(artist.get_facecolor()[0]), artist.get_paths()[0].vertices.tobytes())
        for artist in display.points_
    }
    assert len(looks) == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"y": [1, 2]}, r"y has shape \(2,\) for 300 rows; give one label"),
        ({"components": [0]}, "at least 2"),
        ({"components": [0, 0]}, "each once"),
        ({"components": [0, 40]}, "count from 0 to 31"),
        ({"components": 40}, "count from 0 to 31"),
    ],
)
def test_wrong_arguments(digits_model, arguments, message):
    with pytest.raises(DataError, match=message):
        EmbeddingDisplay.from_estimator(digits_model, **arguments)


def test_wrong_rows(digits_model):
    bad = np.zeros((3, 64))
    bad[1, 5] = np.nan
    with pytest.raises(DataError, match="row 1, column 5"):
        EmbeddingDisplay.from_estimator(digits_model, bad)
    with pytest.raises(DataError, match="63 features"):
        EmbeddingDisplay.from_estimator(digits_model, np.zeros((3, 63)))


def test_wrong_models(digits):
    X = digits[0]
    with pytest.raises(NotFittedError, match="call fit"):
        EmbeddingDisplay.from_estimator(KernelPCA(2), X)
    with pytest.raises(DataError, match=r"pipeline\[-1\]"):
        EmbeddingDisplay.from_estimator(make_pipeline(StandardScaler(), KernelPCA(2)).fit(X), X)
    with pytest.raises(DataError, match="StandardScaler has no subspace"):
        EmbeddingDisplay.from_estimator(StandardScaler().fit(X), X)
    with pytest.raises(DataError, match=r"mercer\.compat\.KernelPCA has no subspace"):
        EmbeddingDisplay.from_estimator(compat.KernelPCA(2).fit(X), X)
    with pytest.raises(DataError, match=r"builtins\.int has no subspace"):
        EmbeddingDisplay.from_estimator(3, X)
    words = KernelPCA(2, kernel=FunctionKernel(lambda a, b: float(len(set(a) & set(b)))))
    with pytest.raises(KernelError, match="no input space"):
        EmbeddingDisplay.from_estimator(words.fit(["abc", "bcd", "cde", "xyz"]))


@picture
def test_embedding(digits, digits_model):
    X, y, new, _ = digits
    return EmbeddingDisplay.from_estimator(digits_model, X, y=y, X_new=new[:6]).figure_


@picture
def test_embedding_of_pairs(digits, digits_model):
    X, y, _, _ = digits
    few = y < 4
    names = np.array(["zero", "one", "two", "three"])[y[few]]
    return EmbeddingDisplay.from_estimator(digits_model, X[few], y=names, components=3).figure_


def _named(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("nothing", [None, np.nan, ""])
def test_rows_without_a_class_are_a_class_of_their_own(rng, nothing):
    """None and NaN among texts ended in a TypeError; "" was a class without a name."""
    X = rng.standard_normal((12, 3))
    y = np.array(["a", "b", nothing] * 4, dtype=object)
    display = EmbeddingDisplay.from_estimator(KernelPCA(2).fit(X), X, y)
    assert _named(display) == [
        "a",
        "b",
        "missing",
    ]
    years = np.array([70, 71, np.nan] * 4)  # whole numbers, which a gap makes floats
    display = EmbeddingDisplay.from_estimator(KernelPCA(2).fit(X), X, years)
    assert _named(display) == [
        "70",
        "71",
        "missing",
    ]
    assert [len(part.get_offsets()) for part in display.points_] == [4, 4, 4]
    display = EmbeddingDisplay.from_estimator(KernelPCA(2).fit(X), X, np.arange(12) % 2.0)
    assert _named(display) == ["0", "1"]


def test_rows_without_a_number_are_drawn_in_grey(rng):
    X = rng.standard_normal((60, 3))
    y = np.where(np.arange(60) == 7, np.nan, np.arange(60.0))
    (points,) = EmbeddingDisplay.from_estimator(KernelPCA(2).fit(X), X, y).points_
    colour = points.to_rgba(points.get_array())[7]
    assert_allclose(colour, [0.75, 0.75, 0.75, 1.0])
    assert len(points.get_offsets().compressed()) == 120
