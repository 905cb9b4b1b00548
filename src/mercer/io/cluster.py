"""Rows in dask collections: read, mapped and added up where they are.

A partition is one task. The sums of a fixed number of partitions are added in a tree of fixed shape
on the workers, and the trees' tops in order here: neither the number of workers nor the loss of one
changes a bit of the result, because dask computes a lost task again.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np

from mercer._base.machine import blocks, hold_blas, one_blas_thread
from mercer._base.optional import require
from mercer._base.types import Array, Names, Precision
from mercer.points.source import CHUNK, Result, Source, check_finite, floating_type

#: Partitions whose sums come back as one part; after each the checkpoint may be written.
BATCH = 64
#: Branches of the tree in which they are added.
FAN_IN = 8


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

    def read(self, start: int, stop: int) -> Iterator[Array]:
        for rows in self._partitions:
            low, high = max(start, rows.start), min(stop, rows.stop)
            if low < high:
                yield self._compute(self.collection[low:high])

    def gather(self, index: Array) -> Array:
        found = np.asarray(self._compute(self.collection[index]))
        check_finite(found, 0, self.columns, lambda row: f"row {index[row]}")
        return found

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
        shared = self._dask.delayed(function)  # sent to each worker once, not with every task
        starts = [rows.start for rows in self._partitions]
        pairs = zip(starts, self.collection.to_delayed()[:, 0], strict=True)
        parts = [task(shared, start, part, self.columns) for start, part in pairs]
        for batch in range(first, self.n_steps):
            yield self._compute(self._tree(parts[batch * BATCH : (batch + 1) * BATCH]))

    def apply(self, function: Callable[[Array], Array], width: int, dtype: Precision) -> Any:
        """A lazy dask array of ``function(block)``, computed where the rows are."""
        if width:
            chunks = (self.collection.chunks[0], (width,))
            return self.collection.map_blocks(_single, function, dtype=dtype, chunks=chunks)
        return self.collection.map_blocks(_single, function, dtype=dtype, drop_axis=1)

    def _tree(self, parts: Sequence[Any]) -> Any:
        total = self._dask.delayed(_total, pure=False)
        while len(parts) > 1:
            parts = [total(parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        return parts[0]

    def _compute(self, lazy: Any) -> Any:
        with one_blas_thread():  # for schedulers that work in this process
            try:
                return lazy.compute()
            except Exception as error:
                if type(error).__module__.partition(".")[0] != "distributed":
                    raise
                raise RuntimeError(
                    f"the cluster gave up ({type(error).__name__}: {error}); fix it and fit "
                    "again: with Landmarks(checkpoint=...) the fit continues where it stopped."
                ) from error


def _on_partition(
    function: Callable[..., Any], start: int, partition: Array, columns: Names | None
) -> Any:
    """The sum of the function over the chunks of a partition."""
    _hold_blas_on_worker()
    partition = np.ascontiguousarray(partition)
    check_finite(partition, start, columns, lambda row: f"row {row}")
    chunks = blocks(len(partition), CHUNK) or [slice(0, 0)]
    places = [slice(start + rows.start, start + rows.stop) for rows in chunks]
    return _total(map(function, places, (partition[rows] for rows in chunks)))


def _total(parts: Iterable[Any]) -> Any:
    return reduce(add, parts)


def _single(block: Array, function: Callable[[Array], Array]) -> Array:
    _hold_blas_on_worker()
    return function(np.ascontiguousarray(block))


@cache
def _hold_blas_on_worker() -> None:
    """One BLAS thread in a worker's process, for good: the tasks are the parallelism there."""
    try:
        from distributed import get_worker

        get_worker()
    except (ImportError, ValueError):  # not on a worker: the caller holds BLAS
        return
    hold_blas()
