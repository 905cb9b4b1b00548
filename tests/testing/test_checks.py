"""Each contract check refuses an implementation that breaks just that promise."""

from dataclasses import replace

import numpy as np
import pytest

from mercer.gram import MatrixOperator, StreamedGram
from mercer.kernels import Gaussian, Kernel, Linear
from mercer.preimage import FixedPoint, PreImages, PreImageSolver
from mercer.solvers import Dense, Lanczos
from mercer.testing import (
    check_block_sizes,
    check_eigensolver,
    check_kernel,
    check_memory,
    check_operator,
    check_preimage,
)
from mercer.testing.operators import assert_close


class Broken(Kernel):
    """A Gaussian kernel with one method replaced."""

    def __init__(self, fault=None):
        self.fault = fault
        self.inner = Gaussian(gamma=1.0)

    def pack(self, X, origin=None, dtype=None):
        return self.inner.pack(X, origin, dtype)

    def fill(self, A, B, out):
        self.inner.fill(A, B, out)
        if self.fault == "symmetry":
            out += np.arange(out.shape[1])
        if self.fault == "definiteness":
            out -= 0.9
        if self.fault == "slices" and len(A) < 12:
            out *= 1.01

    def diag(self, X):
        d = self.inner.diag(X) - (0.9 if self.fault == "definiteness" else 0)
        d = d.astype(np.float64) if self.fault == "float32" else d
        return d * (2 if self.fault == "diag" else 1)

    def gradient(self, Z, S, G):
        return self.inner.gradient(Z, S, G) * (-1 if self.fault == "gradient" else 1)

    def diag_gradient(self, Z):
        return self.inner.diag_gradient(Z)

    def resolve(self, X, weight=None):
        if self.fault == "resolve":
            self.fault = "resolve again"
        return self

    def get_params(self, deep=True):
        return {"fault": self.fault}


def test_a_sound_kernel_passes():
    check_kernel(Broken())


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("symmetry", "k\\(y, x\\)"),
        ("definiteness", "eigenvalue"),
        ("slices", "tile"),
        ("diag", "diag"),
        ("float32", "float64"),
        ("gradient", "gradient"),
        ("resolve", "kernel after resolve"),
    ],
)
def test_broken_kernels(fault, words):
    with pytest.raises(AssertionError, match=words):
        check_kernel(Broken(fault))


class Computes(Broken):
    def __init__(self, fault=1.0):
        super().__init__(fault * 2)


class Forgets(Broken):
    def __init__(self, fault=None, extra=0):
        super().__init__(fault)
        self.extra = 0

    def get_params(self, deep=True):
        return {"fault": self.fault, "extra": id(self)}


def test_constructors_that_do_more_than_keep_their_arguments():
    with pytest.raises(AssertionError, match="cannot be cloned"):
        check_kernel(Computes())
    with pytest.raises(AssertionError, match=r"cloned|makes"):
        check_kernel(Forgets())


class BrokenOperator(MatrixOperator):
    fault = None

    def matmat(self, V):
        Y = super().matmat(V)
        if self.fault == "product":
            Y = Y * 1.001
        if self.fault == "dtype":
            Y = Y.astype(np.float32)
        if self.fault == "overwrites":
            V[0] = 0
        return Y

    def diagonal(self):
        return super().diagonal() + (1e-3 if self.fault == "diagonal" else 0)

    def trace(self):
        return super().trace() + (1e-3 if self.fault == "trace" else 0)

    def to_dense(self):
        return self.matrix if self.fault == "copy" else super().to_dense()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("product", "product with 1"),
        ("dtype", "float32"),
        ("overwrites", "changed the vectors"),
        ("diagonal", "diagonal"),
        ("trace", "trace"),
        ("copy", "overwritten"),
    ],
)
def test_broken_operators(fault, words, rng):
    K = Gaussian(gamma=1.0)(rng.standard_normal((20, 2)))
    operator = BrokenOperator(K)
    check_operator(operator, K.copy())
    object.__setattr__(operator, "fault", fault)
    with pytest.raises(AssertionError, match=words):
        check_operator(operator, K.copy())


