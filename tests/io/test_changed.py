"""Files that are cut, rewritten, replaced or removed while they are read: an error, never garbage.

A mapped file that is cut short kills the process without a word, so that part runs in another one.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

import mercer
from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.io import CHUNK, open_rows
from mercer.solvers import Landmarks
from tests.io.test_files import store

N, D = 6 * CHUNK, 3
KINDS = ("npy", "fortran.npy", "parquet", "csv", "zarr", "dataset")
_CUT = """
import os, sys
import mercer
from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.solvers import Landmarks

path = sys.argv[1]

def cut(stage, done, total):
    if stage == "landmarks" and done == 1:
        os.truncate(path, os.stat(path).st_size // 2)

try:
    with mercer.listen(cut):
        KernelPCA(3, solver=Landmarks(10, select="uniform"), random_state=0).fit(path)
except DataError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def table():
    return np.random.default_rng(0).standard_normal((N, D))


@pytest.mark.parametrize("kind", ["npy", "fortran.npy"])
def test_a_file_that_is_cut_does_not_kill_the_process(kind, table, tmp_path):
    path = store(kind, table, tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", _CUT, str(path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert "changed while it was read" in done.stdout
    assert "start again" in done.stdout


def files_of(path):
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    return [file for file in files if file.suffix != ".json"]


def cut(file):
    os.truncate(file, file.stat().st_size // 2)


def rewrite(file):
    """Other bytes at the end of the same length: what the readers have not seen yet."""
    content = file.read_bytes()
    file.write_bytes(content[:-8] + content[-16:-8])


def replace(file):
    new = file.with_name("new")
    new.write_bytes(file.read_bytes())
    stat = file.stat()
    os.utime(new, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    new.replace(file)


def remove(file):
    file.unlink()


@pytest.mark.parametrize("fault", [cut, rewrite, replace, remove])
@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_changes_during_a_fit_is_named(kind, fault, table, tmp_path):
    path = store(kind, table, tmp_path)
    file = files_of(path)[-1]

    def change(stage, done, total):
        if stage == "landmarks" and done == 1:
            fault(file)

    solver = Landmarks(10, select="uniform")
    with (
        pytest.raises(
            DataError, match=f"{file.name}' (changed|was removed) while .* again"
        ) as said,
        mercer.listen(change),
    ):
        KernelPCA(3, solver=solver, random_state=0).fit(path)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_changed_since_it_was_opened_is_refused(kind, table, tmp_path):
    path = store(kind, table[:500], tmp_path)
    rows = open_rows(path)
    np.testing.assert_array_equal(rows[:10], table[:10])
    rewrite(files_of(path)[-1])
    with pytest.raises(DataError, match="changed while"):
        rows[:10]


@pytest.mark.parametrize("dtype", ["f4", ">f8", "i2", "?", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_files_of_every_type_and_order(dtype, order, tmp_path, table):
    X = np.asarray(np.round(table[: CHUNK + 5]).astype(dtype), order=order)
    np.save(tmp_path / "x.npy", X)
    rows = open_rows(tmp_path / "x.npy")
    np.testing.assert_array_equal(rows[:], X)
    np.testing.assert_array_equal(rows[CHUNK - 3 : CHUNK + 3], X[CHUNK - 3 : CHUNK + 3])
