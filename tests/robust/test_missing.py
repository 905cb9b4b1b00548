"""Imputation of new rows, and fits to rows with holes."""

import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits
from sklearn.impute import KNNImputer
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import KernelPCA, MissingKernelPCA, ReweightedKernelPCA, SparseKernelPCA
from mercer.exceptions import ConvergenceWarning, DataError, KernelError, NotFittedError
from mercer.kernels import Cauchy, FunctionKernel, Gaussian, Precomputed
from mercer.preimage import FixedPoint, Ridge
from mercer.robust import Imputer, filling, impute
from mercer.robust.impute import fit_gaussian
from mercer.solvers import Landmarks


@parametrize_with_checks([MissingKernelPCA()])
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_check_estimator(estimator, check):
    check(estimator)


def curve(n, rng):
    angle = rng.uniform(0, np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle), angle])


@pytest.fixture(scope="module")
def model():
    return KernelPCA(8).fit(curve(200, np.random.default_rng(0)))


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(0, 0.6))
def test_observed_values_are_untouched_and_the_rest_is_finite(model, seed, share):
    rng = np.random.default_rng(seed)
    X = curve(12, rng)
    holes = rng.random(X.shape) < share
    holes[holes.all(axis=1), 0] = False
    found = model.imputations(np.where(holes, np.nan, X))
    assert_array_equal(found.points[~holes], X[~holes])
    assert np.isfinite(found.points).all()
    assert_array_equal(found.iterations[~holes.any(axis=1)], 0)
    assert_allclose(found.objective, model.reconstruction_error(found.points))


def test_one_hole_in_a_curve_is_filled_exactly(model, rng):
    X = curve(60, rng)
    for column in (0, 1):
        given = X.copy()
        given[:, column] = np.nan
        assert_allclose(model.impute(given), X, atol=0.02)


def test_each_round_lowers_the_error(model, rng):
    X = curve(30, rng)
    X[:, 1] = np.nan
    errors = []
    for rounds in range(1, 12):
        found = impute(model.subspace_, X, limits=Imputer(tol=0.0, max_iter=rounds))
        errors.append(found.objective)
        assert not found.converged.any()
        assert (found.status == "iteration limit").all()
    assert (np.diff(errors, axis=0) <= 1e-12).all()


@pytest.mark.parametrize(
    "estimator",
    [
        KernelPCA(8),
        KernelPCA(8, kernel=Cauchy(), preimage=FixedPoint()),
        KernelPCA(8, solver=Landmarks(50), random_state=0),
        KernelPCA(8, preimage=Ridge()),
        SparseKernelPCA(kernel=Gaussian()),
        ReweightedKernelPCA(KernelPCA(8), random_state=0),
    ],
    ids=["exact", "cauchy", "landmarks", "ridge", "sparse", "reweighted"],
)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.ConvergenceWarning")
def test_every_estimator_imputes(estimator, rng):
    X, fresh = curve(150, rng), curve(40, rng)
    given = fresh.copy()
    given[:, 1] = np.nan
    filled = estimator.fit(X).impute(given)
    start = np.abs(X[:, 1].mean() - fresh[:, 1]).mean()
    assert np.abs(filled - fresh)[:, 1].mean() < 0.5 * start


def test_float32_and_frames(rng):
    X = curve(100, rng).astype(np.float32)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = KernelPCA(8).fit(frame)
    holes = frame.head(4).copy()
    holes.loc[1, "b"] = np.nan
    filled = model.impute(holes)
    assert filled.dtype == np.float32
    assert_allclose(filled, X[:4], atol=0.1)


def test_mistakes_are_named(model, rng):
    X = curve(10, rng)
    with pytest.raises(DataError, match="row 3 has no value at all"):
        model.impute(np.where(np.arange(10)[:, None] == 3, np.nan, X))
    with pytest.raises(DataError, match="infinity"):
        model.impute(np.where(np.arange(10)[:, None] == 3, np.inf, X))
    with pytest.raises(NotFittedError):
        KernelPCA().impute(X)
    with pytest.raises(KernelError, match="coordinates"):
        KernelPCA(2, kernel=Precomputed()).fit(X @ X.T).impute(X @ X.T)
    with pytest.raises(DataError, match="column 1 has no value at all"):
        MissingKernelPCA().fit(np.where(np.arange(3) == 1, np.nan, X))
    same = KernelPCA(kernel=FunctionKernel(lambda x, y: 1.0 * (x == y)))
    with pytest.raises(KernelError, match="needs points with coordinates"):
        MissingKernelPCA(same).fit(["a", "b", "ab"])


def test_rows_that_still_move_are_said(model, rng, monkeypatch):
    X = curve(10, rng)
    X[:, 1] = np.nan
    monkeypatch.setattr(Imputer, "__init__", lambda self: None)
    monkeypatch.setattr(Imputer, "max_iter", 2)
    with pytest.warns(ConvergenceWarning, match="10 of 10 rows"):
        model.impute(X)


