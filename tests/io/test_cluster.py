"""Dask collections: the same result as in one process, whatever computes it and whatever dies."""

import contextlib
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
from mercer.solvers import Davidson, Landmarks

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


class Changing:
    """Partitions whose tenth has other rows from some moment on."""

    def __init__(self, table):
        self.table, self.changed = table, False

    def read(self, start):
        part = self.table[start : start + 250].copy()
        if self.changed and start == 2500:
            part[7] += 1e-9
        return part

    def collection(self):
        task = dask.delayed(self.read, pure=False)
        parts = [da.from_delayed(task(i), (250, 4), np.float64) for i in range(0, 3000, 250)]
        return da.concatenate(parts)


@pytest.mark.parametrize("reading", ["all rows", "a sample"])
def test_a_partition_that_changes_between_passes_is_named(reading, table, tmp_path, monkeypatch):
    """The landmarks were of the old rows and the sums of the new ones."""
    monkeypatch.setattr("mercer.io.cluster.BATCH", 4)
    monkeypatch.setattr("mercer.gram.checkpoint.OVERHEAD", 1e9)
    rows, Z, path = Changing(table), table[:20], tmp_path / "fit.checkpoint"
    if reading == "a sample":
        every = lambda X, m: (X.take(np.arange(0, 3000, 2)), X.take(np.arange(1, 3000, 2)))  # noqa: E731
        real = mercer.solvers.landmarks.Sample

        def samples(problem, m, choosing, checking):
            pool, other = every(problem.points, m)
            return pool, real(other, np.full(len(other), 2.0), 0.5)

        monkeypatch.setattr("mercer.solvers.landmarks._samples", samples)

    def change(stage, done, total):
        rows.changed |= (stage, done, total) == ("landmarks", 2, 3)

    with dask.config.set(scheduler="synchronous"):
        whole = fitted(rows.collection(), Z).eigenvalues_
        with (
            pytest.raises(DataError, match="partition 10, rows 2500 to 2749"),
            mercer.listen(change),
        ):
            fitted(rows.collection(), Z, checkpoint=path)
        assert path.exists()
        rows.changed = False
        again = fitted(rows.collection(), Z, checkpoint=path)
    np.testing.assert_array_equal(again.eigenvalues_, whole)


def test_near_exact_passes_of_changed_rows_are_not_resumed(table, tmp_path):
    rows, path = Changing(table), tmp_path / "state"

    def stop(stage, done, total):
        if (stage, done) == ("davidson", 1):
            raise KeyboardInterrupt

    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(KeyboardInterrupt), mercer.listen(stop):
            near_exact(rows.collection(), checkpoint=path)
        rows.changed = True
        with pytest.raises(DataError, match="rows have changed since the checkpoint"):
            near_exact(rows.collection(), checkpoint=path)
        assert path.exists()
        rows.changed = False
        same_bits(near_exact(rows.collection(), checkpoint=path), near_exact(table))


def near_exact(X, weight=None, **options):
    solver = Davidson(**options)
    return KernelPCA(4, kernel=KERNEL, solver=solver, random_state=0).fit(X, sample_weight=weight)


def same_bits(one, other):
    np.testing.assert_array_equal(one.eigenvalues_, other.eigenvalues_)
    np.testing.assert_array_equal(one.subspace_.coef, other.subspace_.coef)


@pytest.fixture
def cluster(monkeypatch):
    """Workers in threads, which start quickly, and get all that they share by messages."""
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("mercer.solvers.davidson.ALONE", 0)
    options = {"processes": False, "n_workers": 2, "threads_per_worker": 1}
    with distributed.Client(**options, dashboard_address=":0") as client:
        yield client


def test_near_exact_components_by_a_cluster(cluster, table, rng):
    lazy, weight, stages = da.from_array(table, chunks=(700, 4)), rng.random(3000), set()
    with mercer.listen(lambda stage, *_: stages.add(stage)):
        found = near_exact(lazy)
    assert "tiles" in stages
    same_bits(found, near_exact(table))
    same_bits(near_exact(lazy, weight), near_exact(table, weight))
    same_bits(near_exact(table, executor=cluster.get_executor(pure=False)), found)
    fine = near_exact(lazy, tol=1e-9)
    np.testing.assert_allclose(fine.eigenvalues_, near_exact(table, tol=1e-9).eigenvalues_, 1e-12)


def test_no_array_of_rows_by_landmarks_on_the_client(cluster, table, monkeypatch):
    """They stay with the workers, and sums with them; here are futures."""
    seen = []
    real = mercer.gram.LowRank.expand
    look = lambda low, Y: seen.extend(low.strips) or real(low, Y)  # noqa: E731
    monkeypatch.setattr(mercer.gram.LowRank, "expand", look)
    near_exact(da.from_array(table, chunks=(700, 4)))
    assert seen
    assert {type(strip).__name__ for strip in seen} == {"Future"}


def test_auto_takes_the_cluster_where_it_is_large_enough(cluster, table, monkeypatch):
    monkeypatch.setattr("mercer.solvers.auto.LOAD_UP_TO", 1000)
    lazy = da.from_array(table, chunks=(700, 4))
    report = KernelPCA(3, random_state=0).fit(lazy).report_
    assert report.solver == "Davidson"
    assert "2 cores of a cluster" in report.reason
    monkeypatch.setattr("mercer.solvers.auto.NEAR_UP_TO", 2900)
    assert KernelPCA(3, random_state=0).plan(lazy).name == "Landmarks"


def test_weights_of_rows_on_a_cluster(table, rng):
    weight = rng.random(3000)
    lazy, Z = da.from_array(table, chunks=(700, 4)), table[:30]
    solver = Landmarks(30, select=Z)
    pca = KernelPCA(4, kernel=KERNEL, solver=solver, random_state=0)
    expected = pca.fit(table, sample_weight=weight).eigenvalues_
    for given in (weight, da.from_array(weight, chunks=900)):
        found = pca.fit(lazy, sample_weight=given).eigenvalues_
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")  # the end of a scheduler is a noisy one
def test_a_scheduler_that_is_gone_leaves_the_checkpoint(cluster, rng, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.io.cluster.PATIENCE", 0.2)
    table, path = rng.standard_normal((3000, 8)), tmp_path / "state"  # which takes two passes
    lazy = da.from_array(table, chunks=(700, 8))

    def close(stage, done, total):
        if (stage, done) == ("davidson", 1):  # the first pass has been made, and kept
            cluster.cluster.close(timeout=10)

    with pytest.raises(RuntimeError, match="cluster gave up .*checkpoint"), mercer.listen(close):
        near_exact(lazy, checkpoint=path)
    assert path.exists()
    same_bits(near_exact(table, checkpoint=path), near_exact(table))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the death of a worker is a noisy one
def test_near_exact_bits_do_not_depend_on_workers_and_their_death(rng):
    distributed = pytest.importorskip("distributed")
    X = rng.standard_normal((12_000, 8))
    alone = near_exact(X)
    for workers, kill in ((1, False), (2, False), (2, True)):
        with (
            distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            victim = next(iter(client.run(os.getpid).values()))

            def killer(stage, done, total, kill=kill, victim=victim):
                if kill and (stage, done) == ("tiles", 3):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGKILL)

            with mercer.listen(killer):
                found = near_exact(da.from_array(X, chunks=(4000, 8)))
            same_bits(found, alone)
            assert not kill or victim not in client.run(os.getpid).values()


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
                n_workers=workers, threads_per_worker=1, dashboard_address=":0"
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
