"""What the machine has: free memory, and threads over tiles with BLAS limited to one.

Small matrix products are slower with several BLAS threads than with one, and NumPy releases the
GIL inside ``dot`` and ``exp``; so the parallelism is ours, over tiles, and BLAS stays single: every
method of our estimators is :func:`blas_limited`. Large decompositions alone ask for more, and get
it where nobody else wants the cores (:func:`lapack_threads`).
"""

import functools
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, suppress
from contextvars import ContextVar
from itertools import pairwise
from pathlib import Path
from threading import Lock, Thread
from typing import Any, ParamSpec, TypeVar

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

# How much memory this process may still take, and bytes in words.


def available_bytes() -> int:
    """Free memory in bytes: the machine's, or less where a container limits us.

    ``MERCER_MEMORY`` (bytes) overrides it.
    """
    override = os.environ.get("MERCER_MEMORY")
    return int(float(override)) if override else min(_machine_available(), _container_available())


def peak_bytes() -> int:
    """The most that this process has held so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


def size_text(size: float) -> str:
    """Bytes as people write them."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"


#: Seconds from which on a person wants to know before how long something takes.
LONG = 5.0


def time_text(seconds: float) -> str:
    """An estimate of time as people say it."""
    if seconds < 1:
        return "less than a second"
    if seconds < 100:
        return f"about {seconds:.2g} s"
    minutes = seconds / 60
    return f"about {minutes:.2g} min" if minutes < 100 else f"about {minutes / 60:.2g} h"


def _machine_available() -> int:
    with suppress(OSError), Path("/proc/meminfo").open("rb") as lines:  # Linux
        for line in lines:
            if line.startswith(b"MemAvailable:"):
                return int(line.split()[1]) * 1024
    try:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2)
    except (AttributeError, OSError, ValueError):
        return 4 << 30  # Windows has no sysconf: assume a small machine


def _container_available() -> int:
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        used = int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):  # no cgroup, or "max"
        return 1 << 62
    return max(limit - used, 0)


#: Matrices of fewer rows gain nothing from a second BLAS thread.
SMALL = 600

#: Threads before we held BLAS back; a limit of the caller's is respected.
_before_our_limit: ContextVar[int | None] = ContextVar("mercer_threads", default=None)

Item = TypeVar("Item")
Result = TypeVar("Result")
P = ParamSpec("P")


def n_threads() -> int:
    """Threads to use: the cores we may run on, or the BLAS limit that the caller has set."""
    if (ours := _before_our_limit.get()) is not None:
        return ours
    blas = [pool["num_threads"] for pool in _blas_pools().info()]
    return max(1, int(min([_cores(), *blas])))


