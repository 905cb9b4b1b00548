"""SparseKernelPCA and compress behind scikit-learn's door."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import KernelPCA, ParallelAnalysis, SparseKernelPCA, compress
from mercer.exceptions import (
    ConvergenceWarning,
    DataError,
    DegenerateKernelWarning,
    KernelError,
    NotFittedError,
    RankWarning,
)
from mercer.kernels import FunctionKernel, Gaussian, Linear
from mercer.sparse import EM, Centres
from tests import naive_sparse


@parametrize_with_checks([SparseKernelPCA(), SparseKernelPCA(refit=False, noise=0.2)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def X():
    return load_iris().data[::2]


@pytest.fixture(scope="module")
def X_new():
    return load_iris().data[1::2]


def test_projections_are_eqs_15_to_17(rng):
    """With a linear kernel feature space has coordinates: components are eigenvectors of ΦᵀWΦ."""
    Phi = rng.standard_normal((40, 3)) * [2.0, 1.0, 0.5]
    model = SparseKernelPCA(noise=0.1, kernel=Linear(), refit=False).fit(Phi)
    w = np.zeros(40)
    w[model.support_indices_] = model.weights_
    values, vectors = naive_sparse.explicit_components(Phi, w)
    q = model.n_components_
    assert_allclose(model.explained_variance_, values[:q] + 0.01, rtol=1e-8)
    new = rng.standard_normal((11, 3))
    assert_allclose(np.abs(model.transform(new)), np.abs(new @ vectors[:, :q]), atol=1e-8)


def test_directions_are_orthonormal_and_eigenvalues_follow_the_convention(X):
    for refit in (True, False):
        model = SparseKernelPCA(n_kernels=15, refit=refit).fit(X)
        s = model.subspace_
        K = model.kernel_(s.support)
        assert_allclose(s.coef.T @ K @ s.coef, np.eye(s.n_components), atol=1e-8)
        assert_allclose(model.eigenvalues_, len(X) * model.explained_variance_)
        assert_allclose(model.explained_variance_ratio_, model.explained_variance_)  # k(x, x) = 1
        assert (np.diff(model.eigenvalues_) <= 0).all()
        assert_allclose(s.support, X[model.support_indices_])


def test_refit_variances_are_those_of_the_scores(X):
    model = SparseKernelPCA(n_kernels=15).fit(X)
    Z = model.transform(X)
    assert_allclose((Z**2).mean(axis=0), model.explained_variance_, rtol=1e-6)


def test_all_rows_as_kernels_are_exact_kernel_pca(X):
    distinct = np.unique(X, axis=0)
    rows = distinct[:30]
    model = SparseKernelPCA(30, kernel=Gaussian(width=1.0), n_components=5).fit(rows)
    full = KernelPCA(5, kernel=Gaussian(width=1.0), center=False).fit(rows)
    assert len(model.support_indices_) == 30
    assert_allclose(model.eigenvalues_, full.eigenvalues_, rtol=1e-6)
    assert_allclose(np.abs(model.transform(rows)), np.abs(full.transform(rows)), atol=1e-5)


def test_reconstruction_errors(X, X_new):
    model = SparseKernelPCA(n_kernels=12).fit(X)
    S = X[model.support_indices_]
    K, k = model.kernel_(S), model.kernel_(X_new, S)
    expected = [naive_sparse.distance_to_span(1.0, row, K) for row in k]
    assert_allclose(model.span_error(X_new), expected, atol=1e-8)
    assert_allclose(model.reconstruction_error(X_new), expected, atol=1e-8)
    errors = [model.reconstruction_error(X_new, n_components=p).mean() for p in (1, 4, 12)]
    assert errors[0] > errors[1] > errors[2]
    for wrong in (0, 13):
        with pytest.raises(DataError, match="from 1 to 12"):
            model.reconstruction_error(X_new, n_components=wrong)
    few = SparseKernelPCA(n_kernels=12, n_components=4).fit(X)
    assert_allclose(few.reconstruction_error(X_new).mean(), errors[1], rtol=1e-8)
    assert_allclose(few.span_error(X_new), expected, atol=1e-8)


def test_refit_reconstructs_better_at_every_number_of_components(X):
    a, b = (SparseKernelPCA(n_kernels=20, refit=refit).fit(X) for refit in (True, False))
    for p in range(1, 20):
        left = [m.reconstruction_error(X, n_components=p).mean() for m in (a, b)]
        assert left[0] <= left[1] + 1e-12


def test_the_way_back_and_clones_work(X, X_new):
    model = clone(SparseKernelPCA(n_kernels=25, n_components=8, random_state=0)).fit(X)
    noisy = X_new + 0.2 * np.random.default_rng(0).standard_normal(X_new.shape)
    assert ((model.denoise(noisy) - X_new) ** 2).mean() < ((noisy - X_new) ** 2).mean()
    assert model.inverse_transform(model.transform(X_new[:5])).shape == (5, 4)
    assert model.report_.unexplained < 0.05


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_kernels": 0}, "whole number"),
        ({"n_kernels": 2.5}, "whole number"),
        ({"noise": -1.0}, "positive number"),
        ({"noise": np.nan}, "positive number"),
        ({"n_kernels": 5, "noise": 0.1}, "one of them"),
        ({"noise": 100.0}, "smaller noise"),
        ({"solver": "simplex"}, "not known"),
        ({"solver": "kmeans"}, "give n_kernels"),
        ({"n_components": 0}, "n_components"),
    ],
)
def test_wrong_parameters_name_a_remedy(X, parameters, message):
    with pytest.raises(DataError, match=message):
        SparseKernelPCA(**parameters).fit(X)


def test_hostile_rows():
    with pytest.raises(DataError, match="no variance"):
        SparseKernelPCA().fit(np.ones((20, 3)))
    with pytest.raises(DataError, match="no variance"):
        SparseKernelPCA(kernel="linear").fit(np.zeros((20, 3)))
    with pytest.raises(DataError, match="row 1, column 0"):
        SparseKernelPCA().fit([[0.0], [np.nan], [1.0]])
    with pytest.raises(DataError):
        SparseKernelPCA().fit([[1.0, 2.0]])
    with pytest.raises(NotFittedError):
        SparseKernelPCA().transform([[1.0]])
    two = SparseKernelPCA().fit([[0.0], [1.0]])
    assert np.isfinite(two.transform([[0.5]])).all()


def test_duplicates_give_a_smaller_model_with_a_warning():
    X = np.repeat([[0.0, 0.0], [1.0, 2.0]], 30, axis=0)
    with pytest.warns(RankWarning, match="span only 2"):
        model = SparseKernelPCA(n_components=5).fit(X)
    assert model.n_components_ == 2
    Z = model.transform(X)
    assert_allclose(Z[:30], np.tile(Z[0], (30, 1)))


def test_useless_widths_and_unfinished_iterations_warn(rng):
    X = rng.standard_normal((60, 3))
    with pytest.warns(DegenerateKernelWarning, match="identity"):
        SparseKernelPCA(kernel=Gaussian(gamma=1e6)).fit(X)
    with pytest.warns(DegenerateKernelWarning, match="constant"):
        SparseKernelPCA(kernel=Gaussian(gamma=1e-9)).fit(X)
    with pytest.warns(ConvergenceWarning, match="kkt_"):
        SparseKernelPCA(noise=0.1, solver=EM(max_iter=3)).fit(X)


def test_a_model_variance_above_the_trace_is_no_reason_to_warn():
    """Regression: eq. (16) can exceed the data's variance; warnings are errors here."""
    X = np.random.default_rng(0).standard_normal((120, 7))
    model = SparseKernelPCA(noise=0.05, kernel=Gaussian(width=10.0), refit=False).fit(X)
    assert model.explained_variance_[0] > 1


