"""BLAS threads that wait spin: no method of ours leaves them alone beside other work."""

import inspect
import signal
import time
from threading import Event, Thread

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import mercer
from mercer import alternatives, compat
from mercer._base import machine as _parallel
from mercer._base.machine import blas_limited, lapack_threads, n_threads, one_blas_thread
from mercer.estimators.door import Conditional
from mercer.solvers import Landmarks

CLASSES = {
    value
    for package in (mercer, alternatives, compat)
    for value in (getattr(package, name) for name in package.__all__)
    if inspect.isclass(value) and hasattr(value, "fit") and value.__module__.startswith("mercer")
}
#: LAPACK as our modules call it.
CALLS = ("eigh", "eigvalsh", "svd", "qr", "cholesky", "solve", "inv")

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
y = np.arange(60) % 2
HOLES = np.where(rng.random(X.shape) < 0.05, np.nan, X)
TABLE = pd.DataFrame(X, columns=list("abcd"))


def blas_threads():
    return max(pool["num_threads"] for pool in _parallel._blas_pools().info())


@pytest.fixture
def two_threads(monkeypatch):
    """Two cores of two, and other work beside."""
    monkeypatch.setattr(_parallel, "_machine_is_quiet", lambda: False)
    monkeypatch.setattr(_parallel, "_cores", lambda: 2)
    with threadpool_limits(2, "blas"):
        if blas_threads() < 2:
            pytest.skip("BLAS was told to use one thread only")
        yield


@pytest.fixture
def seen(two_threads, monkeypatch):
    """Threads that BLAS has in each call of LAPACK."""
    found = []

    def spied(call):
        def spy(*args, **kwargs):
            found.append(blas_threads())
            return call(*args, **kwargs)

        return spy

    for name in CALLS:
        monkeypatch.setattr(np.linalg, name, spied(getattr(np.linalg, name)))
    return found


def public_methods(cls):
    """Those that our own classes define, by name."""
    for owner in cls.__mro__:
        if not owner.__module__.startswith("mercer"):
            continue
        for name, method in vars(owner).items():
            if name.startswith("_"):
                continue
            if isinstance(method, Conditional):
                method = method.method
            if inspect.isfunction(method):
                yield f"{owner.__qualname__}.{name}", method


def is_limited(method):
    codes = []
    while method is not None:
        codes.append(method.__code__)
        method = getattr(method, "__wrapped__", None)
    return blas_limited(len).__code__ in codes


@pytest.mark.parametrize("cls", sorted(CLASSES, key=lambda cls: cls.__qualname__))
def test_every_method_is_limited(cls):
    spared = {"Estimator.set_params"}  # computes nothing
    free = [name for name, method in public_methods(cls) if not is_limited(method)]
    assert set(free) <= spared


ENTRIES = {
    "KernelPCA": lambda: mercer.KernelPCA(3).fit(X).inverse_transform(np.zeros((2, 3))),
    "denoise": lambda: mercer.KernelPCA(3).fit(X).denoise(X + 0.1),
    "impute": lambda: mercer.KernelPCA(3).fit(X).impute(HOLES),
    "uncertainty": lambda: mercer.KernelPCA(3).fit(X).uncertainty(),
    "tune": lambda: mercer.KernelPCA(3).tune(X[:30], noise=0.3),
    "missing": lambda: mercer.MissingKernelPCA(mercer.KernelPCA(3)).fit(HOLES),
    "reweighted": lambda: mercer.ReweightedKernelPCA(mercer.KernelPCA(3)).fit(X),
    "sparse": lambda: mercer.SparseKernelPCA(n_kernels=5).fit(X).transform(X),
    "incremental": lambda: mercer.IncrementalKernelPCA(3, n_landmarks=10).partial_fit(X),
    "generative": lambda: mercer.GenerativeKernelPCA(3).fit(X).sample(3),
    "deep": lambda: mercer.DeepGenerativeKernelPCA(layers=(3, 2)).fit(X).sample(2),
    "machine": lambda: mercer.RKMClassifier().fit(X, y).sample(2),
    "novelty": lambda: mercer.KernelNovelty().fit(X).contributions(X),
    "table": lambda: mercer.TableModel(mercer.KernelPCA(3)).fit(TABLE).denoise(TABLE),
    "curve": lambda: alternatives.PrincipalCurve(max_iter=2).fit(X[:20, :2]),
    "surface": lambda: alternatives.PrincipalSurface(max_iter=2).fit(X[:20]),
    "robust PCA": lambda: alternatives.RobustPCA().fit(X),
    "compat": lambda: compat.KernelPCA(3, fit_inverse_transform=True, kernel="rbf").fit(X),
}


