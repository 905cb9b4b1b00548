"""The drop-in gives scikit-learn's numbers, attributes and errors."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as Theirs
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.compat import KernelPCA

X = load_digits().data / 16
TRAIN, TEST = X[:300], X[300:350]

CASES = {
    "linear": {},
    "rbf": {"kernel": "rbf", "gamma": 0.05},
    "rbf, gamma by default": {"kernel": "rbf"},
    "rbf, gamma zero": {"kernel": "rbf", "gamma": 0.0, "eigen_solver": "dense"},
    "poly": {"kernel": "poly", "degree": 2, "coef0": 0.5},
    "poly, degree 2.5": {"kernel": "poly", "degree": 2.5},
    "cosine": {"kernel": "cosine"},
    "sigmoid": {"kernel": "sigmoid", "gamma": 1e-3, "coef0": 0.0},
    "callable": {"kernel": lambda x, y, power: (x @ y) ** power, "kernel_params": {"power": 2}},
}
SOLVERS = ["auto", "dense", "arpack", "randomized"]


def up_to_sign(A, B):
    return A * np.sign((A * B).sum(axis=0))


@parametrize_with_checks([KernelPCA(), KernelPCA(3, kernel="rbf", eigen_solver="arpack")])
@pytest.mark.filterwarnings("default")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_arguments_are_scikit_learns():
    ours = inspect.signature(KernelPCA.__init__).parameters
    theirs = inspect.signature(Theirs.__init__).parameters
    assert {k: p.default for k, p in ours.items()} == {k: p.default for k, p in theirs.items()}
    assert {k: p.kind for k, p in ours.items()} == {k: p.kind for k, p in theirs.items()}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("fit_inverse_transform", [False, True])
def test_numbers_are_scikit_learns(case, fit_inverse_transform):
    params = {"n_components": 5, "fit_inverse_transform": fit_inverse_transform, **CASES[case]}
    TRAIN = X[:40] if case == "callable" else X[:300]
    ours, theirs = KernelPCA(**params).fit(TRAIN), Theirs(**params).fit(TRAIN)
    assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10, atol=1e-10)
    assert ours.gamma_ == theirs.gamma_
    kept = theirs.eigenvalues_ > 1e-9
    for found, wanted in (
        (ours.transform(TEST), theirs.transform(TEST)),
        (ours.fit_transform(TRAIN), theirs.fit_transform(TRAIN)),
        (ours.eigenvectors_, theirs.eigenvectors_),
    ):
        assert_allclose(up_to_sign(found, wanted)[:, kept], wanted[:, kept], atol=1e-9)
    if fit_inverse_transform:
        assert ours.X_transformed_fit_.shape == theirs.X_transformed_fit_.shape
        back = ours.inverse_transform(ours.transform(TEST))
        assert_allclose(back, theirs.inverse_transform(theirs.transform(TEST)), atol=1e-8)
        assert ours.dual_coef_.shape == theirs.dual_coef_.shape


@pytest.mark.parametrize("eigen_solver", SOLVERS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_solver_and_dtype(eigen_solver, dtype):
    params = {"n_components": 6, "kernel": "rbf", "gamma": 0.05}
    ours = KernelPCA(eigen_solver=eigen_solver, random_state=0, **params).fit(TRAIN.astype(dtype))
    theirs = Theirs(**params).fit(TRAIN)
    Z = ours.transform(TEST.astype(dtype))
    assert Z.dtype == ours.eigenvalues_.dtype == dtype
    wanted = theirs.transform(TEST)
    atol = {np.float32: 2e-4, np.float64: 1e-6 if eigen_solver == "randomized" else 1e-10}[dtype]
    assert_allclose(up_to_sign(Z, wanted), wanted, atol=atol)


@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("case", ["linear", "rbf", "poly", "cosine"])
def test_sparse_rows_are_those_made_dense(container, case):
    params = {"n_components": 4, **CASES[case]}
    Z = KernelPCA(**params).fit(container(TRAIN)).transform(container(TEST))
    wanted = KernelPCA(**params).fit(TRAIN).transform(TEST)
    assert_allclose(up_to_sign(Z, wanted), wanted, atol=1e-8)


def test_sparse_rows_have_no_inverse():
    with pytest.raises(NotImplementedError, match="toarray"):
        KernelPCA(2, fit_inverse_transform=True).fit(sparse.csr_array(TRAIN))


def test_integer_rows_and_no_copy():
    rows = np.arange(12).reshape(6, 2) ** 2
    model = KernelPCA(2, copy_X=False).fit(rows)
    assert np.shares_memory(model.X_fit_, rows)
    assert_allclose(np.abs(model.transform(rows)), np.abs(Theirs(2).fit_transform(rows)), atol=1e-9)


def test_threads_do_not_matter():
    params = {"n_components": 4, "kernel": "rbf", "gamma": 0.05}
    one, two = (KernelPCA(n_jobs=n, **params).fit_transform(TRAIN) for n in (1, 2))
    assert_allclose(one, two, atol=1e-10)


def test_an_asymmetric_matrix_is_refused():
    """scikit-learn fits the lower triangle without a word; what it accepts, see its own tests."""
    K = TRAIN[:20] @ TRAIN[:20].T
    K[3, 7] += 1
    Theirs(2, kernel="precomputed").fit(K)
    with pytest.raises(ValueError, match=r"not symmetric.*reaches"):
        KernelPCA(2, kernel="precomputed").fit(K)


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(ValueError, match="20x10"):
        KernelPCA(2, kernel="precomputed").fit(np.ones((20, 10)))


def test_a_singular_ridge_system_names_alpha():
    with pytest.raises(ValueError, match="raise alpha"):
        KernelPCA(2, alpha=0.0, fit_inverse_transform=True).fit(TRAIN)


@pytest.mark.parametrize(
    "wrong",
    [
        {"kernel": "gauss"},
        {"eigen_solver": "qr"},
        {"n_components": 0},
        {"n_components": 2.5},
        {"gamma": -1.0},
        {"alpha": -1.0},
        {"tol": -1.0},
        {"max_iter": 0},
        {"iterated_power": -1},
        {"degree": -1},
    ],
)
def test_wrong_arguments_are_named(wrong):
    with pytest.raises(ValueError, match=f"'{next(iter(wrong))}' parameter of KernelPCA must be"):
        KernelPCA(**wrong).fit(TRAIN)


def test_it_is_scikit_learns_class_and_answers_a_mistyped_argument():
    assert isinstance(KernelPCA(), Theirs)
    with pytest.raises(TypeError, match="did you mean kernel="):
        KernelPCA(kernl="rbf")


def test_clone_and_unfitted():
    model = clone(KernelPCA(2, kernel="rbf", gamma=0.1))
    with pytest.raises(ValueError, match="not fitted"):
        model.transform(TEST)


def test_denoise_and_shares():
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = KernelPCA(4, kernel="rbf", gamma=0.5, fit_inverse_transform=True).fit(X)
    assert_allclose(model.denoise(X), model.inverse_transform(model.transform(X)))
    whole = KernelPCA(kernel="rbf", gamma=0.5).fit(X)
    assert_allclose(whole.explained_variance_ratio_.sum(), 1)
    assert_allclose(model.explained_variance_ratio_, whole.explained_variance_ratio_[:4])