def test_scale_and_offset_do_not_matter(X):
    base = SparseKernelPCA(n_kernels=10).fit(X)
    for scale, offset in ((1e150, 0.0), (1e-150, 0.0), (1.0, 1e8)):
        moved = SparseKernelPCA(n_kernels=10).fit(X * scale + offset)
        assert_allclose(moved.log_likelihood_, base.log_likelihood_, rtol=1e-3)


def test_float32_stays(X):
    wide = SparseKernelPCA(noise=0.15, kernel=Gaussian(width=2.0)).fit(X)
    narrow = SparseKernelPCA(noise=0.15, kernel=Gaussian(width=2.0)).fit(X.astype(np.float32))
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert narrow.subspace_.coef.dtype == narrow.eigenvalues_.dtype == np.float32
    assert_allclose(narrow.eigenvalues_, wide.eigenvalues_, rtol=1e-3)


def test_objects_and_precomputed_matrices(X, X_new):
    words = ["abc", "abd", "abe", "xyz", "xyw", "xyv", "mno"]
    shared = FunctionKernel(lambda a, b: float(len(set(a) & set(b))))
    model = SparseKernelPCA(n_kernels=3, kernel=shared).fit(words)
    assert model.transform(["abx"]).shape == (1, 3)
    kernel = Gaussian(width=2.0)
    a = SparseKernelPCA(noise=0.1, kernel=kernel).fit(X)
    b = SparseKernelPCA(noise=0.1, kernel="precomputed").fit(kernel(X))
    assert list(a.support_indices_) == list(b.support_indices_)
    assert_allclose(b.transform(kernel(X_new, X)), a.transform(X_new), atol=1e-6)
    assert not hasattr(b, "span_error")
    assert not hasattr(b, "reconstruction_error")


