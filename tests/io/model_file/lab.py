"""Somebody's package: kernels, a rule, a pre-image and a density that mercer does not know."""

from dataclasses import dataclass

import numpy as np

from mercer.generative.densities import Density, FittedDensity
from mercer.kernels import Kernel, RadialKernel
from mercer.landmarks import LandmarkRule
from mercer.model import ComponentRule
from mercer.preimage import Nearest, PreImageSolver
from mercer.solvers import Dense, Solver


class Wave(RadialKernel):
    """cos(r²/ℓ²) exp(−r²/ℓ²)."""

    def __init__(self, length_scale=2.0):
        self.length_scale = length_scale

    @property
    def length(self):
        return float(self.length_scale)

    def profile(self, t):
        t[:] = np.exp(t) * np.cos(t)
        return t

    def slope(self, t):
        t[:] = np.exp(t) * (np.cos(t) - np.sin(t))
        return t

    def invert(self, k):
        raise NotImplementedError


class Weighted(Kernel):
    """Σ_j w_j x_j y_j with an array of weights."""

    def __init__(self, weights):
        self.weights = weights

    def pack(self, X, origin=None, dtype=None):
        X = np.asarray(X, dtype=dtype)
        return np.ascontiguousarray(X * np.sqrt(self.weights).astype(X.dtype))

    def fill(self, A, B, out):
        np.matmul(A, B.T, out=out)

    def diag(self, X):
        return (X * X) @ self.weights.astype(X.dtype)

    def gradient(self, Z, S, G):
        return (G @ S) * self.weights

    def diag_gradient(self, Z):
        return 2 * Z * self.weights


class Odd(ComponentRule):
    """An odd number of components."""

    def __init__(self, most=3):
        self.most = most

    def describe(self):
        return "an odd number"

    def guess(self, n):
        return min(self.most, n)

    def count(self, values, trace):
        return len(values) - (len(values) + 1) % 2


class First(LandmarkRule):
    """The first rows."""

    def select(self, kernel, X, m, rng):
        return X[:m]


class Patient(Solver):
    """LAPACK, after a while."""

    def __init__(self, pause=0.0):
        self.pause = pause

    def fit(self, problem):
        return Dense().fit(problem)

    def estimate_bytes(self, problem, k):
        return Dense().estimate_bytes(problem, k)


class Closest(PreImageSolver):
    """The nearest support point."""

    def init(self, subspace):
        return Nearest().init(subspace)


class Boxed(Density):
    """Uniform in the box of the scores."""

    def fit(self, Z, rng):
        return FittedBox(Z.min(axis=0), Z.max(axis=0))


@dataclass(frozen=True)
class FittedBox(FittedDensity):
    """Uniform between two corners."""

    low: np.ndarray
    high: np.ndarray

    def sample(self, n, rng):
        return rng.uniform(self.low, self.high, (n, len(self.low)))


ALL = (Wave, Weighted, Odd, First, Patient, Closest, Boxed, FittedBox)
