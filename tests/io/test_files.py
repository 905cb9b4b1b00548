"""Rows from every kind of file are the rows, and what is wrong with a file is said in one line."""

import contextlib
import gzip
import os
import re
import socket
import sys
import tracemalloc
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, save_npz

from mercer import KernelPCA
from mercer.exceptions import DataError, MercerWarning
from mercer.io import CHUNK, MemoryRows, open_rows, open_table
from mercer.solvers import Landmarks
from mercer.tables import open_encoded, read_table

N, D = CHUNK + 37, 3
KINDS = ("npy", "fortran.npy", "npz", "parquet", "dataset", "csv", "zarr")


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).standard_normal((N, D))


@pytest.fixture(scope="module")
def stored(table, tmp_path_factory):
    """The same table in every format, by kind."""
    folder = tmp_path_factory.mktemp("rows")
    return {kind: store(kind, table, folder) for kind in KINDS}


def store(kind, X, folder):
    names = [f"c{j}" for j in range(X.shape[1])]
    path = folder / f"x.{kind}"
    if kind == "npy":
        np.save(path, X)
    elif kind == "fortran.npy":
        np.save(path, np.asfortranarray(X))
    elif kind == "npz":
        np.savez_compressed(path, X=X)
    elif kind == "csv":
        np.savetxt(path, X, delimiter=",", fmt="%.17g", header=",".join(names), comments="")
    elif kind == "zarr":
        zarr = pytest.importorskip("zarr")
        array = zarr.create_array(str(path), shape=X.shape, chunks=(1000, 2), dtype=X.dtype)
        array[:] = X
    else:
        parquet = pytest.importorskip("pyarrow.parquet")
        import pyarrow as pa

        whole = pa.table(dict(zip(names, X.T, strict=True)))
        if kind == "dataset":
            path.mkdir()
            parquet.write_table(whole.slice(0, 5001), path / "a.parquet", row_group_size=1700)
            parquet.write_table(whole.slice(5001), path / "b.parquet", row_group_size=20_000)
        else:
            parquet.write_table(whole, path)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_rows_are_the_rows(kind, stored, table):
    rows = open_rows(stored[kind])
    assert (rows.shape, rows.dtype, len(rows)) == (table.shape, table.dtype, N)
    np.testing.assert_array_equal(rows[:], table)
    np.testing.assert_array_equal(rows[4990:5010], table[4990:5010])
    index = np.array([0, 1, 4999, 5001, N - 1])
    np.testing.assert_array_equal(rows[index], table[index])
    assert rows[7:7].shape == (0, D)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_from_a_file_is_the_fit_in_memory(kind, stored, table, tmp_path):
    solver = Landmarks(20, select=table[:20])
    near = KernelPCA(3, solver=solver, random_state=0).fit(stored[kind])
    far = KernelPCA(3, solver=solver, random_state=0).fit(table)
    np.testing.assert_array_equal(near.eigenvalues_, far.eigenvalues_)
    Z = far.transform(table)
    np.testing.assert_allclose(near.transform(stored[kind]), Z, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        near.reconstruction_error(stored[kind]), far.reconstruction_error(table), atol=1e-12
    )
    path = near.transform_to(tmp_path / "z.npy", stored[kind])
    np.testing.assert_allclose(np.load(path), Z, rtol=0, atol=1e-12)


def test_names_of_columns_are_kept_and_checked(stored, tmp_path, table):
    model = KernelPCA(2, solver=Landmarks(10), random_state=0).fit(stored["parquet"])
    assert list(model.feature_names_in_) == ["c0", "c1", "c2"]
    np.savetxt(tmp_path / "other.csv", table[:5], delimiter=",", header="a,b,c", comments="")
    with pytest.raises(DataError, match="feature names should match"):
        model.transform(tmp_path / "other.csv")
    with pytest.raises(DataError, match="2 features, but KernelPCA is expecting 3"):
        model.transform(open_rows(stored["parquet"], columns=["c0", "c2"]))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_columns_can_be_chosen(kind, stored, table):
    rows = open_rows(stored[kind], columns=["c2", "c0"])
    np.testing.assert_array_equal(rows[100:200], table[100:200][:, [2, 0]])
    with pytest.raises(DataError, match="no column 'y'"):
        open_rows(stored[kind], columns=["y"])


