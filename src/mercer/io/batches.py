"""Rows in batches, from anything that can be started again: databases, datasets, Spark."""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.io.arrays import table_shape
from mercer.points.source import Source, floating_type, warn_of_long

#: Rows of a pass are compared with those of an earlier one so many at a time.
EDGE = 16_384

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
        Those of the first batch, if it has any, are taken if not given. Batches with names must
        have them in the same order.

    Returns
    -------
    Source
        Give it to ``fit`` and ``transform`` in place of an array.

    Notes
    -----
    One batch and one block of 16,384 rows are in memory at a time. A fit by landmarks reads the
    rows two or three times; rows that have changed, or come in another order, are refused.

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
        first = next((batch for _, batch in self._made()), None)
        if first is None:
            raise DataError("there is no batch; the query may be empty.")
        rows, self._names = _numbers(first), _names(first)
        self.dtype = floating_type(rows.dtype, "the first batch")
        names = self._names if columns is None else tuple(map(str, columns))
        self.columns = names
        self._first = hashlib.sha256(rows[:256].tobytes()).hexdigest()
        width = table_shape(rows.shape, "the first batch")[1]
        if names is not None and len(names) != width:
            raise DataError(f"{len(names)} names were given for {width} columns.")
        if names and self._names and names != self._names and set(names) == set(self._names):
            raise DataError(
                f"batch 0 has columns {', '.join(self._names)}, in another order than the names "
                "given; select them in that order."
            )
        #: Checksums of all rows up to some of them: those of every pass are the same.
        self._sums: dict[int, int] = {}
        self.shape = (0 if n is None else check_count("n", n), width)
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

    def _made(self) -> Iterator[tuple[int, Batch]]:
        """Batches with rows in them, and their numbers."""
        made = self.make()
        if not isinstance(made, Iterable):
            raise DataError(
                f"the function given to from_batches returned {type(made).__name__}; return a "
                "list or a generator of batches."
            )
        return ((i, batch) for i, batch in enumerate(made) if _length(batch))

    def _batches(self, stage: str) -> Iterator[Array]:
        """Batches as numbers of one type, each with the columns of the first."""
        at, checksum = 0, 0
        for i, batch in self._made():
            announce(stage, i)
            rows = self._checked(batch, f"batch {i}")
            edges = np.arange(EDGE - at % EDGE, len(rows) + 1, EDGE)
            for part in np.split(rows, edges):
                at, checksum = at + len(part), zlib.crc32(part.data, checksum)
                if at % EDGE == 0:
                    self._compare(at, checksum)
            yield rows
        self._compare(at, checksum)

    def _checked(self, batch: Batch, what: str) -> Array:
        """A copy, since the next batch may be written to the same memory."""
        rows, names = _numbers(batch), _names(batch)
        if rows.ndim != 2 or rows.shape[1] != self.shape[1]:
            raise DataError(
                f"{what} has shape {rows.shape}, and the first has {self.shape[1]} columns; "
                "select the same columns in every batch."
            )
        if names and self._names and names != self._names:
            raise DataError(
                f"{what} has columns {', '.join(names)}, and the first {', '.join(self._names)}; "
                "select the same columns, in the same order, in every batch."
            )
        if floating_type(rows.dtype, what).itemsize > self.dtype.itemsize:
            raise DataError(
                f"{what} holds {rows.dtype}, and the first float32, which would change numbers; "
                "make all batches of one type."
            )
        if not self.told_of_long:
            self.told_of_long = warn_of_long(rows, self.columns)
        return np.array(rows, dtype=self.dtype, order="C")

    def _compare(self, at: int, checksum: int) -> None:
        if self._sums.setdefault(at, checksum) != checksum:
            raise DataError(
                f"the first {at} rows are not those of an earlier pass; make sure that they do not "
                "change while they are read, and come in the same order: ORDER BY."
            )

    def fingerprint(self) -> str:
        return hashlib.sha256(repr((self.shape, self.columns, self._first)).encode()).hexdigest()


def _length(batch: Batch) -> int:
    """The number of rows; sparse ones, which are refused later, have no length."""
    return int(batch.shape[0] if hasattr(batch, "shape") else len(batch))


def _names(batch: Batch) -> tuple[str, ...] | None:
    """Names of the columns; the ``columns`` of an Arrow batch are its values."""
    names = getattr(batch, "column_names", getattr(batch, "columns", None))
    return None if names is None else tuple(map(str, names))


def _numbers(batch: Batch) -> Array:
    """A batch as an array; None and masked entries are missing values."""
    if isinstance(batch, np.ma.MaskedArray):
        batch = np.ma.filled(batch.astype(floating_type(batch.dtype, "a batch")), np.nan)
    rows = np.asarray(batch)
    if rows.dtype.kind != "O":
        return rows
    try:
        numbers = rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise DataError(
            f"a batch holds what is not a number ({error}); select columns of numbers, or give the "
            "table to TableModel."
        ) from error
    text = next((entry for entry in rows.flat if isinstance(entry, str | bytes)), None)
    if text is not None:
        raise DataError(
            f"a batch holds text ({text!r}), not a number; select columns of numbers, or give the "
            "table to TableModel."
        )
    return numbers
