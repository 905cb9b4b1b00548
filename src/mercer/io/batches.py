"""Rows in batches, from anything that can be started again: databases, datasets, Spark."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.io.arrays import table_shape
from mercer.points.source import Source, floating_type

#: A batch as people have it: an array, a data frame, an Arrow batch, or a list of tuples.
Batch = Any


def from_batches(
    make: Callable[[], Iterable[Batch]],
    *,
    n: int | None = None,
    columns: Sequence[str] | None = None,
) -> Source:
    """Rows of a database, an Arrow dataset, Spark, or a generator, to be read in blocks.

    Parameters
    ----------
    make : callable
        Starts from the first row each time it is called, and returns batches of any length, always
        in the same order: (b, d) arrays, data frames, Arrow's record batches, or lists of tuples,
        such as a cursor gives.
    n : int, optional
        Number of rows, if it is known; counted in one pass if not.
    columns : names, optional
        Those of the first batch, if it has any, are taken if not given.

    Returns
    -------
    Source
        Give it to ``fit`` and ``transform`` in place of an array.

    Notes
    -----
    One batch and one block of 16,384 rows are in memory at a time. A fit by landmarks reads the
    rows two or three times, and ``fit`` refuses rows that have changed between.

    Examples
    --------
    >>> import sqlite3
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.io import from_batches
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("create table readings (speed real, load real)")
    >>> readings = np.random.default_rng(0).standard_normal((500, 2)).tolist()
    >>> _ = database.executemany("insert into readings values (?, ?)", readings)
    >>> def batches():
    ...     cursor = database.execute("select speed, load from readings order by rowid")
    ...     return iter(lambda: cursor.fetchmany(100), [])
    >>> rows = from_batches(batches, columns=["speed", "load"])
    >>> rows.shape
    (500, 2)
    >>> KernelPCA(3).fit(rows).transform(rows).shape
    (500, 3)
    >>> database.close()
    """
    if not callable(make):
        raise DataError(
            f"from_batches takes a function that starts anew, not {type(make).__name__}, which "
            "is used up after one pass; write from_batches(lambda: ...)."
        )
    return BatchRows(make, n, columns)


class BatchRows(Source):
    """What :func:`from_batches` returns."""

    def __init__(
        self, make: Callable[[], Iterable[Batch]], n: int | None, columns: Sequence[str] | None
    ) -> None:
        self.make = make
        first = next(iter(make()), None)
        if first is None:
            raise DataError("there is no batch; the query may be empty.")
        rows = _numbers(first)
        self.dtype = floating_type(rows.dtype, "the first batch")
        # Of an Arrow batch the columns are the values.
        named = getattr(first, "column_names", getattr(first, "columns", None))
        names = named if columns is None else columns
        self.columns = None if names is None else tuple(map(str, names))
        self._first = hashlib.sha256(rows[:256].tobytes()).hexdigest()
        width = table_shape(rows.shape, "the first batch")[1]
        if self.columns is not None and len(self.columns) != width:
            raise DataError(f"{len(self.columns)} names were given for {width} columns.")
        self.shape = (0 if n is None else n, width)
        if n is None:
            self.shape = (sum(map(len, self._batches("count rows"))), width)

    def read(self, start: int, stop: int) -> Iterator[Array]:
        at, last = 0, None
        for rows in self._batches("read batches"):
            low, high = max(start - at, 0), min(stop - at, len(rows))
            at += len(rows)
            if low < high and (at < stop or stop < len(self)):
                yield rows[low:high]
            elif low < high:
                last = rows[low:high]  # given when it is known that nothing follows
            if at >= stop and stop < len(self):
                return
        if at != len(self):
            raise DataError(
                f"the batches hold {at} rows, and {len(self)} were expected; leave n out, or make "
                "sure that the rows do not change while they are read."
            )
        if last is not None:
            yield last

    def _batches(self, stage: str) -> Iterator[Array]:
        """Batches as numbers, each as wide as the first."""
        for i, batch in enumerate(self.make()):
            announce(stage, i)
            rows = _numbers(batch)
            if rows.ndim != 2 or rows.shape[1] != self.shape[1]:
                raise DataError(
                    f"batch {i} has shape {rows.shape}, and the first has {self.shape[1]} columns; "
                    "select the same columns in every batch."
                )
            yield rows

    def fingerprint(self) -> str:
        return hashlib.sha256(repr((self.shape, self.columns, self._first)).encode()).hexdigest()


def _numbers(batch: Batch) -> Array:
    """A batch as an array; None is a missing value."""
    rows = np.asarray(batch)
    if rows.dtype.kind != "O":
        return rows
    try:
        return rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a batch holds what is not a number ({error}); select columns of numbers, or give the "
            "table to TableModel."
        ) from error