def test_few_rows_of_a_file_are_solved_exactly(tmp_path, table):
    np.save(tmp_path / "few.npy", table[:300])
    model = KernelPCA(4, random_state=0).fit(str(tmp_path / "few.npy"))
    assert model.report_.solver != "Landmarks"
    np.testing.assert_allclose(
        model.eigenvalues_, KernelPCA(4).fit(table[:300]).eigenvalues_, rtol=1e-10
    )


def test_a_source_is_not_made_an_array_in_silence(stored):
    with pytest.raises(TypeError, match=r"rows\[:\]"):
        np.asarray(open_rows(stored["npy"]))
    with pytest.raises(IndexError, match="step"):
        open_rows(stored["npy"])[::2]


@pytest.mark.parametrize("kind", ["npy", "parquet", "csv"])
def test_a_bad_number_is_named_with_its_place(kind, tmp_path, table):
    X = table[:50].copy()
    X[41, 2] = np.nan
    rows = open_rows(store(kind, X, tmp_path))
    place = "line 43" if kind == "csv" else "row 41"
    with pytest.raises(DataError, match=rf"{place}, column 2"):
        rows[:]


def forged_header(path, shape):
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": "<f8", "fortran_order": False, "shape": shape}
        )


def test_forged_and_foreign_npy_files(tmp_path):
    forged_header(tmp_path / "huge.npy", (10**13, 1))
    with pytest.raises(DataError, match="declares 80000000000128 bytes"):
        open_rows(tmp_path / "huge.npy")
    np.save(tmp_path / "objects.npy", np.array([[{}, 1]], dtype=object), allow_pickle=True)
    with pytest.raises(DataError, match="object entries"):
        open_rows(tmp_path / "objects.npy")
    np.save(tmp_path / "flat.npy", np.zeros(5))
    with pytest.raises(DataError, match=r"shape \(5,\)"):
        open_rows(tmp_path / "flat.npy")
    (tmp_path / "text.npy").write_text("not an array")
    with pytest.raises(DataError, match="not a NumPy array"):
        open_rows(tmp_path / "text.npy")


