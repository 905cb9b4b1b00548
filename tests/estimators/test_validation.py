"""Rows at the door of an estimator: refused by name, or the same model whatever holds them."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from joblib import Parallel, delayed
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from mercer import KernelPCA
from mercer.exceptions import (
    DataError,
    RankWarning,
)
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from tests.refusals import refused

X = np.random.default_rng(0).standard_normal((40, 3))


SOLVERS = ["dense", "lanczos", "davidson"]


#: Every kernel, on entries that are not negative.
KERNELS = [
    *(Gaussian(), Laplacian(), Matern(), RationalQuadratic(), Cauchy(), Cosine(), Chi2(), Linear()),
    *(Polynomial(2), Sigmoid(1e-9, coef0=0.5), Chi2() * Gaussian(), 0.5 * Chi2() + Linear()),
    FunctionKernel(lambda x, y: float(x @ y)),
]


class TestFewRows:
    def test_no_rows(self):
        refused(DataError, "0 sample", X[:0])

    def test_one_row(self):
        refused(DataError, "1 sample", X[:1])

    def test_no_rows_at_transform(self):
        refused(DataError, "0 sample", X[:0], KernelPCA(2).fit(X), "transform")

    def test_objects_need_two_as_well(self):
        shared = FunctionKernel(lambda a, b: float(len(set(a) & set(b))))
        refused(DataError, "0 rows", [], KernelPCA(1, kernel=shared))
        refused(DataError, "2 rows", ["abc"], KernelPCA(1, kernel=shared))

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_two_rows(self, solver):
        model = KernelPCA(1, solver=solver).fit(X[:2])
        assert model.transform(X).shape == (40, 1)

    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize(("n", "k", "rank"), [(4, 10, 3), (40, 10, 3)])
    def test_more_components_than_there_are(self, solver, n, k, rank):
        with pytest.warns(RankWarning, match=f"{k} components .* only {rank}"):
            model = KernelPCA(k, kernel="linear", solver=solver).fit(X[:n])
        assert model.n_components_ == len(model.eigenvalues_) == model.transform(X).shape[1] == rank


def with_entry(value, dtype=float):
    rows = X.astype(dtype)
    rows[7, 2] = value
    return rows


class TestMissing:
    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_the_place_is_named(self, value, dtype):
        refused(DataError, "row 7, column 2", with_entry(value, dtype))

    def test_at_transform_too(self):
        refused(DataError, "row 7, column 2", with_entry(np.nan), KernelPCA(2).fit(X), "transform")

    def test_a_column_of_nan(self):
        refused(DataError, "row 0, column 3", np.column_stack([X, np.full(40, np.nan)]))

    def test_masked_arrays(self):
        refused(DataError, "masked", np.ma.masked_array(X, mask=X > 1))
        refused(DataError, "masked", [np.ma.masked_array(row, mask=row > 1) for row in X])

    @pytest.mark.parametrize("missing", [None, pd.NA, np.nan])
    def test_data_frames_name_the_column(self, missing):
        frame = pd.DataFrame(X, columns=["a", "b", "c"]).astype(object)
        frame.loc[7, "c"] = missing
        refused(DataError, r"row 7, column 2 \('c'\)", frame)

    def test_nullable_integers(self):
        frame = pd.DataFrame({"a": pd.array([1, 2, None], dtype="Int64"), "b": [1.0, 2.0, 3.0]})
        refused(DataError, r"row 2, column 0 \('a'\)", frame)

    def test_polars_nulls(self):
        refused(
            DataError, r"row 2, column 0 \('a'\)", pl.DataFrame({"a": [1, 2, None], "b": [1, 2, 3]})
        )

    def test_none_in_an_object_array(self):
        refused(DataError, "row 7, column 2", with_entry(None, object))


class TestTypes:
    @pytest.mark.parametrize(
        ("rows", "words"),
        [
            (np.array([["a", "b"], ["c", "d"]]), r"string.*\(2, 2\).*<U1"),
            ([["1", "2"], ["3", "4"]], "string"),
            (np.array([[b"a"], [b"b"]]), "string"),
            (np.array([["1", 2.0], [3.0, 4.0]], dtype=object), "holds text"),
            (pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}), "string"),
            (pd.DataFrame({"a": pd.Categorical(["x", "y"])}), "string"),
            ([[1.0, 2.0], [3.0]], "2 rows.*differ in length"),
            (X[:, 0], r"2D array.*\(40,\).*float64"),
            (3.0, "2D array"),
            (X[None], "dim 3"),
            (X + 1j, r"Complex.*\(40, 3\).*complex128"),
            (pd.DataFrame(X + 1j), "Complex.*complex128"),
            (np.zeros((3, 2), dtype="datetime64[D]"), "datetime64"),
            (np.zeros((3, 2), dtype="timedelta64[s]"), "timedelta64"),
            (pd.DataFrame({"a": pd.date_range("2020", periods=3)}), "column 'a'.*datetime64"),
            ([[10**400, 1], [2, 3]], "too large"),
            (None, "None"),
        ],
        ids=lambda value: value if isinstance(value, str) else "",
    )
    def test_refused(self, rows, words):
        refused(DataError, words, rows)

    @pytest.mark.parametrize(
        "rows", [np.array([[object(), 1], [2, 3]], dtype=object), {"a": 1}, {1, 2}]
    )
    def test_objects(self, rows):
        refused(TypeError, "float", rows)

    def test_complex_numbers_are_not_cast_with_a_warning(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            refused(DataError, "Complex", X + 1j)

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.uint64, np.longdouble])
    def test_promoted(self, dtype):
        rows = (X * 2 + 8).astype(dtype) if dtype is not bool else X > 0
        model = KernelPCA(2).fit(rows)
        assert_array_equal(model.eigenvalues_, KernelPCA(2).fit(rows.astype(float)).eigenvalues_)
        assert model.transform(rows).dtype == np.float64


class TestSparse:
    @pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.coo_array])
    @pytest.mark.parametrize("kernel", ["laplacian", FunctionKernel(lambda a, b: 1.0)])
    def test_refused_where_a_kernel_needs_all_entries(self, make, kernel):
        refused(TypeError, r"[Ss]parse.*toarray", make(X), KernelPCA(2, kernel=kernel))


class TestLayout:
    def layouts(self, tmp_path, X=X):
        file = np.memmap(tmp_path / "x.dat", dtype=float, mode="w+", shape=X.shape)
        file[:] = X
        file.flush()
        read_only = X.copy()
        read_only.flags.writeable = False
        return {
            "memmap": np.memmap(tmp_path / "x.dat", dtype=float, mode="r", shape=X.shape),
            "read-only": read_only,
            "fortran": np.asfortranarray(X),
            "negative stride": X[::-1].copy()[::-1],
            "big-endian": X.astype(">f8"),
            "column slice": np.column_stack([X, X])[:, :3],
        }

    @pytest.mark.parametrize("solver", SOLVERS)
    def test_the_same_answer_and_the_bytes_unchanged(self, tmp_path, solver):
        wanted = KernelPCA(2, solver=solver, random_state=0).fit(X)
        for name, rows in self.layouts(tmp_path).items():
            before = rows.tobytes()
            model = KernelPCA(2, solver=solver, random_state=0).fit(rows)
            assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-12, err_msg=name)
            assert_allclose(model.transform(rows), wanted.transform(X), atol=1e-12, err_msg=name)
            assert rows.tobytes() == before, name

    @pytest.mark.parametrize("solver", SOLVERS)
    @pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: repr(kernel)[:20])
    def test_every_kernel(self, tmp_path, kernel, solver):
        wanted = KernelPCA(2, kernel=kernel, solver=solver, random_state=0).fit(np.abs(X))
        for name, rows in self.layouts(tmp_path, np.abs(X)).items():
            rows.flags.writeable = False
            model = KernelPCA(2, kernel=kernel, solver=solver, random_state=0).fit(rows)
            assert_allclose(model.eigenvalues_, wanted.eigenvalues_, rtol=1e-10, err_msg=name)
            assert_allclose(model.transform(rows), wanted.transform(np.abs(X)), atol=1e-9)

    @pytest.mark.parametrize("kernel", [Chi2(), Chi2() * Gaussian() + Linear()], ids=repr)
    def test_workers_get_rows_that_they_cannot_write_to(self, kernel):
        def fit(rows):
            model = KernelPCA(2, kernel=kernel, random_state=0).fit(rows)
            return rows.flags.writeable, model.transform(rows)

        rows = np.abs(X)
        results = Parallel(n_jobs=2, max_nbytes=10)(delayed(fit)(rows) for _ in range(2))
        for writeable, Z in results:
            assert not writeable
            assert_allclose(Z, fit(rows)[1], atol=1e-12)