def test_an_asymmetric_operator(rng):
    K = rng.standard_normal((20, 20))
    with pytest.raises(AssertionError, match="yᵀAx"):
        check_operator(MatrixOperator(K), K)


def test_a_matrix_kept_in_memory_is_noticed(rng):
    X = rng.standard_normal((800, 2))
    limit = 800 * 800 * 4
    check_memory(lambda: StreamedGram.from_rows(Linear(), X, block=64), limit)
    with pytest.raises(AssertionError, match="bytes"):
        check_memory(lambda: MatrixOperator(X @ X.T), limit)


def test_a_wrong_block_size_is_named(rng):
    K = Linear()(rng.standard_normal((20, 2)))
    with pytest.raises(AssertionError, match="blocks of 7"):
        check_block_sizes(lambda b: MatrixOperator(K * (2 if b == 7 else 1)), K)


class BrokenSolver(Dense):
    def __init__(self, fault=None):
        self.fault = fault

    def solve(self, operator, k, rng):
        if self.fault == "misses a copy":
            found = super().solve(operator, k + 1, rng)
            keep = np.arange(k + 1) != 1
            return replace(
                found,
                values=found.values[keep],
                vectors=found.vectors[:, keep],
                residuals=found.residuals[keep],
                errors=found.errors[keep],
            )
        found = super().solve(operator, k, rng)
        V, lam = found.vectors, found.values
        faults = {
            "order": {"values": lam[::-1], "vectors": V[:, ::-1]},
            "length": {"vectors": 1.001 * V, "residuals": np.full(k, np.inf)},
            "residuals": {"values": lam * 1.001},
            "shape": {"values": lam[:-1]},
            "unconverged": {"converged": False},
            "inexact": {"values": lam * (1 + 1e-9), "residuals": np.abs(lam)},
        }
        return replace(found, **faults[self.fault])


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("order", "decrease"),
        ("length", "finite|VᵀV"),
        ("residuals", "reports"),
        ("shape", "shape"),
        ("unconverged", "converge"),
        ("inexact", "expected"),
        ("misses a copy", "expected"),
    ],
)
def test_broken_solvers(fault, words):
    with pytest.raises(AssertionError, match=words):
        check_eigensolver(BrokenSolver(fault))


def test_loose_solvers_must_be_declared():
    loose = Lanczos(tol=1e-2)
    with pytest.raises(AssertionError, match="on the"):
        check_eigensolver(loose)


class BrokenPreImage(PreImageSolver):
    def __init__(self, fault=None):
        self.fault = fault

    def init(self, subspace):
        self.inner = FixedPoint().init(subspace)
        return self

    def solve(self, Z, start=None):
        if self.fault == "always converged" and start is not None:
            direct = PreImages.direct(start)
            step = self.inner.solve(Z, start).points
            return replace(direct, points=start + 0.2 * (step - start))
        found = self.inner.solve(Z, start)
        points = np.array(found.points)
        if self.fault == "nan":
            points[0] = np.nan
        if self.fault == "shape":
            points = points[:, :1]
        if self.fault == "batch":
            points = points + len(Z)
        return replace(found, points=points)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("nan", "not finite"),
        ("shape", "shape"),
        ("batch", "together"),
        ("always converged", "calls query"),
    ],
)
def test_broken_preimages(fault, words):
    with pytest.raises(AssertionError, match=words):
        check_preimage(BrokenPreImage(fault))


@pytest.mark.parametrize("found", [np.nan, 1.1, np.array([1.0, 2.0])])
def test_assert_close(found):
    with pytest.raises(AssertionError, match="what"):
        assert_close("what", found, 1.0, 1e-3)