def test_npz_archives_are_looked_at_first(tmp_path, monkeypatch):
    np.savez(tmp_path / "two.npz", a=np.zeros((3, 2)), b=np.ones((3, 2)))
    with pytest.raises(DataError, match="holds 'a', 'b'"):
        open_rows(tmp_path / "two.npz")
    assert open_rows(tmp_path / "two.npz", array="b")[:].sum() == 6
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((200_000, 10)))
    monkeypatch.setenv("MERCER_MEMORY", "1e6")
    with pytest.raises(DataError, match="unpacks to 15 MB"):
        open_rows(tmp_path / "bomb.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "two.npz").read_bytes()[:100])
    with pytest.raises(DataError, match=r"not a readable \.npz"):
        open_rows(tmp_path / "cut.npz", array="a")


def test_objects_in_an_archive_are_no_damage(tmp_path):
    """The message said to write the file again, and that pickles were not allowed."""
    np.savez(tmp_path / "x.npz", X=np.array([[{}, 1]], dtype=object))
    with pytest.raises(DataError, match=r"'X.npy' in .* holds objects; save numbers or texts"):
        open_rows(tmp_path / "x.npz")


def test_a_chunk_that_was_moved_changes_the_fingerprint_of_a_store(tmp_path):
    """Chunks that are zeros are not stored, and the names of the others differ by their folders."""
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(
        str(tmp_path / "x.zarr"), shape=(2000, 1), chunks=(400, 1), dtype=float
    )
    array[:400] = array[800:1200] = array[1600:] = 1.0
    before = open_rows(tmp_path / "x.zarr").fingerprint()
    (tmp_path / "x.zarr" / "c" / "2").rename(tmp_path / "x.zarr" / "c" / "1")
    assert open_rows(tmp_path / "x.zarr").fingerprint() != before


FAULTY = {
    "ragged": (b"1,2\n3,4\n5\n", "line 3 .* has 1 fields, where 2"),
    "text": (b"a,b\n1,2\n3,x\n", "line 3 .*column 'b': 'x' is not a number"),
    "hole": (b"a,b\n1,2\n\n3,\n", "line 4 .*column 'b': '' is not a number"),
    "latin-1": (b"a,b\n1,2\n3,\xe9\n", "line 3 .* not UTF-8"),
    "utf-16": ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
    "nul": (b"a,b\n1,2\n3,\0\n", "line 3 .*NUL"),
    "overflow": (b"a,b\n1,2\n3,1e999\n", "inf at line 3, column 1 .'b'"),
    "quote": (b'a,b\n1,2\n3,"4\n5,6\n', "line 3"),
    "empty": (b"", "is empty"),
    "header only": (b"a,b\n", "no rows of numbers"),
}


@pytest.mark.parametrize("fault", FAULTY)
def test_faulty_csv_is_named_with_its_line(fault, tmp_path):
    content, message = FAULTY[fault]
    path = tmp_path / "faulty.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        open_rows(path)[:]
    assert "\n" not in str(caught.value)


def test_csv_dialects(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf" + b'a;b\r\n"1";2\r\n\r\n3;4')
    rows = open_rows(path)
    assert rows.columns == ("a", "b")
    np.testing.assert_array_equal(rows[:], [[1, 2], [3, 4]])


def test_a_huge_line_is_refused_without_reading_it_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.io.look.MAX_LINE", 1000)
    (tmp_path / "x.csv").write_text("1,2\n" + "3," * 2000 + "\n")
    with pytest.raises(DataError, match="line 2 .* longer"):
        open_rows(tmp_path / "x.csv")


def test_other_faults_of_files(tmp_path):
    with pytest.raises(DataError, match="no file"):
        open_rows(tmp_path / "absent.npy")
    (tmp_path / "x.h5").write_bytes(b"")
    with pytest.raises(DataError, match=r"ending '\.h5'"):
        open_rows(tmp_path / "x.h5")
    pytest.importorskip("pyarrow")
    (tmp_path / "x.parquet").write_bytes(b"no parquet")
    with pytest.raises(DataError, match="not a Parquet"):
        open_rows(tmp_path / "x.parquet")


@pytest.mark.parametrize(("n", "steps"), [(100, 1), (5_000, 8), (CHUNK, 8), (CHUNK + 1, 2)])
def test_few_rows_are_shared_among_threads(n, steps):
    X = np.arange(2.0 * n).reshape(n, 2)
    parts = list(MemoryRows(X).map_steps(lambda rows, block: (rows, block)))
    assert len(parts) == MemoryRows(X).n_steps == steps
    np.testing.assert_array_equal(np.concatenate([block for _, block in parts]), X)
    assert [rows.start for rows, _ in parts][1:] == [rows.stop for rows, _ in parts][:-1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("opener", [open_rows, open_table, open_encoded, read_table])
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "npy", "npz", "parquet", "mtx", "jsonl"])
def test_what_is_no_file_is_not_waited_for(opener, kind, tmp_path, monkeypatch):
    """A named pipe has no end before its writer has come and gone."""
    monkeypatch.chdir(tmp_path)  # a socket's name must be short
    os.mkfifo(f"pipe.{kind}")
    Path(f"zero.{kind}").symlink_to("/dev/zero")
    link = socket.socket(socket.AF_UNIX)
    link.bind(f"socket.{kind}")
    link.close()
    for name, what in (("pipe", "a named pipe"), ("zero", "a device"), ("socket", "a socket")):
        with pytest.raises(DataError, match=rf"'{name}.{kind}' is {what}.*copy"):
            opener(f"{name}.{kind}")


@pytest.mark.parametrize("opener", [open_rows, open_table, open_encoded, read_table])
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "npy", "npz", "mtx", "jsonl"])
def test_a_folder_with_the_name_of_a_file(opener, kind, tmp_path):
    (tmp_path / f"x.{kind}").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        opener(tmp_path / f"x.{kind}")


