"""Sparse rows in files: SciPy's archives and Matrix Market, read as they are or refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.io import mmwrite

from mercer import KernelPCA
from mercer.cli import main
from mercer.exceptions import DataError
from mercer.io import Choice, open_rows, open_table
from mercer.points.sparse import SparseRows

RNG = np.random.default_rng(0)
X = RNG.gamma(2.0, size=(60, 12)) * (RNG.random((60, 12)) < 0.3)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_archives(kind, dtype, tmp_path):
    given = X.astype(dtype)
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(given).asformat(kind))
    rows = open_rows(tmp_path / "x.npz")
    assert isinstance(rows.X, SparseRows)
    assert rows.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert_array_equal(rows.X.to_dense(), given)
    found = KernelPCA(2).fit(tmp_path / "x.npz").transform(tmp_path / "x.npz")
    assert_allclose(found, KernelPCA(2).fit_transform(given), atol=1e-5)


@pytest.mark.parametrize("text", ["coordinate real", "coordinate pattern", "array real"])
def test_matrix_market(text, tmp_path):
    path = tmp_path / "x.mtx"
    given = (X > 0).astype(float) if "pattern" in text else X
    mmwrite(
        path,
        given if "array" in text else sparse.coo_array(given),
        field=text.split()[1],
        precision=17,
    )
    rows = open_rows(path)
    found = rows[:]
    assert isinstance(found, np.ndarray if "array" in text else SparseRows)
    assert_allclose(found if "array" in text else found.to_dense(), given, rtol=1e-15)


def test_columns_and_labels_by_number(tmp_path):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(X))
    table = open_table(tmp_path / "x.npz", Choice(drop=["0", "3-5"]))
    assert_array_equal(table.rows[:].to_dense(), np.delete(X, [0, 3, 4, 5], axis=1))
    mmwrite(tmp_path / "x.mtx", sparse.coo_array(X), precision=17)
    table = open_table(tmp_path / "x.mtx", Choice(label="2"))
    assert_allclose(table.label, X[:, 2])
    assert_allclose(table.rows[:].to_dense(), np.delete(X, 2, axis=1))


BROKEN = {
    "a column beyond": {"indices": lambda a: a + 12},
    "a negative column": {"indices": lambda a: a - 12},
    "rows that go back": {"indptr": lambda a: a[::-1]},
    "too few rows": {"indptr": lambda a: a[:-1]},
    "not finite": {"data": lambda a: a * np.inf},
    "text": {"data": lambda a: a.astype(str)},
    "complex": {"data": lambda a: a * 1j},
    "no shape": {"shape": lambda a: a[:1]},
    "another kind": {"format": lambda _: np.array("dia")},
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_archives_are_refused(name, tmp_path):
    path = tmp_path / "x.npz"
    sparse.save_npz(path, sparse.csr_array(X))
    with np.load(path) as archive:
        parts = {key: archive[key] for key in archive.files}
    parts |= {key: change(parts[key]) for key, change in BROKEN[name].items()}
    np.savez(path, **parts)
    with pytest.raises(DataError, match=r"x\.npz"):
        open_rows(path)


HEAD = "%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n", f"{HEAD}9", f"{HEAD}2 2 1\n3 1 4.0\n"])
def test_broken_matrix_market_is_refused(text, tmp_path):
    path = tmp_path / "x.mtx"
    path.write_text(text)
    with pytest.raises(DataError, match=r"x\.mtx"):
        open_rows(path)


def test_the_command_line(tmp_path, capsys):
    sparse.save_npz(tmp_path / "x.npz", sparse.csr_array(X))
    mmwrite(tmp_path / "x.mtx", sparse.coo_array(X), precision=17)
    model = str(tmp_path / "m.mercer")
    assert main(["fit", str(tmp_path / "x.npz"), "-o", model, "--components", "2"]) == 0
    for command in ("transform", "denoise"):
        out = tmp_path / f"{command}.csv"
        assert main([command, model, str(tmp_path / "x.mtx"), "-o", str(out)]) == 0
        wanted = getattr(KernelPCA(2).fit(sparse.csr_array(X)), command)(sparse.csr_array(X))
        named = command == "transform"  # the rows themselves have no names
        wanted = wanted if named else wanted.toarray()
        assert_allclose(np.loadtxt(out, delimiter=",", skiprows=int(named)), wanted, atol=1e-10)
    capsys.readouterr()
