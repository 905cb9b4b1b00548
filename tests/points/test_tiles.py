"""The tile engine against the whole matrix: every verb, both types, tiles of any size."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer._base.machine import blocks, lapack_threads, n_threads
from mercer.kernels import Basis, Gaussian, Laplacian, Polynomial
from mercer.points.tiles import Tiles

KERNELS = [Gaussian(sigma=1.5), Laplacian(gamma=0.4), 0.7 * Gaussian(sigma=2) + Polynomial(3)]


def tiles_and_matrix(kernel, dtype, edge, rng):
    A = (rng.standard_normal((23, 4)) + 2).astype(dtype)
    B = (rng.standard_normal((17, 4)) + 2).astype(dtype)
    basis = Basis(kernel, B)
    return Tiles(
        kernel.fill, basis.pack(kernel.points(A)), basis.packed, np.dtype(dtype), edge
    ), kernel.exact(A, B)


@pytest.mark.parametrize("edge", [1, 5, 17, 512])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
class TestTiles:
    def tol(self, dtype):
        return {"rtol": 2e-5, "atol": 1e-4} if dtype == np.float32 else {"rtol": 1e-11}

    def test_gram_and_matmat(self, kernel, dtype, edge, rng):
        tiles, K = tiles_and_matrix(kernel, dtype, edge, rng)
        W = rng.standard_normal((17, 3))
        assert_allclose(tiles.gram(), K, **self.tol(dtype))
        assert_allclose(
            tiles.matmat(W), K @ W, rtol=1e-4, atol=1e-2 if dtype == np.float32 else 1e-9
        )

    def test_rows_come_from_left_to_right_and_once(self, kernel, dtype, edge, rng):
        tiles, K = tiles_and_matrix(kernel, dtype, edge, rng)

        def joined(rows, parts):
            return rows, np.hstack([tile.copy() for _, tile in parts])

        for rows, block in tiles.map_rows(joined):
            assert_allclose(block, K[rows], **self.tol(dtype))

    def test_symmetric(self, kernel, dtype, edge, rng):
        X = (rng.standard_normal((23, 4)) + 2).astype(dtype)
        packed, K = Basis(kernel, X).packed, kernel.exact(X, X)
        tiles = Tiles(kernel.fill, packed, packed, np.dtype(dtype), edge)
        V = rng.standard_normal((23, 2))
        product = tiles.symmetric_matmat(V, np.diagonal(K).copy())
        assert_allclose(product, K @ V, rtol=1e-4, atol=1e-2 if dtype == np.float32 else 1e-8)
        lower = np.zeros((23, 23), dtype=dtype)
        tiles.lower(lower, height=7)
        assert_allclose(np.tril(lower), np.tril(K), **self.tol(dtype))


def test_rows_are_packed_as_they_are_needed(rng):
    """No copy of all rows: the largest block ever packed is a tile high."""
    seen = []

    class Counting(Gaussian):
        def pack(self, X, origin=None, dtype=None):
            seen.append(len(X))
            return super().pack(X, origin, dtype)

    X = rng.standard_normal((3000, 2))
    Basis(Counting(sigma=1.0), X[:10]).matmat(X, np.ones((10, 1)))
    assert max(seen) <= 512
    assert sum(seen) == 3010


def test_our_limit_on_blas_leaves_the_tiles_their_threads():
    before = n_threads()
    with lapack_threads(50):
        assert n_threads() == before
        with lapack_threads(50):
            assert n_threads() == before
    assert n_threads() == before


def test_workers_are_sent_their_own_rows_and_make_the_same_tiles(rng):
    """Every strip took all rows with it: the more rows, the more often each of them travelled."""
    kernel, X = Gaussian(sigma=4.0), rng.standard_normal((400, 30)).astype(np.float32)
    basis = Basis(kernel, X)
    landmarks = basis.pack(kernel.points(X[:100]))
    basis.at(X[:5])  # rows turned for the right of a product stay at home
    parts = [basis.packed[rows] for rows in [*blocks(300, 70), slice(300, 400)]] + [landmarks]
    sent = [pickle.dumps(part) for part in parts]
    assert sum(map(len, sent)) < 1.2 * (400 + 100) * 32 * 4
    for left, left_sent in zip(parts, map(pickle.loads, sent), strict=True):
        for right, right_sent in zip(parts, map(pickle.loads, sent), strict=True):
            here, there = (np.empty((len(left), len(right)), np.float32) for _ in range(2))
            kernel.fill(left, right, here)
            kernel.fill(left_sent, right_sent, there)
            assert_array_equal(there, here)
