"""Rows in compressed text, read in blocks."""

import contextlib
import gzip
import io
import lzma

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.io import open_rows
from mercer.io.delimited import CsvRows
from mercer.io.files import open_plain
from mercer.tables import read_table


@contextlib.contextmanager
def open_zst(path, mode, encoding="utf-8"):
    pyarrow = pytest.importorskip("pyarrow")
    text = io.StringIO()
    yield text
    with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
        file.write(text.getvalue().encode(encoding))


OPEN = {".gz": gzip.open, ".xz": lzma.open, ".zst": open_zst}


def write(path, X, names="a,b,c"):
    with OPEN[path.suffix](path, "wt", encoding="utf-8") as file:
        np.savetxt(file, X, delimiter=",", header=names, comments="", fmt="%.17g")
    return path


@pytest.mark.parametrize("kind", OPEN)
def test_rows_are_those_of_the_plain_file(kind, tmp_path, rng):
    X = rng.standard_normal((3000, 3))
    path = write(tmp_path / f"x.csv{kind}", X)
    rows = open_rows(path)
    assert rows.shape == (3000, 3)
    assert rows.columns == ("a", "b", "c")
    assert_array_equal(np.concatenate(list(rows.read(0, 3000))), X)
    assert_array_equal(np.concatenate(list(rows.read(2100, 2500))), X[2100:2500])
    assert_array_equal(np.concatenate(list(open_rows(path, columns=["c"]).read(0, 9))), X[:9, 2:])
    assert rows.place(1500) == "line 1502"
    model = KernelPCA(3, random_state=0).fit(open_rows(path))
    np.savetxt(tmp_path / "x.csv", X, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    assert_array_equal(model.transform(rows), model.transform(open_rows(tmp_path / "x.csv")))


@pytest.mark.parametrize("kind", OPEN)
@pytest.mark.parametrize("text", ["1", "1\n", "1,2", "\ufeff1,2", "\ufeffa\n5\n"])
def test_a_file_of_a_few_bytes(kind, text, tmp_path):
    path = tmp_path / f"x.csv{kind}"
    with OPEN[kind](path, "wt", encoding="utf-8") as file:
        file.write(text)
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    assert_array_equal(open_rows(path)[:], open_rows(tmp_path / "x.csv")[:])


@pytest.mark.parametrize("kind", OPEN)
def test_what_is_wrong_is_said_with_its_line(kind, tmp_path, rng):
    path = tmp_path / f"x.csv{kind}"
    with OPEN[kind](path, "wt") as file:
        file.write("a,b\n1,2\n3,x\n")
    with pytest.raises(DataError, match=r"line 3 .*'x' is not a number"):
        list(open_rows(path).read(0, 2))
    whole = write(tmp_path / f"y.csv{kind}", rng.standard_normal((500, 3))).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="not a complete"):
        open_rows(path)
    path.write_bytes(b"no archive")
    with pytest.raises(DataError, match="not a complete"):
        open_rows(path)


def test_others_are_refused_with_a_remedy(tmp_path):
    for name in ("x.npy.zst", "x.npy.gz", "x.gz"):
        (tmp_path / name).write_bytes(b"...")
        with pytest.raises(DataError, match="read_table"):
            open_rows(tmp_path / name)


def test_a_place_in_a_zst_file_is_found_by_unpacking(tmp_path, rng):
    content = rng.bytes(3_000_000)
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "x.txt.zst"
    with pyarrow.CompressedOutputStream(str(path), "zstd") as file:
        file.write(content)
    with open_plain(path) as file:
        for place in (0, 10, 2_500_000, 2_999_990):
            assert file.seek(place) == place
            assert file.read(1000) == content[place : place + 1000]
            assert file.tell() == min(place + 1000, len(content))
        assert file.seek(4_000_000) == len(content)
        for place in ((10, io.SEEK_SET), (-5, io.SEEK_END)):
            with pytest.raises(io.UnsupportedOperation):
                file.seek(*place)


@pytest.mark.parametrize("kind", OPEN)
def test_much_out_of_little_is_refused_on_the_way(kind, tmp_path, monkeypatch):
    """A few kilobytes that unpack to gigabytes of one row."""
    monkeypatch.setattr("mercer.io.files.MUCH", 1 << 20)
    path = tmp_path / f"x.csv{kind}"
    with OPEN[kind](path, "wt") as file:
        file.write("a,b\n" + "0,0\n" * (1 << 20))
    for opener in (open_rows, read_table):
        with pytest.raises(DataError, match=r"'.*' unpacks to .* times .* plain file"):
            opener(path)


@pytest.mark.parametrize("kind", OPEN)
def test_much_text_of_real_rows_is_not(kind, tmp_path, rng, monkeypatch):
    monkeypatch.setattr("mercer.io.files.MUCH", 1 << 16)
    X = (rng.random((4000, 40)) < 0.01).astype(float)  # as sparse as tables in text are
    with OPEN[kind](tmp_path / f"x.csv{kind}", "wt", encoding="utf-8") as file:
        np.savetxt(file, X, delimiter=",", fmt="%d")
    assert_array_equal(open_rows(tmp_path / f"x.csv{kind}")[:], X)


def test_a_table_larger_than_the_memory_is_refused(tmp_path, monkeypatch):
    path = write(tmp_path / "x.csv.gz", np.arange(30_000.0).reshape(10_000, 3) / 7)
    monkeypatch.setenv("MERCER_MEMORY", "1e6")
    with pytest.raises(DataError, match="a quarter of the free memory.*open_rows"):
        read_table(path)
    assert open_rows(path).shape == (10_000, 3)


def test_lines_of_what_is_no_table_are_not_counted(tmp_path, monkeypatch):
    """Millions of short lines took a minute before they were too many."""
    path = tmp_path / "x.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * (1 << 25), 6))
    monkeypatch.setattr(CsvRows, "_scan", lambda *_: pytest.fail("lines are counted"))
    with pytest.raises(DataError, match="times"):
        open_rows(path)
