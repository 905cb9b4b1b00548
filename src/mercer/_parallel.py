"""Threads over tiles, with BLAS held at one thread.

Small matrix products are slower with several BLAS threads than with one, and NumPy releases the
GIL inside ``dot`` and ``exp``; so the parallelism is ours, over tiles, and BLAS stays single.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import TypeVar

from joblib import cpu_count
from threadpoolctl import ThreadpoolController

__all__ = [
    "blocks",
    "hold_blas",
    "lapack_threads",
    "n_threads",
    "one_blas_thread",
    "ordered_map",
    "split_evenly",
    "thread_map",
]

#: Matrices of fewer rows gain nothing from a second BLAS thread.
SMALL = 600

#: Threads before :func:`lapack_threads` held BLAS back; a limit of the caller's is respected.
_before_our_limit: ContextVar[int | None] = ContextVar("mercer_threads", default=None)

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads() -> int:
    """Threads to use: the cores we may run on, or the BLAS limit that the caller has set."""
    ours = _before_our_limit.get()
    if ours is not None:
        return ours
    blas = [pool["num_threads"] for pool in _blas_pools().info()]
    return max(1, int(min([_cores(), *blas])))


def thread_map(
    function: Callable[[Item], Result], items: Sequence[Item], threads: int | None = None
) -> list[Result]:
    """``[function(i) for i in items]`` in threads, in order, with one BLAS thread each.

    Inside another map BLAS is at one thread already, so that nested maps run in their thread.
    """
    workers = min(threads or n_threads(), len(items))
    with one_blas_thread():
        if workers <= 1:
            return [function(item) for item in items]
        futures = [_pool(workers).submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        except BaseException:
            # After an error or Ctrl-C the waiting items must not run to the end first.
            for future in futures:
                future.cancel()
            wait(futures)
            raise


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int | None = None
) -> Iterator[Result]:
    """The results in order, one at a time, computed in threads only a little ahead of their use.

    The items may come from a generator: the next one is fetched while the threads work.
    """
    workers = threads or n_threads()
    with one_blas_thread():
        if workers <= 1:
            yield from map(function, items)
            return
        pool = ThreadPoolExecutor(workers)
        try:
            source = iter(items)
            ahead = deque(pool.submit(function, item) for item in islice(source, workers))
            for item in source:
                ahead.append(pool.submit(function, item))
                yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS at one thread inside the block."""
    with _blas_pools().limit(limits=1):
        yield


@contextmanager
def lapack_threads(n: int) -> Iterator[None]:
    """Around LAPACK and BLAS on matrices of n rows: all threads on a quiet machine, else one.

    A BLAS thread that waits for another spins. Where other work runs beside, the other one waits
    for its core, and the decomposition of 1,500 rows takes four times the time and eight times the
    processor of a single thread. Tiles keep their threads: they never wait for each other.
    """
    threads = n_threads()
    alone = threads > 1 and n >= SMALL and _machine_is_quiet()
    token = _before_our_limit.set(threads)
    try:
        with _blas_pools().limit(limits=threads if alone else 1):
            yield
    finally:
        _before_our_limit.reset(token)


def hold_blas() -> None:
    """Hold BLAS at one thread from now on, in a process whose tasks are the parallelism."""
    _blas_pools().limit(limits=1)


def blocks(n: int, size: int) -> list[slice]:
    """Consecutive slices of at most ``size`` that cover ``range(n)``, near-equal in length."""
    count = -(-n // size)
    edges = [n * i // count for i in range(count + 1)] if count else [0]
    return [slice(a, b) for a, b in pairwise(edges)]


def split_evenly(items: Sequence[Item], parts: int) -> list[list[Item]]:
    """Deal items that shrink or grow in cost to ``parts`` hands: there and back, like a snake.

    The deal depends on the number of parts only, never on timing, so that sums over a hand are
    the same in every run.
    """
    hands: list[list[Item]] = [[] for _ in range(parts)]
    for i, item in enumerate(items):
        lap, seat = divmod(i, parts)
        hands[seat if lap % 2 == 0 else parts - 1 - seat].append(item)
    return [hand for hand in hands if hand]


def _machine_is_quiet() -> bool:
    """Whether no more than this thread and one passer-by want a core at this moment."""
    try:
        runnable = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[0])
    except (OSError, ValueError, IndexError):  # not Linux
        return hasattr(os, "getloadavg") and os.getloadavg()[0] < 0.5
    return runnable <= max(1, _cores() // 2)


@cache
def _cores() -> int:
    # Reading the limits of a container takes half a millisecond: once per process.
    return int(cpu_count())


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    # Starting threads costs a millisecond, as much as a whole product with a small matrix.
    return ThreadPoolExecutor(workers, thread_name_prefix="mercer")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


@cache
def _blas_pools() -> ThreadpoolController:
    # Scanning the loaded libraries costs milliseconds: once per process.
    import scipy.linalg  # noqa: F401  so that SciPy's BLAS is among them

    return ThreadpoolController().select(user_api="blas")
