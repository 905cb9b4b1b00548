"""Rows in dask collections: read, mapped and added up where they are.

A partition is one task. The sums of a fixed number of partitions are added in a tree of fixed shape
on the workers, and the trees' tops in order here: neither the number of workers nor the loss of one
changes a bit of the result, because dask computes a lost task again. Checksums of the partitions
see to it that passes over different data never meet in one fit.
"""

import hashlib
import zlib
from asyncio import CancelledError
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from mercer._base.machine import blocks, one_blas_thread
from mercer._base.optional import require
from mercer._base.progress import announce
from mercer._base.types import Array, Names, Precision
from mercer.exceptions import DataError
from mercer.points.crew import Crew
from mercer.points.source import CHUNK, Result, Source, check_finite, floating_type

#: Partitions whose sums come back as one part; after each the checkpoint may be written.
BATCH = 64
#: Branches of the tree in which they are added.
FAN_IN = 8
#: Seconds after which a client that waits looks whether there is a scheduler.
PATIENCE = 5.0


class DaskRows(Source):
    """A dask array (n, d) or data frame.

    Works with whatever scheduler dask uses: threads, a ``LocalCluster``, or the cluster of an
    existing ``distributed.Client``. Partitions should be read from files inside their tasks: data
    that a client has scattered are lost with the worker that holds them.
    """

    def __init__(self, collection: Any) -> None:
        self._dask = require("dask", "cluster")
        if hasattr(collection, "to_dask_array"):
            self.columns = tuple(map(str, collection.columns))
            collection = collection.to_dask_array(lengths=True)
        elif any(np.isnan(side) for side in collection.shape):
            collection = collection.compute_chunk_sizes()
        kind = floating_type(collection.dtype, "the dask collection")
        self.collection = collection.rechunk({1: -1}).astype(kind)
        self.dtype = kind
        self.shape = (int(collection.shape[0]), int(collection.shape[1]))
        edges = np.concatenate([[0], np.cumsum(self.collection.chunks[0])]).tolist()
        self._partitions = [slice(a, b) for a, b in pairwise(edges)]
        #: Checksums of partitions: those of every pass are the same.
        self._sums: dict[int, int] = {}

    def read(self, start: int, stop: int) -> Iterator[Array]:
        for i, rows in enumerate(self._partitions):
            low, high = max(start, rows.start), min(stop, rows.stop)
            if low < high:
                block = self._compute(self.collection[low:high])
                if high - low == rows.stop - rows.start:
                    self._compare({i: _checksum(block)})
                yield block

    def gather(self, index: Array) -> Array:
        task = self._dask.delayed(_gathered, pure=False)
        cuts = np.searchsorted(index, [rows.start for rows in self._partitions[1:]])
        own = zip(self._partitions, np.split(index, cuts), self._parts(), strict=True)
        lazy = {
            i: task(part, some - rows.start)
            for i, (rows, some, part) in enumerate(own)
            if len(some)
        }
        done = self._compute(self._dask.delayed(lazy))
        self._compare({i: checksum for i, (_, checksum) in done.items()})
        nothing = np.empty((0, self.width), self.dtype)
        rows = np.concatenate([nothing, *(block for block, _ in done.values())])
        check_finite(rows, 0, self.columns, lambda row: f"row {index[row]}")
        return rows

    def left(self, index: Array) -> Source:
        return DaskRows(self.collection[index])

    def fingerprint(self) -> str:
        digest = hashlib.sha256(repr((self.shape, self.dtype, self.collection.chunks)).encode())
        for start in (0, max(len(self) - 256, 0)):
            digest.update(self[start : start + 256].tobytes())
        return digest.hexdigest()

    @property
    def n_steps(self) -> int:
        return -(-len(self._partitions) // BATCH)

    def map_steps(
        self, function: Callable[[slice, Array], Result], first: int = 0
    ) -> Iterator[Result]:
        """The sum of ``function(rows, block)`` over batch after batch of partitions, in order."""
        task = self._dask.delayed(_on_partition, pure=False)
        total = self._dask.delayed(_total, pure=False)
        shared = self._dask.delayed(function)  # sent to each worker once, not with every task
        starts = [rows.start for rows in self._partitions]
        pairs = enumerate(zip(starts, self._parts(), strict=True))
        parts = [task(shared, i, start, part, self.columns) for i, (start, part) in pairs]
        for batch in range(first, self.n_steps):
            done = self._compute(_tree(total, parts[batch * BATCH : (batch + 1) * BATCH]))
            self._compare(done.checksums)
            yield done.total

    def apply(self, function: Callable[[Array], Array], width: int, dtype: Precision) -> Any:
        """A lazy dask array of ``function(block)``, computed where the rows are."""
        if width:
            chunks = (self.collection.chunks[0], (width,))
            return self.collection.map_blocks(_single, function, dtype=dtype, chunks=chunks)
        return self.collection.map_blocks(_single, function, dtype=dtype, drop_axis=1)

    def crew(self) -> Crew | None:
        client = self._client()
        return None if client is None else DaskCrew(client)

    @property
    def cores(self) -> int:
        client = self._client()
        return 0 if client is None else sum(client.nthreads().values())

    def _parts(self) -> list[Any]:
        """The partitions as tasks."""
        return list(self.collection.to_delayed()[:, 0])

    def _compare(self, checksums: dict[int, int]) -> None:
        for i, checksum in checksums.items():
            if self._sums.setdefault(i, checksum) != checksum:
                rows = self._partitions[i]
                raise DataError(
                    f"partition {i}, rows {rows.start} to {rows.stop - 1}, has changed since it "
                    "was read before; put the old data back, or make sure that its task always "
                    "returns the same rows. A checkpoint of the fit is kept."
                )

    def _client(self) -> Any:
        """The client of a cluster, if dask works with one."""
        if self._dask.config.get("scheduler", None) not in (None, "dask.distributed"):
            return None
        try:
            return require("distributed", "cluster").default_client()
        except (ImportError, ValueError):
            return None

    def _compute(self, lazy: Any) -> Any:
        with one_blas_thread(), _failures():  # for schedulers that work in this process
            return lazy.compute()


class DaskCrew(Crew):
    """The workers of a dask cluster: what they share and keep are tasks, which dask can repeat.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client

    def share(self, values: Sequence[Any]) -> list[Any]:
        # Inside tasks, and so with the scheduler: what is scattered is lost with its worker.
        config = require("dask", "cluster").config
        with config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
            return self.keep(_same, values)

    lend = share

    def keep(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        self._check()
        with _failures():
            rows = zip(*columns, strict=True)
            return [self._client.submit(_alone, function, *row, pure=False) for row in rows]

    def map(self, function: Callable[..., Any], *columns: Sequence[Any]) -> Iterator[Any]:
        futures = self.keep(function, *columns)[::-1]
        while futures:
            yield self._result(futures.pop())

    def add(
        self,
        function: Callable[..., tuple[Array, Array]],
        places: Sequence[tuple[int, int]],
        *columns: Sequence[Any],
    ) -> Iterator[tuple[int, Array]]:
        """The sum for each place, added by the workers in a tree of fixed shape."""
        both = self.keep(function, *columns)
        parts: dict[int, list[tuple[Any, int]]] = {}
        for (i, j), future in zip(places, both, strict=True):
            for side, place in enumerate((i, j)[: 1 + (i != j)]):
                parts.setdefault(place, []).append((future, side))
        sums = {place: self._sum(some) for place, some in parts.items()}
        for done, future in enumerate(both):
            self._wait(future)
            announce("tiles", done + 1, len(both))
        del both, parts
        for place in list(sums):
            yield place, self._result(sums.pop(place))

    def _result(self, future: Any) -> Any:
        self._wait(future)
        with _failures():
            return future.result()

    def _wait(self, future: Any) -> None:
        """Wait for the result, but not for a scheduler that is gone."""
        wait = require("distributed", "cluster").wait
        while not future.done():
            with suppress(TimeoutError), _failures():
                wait(future, timeout=PATIENCE)
            self._check()

    def _check(self) -> None:
        if self._client.status != "running":
            raise _gave_up(f"the scheduler is gone, the client is {self._client.status}")

    def _sum(self, parts: Sequence[tuple[Any, int]]) -> Any:
        """Of halves of results, each with its side, in a tree of fixed shape."""
        # To take the halves apart by tasks of their own made three times as many tasks.
        groups = [
            list(zip(*parts[i : i + FAN_IN], strict=True)) for i in range(0, len(parts), FAN_IN)
        ]
        return _tree(self._total, self.keep(_halves, *map(list, zip(*groups, strict=True))))

    def _total(self, parts: Sequence[Any]) -> Any:
        return self.keep(_total, [parts])[0]


@contextmanager
def _failures() -> Iterator[None]:
    """dask's message when a cluster gives up, with a remedy."""
    try:
        yield
    except (Exception, CancelledError) as error:
        if type(error).__module__.partition(".")[0] != "distributed" and not isinstance(
            error, CancelledError
        ):
            raise
        raise _gave_up(f"{type(error).__name__}: {error}") from error


def _gave_up(reason: str) -> RuntimeError:
    return RuntimeError(
        f"the cluster gave up ({reason}); fix it and fit again: with checkpoint=... of the solver "
        "the fit continues where it stopped."
    )


def _same(value: Any) -> Any:
    return value


def _alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call the function with one BLAS thread: the tasks run in parallel."""
    with one_blas_thread():
        return function(*arguments)


@dataclass(frozen=True)
class _Sum:
    """What partitions add up to, and a checksum of each."""

    total: Any
    checksums: dict[int, int]

    def __add__(self, other: "_Sum") -> "_Sum":
        return _Sum(self.total + other.total, self.checksums | other.checksums)


def _on_partition(
    function: Callable[..., Any], number: int, start: int, partition: Array, columns: Names | None
) -> _Sum:
    """The sum of the function over the chunks of a partition."""
    partition = np.ascontiguousarray(partition)
    check_finite(partition, start, columns, lambda row: f"row {row}")
    chunks = blocks(len(partition), CHUNK) or [slice(0, 0)]
    places = [slice(start + rows.start, start + rows.stop) for rows in chunks]
    parts = map(function, places, (partition[rows] for rows in chunks))
    return _Sum(_alone(_total, parts), {number: _checksum(partition)})


def _gathered(partition: Array, index: Array) -> tuple[Array, int]:
    """Some rows of a partition, and a checksum of all."""
    return partition[index], _checksum(partition)


def _checksum(partition: Array) -> int:
    return zlib.crc32(np.ascontiguousarray(partition).data)


def _tree(total: Callable[[Sequence[Any]], Any], parts: Sequence[Any]) -> Any:
    """The sum of all parts, in a tree of fixed shape."""
    while len(parts) > 1:
        parts = [total(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
    return parts[0]


def _total(parts: Iterable[Any]) -> Any:
    return reduce(add, parts)


def _halves(both: Sequence[tuple[Any, Any]], sides: Sequence[int]) -> Any:
    """The sum of one half of each."""
    return _total(pair[side] for pair, side in zip(both, sides, strict=True))


def _single(block: Array, function: Callable[[Array], Array]) -> Array:
    return np.asarray(_alone(function, np.ascontiguousarray(block)))
