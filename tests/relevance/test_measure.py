"""Relevance is the mean squared derivative, and PCA's squared loadings for the linear kernel."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from mercer import (
    GenerativeKernelPCA,
    IncrementalKernelPCA,
    KernelNovelty,
    KernelPCA,
    MissingKernelPCA,
    ReweightedKernelPCA,
    SparseKernelPCA,
)
from mercer.exceptions import DataError, KernelError
from mercer.io import open_rows
from mercer.kernels import Cauchy, Cosine, FunctionKernel, Gaussian, Laplacian, Matern, Polynomial
from mercer.relevance import measure_relevance
from mercer.solvers import Davidson, Dense, Lanczos, Landmarks


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    mixed = rng.standard_normal((150, 6)) @ rng.standard_normal((6, 6))
    return mixed * [3, 2, 1, 0.5, 1.5, 1] + 5


def naive_relevance(model, X, h=1e-5):
    """var(x_j) · mean (∂z_k/∂x_j)², by differences of scores."""
    steps = h * np.eye(X.shape[1])
    J = [(model.transform(X + e) - model.transform(X - e)) / (2 * h) for e in steps]
    return (np.stack(J, axis=-1) ** 2).mean(axis=0) * X.var(axis=0)


EXACT = [Dense(), Lanczos(), Davidson(tol=1e-13)]


@pytest.mark.parametrize("solver", EXACT, ids=repr)
def test_linear_kernel_gives_squared_loadings(X, solver):
    model = KernelPCA(3, kernel="linear", solver=solver, random_state=0).fit(X)
    loadings = PCA(3, svd_solver="full").fit(X).components_
    atol = 1e-12 if not isinstance(solver, Davidson) else 1e-6
    assert_allclose(model.relevance(X, unit="raw"), loadings**2, atol=atol)


def test_squared_correlations_are_those_of_scores_and_error(X, tmp_path, rng):
    weight = rng.uniform(0.5, 2, len(X))
    rows = np.c_[X, np.full(len(X), 7.1)]
    model = KernelPCA(3).fit(rows)
    outputs = np.c_[model.transform(rows), model.reconstruction_error(rows)]
    covariance = np.cov(np.c_[outputs, X].T, aweights=weight, ddof=0)
    deviation = np.sqrt(np.diag(covariance))
    wanted = (covariance / np.outer(deviation, deviation))[:4, 4:] ** 2
    np.save(tmp_path / "rows.npy", rows)
    for given_rows in (rows, open_rows(tmp_path / "rows.npy")):
        found = model.relevance(given_rows, unit="correlation", sample_weight=weight)
        assert_allclose(found.components[:, :-1], wanted[:3], atol=1e-8)
        assert_allclose(found.error[:-1], wanted[3], atol=1e-8)
        assert found.table[:, -1].max() < 1e-10  # constant
        assert found.n_rows == len(X)
    shares = found.variances / found.variances.sum()
    assert_allclose(found.overall, shares @ found.components)
    assert model.relevance(rows, unit="correlation", max_rows=50).n_rows < 60


def test_a_group_that_shares_credit_is_found_by_correlation(rng):
    group = rng.standard_normal((200, 1)) + 0.3 * rng.standard_normal((200, 30))
    model = KernelPCA(5).fit(rows := np.c_[group, rng.standard_normal((200, 16))])
    found = model.relevance(rows, unit="correlation").overall
    assert found[:30].min() > 2 * found[30:].max()
    slopes = model.relevance(rows).overall
    assert slopes[:30].min() < slopes[30:].max()


@settings(max_examples=25, deadline=None)
@given(
    n=st.integers(12, 40),
    d=st.integers(2, 6),
    seed=st.integers(0, 10**6),
    offset=st.sampled_from([0.0, 10.0]),
)
def test_shares_of_standardised_rows_are_squared_loadings(n, d, seed, offset):
    X = np.random.default_rng(seed).standard_normal((n, d)) + offset
    X = (X - X.mean(axis=0)) / X.std(axis=0) + offset
    pca = PCA(2, svd_solver="full").fit(X)
    model = KernelPCA(2, kernel="linear", solver="dense").fit(X)
    gap = np.diff(pca.explained_variance_).max()
    if abs(gap) > 1e-2:
        shares = model.relevance(X, unit="share").components
        assert_allclose(shares, pca.components_**2, atol=1e-12)
        assert_allclose(shares.sum(axis=1), 1)


KERNELS = [
    Gaussian(gamma=0.02),
    Matern(6.0, nu=1.5),
    Cauchy(5.0),
    Laplacian(0.05),
    Polynomial(2, gamma=0.05),
    Cosine(),
    Gaussian(gamma=0.01) + Polynomial(2, gamma=0.02),
]


@pytest.mark.parametrize("solver", ["dense", "lanczos", "landmarks"])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_finite_differences_of_scores(X, kernel, solver):
    model = KernelPCA(4, kernel=kernel, solver=solver, random_state=0).fit(X)
    new = X[:30] + 0.1
    assert_allclose(model.relevance(new), naive_relevance(model, new), rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize("kernel", [Gaussian(gamma=0.02), Polynomial(2, gamma=0.05)], ids=repr)
def test_as_many_landmarks_as_rows_is_exact(X, kernel):
    exact = KernelPCA(4, kernel=kernel, solver="dense").fit(X)
    landmarks = KernelPCA(4, kernel=kernel, solver=Landmarks(150, select=X)).fit(X)
    wanted = exact.relevance(X)
    found = landmarks.relevance(X)
    assert_allclose(found.components, wanted.components, rtol=1e-6)
    assert_allclose(found.overall, wanted.overall, rtol=1e-6)
    assert_allclose(found.error, wanted.error, rtol=1e-4, atol=1e-9 * wanted.error.max())


def test_streamed_is_in_memory(tmp_path):
    X = np.random.default_rng(1).standard_normal((40_000, 4)) + 3
    model = KernelPCA(3, solver=Landmarks(30), random_state=0).fit(X)
    wanted = model.relevance(X)
    np.save(tmp_path / "x.npy", X)
    for source in (tmp_path / "x.npy", open_rows(tmp_path / "x.npy")):
        found = model.relevance(source)
        for part in ("components", "overall", "error", "variances"):
            assert_allclose(getattr(found, part), getattr(wanted, part), rtol=1e-12)


def test_a_sample_of_many_rows_is_the_same_wherever_they_live(tmp_path):
    X = np.random.default_rng(1).standard_normal((40_000, 4)) * [2, 1, 1, 0.5]
    model = KernelPCA(3, solver=Landmarks(30), random_state=0).fit(X)
    every = model.relevance(X, max_rows=None)
    few = model.relevance(X, max_rows=5000)
    assert every.n_rows == 40_000
    assert abs(few.n_rows - 5000) < 50
    assert_allclose(few.components, every.components, rtol=0.1)
    np.save(tmp_path / "x.npy", X)
    streamed = model.relevance(tmp_path / "x.npy", max_rows=5000)
    assert_allclose(streamed.components, few.components, rtol=1e-12)
    assert_allclose(streamed.error, few.error, rtol=1e-12)


def test_rows_on_a_cluster_are_in_memory():
    array = pytest.importorskip("dask.array")
    X = np.random.default_rng(1).standard_normal((3000, 4))
    model = KernelPCA(3, solver=Landmarks(30), random_state=0).fit(X)
    lazy = array.from_array(X, chunks=(700, 4))
    assert_allclose(model.relevance(lazy), model.relevance(X).components, rtol=1e-12)
    wanted, found = model.uncertainty(X), model.uncertainty(lazy)
    assert_allclose(found.shares.low, wanted.shares.low, rtol=1e-10)


def test_a_weight_of_two_is_the_row_given_twice(X):
    model = KernelPCA(3, kernel=Gaussian(gamma=0.02)).fit(X)
    weight = np.where(np.arange(len(X)) < 40, 2.0, 1.0)
    twice = np.concatenate([X, X[:40]])
    found = model.relevance(X, sample_weight=weight)
    assert_allclose(found.components, model.relevance(twice).components, rtol=1e-12)
    assert_allclose(found.error, model.relevance(twice).error, rtol=1e-12)


def test_without_rows_the_weights_of_the_fit_count(X):
    weight = np.linspace(0.1, 2, len(X))
    model = KernelPCA(3, kernel=Gaussian(gamma=0.02)).fit(X, sample_weight=weight)
    given = model.relevance(X, sample_weight=weight)
    assert_allclose(model.relevance(), given.components, rtol=1e-10)
    plain = KernelPCA(3, kernel=Gaussian(gamma=0.02)).fit(X)
    assert_allclose(plain.relevance(), plain.relevance(X).components, rtol=1e-12)


def test_many_support_points_are_sampled(monkeypatch, X):
    from mercer.relevance import measure

    monkeypatch.setattr(measure, "SUPPORT_ROWS", 50)
    model = KernelPCA(2, kernel="linear").fit(X)
    rows, weight = measure.support_rows(model.subspace_, 50)
    assert rows.shape == (50, 6)
    assert_allclose(weight, 1)


def test_error_is_the_mean_squared_residual_for_the_linear_kernel(X):
    model = KernelPCA(3, kernel="linear", solver="dense").fit(X)
    pca = PCA(3, svd_solver="full").fit(X)
    left = ((X - pca.inverse_transform(pca.transform(X))) ** 2).mean(axis=0)
    assert_allclose(model.relevance(X, unit="raw").error, left, atol=1e-9 * left.max())


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_error_is_half_the_gradient_of_the_reconstruction_error(X, kernel):
    model = KernelPCA(3, kernel=kernel, solver="dense").fit(X)
    new, h = X[:20] + 0.2, 1e-5
    steps = h * np.eye(6)
    error = model.reconstruction_error
    slopes = np.stack([(error(new + e) - error(new - e)) / (4 * h) for e in steps], axis=-1)
    found = model.relevance(new, unit="raw").error
    assert_allclose(found, (slopes**2).mean(axis=0), rtol=1e-3, atol=1e-8 * found.max())


def test_overall_is_the_mean_weighted_by_the_variances(X):
    model = KernelPCA(3, kernel=Gaussian(gamma=0.02)).fit(X)
    found = model.relevance(X, unit="share")
    assert_allclose(found.variances, model.explained_variance_, rtol=1e-10)
    wanted = np.average(found.components, axis=0, weights=model.explained_variance_)
    assert_allclose(found.overall, wanted, rtol=1e-10)
    assert_allclose(found.overall.sum(), 1)
    assert_allclose(found.error.sum(), 1)


def test_units(X):
    model = KernelPCA(3, kernel=Gaussian(gamma=0.02)).fit(X)
    raw, std = model.relevance(X, unit="raw").components, model.relevance(X).components
    assert_allclose(std, raw * X.var(axis=0), rtol=1e-10)
    share = model.relevance(X, unit="share").components
    assert_allclose(share, std / std.sum(axis=1, keepdims=True))


def test_std_does_not_notice_the_units_of_a_variable(X):
    """With a kernel whose width follows, centimetres instead of metres change nothing."""
    factor = np.array([1.0, 100.0, 1.0, 1.0, 1.0, 1.0])
    a = KernelPCA(2, kernel="linear").fit(X / X.std(axis=0))
    scaled = X / X.std(axis=0) * factor
    b = measure_relevance(a.subspace_, scaled / factor)
    assert_allclose(b.components, a.relevance(X / X.std(axis=0)).components)


ESTIMATORS = [
    KernelPCA(3),
    KernelPCA(3, solver=Landmarks(40), random_state=0),
    KernelPCA(3, center=False),
    SparseKernelPCA(20, n_components=3),
    IncrementalKernelPCA(3, n_landmarks=40, random_state=0),
    GenerativeKernelPCA(3),
    ReweightedKernelPCA(KernelPCA(3), random_state=0),
    MissingKernelPCA(KernelPCA(3), random_state=0),
    KernelNovelty(3, random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: repr(e)[:40])
def test_every_estimator_tells_relevance_and_uncertainty(X, estimator):
    model = estimator.fit(X)
    found = model.relevance(X, unit="share")
    assert found.components.shape == (3, 6)
    assert_allclose(found.components.sum(axis=1), 1)
    assert model.relevance().components.shape == (3, 6)
    assert model.sensitivity(X[:4]).shape == (4, 3, 6)
    sure = model.uncertainty(X)
    assert (sure.shares.low < sure.shares.high).all()


def test_sensitivity_is_the_derivative(X):
    model = KernelPCA(3).fit(X)
    h = 1e-5
    step = (model.transform(X[:5] + h * np.eye(6)[2]) - model.transform(X[:5])) / h
    assert_allclose(model.sensitivity(X[:5])[:, :, 2], step, atol=1e-5)


def test_names_and_frames(X):
    pandas = pytest.importorskip("pandas")
    names = list("abcdef")
    frame = pandas.DataFrame(X, columns=names)
    model = KernelPCA(2).fit(frame)
    found = model.relevance(frame)
    assert found.names == tuple(names)
    table = model.set_output(transform="pandas").relevance(frame)
    assert list(table.columns) == names
    assert list(table.index) == ["kernelpca0", "kernelpca1", "overall", "error"]
    assert_allclose(table.to_numpy(), found.table)
    table = model.set_output(transform="polars").relevance(frame)
    assert table.columns == ["component", *names]


def test_one_hot_columns_are_added_up(X):
    model = KernelPCA(2).fit(X)
    groups = ["colour", "colour", "size", "colour", "size", "age"]
    found = model.relevance(X, unit="share")
    grouped = model.relevance(X, unit="share", groups=groups)
    assert grouped.names == ("colour", "size", "age")
    assert_allclose(grouped.components[:, 0], found.components[:, [0, 1, 3]].sum(axis=1))
    assert_allclose(grouped.overall.sum(), 1)
    with pytest.raises(DataError, match="5 names for 6 variables"):
        model.relevance(X, groups=groups[:5])


def test_wrong_words(X):
    model = KernelPCA(2).fit(X)
    with pytest.raises(DataError, match="unit='metre' is not known"):
        model.relevance(X, unit="metre")
    with pytest.raises(DataError, match="give X, too"):
        model.relevance(sample_weight=np.ones(len(X)))
    with pytest.raises(DataError, match="non-zero"):
        model.relevance(X, sample_weight=np.zeros(len(X)))


def test_kernels_without_variables_say_so():
    shared = FunctionKernel(lambda a, b: float(len(set(a) & set(b))))
    words = ["abc", "abd", "xyz", "axz", "bdc"]
    model = KernelPCA(2, kernel=shared).fit(words)
    for call in (model.relevance, model.uncertainty, lambda: model.sensitivity(words)):
        with pytest.raises(KernelError, match="no variables"):
            call()
    K = np.eye(5) + 0.1
    with pytest.raises(KernelError, match="no variables"):
        KernelPCA(2, kernel="precomputed").fit(K).relevance()


def test_float32_is_right_to_its_precision(X):
    exact = KernelPCA(3, kernel=Gaussian(gamma=0.02)).fit(X).relevance(X)
    single = X.astype(np.float32)
    found = KernelPCA(3, kernel=Gaussian(gamma=0.02)).fit(single).relevance(single)
    assert_allclose(found.components, exact.components, rtol=1e-3)


def test_a_constant_column_is_harmless(X):
    constant = np.column_stack([X, np.ones(len(X))])
    found = KernelPCA(2).fit(constant).relevance(constant, unit="share")
    assert_allclose(found.components[:, -1], 0, atol=1e-12)
    assert np.isfinite(found.table).all()


def test_a_kernel_with_a_kink_on_its_own_rows(X):
    """At a training row the slope of exp(-r) is infinite; its row must not drown the others."""
    model = KernelPCA(3, kernel=Matern(6.0, nu=0.5)).fit(X)
    near = X + 1e-7
    assert_allclose(model.relevance(X), model.relevance(near), rtol=0.01)


def test_the_strongest_variables_in_words(X):
    lines = KernelPCA(3, kernel="linear").fit(X).relevance(X).describe(2)
    assert len(lines) == 2
    found = KernelPCA(3, kernel="linear").fit(X).relevance(X, unit="share").components[0]
    first, second = found.argsort()[::-1][:2]
    assert lines[0] == f"component 0: x{first} {found[first]:.0%}, x{second} {found[second]:.0%}"
