"""Rows and spectra that are hard for a solver: copies, extreme scales, pairs that coincide."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from threadpoolctl import threadpool_limits

from mercer import KernelPCA
from mercer.exceptions import (
    ConvergenceWarning,
    DataError,
    KernelError,
    RankWarning,
)
from mercer.kernels import (
    Cauchy,
    Gaussian,
    Laplacian,
    Polynomial,
)
from mercer.solvers import Davidson, Dense, Lanczos
from tests.refusals import refused

X = np.random.default_rng(0).standard_normal((40, 3))


SOLVERS = ["dense", "lanczos", "davidson"]


class TestDuplicates:
    rows = np.repeat([[0.0, 1.0], [2.0, 5.0]], 30, axis=0)

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_rank_is_truncated_and_said(self, solver):
        with pytest.warns(RankWarning, match="only 1"):
            model = KernelPCA(5, kernel=Gaussian(gamma=0.1), solver=solver).fit(self.rows)
        Z = model.transform(self.rows)
        assert Z.shape == (60, 1)
        assert np.isfinite(Z).all()
        assert np.ptp(Z[:30]) == np.ptp(Z[30:]) == 0
        assert_allclose(Z[0], -Z[30], rtol=1e-9)


class TestConstantRows:
    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("n", [5, 600])
    @pytest.mark.parametrize("kernel", [Gaussian(), Gaussian(gamma=1.0), "linear", Polynomial(2)])
    def test_no_variance(self, solver, n, kernel):
        model = KernelPCA(2, kernel=kernel, solver=solver)
        refused(DataError, "no variance", np.full((n, 3), 1.7), model)

    @pytest.mark.parametrize("value", [0.0, 3.0, 1e8])
    def test_a_constant_column_is_harmless(self, value):
        padded = np.column_stack([X, np.full(40, value)])
        plain, model = KernelPCA(3).fit(X), KernelPCA(3).fit(padded)
        assert_allclose(model.eigenvalues_, plain.eigenvalues_, rtol=1e-9)


class TestScale:
    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
    @pytest.mark.parametrize("kernel", [Gaussian(), Gaussian("scale"), Cauchy(), Laplacian()])
    def test_radial_kernels(self, scale, kernel, solver):
        wanted = KernelPCA(3, kernel=kernel, solver="dense").fit(X)
        model = KernelPCA(3, kernel=kernel, solver=solver, random_state=0).fit(X * scale)
        assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-8)
        assert_allclose(model.transform(X * scale), wanted.transform(X), atol=1e-6)

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_float32_at_1e20(self, solver):
        rows = (X * 1e20).astype(np.float32)
        wanted = KernelPCA(3).fit(rows.astype(np.float64) / 1e20)
        model = KernelPCA(3, solver=solver, random_state=0).fit(rows)
        assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-4)
        assert np.isfinite(model.transform(rows)).all()

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_an_offset_of_1e8(self, solver):
        wanted = KernelPCA(3, solver="dense").fit(X + 1e8 - 1e8)
        model = KernelPCA(3, solver=solver, random_state=0).fit(X + 1e8)
        rtol = 1e-5 if solver == "davidson" else 1e-8
        assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=rtol)

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_polynomials_overflow(self, solver):
        model = KernelPCA(2, kernel=Polynomial(3), solver=solver)
        refused(KernelError, r"magnitude of \d\.\d+e\+120", X * 1e120, model)

    def test_polynomials_overflow_at_transform(self):
        model = KernelPCA(2, kernel=Polynomial(3)).fit(X)
        refused(KernelError, "magnitude", X * 1e300, model, "transform")

    @pytest.mark.parametrize("kernel", [Gaussian(), Cauchy(), Laplacian()])
    def test_queries_far_away_are_finite(self, kernel):
        model = KernelPCA(2, kernel=kernel).fit(X)
        for scale in (1e10, 1e200, 1e300):
            assert np.isfinite(model.transform(X * scale)).all()
            assert np.isfinite(model.reconstruction_error(X * scale)).all()


def projector(model, rows):
    Z = model.transform(rows)
    Q, _ = np.linalg.qr(Z)
    return Q @ Q.T


class TestRepeatedEigenvalues:
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


class TestConvergence:
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
