"""Points: what rows are to a kernel, asked in one place."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer.exceptions import KernelError
from mercer.kernels import FunctionKernel, Gaussian, Precomputed
from mercer.points import Columns, Objects, Vectors
from mercer.points.source import MemoryRows
from mercer.points.sparse import SparseRows


def test_a_kernel_says_what_its_rows_are():
    X = np.eye(3)
    overlap = FunctionKernel(lambda a, b: len(set(a) & set(b)))
    assert isinstance(Gaussian().points(X), Vectors)
    assert isinstance((Gaussian() + overlap).points(X), Vectors)  # both parts must take objects
    assert isinstance((2 * overlap).points(["ab", "bc"]), Objects)
    assert isinstance(Precomputed().points(X), Columns)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors(dtype):
    X = np.arange(12, dtype=dtype).reshape(6, 2)
    points = Vectors(X)
    assert (len(points), points.width, points.dtype) == (6, 2, dtype)
    np.testing.assert_array_equal(points.take(np.array([4, 1])).rows, X[[4, 1]])
    assert points.cast(np.float64).rows.dtype == np.float64
    assert points.vectors("anything") is X
    assert points.support is X


def test_objects_are_taken_from_a_list_and_have_no_coordinates():
    points = Objects(["a", "b", "c"])
    assert points.take(np.array([2, 0])).rows == ["c", "a"]
    assert points.cast(np.float32) is points
    assert points.is_open
    points.require_open("novelty")
    with pytest.raises(KernelError, match="a pre-image needs points with coordinates.*nearest"):
        points.vectors("a pre-image")


def test_columns_of_a_matrix_are_cut_on_both_sides_and_kept_by_number():
    K = np.arange(9.0).reshape(3, 3)
    points = Columns(K)
    np.testing.assert_array_equal(points.subset(np.array([0, 2])).rows, [[0, 2], [6, 8]])
    np.testing.assert_array_equal(points.support, [0, 1, 2])
    np.testing.assert_array_equal(points.chosen(np.array([2])).rows, [2])
    with pytest.raises(KernelError, match="compress needs k.x, y. of new points.*precomputed"):
        points.require_open("compress")


def test_points_are_what_they_are_to_every_kernel():
    X = np.eye(3)
    for points in (Vectors(X), SparseRows.of(X), MemoryRows(X)):
        assert Gaussian().points(points) is points
    assert Precomputed().points(Columns(X)).rows is X
    assert (SparseRows.of(X).is_sparse, MemoryRows(X).is_here) == (True, False)
    assert isinstance(MemoryRows(X).loaded(), Vectors)


def test_points_take_the_form_of_others_and_are_joined_in_it():
    X, Y = np.diag([1.0, 2.0, 3.0]), np.ones((2, 3))
    both = np.vstack([X, Y])
    dense, sparse = Vectors(X), SparseRows.of(X)
    for points, others in ((dense, SparseRows.of(Y)), (sparse, Vectors(Y)), (dense, Vectors(Y))):
        assert points.adopt(others).is_sparse == points.is_sparse
        np.testing.assert_array_equal(points.joined(others).to_dense(), both)
        np.testing.assert_array_equal(points.squared_differences(dense), np.zeros(3))
    assert dense.adopt(Vectors(Y)).rows is Y  # nothing is copied
    assert np.may_share_memory(dense.take(slice(1, 3)).rows, X)
    assert Objects(["a"]).joined(Objects(["b", "c"])).rows == ["a", "b", "c"]


def test_sparse_points_answer_as_dense_ones():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((12, 5)) < 0.4, rng.standard_normal((12, 5)), 0)
    X[3] = 0
    D, S = Vectors(X), SparseRows.of(X)
    for question in (
        lambda P: P.square_sums(),
        lambda P: P.is_filled(),
        lambda P: P.largest,
        lambda P: P.unit().to_dense(),
        lambda P: P.exact_products(P.take(slice(4))),
        lambda P: P.exact_squares(P.take(slice(4)), 0.7),
        lambda P: P.to_unit(0.5)[0].pair_squares(),
    ):
        np.testing.assert_allclose(np.float64(question(S)), np.float64(question(D)), atol=1e-14)


@pytest.mark.parametrize("points", [Objects(["a", "b"]), Columns(np.eye(2))])
def test_only_vectors_have_columns_to_permute(points, rng):
    """Kernel values in another order are no kernel matrix, and strings have no columns."""
    with pytest.raises(KernelError, match="give a number of components"):
        points.permuted(rng)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_copies(dtype, order):
    rng = np.random.default_rng(0)
    X = np.asarray(rng.standard_normal((40, 3))[rng.integers(40, size=200)], dtype, order)
    first, group = Vectors(X).copies()
    assert len(first) == len(np.unique(X, axis=0))
    assert (np.diff(first) > 0).all()
    np.testing.assert_array_equal(X[first][group], X)
    X[7] = np.nextafter(X[7], 9)
    assert len(Vectors(X).copies()[0]) == len(np.unique(X, axis=0))


def test_copies_of_rows_that_differ_in_one_column_only():
    rng = np.random.default_rng(0)
    X = np.zeros((200, 40))
    X[:, 3] = rng.integers(30, size=200)
    first, group = Vectors(X).copies(most=100)
    assert len(first) == len(np.unique(X, axis=0))
    np.testing.assert_array_equal(X[first][group], X)
    different = rng.standard_normal((200, 40))
    assert Vectors(different).copies(most=199) is None


@pytest.mark.parametrize("unit", [1e-300, 1.0, 1e300])
def test_signs_do_not_depend_on_the_unit_of_the_rows(unit):
    X = np.random.default_rng(0).uniform(-1, 1, (50, 6))
    signs = [Vectors(rows).halves(5, np.random.default_rng(1)) for rows in (X, X * unit)]
    np.testing.assert_array_equal(*signs)


@pytest.mark.parametrize("sparse", [False, True])
def test_neighbours_share_their_signs(sparse):
    rng = np.random.default_rng(0)
    centres, group = 50 * rng.standard_normal((30, 4)), rng.integers(30, size=300)
    X = centres[group] + 1e-6 * rng.standard_normal((300, 4))
    points = SparseRows.of(csr_array(X)) if sparse else Vectors(X)
    signs = points.halves(5, rng)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert (np.abs(signs.mean(axis=0)) < 0.1).all()
    for g in range(30):
        assert (np.ptp(signs[group == g], axis=0) == 0).sum() >= 4  # a plane may cut a group
