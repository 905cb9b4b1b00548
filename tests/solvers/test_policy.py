"""What a fit says of a kernel that is degenerate or not positive definite."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.exceptions import (
    DegenerateKernelWarning,
    IndefiniteKernelWarning,
    KernelError,
)
from mercer.kernels import (
    Gaussian,
    Sigmoid,
)
from mercer.solvers import Davidson, Dense, Lanczos
from tests.refusals import refused

X = np.random.default_rng(0).standard_normal((40, 3))
SOLVERS = ["dense", "lanczos", "davidson"]

#: The same with float64 tiles throughout, for what float32 cannot see.
FINE = [Dense(), Lanczos(), Davidson(tol=1e-9)]


class TestUselessWidths:
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


class TestIndefinite:
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