def test_rules_for_the_number_of_components(X):
    share = SparseKernelPCA(n_kernels=20, n_components=0.9).fit(X)
    assert share.explained_variance_ratio_.sum() >= 0.9
    assert share.explained_variance_ratio_[:-1].sum() < 0.9
    chance = SparseKernelPCA(n_kernels=20, n_components=ParallelAnalysis(), random_state=0).fit(X)
    assert 1 <= chance.n_components_ < 20


def test_centres_reconstruct_better_at_equal_size():
    """What the documentation admits: k-means with refit usually wins on reconstruction."""
    X = load_digits().data[:900]
    rows, centres = (
        SparseKernelPCA(40, solver=solver, random_state=0).fit(X[:600])
        for solver in ("greedy", Centres("kmeans"))
    )
    assert centres.support_indices_ is None
    errors = [m.reconstruction_error(X[600:]).mean() for m in (rows, centres)]
    assert errors[1] < errors[0] < 1.4 * errors[1]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("solver", ["auto", "kmeans"])
def test_compress_keeps_the_components(center, solver):
    X = load_digits().data
    model = KernelPCA(6, center=center).fit(X[:400])
    small = compress(model, 60, solver=solver, random_state=0)
    assert small.subspace_.n_support == 60
    Z, z = model.transform(X[600:900]), small.transform(X[600:900])
    for k in range(6):
        assert np.corrcoef(Z[:, k], z[:, k])[0, 1] > 0.97
    s = small.subspace_
    assert_allclose(s.coef.T @ model.kernel_(s.support) @ s.coef, np.eye(6), atol=1e-8)
    assert (small.eigenvalues_ <= model.eigenvalues_.max()).all()
    assert 0 <= small.report_.unexplained < 0.1
    assert small.inverse_transform(z[:2]).shape == (2, 64)


def test_compress_reports_the_solver_that_did_the_work(X):
    report = compress(KernelPCA(5).fit(X), 20, solver="greedy").report_
    assert report.solver == "Greedy"
    assert report.reason.startswith(f"compressed from {len(X)} kernels")


def test_compress_takes_centres_where_they_keep_more():
    X = load_digits().data / 16
    model = KernelPCA(5).fit(X[:300])
    small = {way: compress(model, 20, solver=way, random_state=0) for way in ("auto", "greedy")}
    assert small["auto"].support_indices_ is None
    truth = model.transform(X[300:])
    errors = [((one.transform(X[300:]) - truth) ** 2).mean() for one in small.values()]
    assert errors[0] < 0.5 * errors[1]
    lost = [one.report_.unexplained for one in small.values()]
    assert lost[0] < lost[1]
    by_rows = compress(model, 299, random_state=0)  # nearly all rows say more than centres
    assert by_rows.report_.unexplained < 1e-3


def test_compress_to_nearly_all_kernels_is_the_model(X, X_new):
    model = KernelPCA(4, kernel=Gaussian(width=1.0)).fit(np.unique(X, axis=0))
    m = model.subspace_.n_support
    small = compress(model, m - 2)
    assert_allclose(small.transform(X_new), model.transform(X_new), atol=0.05)
    assert_allclose(small.explained_variance_, model.explained_variance_, rtol=0.02)


def test_compress_refuses_what_it_cannot_do(X):
    model = KernelPCA(4).fit(X)
    with pytest.raises(DataError, match="support points"):
        compress(model, len(X))
    with pytest.warns(RankWarning, match="span only 2"):
        assert compress(model, 2).n_components_ == 2
    with pytest.raises(NotFittedError):
        compress(KernelPCA(), 3)
    pairwise = KernelPCA(2, kernel="precomputed").fit(Gaussian(width=1.0)(X))
    with pytest.raises(KernelError, match="precomputed"):
        compress(pairwise, 5)