def thread_map(function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """``[function(i) for i in items]`` in threads, in order, with one BLAS thread each.

    A map inside another one runs in its thread.
    """
    return list(_in_threads(function, items, len(items)))


def ordered_map(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """The results in order, one at a time, computed in threads only a little ahead of their use.

    The items may come from a generator: the next one is fetched while the threads work.
    """
    return _in_threads(function, items, n_threads())


def _in_threads(
    function: Callable[[Item], Result], items: Iterable[Item], ahead: int
) -> Iterator[Result]:
    """The results in order; at most ``ahead`` are computed before they are asked for."""
    workers = min(n_threads(), ahead)
    with one_blas_thread():
        if workers <= 1:
            yield from map(function, items)
            return
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(_pool(workers).submit(function, item))
                if len(waiting) > ahead:
                    wait([waiting[0]])  # which Ctrl-C may end: it is among those below until then
                    yield waiting.popleft().result()
            while waiting:
                wait([waiting[0]])
                yield waiting.popleft().result()
        finally:
            # After an error or Ctrl-C the waiting items must not run to the end first, and none
            # may still write to what the caller gives up.
            for future in waiting:
                future.cancel()
            wait(waiting)


def one_blas_thread() -> AbstractContextManager[None]:
    """Limit BLAS to one thread inside the block."""
    return _LIMITS.at(1)


def blas_limited(function: Callable[P, Result]) -> Callable[P, Result]:
    """The function with BLAS at one thread and tiles at all; :func:`lapack_threads` asks for more.

    A BLAS thread that waits for another spins. Where other work runs beside, the other one waits
    for its core: 200 small decompositions took 31 times the processor time of a single thread.
    """
    return lapack_threads(0)(function)  # of no rows: BLAS at one


@contextmanager
def lapack_threads(n: int) -> Iterator[None]:
    """Around LAPACK and BLAS on matrices of n rows: all threads on a quiet machine, else one.

    Beside other work the decomposition of 1,500 rows takes four times the time and eight times the
    processor of a single thread. Tiles keep their threads: they never wait for each other. A thread
    of OpenBLAS spins for a tenth of a second after its work, beside tiles that come next: around a
    whole fit of 5,000 rows by Davidson, 0.20 s in the place of 0.12. So around the one call only.
    """
    threads = n_threads()
    alone = threads > 1 and n >= SMALL and _machine_is_quiet()
    token = _before_our_limit.set(threads)
    try:
        with _LIMITS.at(threads if alone else 1):
            yield
    finally:
        _before_our_limit.reset(token)


class _Limits:
    """The limits on BLAS that are in force; the last one counts.

    BLAS has one limit for the whole process, and threads of the caller's enter and leave in any
    order: each takes back its own, and after the last all is as it was before the first.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.entered: dict[object, int] = {}
        self.before: list[int] = []
        self.applied: int | None = None

    @contextmanager
    def at(self, threads: int) -> Iterator[None]:
        libraries, mine = _blas_pools().lib_controllers, object()
        with self.lock:
            if not self.entered:
                self.before = [library.get_num_threads() for library in libraries]
            self.entered[mine] = threads
            self._apply(libraries)
        try:
            yield
        finally:
            with self.lock:
                del self.entered[mine]
                self._apply(libraries)

    def _apply(self, libraries: list[Any]) -> None:
        last = next(reversed(self.entered.values()), None)
        if last == self.applied:  # to ask a library costs as much as a small tile
            return
        self.applied = last
        for library, before in zip(libraries, self.before, strict=True):
            # Newer threadpoolctl listens to the thread that came first, and to no other.
            free = getattr(library, "clear_controlling_thread", lambda **_: None)
            free(force=True)
            library.set_num_threads(before if last is None else last)
            free(force=True)

    def after_fork(self) -> None:
        """The thread that held the lock may not be there any more."""
        self.lock = Lock()


_LIMITS = _Limits()


def blocks(n: int, size: int) -> list[slice]:
    """Consecutive slices of at most ``size`` that cover ``range(n)``, near-equal in length."""
    count = -(-n // size)
    edges = [n * i // count for i in range(count + 1)] if count else [0]
    return [slice(a, b) for a, b in pairwise(edges)]


def _machine_is_quiet() -> bool:
    """Whether no more than this thread and one passer-by want a core at this moment."""
    try:
        runnable = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):  # not Linux
        return hasattr(os, "getloadavg") and os.getloadavg()[0] < 0.5
    return runnable <= max(1, _cores() // 2)


@functools.cache
def _cores() -> int:
    # Reading the limits of a container takes half a millisecond: once per process.
    try:
        Thread(target=int).start()
    except RuntimeError:  # a Python in a browser has one thread
        return 1
    return int(cpu_count())


@functools.cache
def _pool(workers: int) -> ThreadPoolExecutor:
    # Starting threads costs a millisecond, as much as a whole product with a small matrix. Maps
    # within a map see one thread, whatever BLAS has: they must not wait for the pool they are in.
    return ThreadPoolExecutor(workers, "mercer", _before_our_limit.set, (1,))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork
    os.register_at_fork(after_in_child=_LIMITS.after_fork)


@functools.cache
def _blas_pools() -> ThreadpoolController:
    # Scanning the loaded libraries costs milliseconds: once per process.
    import scipy.linalg  # noqa: F401  so that SciPy's BLAS is among them

    return ThreadpoolController().select(user_api="blas")
