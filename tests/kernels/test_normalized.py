"""Kernels of directions, in all that is made of kernels."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from mercer import KernelNovelty, KernelPCA
from mercer.exceptions import KernelError
from mercer.kernels import (
    Cosine,
    FunctionKernel,
    Gaussian,
    Linear,
    Matern,
    Normalized,
    Precomputed,
    Sum,
)
from mercer.points.sparse import SparseRows


@pytest.fixture
def rows(rng):
    """Directions in three groups, of very different lengths; one row has none."""
    X = np.eye(3, 6)[rng.integers(3, size=120)] + 0.2 * rng.standard_normal((120, 6))
    X *= np.exp(2 * rng.standard_normal((120, 1)))
    X[7] = 0
    return X


def unit(X):
    norm = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norm == 0, 1, norm)


@pytest.mark.parametrize("solver", ["dense", "lanczos", "davidson", "landmarks"])
def test_every_solver_sees_the_directions_only(solver, rows):
    kernel = Gaussian(width=0.8)
    plain = KernelPCA(4, kernel=kernel, solver=solver, random_state=0).fit(unit(rows))
    found = KernelPCA(4, kernel=Normalized(kernel), solver=solver, random_state=0).fit(rows)
    # Centres of landmarks differ, because they are means of rows of different lengths.
    tol = 0.05 if solver == "landmarks" else 1e-6
    assert_allclose(found.eigenvalues_, plain.eigenvalues_, rtol=tol)
    assert_allclose(found.transform(rows * 3), found.transform(rows), atol=1e-9)
    if solver != "landmarks":
        assert_allclose(found.transform(rows), plain.transform(unit(rows)), atol=1e-6)


def test_widths_by_a_rule_are_those_of_the_directions(rows):
    found = Normalized(Gaussian()).resolve(rows).kernel
    assert found.gamma == pytest.approx(Gaussian().resolve(unit(rows)).gamma)


def test_a_row_of_zeros_is_the_zero_vector(rows):
    kernel, zero = Normalized(Gaussian(gamma=1.0)), np.zeros((1, 6))
    filled = np.linalg.norm(rows, axis=1) > 0
    assert_allclose(kernel(zero, rows)[0], np.where(filled, np.exp(-1), 1))
    assert_allclose(kernel.diag(zero), 1)
    assert not kernel.gradient(zero, rows, np.ones((1, 120))).any()
    P, Q = kernel.slopes(zero, rows)
    assert not P.any()
    assert not Q.any()


def test_huge_and_tiny_rows(rows):
    kernel = Normalized(Gaussian(width=0.8))
    for scale in (1e-200, 1e200):
        assert_allclose(kernel(rows * scale, rows), kernel(rows, rows), atol=1e-12)


def test_sparse_rows(rows):
    X = np.where(np.abs(rows) < 0.1, 0, rows)
    dense, sparse = (
        KernelPCA(3, kernel=Normalized(Matern(0.8)), solver="dense").fit(part)
        for part in (X, csr_array(X))
    )
    assert_allclose(sparse.transform(csr_array(X)), dense.transform(X), atol=1e-10)


def test_pre_images_have_the_direction(rows):
    X = rows[np.linalg.norm(rows, axis=1) > 0]
    model = KernelPCA(20, kernel=Normalized(Gaussian(width=0.8))).fit(X)
    back = model.denoise(X[:20])
    assert ((unit(back) * unit(X[:20])).sum(axis=1) > 0.9).all()


def test_novelty_by_the_angle(rows):
    model = KernelNovelty(kernel=Normalized(Gaussian(width=0.8)), random_state=0).fit(rows)
    new = np.r_[100 * np.ones((1, 6)), 100 * np.eye(3, 6)]
    assert list(model.predict(new)) == [-1, 1, 1, 1]


@pytest.mark.parametrize("inner", [Precomputed(), FunctionKernel(len), 3])
def test_what_has_no_direction_is_refused(inner):
    with pytest.raises(KernelError, match="vectors|not a kernel"):
        Normalized(inner).resolve(np.eye(3))
    assert Normalized(Linear()).resolve(np.eye(3))


@pytest.mark.parametrize("kernel", [Normalized("gaussian"), Sum(Linear(), "gaussian")])
def test_a_name_inside_is_refused_by_the_door(rows, kernel):
    with pytest.raises(KernelError, match="'gaussian' is not a kernel"):
        KernelPCA(2, kernel=kernel).fit(rows)


@pytest.mark.parametrize(
    "kernel", [Normalized(Gaussian(gamma=1.0)), Normalized(Linear()), Cosine()]
)
def test_the_diagonal_of_sparse_rows_has_their_precision(kernel, rows):
    sparse = SparseRows.of(csr_array(rows.astype(np.float32)))
    assert kernel.diag(sparse).dtype == np.float32


def test_a_large_factor_multiplies_gradients_and_not_weights(rows):
    Z, S = rows[:20].astype(np.float32), rows.astype(np.float32)
    G = np.ones((len(Z), len(S)), dtype=np.float32)
    inner = Gaussian(gamma=1.0)
    scaled = 1e80 * inner  # whose weights would be infinite in float32
    expected = inner.gradient(Z, S, G)
    assert_allclose(scaled.gradient(Z, S, G), 1e80 * expected.astype(np.float64))
