"""Bounded losses and reweighted fits."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import KernelPCA, ReweightedKernelPCA
from mercer._base.numbers import fixed_rng
from mercer.exceptions import ConvergenceWarning, DataError, KernelError
from mercer.kernels import FunctionKernel, Gaussian, Polynomial, Precomputed
from mercer.robust import Hampel, Tukey, as_loss, reweight
from mercer.solvers import Landmarks

LOSSES = [Hampel(), Hampel(0, 1), Tukey(), Tukey(2.0)]


@parametrize_with_checks([ReweightedKernelPCA()])
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@given(st.lists(st.floats(0, 100), min_size=2, max_size=30))
def test_weights_fall_from_one_to_zero(loss, u):
    w = loss.weight(np.sort(u))
    assert ((w >= 0) & (w <= 1)).all()
    assert (np.diff(w) <= 0).all()
    assert_array_equal(loss.weight(np.array([0.0, 1e9])), [1, 0])


@pytest.mark.parametrize("loss", [Hampel(3, 2), Hampel(-1, 2), Tukey(0), Tukey(np.nan)], ids=repr)
def test_losses_that_make_no_sense(loss):
    with pytest.raises(DataError, match="usual"):
        loss.weight(np.ones(3))


def test_losses_by_name():
    assert isinstance(as_loss("hampel"), Hampel)
    assert isinstance(as_loss("tukey"), Tukey)
    with pytest.raises(DataError, match="'hampel', 'tukey'"):
        as_loss("huber")


def half_circle(n, rng):
    angle = rng.uniform(0, np.pi, n)
    curve = np.column_stack([np.cos(angle), np.sin(angle)])
    return curve + 0.05 * rng.standard_normal((n, 2))


def with_outliers(clean, share, rng):
    """Uniform in a box ten times as wide as that of the data."""
    low, high = clean.min(axis=0), clean.max(axis=0)
    middle, half = (low + high) / 2, (high - low) / 2
    n = round(share / (1 - share) * len(clean))
    gross = rng.uniform(middle - 10 * half, middle + 10 * half, (n, clean.shape[1]))
    return np.concatenate([clean, gross])


def largest_angle(a, b):
    """Between two subspaces of feature space, in radians."""
    K = a.kernel(a.support, b.support)
    cosines = np.linalg.svd(a.coef.T @ K @ b.coef, compute_uv=False)
    return np.arccos(np.clip(cosines.min(), 0, 1))


def digits(n, rng):
    return load_digits().data[rng.permutation(1797)[:n]] / 16


@pytest.mark.parametrize("share", [0.05, 0.2])
@pytest.mark.parametrize(("data", "q"), [(half_circle, 4), (digits, 16)])
def test_outliers_do_not_turn_the_components(data, q, share, rng):
    clean = data(250, rng)
    rows = with_outliers(clean, share, rng)
    pca = KernelPCA(q, kernel=Gaussian().resolve(clean))
    truth = pca.fit(clean).subspace_
    plain = largest_angle(truth, pca.fit(rows).subspace_)
    robust = ReweightedKernelPCA(pca, random_state=0).fit(rows)
    assert largest_angle(truth, robust.subspace_) <= plain / 3
    assert robust.weights_[len(clean) :].mean() < 0.1
    assert robust.weights_[: len(clean)].mean() > 0.95


def test_rows_beyond_those_of_the_rounds_are_weighed_by_their_model(rng, monkeypatch):
    monkeypatch.setattr(sys.modules["mercer.robust.reweight"], "ROUND_ROWS", 120)
    clean = half_circle(400, rng)
    rows = with_outliers(clean, 0.1, rng)
    pca = KernelPCA(4, kernel=Gaussian().resolve(clean))
    fitted = []

    def learn(index, weights):
        fitted.append(len(index))
        return pca.fit(rows[index], sample_weight=weights).subspace_

    found = reweight(learn, rows, pca.kernel, Hampel(), fixed_rng(0))
    assert max(fitted) == 120  # the rounds never see more
    assert found.weights[400:].mean() < 0.1
    assert found.weights[:400].mean() > 0.95
    assert np.median(found.errors[400:]) > 0.9


def test_without_outliers_the_fit_is_plain(rng):
    X = half_circle(200, rng)
    robust = ReweightedKernelPCA(KernelPCA(4), random_state=0).fit(X)
    plain = KernelPCA(4).fit(X)
    assert robust.weights_.mean() > 0.98
    assert np.median(robust.weights_) == 1
    assert_allclose(robust.eigenvalues_, plain.eigenvalues_, rtol=0.05)


def test_the_final_fit_uses_the_weights(rng):
    X = with_outliers(half_circle(100, rng), 0.2, rng)
    model = ReweightedKernelPCA(KernelPCA(3), loss=Tukey(), random_state=0, max_iter=30).fit(X)
    again = KernelPCA(3).fit(X, sample_weight=model.weights_)
    assert_allclose(model.transform(X), again.transform(X), atol=1e-10)
    assert model.n_iter_ == len(model.changes_)


@pytest.mark.parametrize(
    "pca", [KernelPCA(3, solver=Landmarks(60)), KernelPCA(3, kernel=Polynomial(2))], ids=repr
)
def test_other_models(pca, rng):
    X = with_outliers(half_circle(150, rng), 0.1, rng)
    model = ReweightedKernelPCA(pca, random_state=0).fit(X)
    assert model.weights_[150:].mean() < 0.2 < 0.9 < model.weights_[:150].mean()
    assert np.isfinite(model.denoise(X[:5])).all()


def test_objects(rng):
    def common(x, y):
        return float(sum(min(x.count(c), y.count(c)) for c in set(x)))

    words = ["".join(rng.choice(list("aeiou"), 6)) for _ in range(40)] + ["zzzzzz"]
    pca = KernelPCA(3, kernel=FunctionKernel(common))
    model = ReweightedKernelPCA(pca, random_state=0).fit(words)
    assert model.weights_[-1] == 0


def test_mistakes_are_named(rng):
    X = half_circle(40, rng)
    with pytest.raises(KernelError, match="precomputed"):
        ReweightedKernelPCA(KernelPCA(kernel=Precomputed())).fit(X @ X.T)
    rows = with_outliers(X, 0.3, rng)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        ReweightedKernelPCA(KernelPCA(3), random_state=0, max_iter=1).fit(rows)