@pytest.mark.parametrize("q", [4, 8, 20])
def test_fit_with_holes_recovers_a_curve(q, rng):
    """Also with many components, which would learn the crude start if they came at once."""
    X = curve(150, rng)
    holes = rng.random(X.shape) < 0.2
    holes[:, 2] = False
    model = MissingKernelPCA(KernelPCA(q), random_state=0).fit(np.where(holes, np.nan, X))
    assert_array_equal(model.imputed_[~holes], X[~holes])
    assert np.sqrt(np.mean((model.imputed_ - X)[holes] ** 2)) < 0.05
    assert model.n_iter_ == len(model.changes_)


def test_many_rows_are_filled_in_by_what_some_teach(rng, monkeypatch):
    """Rounds see the drawn rows only; the others are filled in as well as these."""
    monkeypatch.setattr(filling, "ALL_ROWS", 200)
    monkeypatch.setattr(filling, "ROUND_ROWS", 150)
    X = curve(400, rng)
    holes = rng.random(X.shape) < 0.2
    holes[:, 2] = False
    incomplete, seen = np.where(holes, np.nan, X), []

    def learn(rows):
        seen.append(len(rows))
        model = KernelPCA(8).fit(rows)
        return model.subspace_, model.explained_variance_

    filled, changes, _ = filling.fill_missing(learn, incomplete, np.random.default_rng(0))
    assert max(seen[1:]) == 150
    assert len(changes) > 0
    assert_array_equal(filled[~holes], X[~holes])
    assert np.sqrt(np.mean((filled - X)[holes] ** 2)) < 0.05


def test_the_gaussian_of_many_rows_keeps_columns_that_are_seldom_seen(rng, monkeypatch):
    monkeypatch.setattr(sys.modules["mercer.robust.impute"], "GAUSSIAN_ROWS", 50)
    X = curve(400, rng)
    drawn = fit_gaussian(X)
    assert_allclose(drawn.location, X.mean(axis=0), atol=0.3)
    assert not np.array_equal(drawn.location, X.mean(axis=0))
    rare = np.where(np.arange(400)[:, None] % 400 < 3, X, [np.nan, 1, 1] * X)
    assert np.isfinite(fit_gaussian(rare).location).all()


def test_without_holes_the_fit_is_plain(rng):
    X = curve(80, rng)
    model = MissingKernelPCA(KernelPCA(5)).fit(X)
    assert_array_equal(model.imputed_, X)
    assert_allclose(model.transform(X), KernelPCA(5).fit_transform(X), atol=1e-10)


def test_methods_take_rows_with_holes(rng):
    X = curve(120, rng)
    model = MissingKernelPCA(KernelPCA(6), random_state=0).fit(X)
    given = X[:20].copy()
    given[:, 0] = np.nan
    filled = model.impute(given)
    assert_allclose(model.transform(given), model.transform(filled))
    assert_allclose(model.reconstruction_error(given), model.reconstruction_error(filled))
    assert np.isfinite(model.denoise(given)).all()


def test_holes_and_outliers_together(rng):
    X = np.concatenate([curve(120, rng), rng.uniform(-10, 10, (10, 3))])
    holes = rng.random(X.shape) < 0.1
    holes[:, 2] = False
    given = np.where(holes, np.nan, X)
    inner = ReweightedKernelPCA(KernelPCA(4), random_state=0, max_iter=20)
    model = MissingKernelPCA(inner, random_state=0, folds=3, max_iter=10).fit(given)
    assert model.estimator_.weights_[120:].mean() < 0.2


def test_digits_better_than_neighbours():
    X = load_digits().data[np.random.default_rng(0).permutation(1797)[:800]] / 16
    train, new = X[:700], X[700:]
    holes = np.random.default_rng(1).random(new.shape) < 0.3
    given = np.where(holes, np.nan, new)

    def error(filled):
        return np.sqrt(((filled - new)[holes] ** 2).mean())

    ours = error(KernelPCA(128).fit(train).impute(given))
    assert ours < 0.95 * error(KNNImputer().fit(train).transform(given))


@pytest.mark.slow
def test_fit_with_holes_on_digits_better_than_neighbours():
    X = load_digits().data[np.random.default_rng(0).permutation(1797)[:500]] / 16
    holes = np.random.default_rng(1).random(X.shape) < 0.5
    given = np.where(holes, np.nan, X)

    def error(filled):
        return np.sqrt(((filled - X)[holes] ** 2).mean())

    model = MissingKernelPCA(KernelPCA(64), random_state=0).fit(given)
    assert error(model.imputed_) < 0.95 * error(KNNImputer().fit_transform(given))
