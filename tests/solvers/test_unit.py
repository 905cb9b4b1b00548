"""Units of the rows change nothing but the units of the answer; what cannot be held is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mercer
from mercer import IncrementalKernelPCA, KernelPCA, ParallelAnalysis, SparseKernelPCA
from mercer.exceptions import KernelError
from mercer.gram import DenseGram, StreamedGram
from mercer.kernels import Cosine, Gaussian, Linear, Polynomial, Precomputed, Sigmoid
from mercer.solvers import Auto, Davidson, Dense, Lanczos, Landmarks

SOLVERS = [Auto(), Dense(), Lanczos(), Davidson(), Landmarks(40)]
X = np.random.default_rng(0).gamma(2.0, size=(150, 4)) * [1.0, 0.7, 0.5, 0.3]
NEW = np.random.default_rng(1).gamma(2.0, size=(7, 4))
#: Kernels with k(sx, sy) = s^p k(x, y), p, and the same in one line of NumPy.
HOMOGENEOUS = {
    "linear": (Linear(), 2, lambda A, B: A @ B.T),
    "cubic": (Polynomial(3, coef0=0.0), 6, lambda A, B: (A @ B.T) ** 3),
    "product": (Linear() * Cosine(), 2, lambda A, B: A @ B.T * _cosine(A, B)),
}


def _cosine(A, B):
    return A @ B.T / np.linalg.norm(A, axis=1)[:, None] / np.linalg.norm(B, axis=1)


def eigenvalues(K, center, q=3):
    """By LAPACK."""
    H = np.eye(len(K)) - center / len(K)
    return np.linalg.eigvalsh(H @ K @ H)[::-1][:q]


def is_finite(model):
    report = model.report_
    return np.isfinite([report.audited, report.estimated_error, *model.residuals_]).all()


@pytest.mark.parametrize("scale", [1e-150, 1e-80, 1e-20, 1e20, 1e80, 1e150])
@pytest.mark.parametrize("name", HOMOGENEOUS)
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("center", [True, False])
def test_answers_scale_with_the_rows(solver, name, scale, center):
    kernel, power, formula = HOMOGENEOUS[name]
    model = KernelPCA(3, kernel=kernel, solver=solver, center=center, random_state=0)
    if abs(power * np.log10(scale)) > 305:
        magnitude = f"{scale:e}".removeprefix("1.000000").replace("+", r"\+")
        with pytest.raises(
            KernelError, match=rf"flows float64: .* a magnitude of [\d.]+{magnitude};"
        ):
            model.fit(X * scale)
        return
    unit, wanted = scale ** (power // 2), KernelPCA(3, kernel=kernel, center=center).fit(X)
    with mercer.strict():
        model.fit(X * scale)
    assert_allclose(
        model.eigenvalues_ / unit / unit, eigenvalues(formula(X, X), center), rtol=3e-6, atol=0
    )
    assert is_finite(model)
    assert repr(model.kernel_) == repr(kernel)
    assert_allclose(model.explained_variance_ratio_, wanted.explained_variance_ratio_, rtol=3e-6)
    scores, theirs = model.transform(NEW * scale) / unit, wanted.transform(NEW)
    assert_allclose(np.abs(scores), np.abs(theirs), atol=1e-4 * np.abs(theirs).max())
    errors = model.reconstruction_error(NEW * scale) / unit / unit
    assert_allclose(errors, wanted.reconstruction_error(NEW), rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_the_way_back_at_any_scale(solver, scale):
    model = KernelPCA(4, kernel=Linear(), solver=solver, random_state=0).fit(X * scale)
    assert_allclose(model.inverse_transform(model.transform(NEW * scale)) / scale, NEW, rtol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS[:4], ids=repr)
@pytest.mark.parametrize("size", [1e-300, 1e-100, 1e100, 1e300])
def test_given_matrices_of_any_size(solver, size):
    K = X @ X.T * size
    with mercer.strict():
        model = KernelPCA(3, kernel=Precomputed(), solver=solver, random_state=0).fit(K)
    assert_allclose(model.eigenvalues_ / size, eigenvalues(X @ X.T, True), rtol=3e-6)
    assert is_finite(model)
    squares = (model.transform(K) / np.sqrt(size)) ** 2
    assert_allclose(squares.sum(axis=0), eigenvalues(X @ X.T, True), rtol=3e-6)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("size", [1e-300, 1e-30, 1e30, 1e300])
def test_weights_of_any_size(solver, size):
    weight = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
    kernel = Gaussian(sigma=4.0)
    wanted = KernelPCA(3, kernel=kernel, solver="dense").fit(X, sample_weight=weight)
    with mercer.strict():
        model = KernelPCA(3, kernel=kernel, solver=solver, random_state=0)
        model.fit(X, sample_weight=weight * size)
    assert_allclose(model.eigenvalues_ / size, wanted.eigenvalues_, rtol=1e-3)
    assert_allclose(model.explained_variance_, wanted.explained_variance_, rtol=1e-3)
    assert_allclose(np.abs(model.transform(NEW)), np.abs(wanted.transform(NEW)), atol=1e-3)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_float32_is_right_or_refused(solver):
    model = KernelPCA(3, kernel=Linear(), solver=solver, random_state=0)
    # Kernel values from 1e-60 to 1e60; where float32 does not hold them, rows are float64 rows.
    for scale in (1e-30, 1e-15, 1e-10, 1e10, 1e17, 1e30):
        rows = (X * scale).astype(np.float32)
        with mercer.strict():
            model.fit(rows)
        found = model.eigenvalues_.astype(np.float64) / scale / scale
        claim = model.report_.estimated_error
        assert_allclose(found, eigenvalues(X @ X.T, True), rtol=1e-6 + 3 * claim)
        assert is_finite(model)
        assert np.isfinite(model.transform(rows)).all()
    heavy = np.full(len(X), 1e200)
    with pytest.raises(
        KernelError, match=r"overflows float32.* and the sample weights about 8e\+199"
    ):
        model.fit(X.astype(np.float32), sample_weight=heavy)


def test_rows_in_a_file_and_rules_that_compare_with_chance(tmp_path):
    np.save(tmp_path / "x.npy", X * 1e150)
    by_landmarks = KernelPCA(3, kernel=Linear(), solver=Landmarks(40), random_state=0)
    with mercer.strict():
        found = by_landmarks.fit(tmp_path / "x.npy").eigenvalues_
    assert_allclose(found / 1e150 / 1e150, eigenvalues(X @ X.T, True), rtol=1e-6)
    counts = {
        KernelPCA(ParallelAnalysis(4), kernel=Linear(), random_state=0).fit(X * scale).n_components_
        for scale in (2.0**-500, 1.0, 2.0**500)
    }
    assert len(counts) == 1


def test_a_source_is_not_judged_by_its_first_rows(tmp_path):
    rows = np.vstack([np.full((300, 4), 1e-200), X])
    np.save(tmp_path / "x.npy", rows)
    model = KernelPCA(3, kernel=Linear(), solver=Landmarks(60), random_state=0)
    found = model.fit(tmp_path / "x.npy").eigenvalues_
    assert_allclose(found, eigenvalues(rows @ rows.T, True), rtol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "scale"),
    [
        (Polynomial(degree=6, gamma=4e39), 1e-20),
        (Polynomial(degree=2, gamma=1e-41, coef0=0.0), 1e20),
        (Gaussian(gamma=1e-41) + Sigmoid(gamma=1e-41, coef0=0.5), 1e20),
        (1e-60 * Gaussian(gamma=0.2), 1.0),
    ],
    ids=["small rows", "large rows", "a part of a sum", "small values"],
)
@pytest.mark.parametrize("solver", ["dense", "davidson", Landmarks(40)])
def test_float32_rows_that_ask_for_float64(kernel, scale, solver):
    """Where float32 holds neither products of the rows nor kernel values, they are float64 rows."""
    X = (scale * np.random.default_rng(0).uniform(0.5, 1.5, (40, 3))).astype(np.float32)
    narrow, wide = (
        KernelPCA(3, kernel=kernel, solver=solver, random_state=0).fit(rows)
        for rows in (X, X.astype(np.float64))
    )
    assert np.allclose(narrow.eigenvalues_, wide.eigenvalues_, rtol=1e-9, atol=0)
    assert np.allclose(narrow.transform(X[:5]), wide.transform(X[:5].astype(np.float64)))
    assert np.isfinite(narrow.explained_variance_ratio_).all()


@pytest.mark.parametrize("model", [SparseKernelPCA, IncrementalKernelPCA])
def test_values_below_float32_are_refused_where_they_are_squared(model):
    rows = np.random.default_rng(0).normal(size=(40, 3)).astype(np.float32)
    with pytest.raises(KernelError, match="magnitude"):
        model(kernel=1e-66 * Gaussian(gamma=0.2), random_state=0).fit(rows)


@pytest.mark.parametrize("gram", [DenseGram, StreamedGram])
def test_operators_of_float32_rows_that_ask_for_float64(gram):
    rows = (1e-20 * np.random.default_rng(0).uniform(size=(9, 3))).astype(np.float32)
    kernel = Sigmoid(gamma=5e39) + Polynomial(7, gamma=8e38)
    found = gram.from_rows(kernel, rows, np.dtype(np.float32)).to_dense()
    assert_allclose(found, kernel(rows.astype(np.float64)), rtol=1e-12)
