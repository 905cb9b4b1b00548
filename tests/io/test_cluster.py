"""Dask collections: the same result as in one process, whatever computes it and whatever dies."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import mercer
from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.io import open_rows
from mercer.kernels import Gaussian
from mercer.solvers import Landmarks

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

KERNEL = Gaussian(sigma=2.0)


@pytest.fixture
def table(rng):
    return rng.standard_normal((3000, 4))


def fitted(X, Z, **options):
    solver = Landmarks(len(Z), select=Z, **options)
    return KernelPCA(4, kernel=KERNEL, solver=solver, random_state=0).fit(X)


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_a_dask_array_is_fitted_and_projected_where_it_is(scheduler, table):
    Z, lazy = table[:30], da.from_array(table, chunks=(700, 3))
    single = fitted(table, Z)
    with dask.config.set(scheduler=scheduler):
        model = fitted(lazy, Z)
        np.testing.assert_allclose(model.eigenvalues_, single.eigenvalues_, rtol=1e-12)
        scores, errors = model.transform(lazy), model.reconstruction_error(lazy)
        assert isinstance(scores, da.Array)
        assert scores.chunks == (lazy.chunks[0], (4,))
        np.testing.assert_allclose(scores.compute(), single.transform(table), atol=1e-10)
        np.testing.assert_allclose(errors.compute(), single.reconstruction_error(table), atol=1e-10)


def test_auto_takes_landmarks_beyond_what_it_may_load(table, monkeypatch):
    lazy = da.from_array(table, chunks=700)
    assert KernelPCA(3).fit(lazy).report_.solver != "Landmarks"
    monkeypatch.setattr("mercer.solvers.auto.LOAD_UP_TO", 1000)
    assert KernelPCA(3, random_state=0).fit(lazy).report_.solver == "Landmarks"


def test_data_frames_bring_their_names(table):
    dd = pytest.importorskip("dask.dataframe")
    pd = pytest.importorskip("pandas")
    with dask.config.set(scheduler="synchronous"):
        frame = dd.from_pandas(pd.DataFrame(table, columns=list("abcd")), npartitions=3)
        model = fitted(frame, table[:30])
        assert list(model.feature_names_in_) == list("abcd")
        np.testing.assert_allclose(
            model.eigenvalues_, fitted(table, table[:30]).eigenvalues_, rtol=1e-12
        )
        assert model.transform(frame).compute().shape == (3000, 4)


def test_the_tree_has_a_fixed_shape(table, monkeypatch):
    """Partitions decide the order of summation, not batches of another size or schedulers."""
    lazy, Z = da.from_array(table, chunks=(100, 4)), table[:20]
    with dask.config.set(scheduler="synchronous"):
        one = fitted(lazy, Z).eigenvalues_
    with dask.config.set(scheduler="threads"):
        np.testing.assert_array_equal(fitted(lazy, Z).eigenvalues_, one)


def test_bad_numbers_are_named(table):
    table[1234, 2] = np.inf
    with dask.config.set(scheduler="synchronous"), pytest.raises(DataError, match="row 1234"):
        fitted(da.from_array(table, chunks=(700, 4)), table[:20])


def test_a_stopped_fit_resumes(table, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.io.cluster.BATCH", 4)
    monkeypatch.setattr("mercer.gram.checkpoint.OVERHEAD", 1e9)
    lazy, Z, path = da.from_array(table, chunks=(250, 4)), table[:20], tmp_path / "fit.checkpoint"

    def stop(stage, done, total):
        if (stage, done, total) == ("landmarks", 2, 3):
            raise KeyboardInterrupt

    with dask.config.set(scheduler="threads"):
        whole = fitted(lazy, Z).eigenvalues_
        with pytest.raises(KeyboardInterrupt), mercer.listen(stop):
            fitted(lazy, Z, checkpoint=path)
        np.testing.assert_array_equal(fitted(lazy, Z, checkpoint=path).eigenvalues_, whole)


def from_file(path, n, d, chunk, pause=0.0):
    """Tasks that read the file themselves, so that a lost worker loses nothing."""

    def read(start):
        time.sleep(pause)
        return np.array(np.load(path, mmap_mode="r")[start : start + chunk])

    parts = [
        da.from_delayed(dask.delayed(read)(i), (min(chunk, n - i), d), np.float64)
        for i in range(0, n, chunk)
    ]
    return da.concatenate(parts)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the death of a worker is a noisy one
def test_workers_agree_and_the_loss_of_one_changes_no_bit(tmp_path, rng):
    distributed = pytest.importorskip("distributed")
    n, d = 200_000, 8
    X = rng.standard_normal((n, d))
    np.save(tmp_path / "x.npy", X)
    Z = X[:100]
    single = fitted(open_rows(tmp_path / "x.npy"), Z)
    results = []
    for workers, kill in ((1, False), (2, False), (4, False), (2, True)):
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=None
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            victim = next(iter(client.run(os.getpid).values()))
            if kill:
                threading.Timer(1.0, os.kill, (victim, signal.SIGKILL)).start()
            lazy = from_file(tmp_path / "x.npy", n, d, 10_000, pause=0.2)
            results.append(fitted(lazy, Z).eigenvalues_)
            if kill:
                assert victim not in client.run(os.getpid).values()
    np.testing.assert_allclose(results[0], single.eigenvalues_, rtol=1e-10)
    # Rows in memory may be summed in float32, which must not show beside what landmarks miss.
    in_memory = fitted(X, Z)
    visible = 0.1 * in_memory.report_.estimated_error
    np.testing.assert_allclose(results[0], in_memory.eigenvalues_, rtol=visible)
    for other in results[1:]:
        np.testing.assert_array_equal(other, results[0])
