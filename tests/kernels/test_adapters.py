"""Matrices and functions as kernels: what is wrong with one is named."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.exceptions import (
    DataError,
    KernelError,
)
from mercer.kernels import FunctionKernel, Gaussian
from tests.refusals import refused

X = np.random.default_rng(0).standard_normal((40, 3))
SOLVERS = ["dense", "lanczos", "davidson"]


class TestPrecomputed:
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


class TestFunctions:
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

    def test_a_bare_function_is_wrapped(self):
        model = KernelPCA(2, kernel=lambda a, b: float(a @ b) ** 2).fit(X)
        assert isinstance(model.subspace_.kernel, FunctionKernel)
