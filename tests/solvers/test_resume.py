"""Rows that change between a stopped fit and its resumption: refused, never mixed with old sums."""

import json
import os

import numpy as np
import pytest

import mercer
from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.gram import Checkpoint
from mercer.io import CHUNK
from mercer.kernels import Gaussian
from mercer.solvers import Landmarks
from tests.io.test_files import store
from tests.solvers.test_landmarks import Stop, stop_at

N, D = 4 * CHUNK, 2


@pytest.fixture(autouse=True)
def save_every_step(monkeypatch):
    monkeypatch.setattr("mercer.gram.checkpoint.OVERHEAD", 1e9)


@pytest.fixture
def table():
    return np.random.default_rng(0).standard_normal((N, D))


def pca(path, seed=0):
    solver = Landmarks(10, checkpoint=path)
    return KernelPCA(3, kernel=Gaussian(sigma=1.0), solver=solver, random_state=seed)


def stopped(X, path, step=2, seed=0):
    with pytest.raises(Stop), mercer.listen(stop_at(step)):
        pca(path, seed).fit(X)
    return path


def between_the_looks(X):
    """Other rows where none of the 64 looks at the file is."""
    X = X.copy()
    X[CHUNK // 2 + 1 : CHUNK // 2 + 40] += 1
    return X


@pytest.mark.parametrize("kind", ["npy", "fortran.npy", "parquet", "zarr"])
def test_rows_rewritten_between_kill_and_resume(kind, table, tmp_path):
    path = store(kind, table, tmp_path)
    state = stopped(path, tmp_path / "state")
    kept = state.read_bytes()
    files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
    times = {file: file.stat() for file in files}
    if path.is_file():
        store(kind, between_the_looks(table), tmp_path)
    else:
        import zarr

        zarr.open(str(path), mode="r+")[:] = between_the_looks(table)
    for file, stat in times.items():
        os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(DataError, match="remove the file to start anew"):
        pca(state).fit(path)
    assert state.read_bytes() == kept
    state.unlink()
    anew = pca(tmp_path / "other").fit(path)
    np.testing.assert_array_equal(pca(state).fit(path).eigenvalues_, anew.eigenvalues_)


def test_only_the_digests_can_tell(table, tmp_path):
    """Not the size, not the time, not a look at the file: only the rows that were summed."""
    path = store("npy", table, tmp_path)
    state = stopped(path, tmp_path / "state")
    stat = path.stat()
    X = np.load(path, mmap_mode="r+")
    X[CHUNK + 78, 1] += 1e-9  # no row of the sample that landmarks are chosen from
    X.flush()
    del X
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    with pytest.raises(DataError, match="part 2 of 4 have changed since"):
        pca(state).fit(path)


def test_a_file_with_another_time_is_refused(table, tmp_path):
    path = store("npy", table, tmp_path)
    state = stopped(path, tmp_path / "state")
    os.utime(path, ns=(0, 1))
    with pytest.raises(DataError, match="other data or parameters"):
        pca(state).fit(path)


@pytest.mark.parametrize("row", [CHUNK // 2 + 1, N - CHUNK // 2 + 1], ids=["summed", "to come"])
def test_rows_in_memory_that_change(row, table, tmp_path):
    state = stopped(table, tmp_path / "state")
    table[row] += 1
    with pytest.raises(DataError, match="have changed since the checkpoint"):
        pca(state).fit(table)


def test_a_fit_without_a_seed_resumes_with_that_of_the_stopped_one(table, tmp_path):
    path = store("npy", table, tmp_path)
    state = stopped(path, tmp_path / "state", seed=7)
    model = pca(state, seed=None).fit(path)
    whole = pca(None, seed=7).fit(path)
    np.testing.assert_array_equal(model.eigenvalues_, whole.eigenvalues_)
    np.testing.assert_array_equal(model.residuals_, whole.residuals_)


def test_a_checkpoint_of_an_earlier_version_is_refused(table, tmp_path):
    path = tmp_path / "state"
    header = json.dumps({"mercer_checkpoint": 1, "fingerprint": "mine"}).encode()
    with path.open("wb") as file:
        np.savez(file, landmarks=table[:3], header=np.frombuffer(header, np.uint8))
    with pytest.raises(DataError, match="another version .* format 1; .*remove the file"):
        Checkpoint(path, "mine")