def test_an_archive_of_zeros_is_refused_before_it_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.io.files.MUCH", 1 << 20)
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((200_000, 10)))
    save_npz(tmp_path / "sparse.npz", csr_array(np.zeros((1, 2))))
    with zipfile.ZipFile(tmp_path / "sparse.npz", "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.npy", bytes(1 << 24))
    for name in ("bomb.npz", "sparse.npz"):
        with tracing() as peak, pytest.raises(DataError, match=r"unpacks to 1\d MB, \d+ times"):
            open_rows(tmp_path / name)
        assert peak() < 1 << 20
    np.savez_compressed(tmp_path / "noise.npz", X=np.random.default_rng(0).random((50_000, 10)))
    assert open_rows(tmp_path / "noise.npz").shape == (50_000, 10)


@pytest.mark.slow
def test_four_gigabytes_of_zeros(tmp_path):
    header = {"descr": "<f8", "fortran_order": False, "shape": (2**20, 512)}
    with (
        zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("X.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(64):
            file.write(bytes(1 << 26))
    with tracing() as peak, pytest.raises(DataError, match=r"unpacks to 4096 MB, \d+ times"):
        open_rows(tmp_path / "x.npz")
    assert peak() < 1 << 20


@contextlib.contextmanager
def tracing():
    """The most bytes that Python and NumPy hold inside the block."""
    tracemalloc.start()
    try:
        yield lambda: tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_million_columns_are_refused_with_the_limit(tmp_path):
    """It took minutes to look for two columns of one name."""
    path = tmp_path / "x.csv"
    line = ",".join(f"x{j}" for j in range(10**6))
    path.write_text(line + "\n" + ",".join(["1.5"] * 10**6) + "\n")
    for opener in (open_rows, open_table, open_encoded, read_table):
        with pytest.raises(DataError, match=r"1,000,000 columns.* at most 200,000.* \.npy"):
            opener(path)


def test_many_columns_are_read(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(",".join(f"x{j}" for j in range(30_000)) + "\n" + ",".join(["1.5"] * 30_000))
    assert open_rows(path)[:].sum() == 45_000


LONG = 1486653023415623644


@pytest.mark.parametrize("kind", ["csv", "plain.csv", "csv.gz", "npy", "npz", "parquet", "zarr"])
def test_whole_numbers_that_float64_rounds_are_said(tmp_path, kind, monkeypatch):
    """They came back as others, without a word."""
    if kind == "plain.csv":
        monkeypatch.setitem(sys.modules, "pyarrow", None)
    path = tmp_path / f"x.{kind}"
    whole = np.array([[3, 5], [7, LONG], [2**60, 2]])

    def write(numbers):
        text = "a,b\n" + "\n".join(",".join(map(str, row)) for row in numbers.tolist())
        if kind.endswith("csv"):
            path.write_text(text)
        elif kind == "csv.gz":
            path.write_bytes(gzip.compress(text.encode()))
        elif kind == "npy":
            np.save(path, numbers)
        elif kind == "npz":
            np.savez(path, X=numbers)
        elif kind == "zarr":
            pytest.importorskip("zarr").save(str(path), numbers)
        else:
            parquet = pytest.importorskip("pyarrow.parquet")
            table = pytest.importorskip("pyarrow").table(dict(zip("ab", numbers.T, strict=True)))
            parquet.write_table(table, path)

    write(whole)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows = open_rows(path)
        assert_array_equal(rows[:], rows[:])
    (said,) = caught  # once, not in each pass
    assert said.category is MercerWarning
    assert re.search(f"column .* holds {LONG}, .* read as 14866", str(said.message))
    if path.is_file():
        path.unlink()
    whole[1, 1] = 2**60  # float64 holds it
    if kind != "zarr":
        write(whole)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert open_rows(path)[:].tolist() == whole.tolist()