@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_lapack_has_one_thread_beside_other_work(name, seen):
    ENTRIES[name]()
    assert set(seen) == {1}
    assert blas_threads() == 2  # and after it as many as before


def test_the_spy_sees_more(seen):
    np.linalg.eigh(np.eye(2))
    assert seen == [2]


def test_tiles_keep_their_threads(two_threads):
    assert blas_limited(n_threads)() == 2
    assert blas_limited(blas_threads)() == 1
    with threadpool_limits(1):  # a limit of the caller's
        assert blas_limited(n_threads)() == 1


def test_a_quiet_machine_gives_large_decompositions_all_threads(two_threads, monkeypatch):
    monkeypatch.setattr(_parallel, "_machine_is_quiet", lambda: True)

    def threads(n):
        with lapack_threads(n):
            return blas_threads()

    assert blas_limited(threads)(_parallel.SMALL) == 2
    assert blas_limited(threads)(_parallel.SMALL - 1) == 1


#: Fits of rows beyond SMALL, and the threads that LAPACK has in them on a quiet machine: a BLAS
#: thread spins for a tenth of a second after its work, beside tiles that want its core.
QUIET = {
    "landmarks": (mercer.KernelPCA(3, solver=Landmarks(40), random_state=0), {1}),
    "davidson": (mercer.KernelPCA(3, solver="davidson", random_state=0), {1}),
    "dense": (mercer.KernelPCA(3, solver="dense"), {1, 2}),
}


@pytest.mark.parametrize("name", QUIET)
def test_tiles_have_no_spinning_thread_beside(name, seen, monkeypatch):
    monkeypatch.setattr(_parallel, "_machine_is_quiet", lambda: True)
    model, threads = QUIET[name]
    model.fit(rng.standard_normal((_parallel.SMALL, 4)))
    assert set(seen) == threads


def test_an_error_gives_the_threads_back(two_threads):
    with pytest.raises(ZeroDivisionError):
        blas_limited(lambda: 1 / 0)()
    assert blas_threads() == 2
    assert n_threads() == 2


def test_callers_threads_may_leave_in_the_order_they_came(two_threads):
    """The limit is one of the whole process; the last to leave must not restore the first's."""
    entered, leave = Event(), Event()

    def other():
        with one_blas_thread():
            entered.set()
            leave.wait(10)

    thread = Thread(target=other)
    with one_blas_thread():
        thread.start()
        entered.wait(10)
    assert blas_threads() == 1
    leave.set()
    thread.join()
    assert blas_threads() == 2


@pytest.mark.parametrize("map_of", [_parallel.thread_map, _parallel.ordered_map])
def test_an_interrupt_leaves_no_item_at_work(map_of, two_threads):
    """What still ran would write to files and arrays that the caller has given up."""
    begun, ended = [], []

    def slow(item):
        begun.append(item)
        time.sleep(0.2 if item else 0.8)
        ended.append(item)

    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(KeyboardInterrupt):
            list(map_of(slow, range(6)))
        assert sorted(begun) == sorted(ended)
    finally:
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1000, "1 kB"), (3e5, "300 kB"), (2e6, "2 MB"),
     (2e9, "2 GB"), (float("inf"), "inf GB")],
)  # fmt: skip
def test_sizes_in_words(size, text):
    assert _parallel.size_text(size) == text
