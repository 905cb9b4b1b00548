"""The page computes kernels by the formulas that Python traces: the same numbers from both."""

import json
import shutil
import subprocess
from importlib.resources import files

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer._base import catalogue
from mercer.exceptions import KernelError
from mercer.kernels import (
    Cauchy,
    Cosine,
    DotProductKernel,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Matern,
    Normalized,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
    as_kernel,
)
from mercer.live.protocol import KERNELS, kernel_spec, page_kernels

MORE = [
    Matern(0.8, nu=0.5),
    Matern(0.8, nu=2.5),
    RationalQuadratic(0.8, alpha=1e6),
    Polynomial(1, gamma=0.7),
    Polynomial(20, gamma=0.3),
    Sigmoid(0.4, coef0=0.1),
    0.7 * Gaussian(width=1.0) + Polynomial(2),
    Laplacian(0.7) * Cosine() * 2,
    Normalized(Gaussian(width=0.6)),
    Normalized(Polynomial(2) + 0.5 * Matern(0.8)),
]
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="no node to run the page's code")
CODE = """
import { makeKernel } from "%s/kernels.js";
const { specs, S, x, g } = %s;
const P = { data: Float64Array.from(S.flat()), m: S.length, d: x.length };
const X = Float64Array.from(x);
const zeros = (n) => new Float64Array(n);
console.log(JSON.stringify(specs.map((spec) => {
  const k = makeKernel(spec);
  const gradients = [
    k.gradient(X, P, Float64Array.from(g), zeros(P.d)), k.diagGradient(X, zeros(P.d)),
  ];
  return [[...k.row(X, P, zeros(P.m))], k.diag(X), ...gradients.map((one) => [...one])];
})));
"""


def in_javascript(specs, x, S, g):
    static = files("mercer.live").joinpath("static")
    given = {"specs": specs, "x": x.tolist(), "S": S.tolist(), "g": g.tolist()}
    done = subprocess.run(
        ["node", "--input-type=module", "-e", CODE % (static, json.dumps(given))],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def assert_computed(kernels, rng):
    S, x, g = rng.uniform(0.05, 1, (6, 4)), rng.uniform(0.05, 1, 4), rng.standard_normal(6)
    S[0, 0] = x[0] = 0  # a corner of chi2
    found = in_javascript([kernel_spec(kernel) for kernel in kernels], x, S, g)
    for kernel, (row, diag, gradient, own) in zip(kernels, found, strict=True):
        X = x[None]
        assert_allclose(row, kernel(X, S)[0], rtol=1e-13, err_msg=repr(kernel))
        assert_allclose(diag, kernel.diag(X)[0], rtol=1e-13, err_msg=repr(kernel))
        wanted = kernel.gradient(X, S, g[None])[0]
        assert_allclose(gradient, wanted, atol=1e-12 * np.abs(wanted).max(), err_msg=repr(kernel))
        wanted = kernel.diag_gradient(X)[0]
        assert_allclose(own, wanted, rtol=1e-12, atol=1e-13, err_msg=repr(kernel))


@NODE
def test_every_kernel_of_the_catalogue(rng):
    named = [as_kernel(name) for name in catalogue.KERNELS]
    some = rng.uniform(0.05, 1, (30, 4))
    assert_computed([k.resolve(some) for k in named if k.takes_vectors] + MORE, rng)


@NODE
def test_a_kernel_of_ones_own_with_a_formula(rng):
    class Sech(Cauchy):
        def profile(self, t):
            t[...] = self.formula(t, np)[0]
            return t

        def slope(self, t):
            t[...] = self.formula(t, np)[1]
            return t

        def formula(self, t, xp):
            k = 2 / (xp.exp(-t) + xp.exp(t))
            return k, k * k * (xp.exp(-t) - xp.exp(t)) / 2

    class Logistic(DotProductKernel):
        def profile(self, p):
            p[...] = self.formula(p, np)[0]
            return p

        def slope(self, p):
            p[...] = self.formula(p, np)[1]
            return p

        def formula(self, p, xp):
            k = 1 / (1 + xp.exp(-p))
            return k, k * (1 - k)

        def invert(self, k):
            return np.log(k / (1 - k))

    assert_computed([Sech(0.7), Logistic()], rng)


def test_a_kernel_without_a_formula_is_refused():
    class Blunt(Cauchy):
        def profile(self, t):
            return super().profile(t) ** 2

    for kernel in (Blunt(1.0), Precomputed(), FunctionKernel(len)):
        with pytest.raises(KernelError, match=r"formula\(t, xp\)"):
            kernel_spec(kernel)


def test_the_page_offers_every_kernel_of_vectors():
    offered = page_kernels()
    assert set(offered) == set(KERNELS) == set(catalogue.KERNELS) - {"precomputed"}
    assert all(abs(spec["scale"]) == 1 for spec in offered.values())  # to be turned there
    assert KERNELS["gaussian"][1] == {"length": "width"}
    assert KERNELS["rational_quadratic"][1] == {"length": "length_scale", "alpha": "alpha"}
