"""scikit-learn's contract: its own checks for each solver, and what they leave out."""

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import KernelPCA
from mercer.kernels import Cauchy, Gaussian, Polynomial
from mercer.solvers import Davidson, Lanczos, Landmarks

X, y = load_iris(return_X_y=True)

ESTIMATORS = [
    KernelPCA(),
    KernelPCA(2, kernel="linear"),
    KernelPCA(2, solver="dense"),
    KernelPCA(2, solver="lanczos", random_state=0),
    KernelPCA(2, solver=Davidson(tol=1e-9), random_state=0),
    KernelPCA(2, solver=Landmarks(8), random_state=0),
    KernelPCA(0.9, kernel=0.5 * Cauchy() + Polynomial(2), center=False),
]


def known_to_differ(estimator):
    """Random landmarks depend on the number and order of rows, as do k-means centres there."""
    if not isinstance(estimator.solver, Landmarks):
        return {}
    check, reason = "check_sample_weight_equivalence_on", "landmarks are drawn at random"
    return {f"{check}_{kind}_data": reason for kind in ("dense", "sparse")}


# Tiny random data in the checks rightly bring RankWarning and DegenerateKernelWarning.
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=known_to_differ)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_set_output(frame):
    library = frame.__module__.split(".")[0]
    model = KernelPCA(3).set_output(transform=library)
    table = frame(dict(zip("abcd", X.T, strict=True)))
    for Z in (model.fit_transform(table), model.fit(table).transform(table)):
        assert isinstance(Z, frame)
        assert list(Z.columns) == ["kernelpca0", "kernelpca1", "kernelpca2"]
        assert_allclose(np.asarray(Z), KernelPCA(3).fit_transform(X), atol=1e-9)


def test_set_output_keeps_the_index():
    table = pd.DataFrame(X, index=[f"row{i}" for i in range(150)])
    table.columns = list("abcd")
    Z = KernelPCA(2).set_output(transform="pandas").fit_transform(table)
    assert list(Z.index) == list(table.index)


def test_feature_names():
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = KernelPCA(2).fit(table)
    assert_array_equal(model.feature_names_in_, ["a", "b", "c", "d"])
    assert_array_equal(model.get_feature_names_out(), ["kernelpca0", "kernelpca1"])
    assert_allclose(model.transform(table), KernelPCA(2).fit_transform(X), atol=1e-9)


def test_columns_in_another_order_are_refused():
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = KernelPCA(2).fit(table)
    with pytest.raises(ValueError, match="same order"):
        model.transform(table[["b", "a", "c", "d"]])
    with pytest.raises(ValueError, match="that were there in fit"):
        model.transform(table[["a", "b", "c"]])
    with pytest.raises(ValueError, match="columns that were there in fit"):
        KernelPCA(2).fit(X).transform(X[:, :3])


def test_nameless_rows_for_a_model_with_names_warn_as_in_scikit_learn():
    model = KernelPCA(2).fit(pd.DataFrame(X, columns=["a", "b", "c", "d"]))
    with pytest.warns(UserWarning, match="feature names"):
        model.transform(X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_integer_and_boolean_columns(frame):
    table = frame({"a": np.arange(20), "b": np.arange(20) % 3 == 0, "c": np.linspace(0, 1, 20)})
    values = np.column_stack([np.arange(20), np.arange(20) % 3 == 0, np.linspace(0, 1, 20)])
    assert_allclose(KernelPCA(2).fit(table).eigenvalues_, KernelPCA(2).fit(values).eigenvalues_)


def test_clone_copies_parameters_not_results():
    model = KernelPCA(2, kernel=0.5 * Gaussian(sigma=2) + Polynomial(3), solver=Lanczos(tol=1e-9))
    again = clone(model.fit(X))
    assert not hasattr(again, "subspace_")
    assert again.kernel is not model.kernel
    assert repr(again.get_params()) == repr(model.get_params())


def test_fit_leaves_the_parameters_alone():
    model = KernelPCA(2, kernel=Gaussian(), solver="auto")
    before = repr(model.get_params())
    model.fit(X)
    assert repr(model.get_params()) == before


@pytest.mark.parametrize("model", ESTIMATORS[1:], ids=repr)
def test_pickle(model):
    model = clone(model).fit(X[::2])
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(X[1::2]), model.transform(X[1::2]))


def test_grid_search_over_a_width():
    pipe = make_pipeline(StandardScaler(), KernelPCA(4, kernel=Gaussian()), LogisticRegression())
    grid = GridSearchCV(pipe, {"kernelpca__kernel__gamma": [1e-4, 0.3]}, cv=3).fit(X, y)
    assert grid.best_params_ == {"kernelpca__kernel__gamma": 0.3}


def test_grid_search_inside_a_composite():
    kernel = 0.7 * Gaussian(sigma=2) + Polynomial(2)
    pipe = make_pipeline(StandardScaler(), KernelPCA(2, kernel=kernel), LogisticRegression())
    names = {
        "kernelpca__kernel__k1__kernel__sigma": [0.5, 2.0],
        "kernelpca__kernel__k2__degree": [1, 2],
        "kernelpca__n_components": [2, 5],
    }
    grid = GridSearchCV(pipe, names, cv=2, error_score="raise").fit(X, y)
    assert set(grid.best_params_) == set(names)
    assert grid.best_estimator_[1].kernel.k1.kernel.sigma in (0.5, 2.0)


def test_grid_search_by_the_models_own_score():
    """``score`` is an error in input space, so that kernels of different kinds can compete."""
    kernels = {"kernel": [Gaussian(gamma=10.0), Gaussian(gamma=0.1)]}
    grid = GridSearchCV(KernelPCA(3), kernels, cv=3, error_score="raise").fit(X)
    assert grid.best_params_["kernel"].gamma == 0.1


def test_a_precomputed_matrix_is_cut_on_both_sides_by_cross_validation():
    K = Gaussian(gamma=0.3)(X)
    pipe = make_pipeline(KernelPCA(4, kernel="precomputed"), LogisticRegression())
    grid = GridSearchCV(pipe, {"kernelpca__n_components": [1, 4]}, cv=3, error_score="raise")
    assert grid.fit(K, y).best_score_ > 0.8


def test_signatures_are_those_of_the_constructors():
    """Shown by help() and by notebooks."""
    assert list(inspect.signature(KernelPCA).parameters)[:2] == ["n_components", "kernel"]
    assert list(inspect.signature(Gaussian).parameters) == ["gamma", "sigma", "width"]
