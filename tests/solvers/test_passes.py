"""Passes by other processes, and passes that are kept: the same bits as in one go."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import KernelPCA
from mercer.exceptions import DataError, NumericalWarning
from mercer.gram import passes
from mercer.kernels import FunctionKernel, Gaussian
from mercer.points import crew
from mercer.points.tiles import Tiles
from mercer.solvers import Auto, Davidson, Landmarks

N, D = 2500, 5


@pytest.fixture
def table():
    return np.random.default_rng(0).standard_normal((N, D))


def fitted(X, *, seed=0, weight=None, **options):
    pca = KernelPCA(4, kernel=Gaussian(sigma=2.0), solver=Davidson(**options), random_state=seed)
    return pca.fit(X, sample_weight=weight)


def assert_same_bits(one, other):
    np.testing.assert_array_equal(one.eigenvalues_, other.eigenvalues_)
    np.testing.assert_array_equal(one.subspace_.coef, other.subspace_.coef)


class Stop(Exception):
    pass


def stop_at(stage, step):
    def listener(name, done, total):
        if (name, done) == (stage, step):
            raise Stop

    return listener


class Forgetful(Executor):
    """Workers that are new for every task, and say that they have nothing."""

    def __init__(self):
        self.sent = []

    def submit(self, function, /, *arguments, **_):
        crew._held.clear()
        self.sent.append(len(arguments[-1]))
        future = Future()
        future.set_result(function(*arguments))
        return future


def wide_product(threads, monkeypatch):
    """Terms that differ by far more than the digits of float64, in the order of so many threads."""
    rng = np.random.default_rng(1)
    X = (rng.standard_normal((700, 2)) * np.geomspace(1e-3, 20, 700)[:, None]).astype(np.float32)
    V = rng.standard_normal((700, 3)) * np.geomspace(1, 1e-9, 700)[:, None]
    monkeypatch.setattr("mercer.points.tiles.n_threads", lambda: threads)
    basis = mercer.kernels.Basis(Gaussian(sigma=1.0), X, np.float32)
    tiles = Tiles(basis.kernel.fill, basis.packed, basis.packed, np.dtype(np.float32), 32)
    return tiles, V, np.ones(700), X


def test_a_product_in_float32_does_not_depend_on_threads_or_strips(monkeypatch):
    tiles, V, ones, X = wide_product(1, monkeypatch)
    whole = tiles.symmetric_matmat(V, ones)
    expected = Gaussian(sigma=1.0)(X.astype(np.float64)) @ V
    np.testing.assert_allclose(whole, expected, atol=1e-5 * np.abs(expected).max())
    for threads in (2, 3, 5):
        tiles, *_ = wide_product(threads, monkeypatch)
        np.testing.assert_array_equal(tiles.symmetric_matmat(V, ones), whole)
    helpers = crew.Threads()
    for strip in (100, 300, 1000):
        monkeypatch.setattr(passes, "STRIP", strip)
        cut = [passes.whole(part) for part in passes.strips(700, 32)]
        shared = [tiles.left[rows] for rows in cut]
        found = passes.symmetric_matmat(tiles, shared, helpers, V, ones)
        np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize("options", [{}, {"weight": True}, {"tol": 1e-9}])
def test_an_executor_gives_the_same_result(options, table):
    options = dict(options)
    weight = np.random.default_rng(2).random(N) if options.pop("weight", None) else None
    alone = fitted(table, weight=weight, **options)
    with ThreadPoolExecutor(2) as pool:
        helped = fitted(table, weight=weight, executor=pool, **options)
    if options:  # tiles in float64
        np.testing.assert_allclose(helped.eigenvalues_, alone.eigenvalues_, rtol=1e-12)
    else:
        assert_same_bits(helped, alone)


def test_workers_that_come_and_go_are_sent_what_they_lack(table):
    pool = Forgetful()
    assert_same_bits(fitted(table, executor=pool), fitted(table))
    assert set(pool.sent) > {0}


def test_rows_are_sent_once(table):
    pool = ThreadPoolExecutor(1)
    sent = []
    submit = pool.submit
    pool.submit = lambda *arguments: sent.append(len(arguments[-1])) or submit(*arguments)
    with pool:
        fitted(table, executor=pool)
    strips = len(passes.strips(N, 768))
    assert sum(sent) <= 4 * strips  # the few tasks that were under way when the first one asked
    assert not any(sent[len(sent) // 2 :])


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_and_the_death_of_one(table):
    alone = fitted(table)
    with ProcessPoolExecutor(2, get_context("fork")) as pool:
        assert_same_bits(fitted(table, executor=pool), alone)
        victim = next(iter(pool._processes))

        def kill(stage, done, total):
            if (stage, done) == ("tiles", 2):
                with contextlib.suppress(ProcessLookupError):  # killed in the pass before
                    os.kill(victim, signal.SIGKILL)
                for _ in range(1000):  # a busy machine notices late, when all may be computed
                    if pool._broken:
                        break
                    time.sleep(0.01)

        with mercer.listen(kill), pytest.warns(NumericalWarning, match="executor broke"):
            again = fitted(table, executor=pool)
    assert_same_bits(again, alone)


def test_a_solver_with_an_executor_can_be_cloned_and_its_model_saved(table, tmp_path):
    with ThreadPoolExecutor(1) as pool:
        model = fitted(table[:600], executor=pool)
        assert clone(model).solver.executor is pool
        model.save(tmp_path / "a.mercer")
    loaded = mercer.load(tmp_path / "a.mercer")
    assert loaded.solver.executor is None
    np.testing.assert_array_equal(loaded.eigenvalues_, model.eigenvalues_)


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("options", [{}, {"tol": 1e-9}])
def test_a_stopped_fit_resumes(step, options, table, tmp_path):
    path = tmp_path / "state"
    whole = fitted(table, **options)
    with pytest.raises(Stop), mercer.listen(stop_at("davidson", step)):
        fitted(table, checkpoint=path, **options)
    kept = path.read_bytes()
    products = []
    real = Tiles.symmetric_matmat
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tiles, "symmetric_matmat", lambda *a: products.append(1) or real(*a))
        resumed = fitted(table, checkpoint=path, seed=None, **options)
        fresh = len(products)
        fitted(table, **options)
    assert_same_bits(resumed, whole)
    assert fresh == len(products) - fresh - step
    assert not path.exists()
    assert len(kept) > 8 * N * 16


def test_progress_and_cancel_by_tiles(table, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.points.tiles.ROUND", 2)
    whole, path = fitted(table), tmp_path / "state"
    with pytest.raises(Stop), mercer.listen(stop_at("tiles", 4)):
        fitted(table, checkpoint=path)
    assert path.exists()
    assert_same_bits(fitted(table, checkpoint=path), whole)


def test_a_checkpoint_of_another_fit_is_refused(table, tmp_path):
    path = tmp_path / "state"
    with pytest.raises(Stop), mercer.listen(stop_at("davidson", 1)):
        fitted(table, checkpoint=path)
    kept = path.read_bytes()
    other = table.copy()
    other[N // 2 + 7, 1] += 1e-9  # not among the rows that are looked at
    with pytest.raises(DataError, match="rows have changed since .*remove the file"):
        fitted(other, checkpoint=path)
    with pytest.raises(DataError, match="other data or parameters"):
        fitted(table, checkpoint=path, tol=1e-5)
    with pytest.raises(DataError, match="other data or parameters"):
        fitted(table, checkpoint=path, weight=np.ones(N))
    with pytest.raises(DataError, match="other data or parameters"):
        KernelPCA(4, solver=Landmarks(20, checkpoint=path)).fit(table)
    assert path.read_bytes() == kept
    path.write_bytes(kept[: len(kept) // 2])
    with pytest.raises(DataError, match="not a checkpoint"):
        fitted(table, checkpoint=path)
    damaged = bytearray(kept)
    damaged[-2000] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(DataError, match="not a checkpoint"):
        fitted(table, checkpoint=path)


def test_a_checkpoint_keeps_no_objects(tmp_path):
    words = ["a" * (i % 7 + 1) for i in range(300)]
    kernel = FunctionKernel(lambda a, b: float(min(len(a), len(b))))
    solver = Davidson(checkpoint=tmp_path / "state")
    with pytest.raises(DataError, match="not objects"):
        KernelPCA(2, kernel=kernel, solver=solver).fit(words)


def test_auto_keeps_passes_and_the_plan_says_so(table, tmp_path):
    solver = Auto(checkpoint=tmp_path / "state")
    X = np.random.default_rng(0).standard_normal((5000, 3))
    plan = KernelPCA(4, solver=solver).plan(X)
    assert plan.name == "Davidson"
    assert plan.resumable
    assert not KernelPCA(4, solver=solver).plan(table).resumable  # Lanczos


_CHILD = """
import json, sys
import numpy as np
from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.solvers import Davidson
X = np.random.default_rng(0).standard_normal((2500, 5))
pca = KernelPCA(4, kernel=Gaussian(sigma=2.0), solver=Davidson(checkpoint=sys.argv[1]))
print("ready", flush=True)
print(json.dumps(pca.set_params(random_state=0).fit(X).eigenvalues_.tolist()))
"""


def test_a_killed_process_is_resumed(table, tmp_path):
    whole, rng = fitted(table), np.random.default_rng(0)
    for pause in (*rng.uniform(0, 0.4, 2), None):
        command = [sys.executable, "-c", _CHILD, str(tmp_path / "state")]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path.cwd())
        child.stdout.readline()
        if pause is not None:
            threading.Timer(pause, child.kill).start()
        out, _ = child.communicate()
    np.testing.assert_array_equal(json.loads(out), whole.eigenvalues_)
