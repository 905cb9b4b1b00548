"""The short ways to held-out scores are those of separate fits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelNovelty, KernelPCA
from mercer._base.held_out import deal_folds, scores_by_fold
from mercer.estimators import novelty
from mercer.estimators.novelty import NoveltyLearner
from mercer.kernels import FunctionKernel, Gaussian, Polynomial
from mercer.novelty import KINDS, landmark_folds, novelty_score
from mercer.solvers import Landmarks
from tests import naive


def learner(X, kernel, q, measure, solver="dense"):
    return NoveltyLearner(kernel.points(X), kernel, q, measure, solver, np.random.default_rng(0))


@pytest.mark.parametrize("measure", KINDS)
@pytest.mark.parametrize("kernel", [Gaussian(sigma=1.0), Polynomial(2)], ids=repr)
@pytest.mark.parametrize("solver", ["dense", "lanczos"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_one_gram_matrix_gives_the_scores_of_separate_fits(measure, kernel, solver, dtype, rng):
    X = rng.standard_normal((90, 4)).astype(dtype)
    fold_of = deal_folds(90, 5, rng)
    learn = learner(X, kernel, 6, measure, solver)
    score = learn(np.arange(90))
    short = learn.held_out(score, fold_of)
    long = scores_by_fold(lambda rows: learn(rows, score), X, fold_of)
    assert_allclose(short, long, rtol=1e-8 if dtype == np.float64 else 2e-3)


def test_they_are_those_of_the_textbook(rng):
    X, fold_of = rng.standard_normal((24, 3)), np.arange(24) % 4
    learn = learner(X, Gaussian(gamma=0.3), 5, "reconstruction")
    found = learn.held_out(learn(np.arange(24)), fold_of)
    for fold in range(4):
        rows, others = X[fold_of == fold], X[fold_of != fold]
        model = naive.KernelPCA(naive.gaussian(0.3), others, 5)
        assert_allclose(found[fold_of == fold], model.residual(rows), rtol=1e-9)


def test_objects_share_their_matrix_too(rng):
    words = ["".join(rng.choice(list("aeiou"), 6)) for _ in range(30)]

    def common(x, y):
        return float(sum(min(x.count(c), y.count(c)) for c in set(x)))

    learn = learner(words, FunctionKernel(common), 2, "reconstruction")
    score, fold_of = learn(np.arange(30)), np.arange(30) % 3
    short = learn.held_out(score, fold_of)
    long = scores_by_fold(lambda rows: learn(rows, score), words, fold_of)
    assert_allclose(short, long, rtol=1e-8)


@pytest.mark.parametrize("measure", KINDS)
def test_sums_less_those_of_the_fold_are_a_fit_without_it(measure, rng):
    X, fold_of = rng.standard_normal((150, 3)), np.arange(150) % 3
    chosen = np.sort(rng.choice(150, 40, replace=False))
    kernel = Gaussian(width=1.0)
    pca = KernelPCA(8, kernel=kernel, solver=Landmarks(40, select=X[chosen])).fit(X)
    score = novelty_score(measure, pca.subspace_, pca.explained_variance_)
    found = landmark_folds(score, measure, X, fold_of[chosen], fold_of)
    for fold in range(3):
        left = chosen[fold_of[chosen] != fold]
        again = KernelPCA(8, kernel=kernel, solver=Landmarks(len(left), select=X[left]))
        again.fit(X[fold_of != fold])
        other = novelty_score(measure, again.subspace_, again.explained_variance_)
        assert_allclose(found[fold_of == fold], other(X[fold_of == fold]), rtol=1e-6)


@pytest.mark.parametrize("measure", KINDS)
def test_landmarks_of_the_user_share_their_sums(measure, rng):
    X, fold_of = rng.standard_normal((150, 3)), np.arange(150) % 3
    solver = Landmarks(40, select=rng.standard_normal((40, 3)))
    learn = learner(X, Gaussian(width=1.0), 8, measure, solver)
    score = learn(np.arange(150))
    short = learn.held_out(score, fold_of)
    long = scores_by_fold(lambda rows: learn(rows, score), X, fold_of)
    assert_allclose(short, long, rtol=1e-6)


def test_sums_that_would_lose_digits_are_refused(rng):
    """A very wide kernel: landmarks are all alike, and squares of sums have no digits left."""
    X = rng.standard_normal((80, 2))
    pca = KernelPCA(3, kernel=Gaussian(width=60.0), solver=Landmarks(30, select=X[:30])).fit(X)
    score = novelty_score("reconstruction", pca.subspace_, pca.explained_variance_)
    found = landmark_folds(score, "reconstruction", X, np.arange(30) % 4, np.arange(80) % 4)
    assert found is None or np.isfinite(found).all()


@pytest.mark.parametrize("kernel", [None, Gaussian(width=80.0)], ids=["default", "very wide"])
def test_many_rows_go_to_landmarks_and_keep_the_promise(kernel, rng, monkeypatch):
    monkeypatch.setattr(novelty, "EXACT_UP_TO", 300)
    monkeypatch.setattr(novelty, "LANDMARKS", 80)
    X = rng.standard_normal((2400, 3))
    model = KernelNovelty(kernel=kernel, false_alarm_rate=0.1, random_state=0).fit(X[:400])
    assert model.subspace_.n_support <= 80
    assert len(model.calibration_rows_) == 400
    assert 0.05 < (model.predict(X[400:]) == -1).mean() < 0.16


def test_a_solver_that_streams_fits_each_fold(rng):
    X = rng.standard_normal((120, 3))
    learn = learner(X, Gaussian(), 4, "reconstruction", "davidson")
    assert learn.held_out(learn(np.arange(120)), np.arange(120) % 3) is None
