"""Every eigensolver keeps the contract, also on the Gram matrices of real data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer._base import catalogue
from mercer.exceptions import (
    ConvergenceError,
    ConvergenceWarning,
    DataError,
    KernelError,
)
from mercer.gram import CenteredGram, DenseGram, MatrixOperator
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from mercer.model import Count
from mercer.model.model import estimate_errors
from mercer.solvers import Davidson, Dense, EigenSolver, Lanczos, Problem, as_solver
from mercer.testing import check_eigensolver, lapack_ratio
from mercer.testing.operators import check_orthonormal, matrix_with_spectrum

EXACT = [Dense(), Lanczos()]
NAMED = [solver for solver in map(as_solver, catalogue.SOLVERS) if isinstance(solver, EigenSolver)]


@pytest.mark.parametrize("solver", EXACT, ids=repr)
def test_exact_solvers_on_prescribed_spectra(solver):
    ratios = check_eigensolver(solver)
    assert max(ratios.values()) <= 60, ratios


@pytest.mark.parametrize("solver", NAMED, ids=repr)
def test_solvers_of_the_catalogue_on_prescribed_spectra(solver):
    check_eigensolver(solver, exact=False)


@pytest.mark.parametrize("tol", [1e-4, 1e-6, 1e-10])
def test_davidson_on_prescribed_spectra(tol):
    check_eigensolver(Davidson(tol=tol), exact=False)


@pytest.mark.parametrize("solver", [*EXACT, Davidson()], ids=repr)
@pytest.mark.parametrize("k", [1, 2, 39, 40])
def test_from_one_pair_to_all(solver, k, rng):
    A = matrix_with_spectrum(np.linspace(1, 0.1, 40))
    found = solver.solve(MatrixOperator(A), k, rng)
    assert_allclose(found.values, np.linspace(1, 0.1, 40)[:k], atol=1e-12)


def centred_gram(kernel, X, solver):
    problem = Problem(kernel.resolve(X), X, Count(20), np.random.default_rng(0))
    u = np.full(len(X), 1 / np.sqrt(len(X)), dtype=X.dtype)
    return CenteredGram(solver.bind(problem), u)


@pytest.mark.parametrize("solver", EXACT, ids=repr)
@pytest.mark.parametrize("kernel", [Gaussian(), Linear(), Polynomial(3)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lapack_ratio_on_digits(solver, kernel, dtype):
    X = (load_digits().data[:900] / 16).astype(dtype)
    operator = centred_gram(kernel, X, solver)
    found = solver.solve(operator, 20, np.random.default_rng(0))
    assert found.vectors.dtype == dtype
    assert lapack_ratio(operator.to_dense(), found) <= 60
    check_orthonormal(found)


@pytest.mark.parametrize("solver", EXACT, ids=repr)
def test_lapack_ratio_on_usps(solver, data_dir):
    with np.load(data_dir / "usps.npz") as file:
        X = file["X_train"][:1500] / 1000.0
    operator = centred_gram(Gaussian(), X, solver)
    found = solver.solve(operator, 20, np.random.default_rng(0))
    assert lapack_ratio(operator.to_dense(), found) <= 60
    check_orthonormal(found)


@pytest.mark.slow
@pytest.mark.parametrize("solver", EXACT, ids=repr)
def test_lapack_ratio_on_all_of_usps(solver, data_dir):
    with np.load(data_dir / "usps.npz") as file:
        X = file["X_train"] / 1000.0
    operator = centred_gram(Gaussian(), X, solver)
    found = solver.solve(operator, 20, np.random.default_rng(0))
    A = operator.to_dense()
    assert lapack_ratio(A, found) <= 60


def test_lanczos_finds_every_copy(rng):
    """ARPACK alone returns some copies of a repeated value, and then smaller ones, in silence."""
    values = np.concatenate([np.ones(12), np.full(12, 0.9), 0.8 * 0.95 ** np.arange(276)])
    A = matrix_with_spectrum(values)
    for seed in range(5):
        found = Lanczos().solve(MatrixOperator(A), 20, np.random.default_rng(seed))
        assert_allclose(found.values, values[:20], atol=1e-12)


@pytest.mark.parametrize("solver", [*EXACT, Davidson()], ids=repr)
def test_the_zero_matrix(solver, rng):
    found = solver.solve(MatrixOperator(np.zeros((300, 300))), 5, rng)
    assert_allclose(found.values, 0)
    check_orthonormal(found)


def test_lanczos_with_the_matrix_kept_or_not(rng):
    X = rng.standard_normal((400, 4))
    kept, streamed = (
        KernelPCA(6, solver=Lanczos(keep=keep), random_state=0).fit(X) for keep in (True, False)
    )
    assert_allclose(kept.eigenvalues_, streamed.eigenvalues_, rtol=1e-12)
    assert_allclose(kept.transform(X[:9]), streamed.transform(X[:9]), atol=1e-9)


def test_too_few_iterations_are_said(rng):
    A = matrix_with_spectrum(np.linspace(1, 0.9, 300))
    with pytest.raises(ConvergenceError, match="raise max_iter"):
        Lanczos(max_iter=1).solve(MatrixOperator(A), 4, rng)
    found = Davidson(tol=1e-12, max_passes=2).solve(MatrixOperator(A), 4, rng)
    assert not found.converged
    assert found.errors.max() > 1e-12


def test_an_unconverged_fit_warns_and_keeps_its_result(rng):
    X = rng.standard_normal((400, 30))
    with pytest.warns(ConvergenceWarning, match="estimated"):
        model = KernelPCA(5, solver=Davidson(tol=1e-14, max_passes=1), random_state=0).fit(X)
    assert not model.report_.converged
    assert np.isfinite(model.transform(X)).all()
    assert (model.residuals_ > 0).all()


def test_error_estimates_of_clusters():
    """Two values closer than their residuals are judged against the gap after both."""
    values = np.array([1.0, 1.0 - 1e-9, 0.5])
    errors = estimate_errors(values, np.array([1e-6, 1e-6, 1e-6]))
    assert_allclose(errors[:2], 1e-12 / 0.5, rtol=1e-3)


@pytest.mark.parametrize("name", ["auto", "dense", "lanczos", "davidson", "landmarks"])
def test_names(name):
    assert type(as_solver(name)).__name__.lower() == name


def test_an_unknown_solver_names_the_known():
    with pytest.raises(ValueError, match="'lanczos'"):
        as_solver("arpack")


@pytest.mark.parametrize("solver", ["dense", "lanczos", "davidson"])
def test_exact_solvers_load_the_rows_of_a_file(solver, rng, tmp_path):
    X = rng.standard_normal((300, 4))
    np.save(tmp_path / "rows.npy", X)
    here, there = (
        KernelPCA(3, solver=solver, random_state=0).fit(rows).transform(X)
        for rows in (X, tmp_path / "rows.npy")
    )
    assert np.array_equal(here, there)


def overlap(a, b):
    return float(a @ b)


#: Kernel → k(0, 0), or None where the width is to come from the rows.
AT_ZERO = [
    (Gaussian(), None),
    (Gaussian(gamma=1.0), 1),
    (Laplacian(), None),
    (Laplacian(1.0), 1),
    (Matern(1.0, nu=0.5), 1),
    (RationalQuadratic(1.0, alpha=1e6), 1),
    (Cauchy(1.0), 1),
    (Chi2(), 1),
    (Linear(), 0),
    (Polynomial(3), 1),
    (Polynomial(2, coef0=0.0), 0),
    (Polynomial(2, gamma="scale"), None),
    (Sigmoid(1.0), 0),
    (Sigmoid(1.0, coef0=0.5), np.tanh(0.5)),
    (Sigmoid(1.0, coef0=-0.5), np.tanh(-0.5)),
    (Cosine(), 0),
    (2.0 * Cosine(), 0),
    (Cosine() + Linear(), 0),
    (Gaussian(1.0) * Cosine(), 0),
    (Gaussian(1.0) + Matern(1.0), 2),
    (0.5 * Gaussian(1.0) + Cauchy(1.0) * Laplacian(1.0), 1.5),
    (Gaussian() + Matern(), None),
    (FunctionKernel(overlap), 0),
]


@pytest.mark.filterwarnings("error::RuntimeWarning", "ignore::mercer.exceptions.RankWarning")
@pytest.mark.filterwarnings("ignore::mercer.exceptions.DegenerateKernelWarning")
@pytest.mark.parametrize("shape", [(31, 1), (300, 3)])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("solver", ["dense", "lanczos", "davidson", "landmarks", "auto"])
@pytest.mark.parametrize(("kernel", "value"), AT_ZERO, ids=range(len(AT_ZERO)))
def test_rows_that_are_all_zero(kernel, value, solver, center, shape):
    """K is constant: one component without centring, and none with it, or if k(0, 0) = 0."""
    X = np.zeros(shape)
    model = KernelPCA(2, kernel=kernel, solver=solver, center=center, random_state=0)
    if value is None or value <= 0 or center:
        with pytest.raises((DataError, KernelError), match="no variance|not positive definite"):
            model.fit(X)
        return
    Z = model.fit_transform(X)
    assert_allclose(model.eigenvalues_, [len(X) * value], rtol=1e-6)
    assert_allclose(np.abs(Z), np.sqrt(value), rtol=1e-6)
    assert_allclose(model.transform(X), Z, rtol=1e-6)


@pytest.mark.parametrize("n", [31, 300, 4500])
@pytest.mark.parametrize("solver", ["davidson", "landmarks"])
def test_a_kernel_below_zero_on_the_diagonal_is_refused(solver, n, rng):
    model = KernelPCA(2, kernel=Sigmoid(1.0, coef0=-0.5), solver=solver, random_state=0)
    with pytest.raises(KernelError, match="not positive definite"):
        model.fit(rng.standard_normal((n, 2)))


def test_the_matrix_of_float32_rows_is_computed_once(rng, monkeypatch):
    made = []
    from_rows = DenseGram.from_rows.__func__

    def counted(cls, *args, **options):
        made.append(args)
        return from_rows(cls, *args, **options)

    monkeypatch.setattr(DenseGram, "from_rows", classmethod(counted))
    KernelPCA(3, solver=Lanczos(), random_state=0).fit(rng.standard_normal((600, 4)).astype("f4"))
    assert len(made) == 1


def test_eigenvalues_of_sparse_rows_that_leave_float32(rng):
    rows = csr_array((np.abs(rng.standard_normal((600, 3))) * 8e17).astype(np.float32))
    model = KernelPCA(2, kernel="linear", center=False, solver="dense")
    values = model.fit(rows).eigenvalues_
    np.testing.assert_allclose(values, model.fit(rows.astype(np.float64)).eigenvalues_, rtol=1e-12)


def test_squares_that_leave_float32_are_summed_in_float64():
    """A kept matrix as well as a streamed one, whose eigenvalues are in its range here."""
    rows = (np.abs(np.random.default_rng(0).standard_normal((300, 4))) * 2e17).astype(np.float32)
    found = [
        KernelPCA(2, kernel="linear", center=False, solver=name).fit(rows)
        for name in ("lanczos", "dense")
    ]
    np.testing.assert_allclose(found[0].eigenvalues_, found[1].eigenvalues_, rtol=1e-6)
    larger = KernelPCA(2, kernel="linear", center=False, solver="lanczos").fit(8 * rows)
    np.testing.assert_allclose(larger.eigenvalues_, 64 * found[0].eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_lanczos_on_groups_of_copies_that_are_alike(seed):
    """A diagonal matrix of counts, nearly: most eigenvalues are copies of each other."""
    rng = np.random.default_rng(seed)
    groups = 50 * rng.standard_normal((900, 10))
    rows = groups[rng.integers(900, size=1750)]
    model = KernelPCA(15, kernel=Laplacian(gamma=6.0), solver="lanczos", random_state=0).fit(rows)
    K = np.exp(-6 * cdist(rows, rows, "cityblock"))
    H = np.eye(len(K)) - 1 / len(K)
    np.testing.assert_allclose(
        model.eigenvalues_, np.linalg.eigvalsh(H @ K @ H)[::-1][:15], rtol=1e-9
    )
