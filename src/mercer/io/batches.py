"""Rows in batches, from anything that can be started again: databases, datasets, Spark."""

import hashlib
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.progress import announce
from mercer._base.types import Array, RowsLike
from mercer.exceptions import DataError
from mercer.io.arrays import table_shape
from mercer.points.source import Source, floating_type, warn_of_long

#: Rows of a pass are compared with those of an earlier one so many at a time.
EDGE = 16_384


def from_batches(
    make: Callable[[], Iterable[RowsLike]],
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
        what = f"from_batches takes a function that starts anew, not {type(make).__name__}"
        raise DataError(f"{what}; write from_batches(lambda: ...).")
    return BatchRows(make, n, columns)


class BatchRows(Source):
    """What :func:`from_batches` returns."""

    def __init__(
        self, make: Callable[[], Iterable[RowsLike]], n: int | None, columns: Sequence[str] | None
    ) -> None:
        self.make = make
        first = next((batch for _, batch in self._made()), None)
        if first is None:
            raise DataError("there is no batch; the query may be empty.")
        rows, own = _numbers(first), _names(first)
        self.dtype = floating_type(rows.dtype, "the first batch")
        self._names, self.columns = own, own if columns is None else tuple(map(str, columns))
        self._first = hashlib.sha256(rows[:256].tobytes()).hexdigest()
        width = table_shape(rows.shape, "the first batch")[1]
        if self.columns is not None and len(self.columns) != width:
            raise DataError(f"{len(self.columns)} names were given for {width} columns.")
        if own and own != self.columns and {*own} == {*(self.columns or ())}:
            raise DataError(f"batch 0 has columns {', '.join(own)}; give the names in that order.")
        #: Checksums of all rows up to some of them: those of every pass are the same.
        self._sums: dict[int, int] = {}
        self.shape = (0 if n is None else check_count("n", n), width)
        if n is None:
            self.shape = (sum(map(len, self._batches("count rows"))), width)

    def read(self, start: int, stop: int) -> Iterator[Array]:
        at, last = 0, np.empty(0)
        for rows in self._batches("read batches"):
            part = rows[max(start - at, 0) : max(stop - at, 0)]
            at += len(rows)
            if at < len(self) or stop < len(self):
                yield part
            else:
                last = part  # given when it is known that nothing follows
            if at >= stop and stop < len(self):
                return
        if at != len(self):
            counted = f"the batches hold {at} rows, and {len(self)} were expected"
            raise DataError(f"{counted}; leave n out, or keep the rows unchanged.")
        yield last

    def _made(self) -> Iterator[tuple[int, RowsLike]]:
        """Batches with rows in them, and their numbers."""
        made = self.make()
        if not isinstance(made, Iterable):
            kind = type(made).__name__
            raise DataError(f"the function returned {kind}; return a list or generator of batches.")
        return ((i, batch) for i, batch in enumerate(made) if _length(batch))

    def _batches(self, stage: str) -> Iterator[Array]:
        """Batches as numbers of one type, each with the columns of the first."""
        at, checksum = 0, 0
        for i, batch in self._made():
            announce(stage, i)
            rows = self._checked(batch, f"batch {i}")
            for part in np.split(rows, np.arange(EDGE - at % EDGE, len(rows) + 1, EDGE)):
                at, checksum = at + len(part), zlib.crc32(part.data, checksum)
                if at % EDGE == 0:
                    self._compare(at, checksum)
            yield rows
        self._compare(at, checksum)

    def _checked(self, batch: RowsLike, what: str) -> Array:
        """A copy, since the next batch may be written to the same memory."""
        rows, names = _numbers(batch), _names(batch)
        if rows.ndim != 2 or rows.shape[1] != self.shape[1]:
            raise DataError(f"{what} has shape {rows.shape}; give {self.shape[1]} columns.")
        if names and self._names and names != self._names:
            first = f"{what} has columns {', '.join(names)}, and the first {', '.join(self._names)}"
            raise DataError(f"{first}; select the same columns, in the same order, in every batch.")
        if floating_type(rows.dtype, what).itemsize > self.dtype.itemsize:
            raise DataError(f"{what} holds {rows.dtype}, and the first float32; make all alike.")
        if not self.told_of_long:
            self.told_of_long = warn_of_long(rows, self.columns)
        return np.array(rows, dtype=self.dtype, order="C")

    def _compare(self, at: int, checksum: int) -> None:
        if self._sums.setdefault(at, checksum) != checksum:
            changed = f"the first {at} rows are not those of an earlier pass"
            raise DataError(f"{changed}; keep them unchanged and in the same order: ORDER BY.")

    def fingerprint(self) -> str:
        return hashlib.sha256(repr((self.shape, self.columns, self._first)).encode()).hexdigest()


def _length(batch: RowsLike) -> int:
    """The number of rows; sparse ones, which are refused later, have no length."""
    return int(batch.shape[0] if hasattr(batch, "shape") else len(batch))


def _names(batch: RowsLike) -> tuple[str, ...] | None:
    """Names of the columns; the ``columns`` of an Arrow batch are its values."""
    names = getattr(batch, "column_names", getattr(batch, "columns", None))
    return None if names is None else tuple(map(str, names))


def _numbers(batch: RowsLike) -> Array:
    """A batch as an array; None and masked entries are missing values."""
    if isinstance(batch, np.ma.MaskedArray):
        batch = np.ma.filled(batch.astype(floating_type(batch.dtype, "a batch")), np.nan)
    rows = np.asarray(batch)
    if rows.dtype.kind != "O":
        return rows
    try:
        if text := [entry for entry in rows.flat if isinstance(entry, str | bytes)]:
            raise ValueError(f"{text[0]!r}, a text")  # NumPy would read digits in it
        return rows.astype(np.float64)
    except (TypeError, ValueError) as error:
        remedy = "select columns of numbers, or give the table to TableModel."
        raise DataError(f"a batch holds what is not a number ({error}); {remedy}") from error
