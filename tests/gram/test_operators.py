"""Every Gram operator is its matrix, whatever the blocks and threads."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from threadpoolctl import threadpool_limits

from mercer.gram import (
    CenteredGram,
    DenseGram,
    MatrixOperator,
    StreamedGram,
    WeightedGram,
)
from mercer.kernels import (
    Basis,
    FunctionKernel,
    Gaussian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
)
from mercer.testing import check_block_sizes, check_memory, check_operator
from tests import naive

KERNEL = Gaussian(gamma=0.4)


def rows(n, dtype=np.float64):
    return np.random.default_rng(n).standard_normal((n, 3)).astype(dtype)


def centred(K, u):
    Ku = K @ u
    return K - np.outer(u, Ku) - np.outer(Ku, u) + np.outer(u, u) * (u @ Ku)


def operator_and_matrix(name, n, dtype):
    """An operator, and the matrix that it stands for, computed plainly in float64."""
    X = rows(n, dtype)
    K = KERNEL(X.astype(np.float64))
    weighted, place, storage = name.split()
    root = np.ones(n)
    if storage == "kept":
        operator = DenseGram.from_rows(KERNEL, X, np.dtype(dtype))
    elif storage == "streamed":
        operator = StreamedGram.from_rows(KERNEL, X, dtype)
    else:
        operator = MatrixOperator(K.astype(dtype))
    if weighted == "weighted":
        root = np.sqrt(np.random.default_rng(1).uniform(0.5, 2, n))
        operator, K = WeightedGram(operator, root.astype(dtype)), root[:, None] * K * root
    if place == "centred":
        u = root / np.linalg.norm(root)
        operator, K = CenteredGram(operator, u.astype(dtype)), centred(K, u)
    return operator, K


NAMES = [
    f"{weighted} {place} {storage}"
    for weighted in ("plain", "weighted")
    for place in ("centred", "uncentred")
    for storage in ("kept", "streamed", "given")
]


@pytest.mark.parametrize("n", [2, 7, 600])  # 600 is more than one tile
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_contract(name, n, dtype):
    operator, dense = operator_and_matrix(name, n, dtype)
    assert operator.dtype == dtype
    # Centring subtracts numbers as large as the entries of K before it.
    check_operator(operator, dense, tol=64 * np.sqrt(n) * np.finfo(dtype).eps)


def test_centring_before_any_product_and_after():
    """K u rides along with the first product: diagonal and trace do not depend on the order."""
    n = 40
    X, u = rows(n), np.full(n, 1 / np.sqrt(n))
    fresh, used = (CenteredGram(StreamedGram.from_rows(KERNEL, X), u) for _ in range(2))
    used.matmat(np.ones((n, 2)))
    assert_allclose(fresh.diagonal(), used.diagonal(), atol=1e-14)
    assert_allclose(fresh.trace(), used.trace())
    assert_allclose(fresh.matmat(np.ones((n, 1))), 0, atol=1e-12)


def test_blocks_of_any_size():
    X = rows(70)
    check_block_sizes(lambda b: StreamedGram.from_rows(KERNEL, X, block=b), KERNEL(X))


def test_streamed_memory_is_linear_in_rows():
    """An n × n array in float64 would be 128 MB here; tiles and packed rows are below 25."""
    X = rows(4000)
    check_memory(lambda: StreamedGram.from_rows(KERNEL, X), limit=25_000_000)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the kernel's counts")
def test_dense_memory_is_half_a_matrix():
    """Measured by the system, in a process of its own: tracemalloc does not see the mapping."""
    code = """
import re
import numpy as np
from mercer.gram import DenseGram
from mercer.kernels import Gaussian
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024
X = np.random.default_rng(0).standard_normal((4000, 3))
DenseGram.from_rows(Gaussian(sigma=2.0), X[:300], X.dtype).matmat(X[:300])
before = peak()
DenseGram.from_rows(Gaussian(sigma=2.0), X, X.dtype).matmat(X)
print((peak() - before) / (4000**2 * 8))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 0.45 < float(done.stdout) < 0.65


def test_mixed_precision_tiles():
    X = rows(600)
    operator = StreamedGram.from_rows(KERNEL, X, np.float64, np.float32)
    assert operator.dtype == np.float64
    assert operator.precision == np.float32
    check_operator(operator, KERNEL(X), tol=1e-6)


@pytest.mark.parametrize("kernel", [KERNEL, Polynomial(3), Linear() + KERNEL], ids=repr)
def test_streamed_is_dense_is_threaded(kernel):
    X, V = rows(1300), np.random.default_rng(0).standard_normal((1300, 4))
    dense = DenseGram.from_rows(kernel, X, np.dtype(float))
    streamed = StreamedGram.from_rows(kernel, X)
    size = np.abs(dense.diagonal()).max() * np.sqrt(1300)
    wanted = dense.matmat(V)
    assert_allclose(streamed.matmat(V), wanted, atol=1e-12 * size)
    with threadpool_limits(1, user_api="blas"):
        assert_allclose(streamed.matmat(V), wanted, atol=1e-12 * size)
        one = DenseGram.from_rows(kernel, X, np.dtype(float))
        assert_allclose(one.matmat(V), wanted, atol=1e-12 * size)


def test_the_same_call_twice_gives_the_same_bits():
    X, V = rows(1300), np.random.default_rng(0).standard_normal((1300, 4))
    for operator in (
        DenseGram.from_rows(KERNEL, X, np.dtype(float)),
        StreamedGram.from_rows(KERNEL, X),
    ):
        assert np.array_equal(operator.matmat(V), operator.matmat(V))


def test_precomputed_and_objects_stream_too():
    X = rows(30)
    K = KERNEL(X)
    check_operator(StreamedGram.from_rows(Precomputed(), K, block=7), K)
    words = ["".join(w) for w in np.random.default_rng(0).choice(list("abcde"), (20, 4))]
    shared = FunctionKernel(lambda a, b: float(len(set(a) & set(b))))
    wanted = naive.gram(shared.function, words, words)
    check_operator(StreamedGram.from_rows(shared, words), wanted)
    check_operator(DenseGram.from_rows(shared, words, np.dtype(float)), wanted)


@pytest.mark.parametrize(("n", "m"), [(1, 5), (700, 3), (3, 700), (600, 1100)])
def test_products_between_two_sets_of_rows(n, m):
    X, S = rows(n), rows(m) + 0.1
    W = np.random.default_rng(0).standard_normal((m, 2))
    product = Basis(KERNEL, S).matmat(X, W)
    assert_allclose(product, KERNEL(X, S) @ W, atol=1e-11)


@pytest.mark.parametrize(
    ("kernel", "dtype", "limit"),
    [
        (Matern(0.05, nu=0.5), np.float64, 1e-12),
        (Matern(0.05, nu=0.5), np.float32, 1e-4),
        (Matern(0.05), np.float32, 1e-4),
        (Gaussian(sigma=0.05), np.float32, 1e-4),
    ],
    ids=repr,
)
def test_close_pairs_of_rows_that_are_spread_wide(rng, kernel, dtype, limit):
    X = rng.standard_normal((60, 2))
    X = np.vstack([X, X + 1e-3 * rng.standard_normal(X.shape)]).astype(dtype)
    K = StreamedGram.from_rows(kernel, X, dtype).to_dense()
    assert np.abs(K - kernel.exact(X, X)).max() < limit
