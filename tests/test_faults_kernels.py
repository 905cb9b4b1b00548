"""Hostile kernels and solvers: rows 9 to 16 of the table of faults; see test_faults.py."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from mercer import KernelPCA
from mercer.exceptions import (
    ConvergenceWarning,
    DataError,
    DegenerateKernelWarning,
    IndefiniteKernelWarning,
    KernelError,
    NotFittedError,
)
from mercer.kernels import FunctionKernel, Gaussian, Sigmoid
from mercer.solvers import Davidson, Dense, Lanczos
from tests.test_faults import FINE, SOLVERS, X, refused


class TestRow09Widths:
    @pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf, "wide"])
    def test_rejected(self, gamma):
        refused(KernelError, "gamma", X, KernelPCA(2, kernel=Gaussian(gamma=gamma)))

    def test_zero_is_said_before_it_fails(self):
        with pytest.warns(DegenerateKernelWarning, match="constant"):
            refused(DataError, "no variance", X, KernelPCA(2, kernel=Gaussian(gamma=0)))

    def test_the_median_of_duplicates_falls_back_and_says_so(self):
        rows = np.concatenate([np.zeros((30, 2)), np.eye(2)])
        with pytest.warns(DegenerateKernelWarning, match="coincide"):
            model = KernelPCA(1).fit(rows)
        assert 0 < model.kernel_.gamma < np.inf


class TestRow10UselessWidths:
    @pytest.mark.parametrize("solver", SOLVERS)
    def test_k_is_the_identity(self, solver):
        model = KernelPCA(2, kernel=Gaussian(gamma=1e6), solver=solver)
        with pytest.warns(DegenerateKernelWarning, match=r"identity \(effective rank 39.*median"):
            model.fit(X)

    @pytest.mark.parametrize("solver", FINE, ids=repr)
    def test_k_is_constant(self, solver):
        model = KernelPCA(2, kernel=Gaussian(gamma=1e-9), solver=solver)
        with pytest.warns(DegenerateKernelWarning, match=r"constant \(effective rank 1.*median"):
            model.fit(X)

    def test_a_good_width_is_quiet(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            KernelPCA(2).fit(X)


class TestRow11Indefinite:
    @pytest.mark.parametrize("solver", SOLVERS)
    def test_beyond_the_limit(self, solver):
        model = KernelPCA(2, kernel=Sigmoid(gamma=1.0, coef0=-1.0), solver=solver)
        refused(KernelError, "not positive definite.*smallest eigenvalue is -", X, model)

    @pytest.mark.parametrize("solver", FINE, ids=repr)
    @pytest.mark.parametrize("n", [40, 400])
    def test_slightly(self, solver, n):
        """Negative by 1e-7 of the largest: the positive part, with a warning, in every solver."""
        A = np.random.default_rng(1).standard_normal((n, 3))
        Q, _ = np.linalg.qr(A - A.mean(axis=0))
        K = Q @ np.diag([1.0, 0.5, -1e-7]) @ Q.T
        model = KernelPCA(2, kernel="precomputed", solver=solver, random_state=0)
        with pytest.warns(IndefiniteKernelWarning, match="-1e-07"):
            model.fit((K + K.T) / 2)
        assert_allclose(model.eigenvalues_, [1.0, 0.5], rtol=1e-6)


class TestRow12Precomputed:
    K = Gaussian(gamma=0.2)(X)

    def test_asymmetric(self):
        K = self.K.copy()
        K[3, 5] += 0.25
        refused(KernelError, "symmetric.*0.25", K, KernelPCA(2, kernel="precomputed"))

    def test_rounding_is_symmetrised(self):
        K = self.K.copy()
        K[3, 5] += 1e-11
        found, wanted = (KernelPCA(2, kernel="precomputed").fit(A) for A in (K, self.K))
        assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-9)

    def test_not_square(self):
        refused(KernelError, r"square.*\(40, 30\)", self.K[:, :30], KernelPCA(kernel="precomputed"))

    def test_wrong_length_at_transform(self):
        model = KernelPCA(2, kernel="precomputed").fit(self.K)
        refused(DataError, "39 features.*40", self.K[:, :39], model, "transform")

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_negative_definite(self, solver):
        model = KernelPCA(2, kernel="precomputed", solver=solver)
        refused((KernelError, DataError), "positive definite|no variance", -self.K, model)


class TestRow13CallableKernels:
    def fit(self, function):
        return KernelPCA(2, kernel=FunctionKernel(function)), X

    def test_nan(self):
        model, rows = self.fit(lambda a, b: np.nan)
        refused(KernelError, r"rows \(0, 0\) returned nan", rows, model)

    @pytest.mark.parametrize("value", [np.ones(3), "text", None, 1j])
    def test_no_number(self, value):
        model, rows = self.fit(lambda a, b: value)
        refused(KernelError, r"rows \(0, 0\) returned", rows, model)

    def test_raising(self):
        def broken(a, b):
            raise ZeroDivisionError("by zero")

        model, rows = self.fit(broken)
        error = refused(
            KernelError, r"rows \(0, 0\) raised ZeroDivisionError: by zero", rows, model
        )
        assert isinstance(error.__cause__, ZeroDivisionError)

    def test_the_pair_is_named(self):
        def moody(a, b):
            return np.inf if {a, b} == {"x", "q"} else float(a == b)

        words = [*"abcdexfgq"]
        refused(KernelError, r"\(5, 8\)", words, KernelPCA(2, kernel=FunctionKernel(moody)))

    def test_a_bare_function_is_no_kernel(self):
        refused(KernelError, "FunctionKernel", X, KernelPCA(kernel=lambda a, b: 1.0))


def projector(model, rows):
    Z = model.transform(rows)
    Q, _ = np.linalg.qr(Z)
    return Q @ Q.T


class TestRow14Repeated:
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])  # every eigenvalue but one is double

    @pytest.mark.parametrize("solver", [Dense(), Lanczos(), Davidson(tol=1e-14)], ids=repr)
    @pytest.mark.parametrize("n", [60, 400])
    def test_projectors_agree(self, solver, n):
        angle = np.linspace(0, 2 * np.pi, n, endpoint=False)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        wanted = KernelPCA(4, kernel=Gaussian(gamma=0.5), solver="dense").fit(ring)
        lam = wanted.eigenvalues_
        assert_allclose(lam[::2], lam[1::2], rtol=1e-9)
        model = KernelPCA(4, kernel=Gaussian(gamma=0.5), solver=solver, random_state=1).fit(ring)
        assert_allclose(projector(model, ring), projector(wanted, ring), atol=1e-8)

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_the_same_call_gives_the_same_signs(self, solver):
        first, second = (
            KernelPCA(4, solver=solver, random_state=2).fit_transform(self.ring) for _ in range(2)
        )
        assert_array_equal(first, second)

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_one_thread_or_many(self, solver):
        rows = np.random.default_rng(3).standard_normal((1100, 5))
        model = KernelPCA(4, solver=solver, random_state=2)
        many = model.fit_transform(rows)
        with threadpool_limits(1, user_api="blas"):
            one = model.fit_transform(rows)
        assert_allclose(one, many, atol=1e-8)


class TestRow15Convergence:
    def test_some_pairs_in_the_time_given(self):
        rows = np.random.default_rng(0).standard_normal((300, 50))
        kernel = Gaussian(gamma=0.05)
        model = KernelPCA(5, kernel=kernel, solver=Lanczos(max_iter=1), random_state=0)
        with pytest.warns(ConvergenceWarning, match=r"with [1-4] pairs.*max_iter"):
            model.fit(rows)
        assert np.isfinite(model.transform(rows)).all()

    def test_the_partial_result_is_kept_with_its_residuals(self):
        rows = np.random.default_rng(0).standard_normal((400, 50))
        solver = Davidson(tol=1e-13, max_passes=2)
        with pytest.warns(ConvergenceWarning, match="relative error"):
            model = KernelPCA(5, solver=solver, random_state=0).fit(rows)
        assert not model.report_.converged
        exact = KernelPCA(5, solver="dense").fit(rows)
        error = np.abs(model.eigenvalues_ - exact.eigenvalues_)
        assert (error <= model.residuals_ + 1e-9).all()

    @pytest.mark.parametrize("solver", ["dense", "lanczos"])
    def test_lapack_ratio(self, solver):
        rows = np.random.default_rng(0).standard_normal((400, 5))
        model = KernelPCA(10, solver=solver, random_state=0).fit(rows)
        ratio = model.residuals_.max() / (400 * np.finfo(float).eps * model.eigenvalues_[0])
        assert ratio <= 60


class TestRow16PreImages:
    """As far as the estimator goes; the solvers' own tests are with them."""

    model = KernelPCA(3, kernel=Gaussian(gamma=0.3)).fit(X)

    def test_unfitted(self):
        for method in ("transform", "inverse_transform", "denoise", "reconstruction_error"):
            with pytest.raises(NotFittedError):
                getattr(KernelPCA(2), method)(X)

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_codes_that_are_no_numbers(self, value):
        with pytest.raises(ValueError, match=r"NaN|inf"):
            self.model.inverse_transform(np.full((2, 3), value))

    def test_codes_of_the_wrong_width(self):
        with pytest.raises(ValueError, match="3"):
            self.model.inverse_transform(np.ones((2, 5)))

    @pytest.mark.filterwarnings("ignore::mercer.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("size", [0.0, 1.0, 1e3, 1e9])
    def test_codes_off_the_data_give_finite_points(self, size):
        assert np.isfinite(self.model.inverse_transform(size * np.eye(3))).all()

    @pytest.mark.filterwarnings("ignore::mercer.exceptions.ConvergenceWarning")
    def test_points_where_the_kernel_is_zero(self):
        far = np.full((2, 3), 1e6)
        found = self.model.preimages(far)
        assert np.isfinite(found.points).all()
        assert found.converged.dtype == bool
