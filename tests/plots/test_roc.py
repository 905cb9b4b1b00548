"""The curve is that of the scores, and the point that of predict."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import roc_auc_score
from sklearn.svm import OneClassSVM

from mercer import KernelNovelty, KernelPCA
from mercer.exceptions import DataError
from mercer.plots import NoveltyRocDisplay
from tests.plots.pictures import picture


@pytest.fixture(scope="module")
def task(digits):
    """A detector of one digit, rows to judge, and which of them are new."""
    X, y, new, truth = digits
    model = KernelNovelty(8, kernel="gaussian", random_state=0).fit(X[y == 3])
    return model, new, np.where(truth == 3, 1, -1)


def test_curve_area_and_point(task):
    model, X, y = task
    display = NoveltyRocDisplay.from_estimator(model, X, y=y)
    novelty, new = -model.score_samples(X), y == -1
    assert_allclose(display.area, roc_auc_score(new, novelty))
    for alarms, found in zip(*display.line_.get_data(), strict=True):
        # Some threshold has these two rates at once.
        limits = np.append(novelty, np.inf)
        rates = [((novelty[~new] >= t).mean(), (novelty[new] >= t).mean()) for t in limits]
        assert (alarms, found) in rates
    called = model.predict(X) == -1
    assert display.working_point == (called[~new].mean(), called[new].mean())
    assert display.point_.get_xydata().tolist() == [list(display.working_point)]


@pytest.mark.parametrize("form", [lambda y: y == -1, lambda y: (y == -1).astype(int), list])
def test_forms_of_the_truth(task, form):
    model, X, y = task
    expected = NoveltyRocDisplay.from_estimator(model, X, y=y).area
    assert NoveltyRocDisplay.from_estimator(model, X, y=form(y)).area == expected


def test_several_detectors_in_one_picture(task, digits):
    model, X, y = task
    one = NoveltyRocDisplay.from_estimator(model, X, y=y)
    other = OneClassSVM().fit(digits[0][digits[1] == 3])
    two = NoveltyRocDisplay.from_estimator(other, X, y=y, name="SVM", ax=one.ax_)
    pca = KernelPCA(8).fit(digits[0][digits[1] == 3])
    three = NoveltyRocDisplay.from_estimator(pca, X, y=y, ax=one.ax_)
    assert three.point_ is None
    assert len({d.line_.get_color() for d in (one, two, three)}) == 3
    assert len(one.ax_.lines) == 1 + 3 + 2  # chance, curves, points
    assert two.line_.get_label() == f"SVM: area {two.area:.3f}"


def test_wrong_arguments(task):
    model, X, y = task
    draw = NoveltyRocDisplay.from_estimator
    with pytest.raises(DataError, match="needs rows X and the truth y"):
        draw(model)
    with pytest.raises(DataError, match="give both"):
        draw(model, X)
    with pytest.raises(DataError, match=r"y has shape \(3,\)"):
        draw(model, X, y=[1, -1, 1])
    with pytest.raises(DataError, match="some of each"):
        draw(model, X, y=np.ones(len(X)))
    with pytest.raises(DataError, match=r"y holds new, old; say which class is new by positive="):
        draw(model, X, y=np.where(y == 1, "old", "new"))
    with pytest.raises(DataError, match="no novelty score"):
        draw(object(), X, y=y)


def test_classes_of_which_one_is_new(task):
    model, X, y = task
    draw = NoveltyRocDisplay.from_estimator
    kinds = np.where(y == 1, "old", "new")
    assert draw(model, X, kinds, positive="new").area == draw(model, X, y).area
    with pytest.raises(DataError, match="say which class is new"):
        draw(model, X, kinds, positive="news")


@picture
def test_roc(task):
    model, X, y = task
    return NoveltyRocDisplay.from_estimator(model, X, y=y).figure_


def test_the_truth_by_position():
    rng = np.random.default_rng(0)
    normal, new = rng.standard_normal((60, 2)), rng.normal(4, 1, (20, 2))
    model = KernelNovelty(3, random_state=0).fit(normal[:40])
    X, y = np.vstack([normal[40:], new]), np.repeat([1, -1], 20)
    assert NoveltyRocDisplay.from_estimator(model, X, y).area > 0.9
