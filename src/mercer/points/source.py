"""The role of a row source: a table that lives elsewhere and is read in blocks.

It looks like a two-dimensional array as far as fitting needs one (``len``, ``shape``, ``dtype``,
slices and sorted index arrays), and it hands its rows to a function in a fixed order of chunks, so
that sums over all rows do not depend on threads, files or workers.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from mercer._base.files import FileWatch
from mercer._base.machine import blocks, ordered_map
from mercer._base.types import Array, Precision, Rows
from mercer.exceptions import DataError, Remedy, argument, warn
from mercer.points.points import Points, as_points

#: Rows per chunk. Fixed, because the order of summation must not depend on threads or workers.
CHUNK = 16_384
#: Fewer rows are summed in so many parts, for threads to share, of so many rows at least.
PARTS, FEWEST = 8, 512

#: Beyond this float64 does not hold every whole number.
LONGEST = 2**53

Result = TypeVar("Result")


class Source(Points):
    """Rows in some storage. Every block that it gives is floating and finite, or it raises.

    Attributes
    ----------
    shape : (n, d)
    dtype : float32 where the storage holds float32, else float64
    columns : names of the columns, or None
    allow_nan : whether blocks may hold NaN, for values that are missing; infinities never
    watch : on the files that must not change while they are read, if there are any
    """

    ndim = 2
    has_coordinates = can_wait = True
    is_here = False
    shape: tuple[int, int]
    dtype: np.dtype
    columns: tuple[str, ...] | None = None
    allow_nan: bool = False
    watch: FileWatch = FileWatch(())
    #: Whether it was said that whole numbers are too long; once is enough.
    told_of_long = False

    @abstractmethod
    def read(self, start: int, stop: int) -> Iterator[Array]:
        """The rows from start to stop in pieces of any length, as the storage gives them best."""

    @abstractmethod
    def fingerprint(self) -> str:
        """A short text that changes with the data, from a look at a small part of them."""

    @property
    def rows(self) -> Source:
        """These, for kernels that look at their size."""
        return self

    @property
    def width(self) -> int:  # type: ignore[override]
        """Numbers in a row."""
        return self.shape[1]

    def take(self, index: Array | slice) -> Points:
        return as_points(self[index])  # type: ignore[no-any-return]

    def left(self, index: Array) -> Points:
        return SomeRows(self, index)

    def joined(self, *others: Points) -> Points:
        return self.loaded().joined(*others)

    def loaded(self) -> Points:
        return self.take(slice(None))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Any:
        """A slice of rows, or rows by increasing numbers, as an array."""
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step != 1:
                raise IndexError("rows are read forwards, one after the other; give a step of 1.")
            if start >= stop:
                return np.empty((0, self.shape[1]), dtype=self.dtype)
            return next(block for _, block in self.stream([slice(start, stop)]))
        return self.gather(np.asarray(rows))

    def __array__(self, dtype: Precision = None, copy: Any = None) -> Array:
        rows = f"{type(self).__name__} of {len(self)} rows"
        raise TypeError(f"{rows} is not made an array in silence; use rows[:] to load it.")

    def gather(self, index: Array) -> Array:
        """The rows with these increasing numbers; one pass over the storage."""
        gathered = np.empty((len(index), self.shape[1]), dtype=self.dtype)
        if len(index) == 0:
            return gathered
        chunks = blocks(len(self), CHUNK)
        needed = [s for s in chunks if s.stop > index[0] and s.start <= index[-1]]
        for rows, block in self.stream(needed):
            first, last = np.searchsorted(index, [rows.start, rows.stop])
            gathered[first:last] = block[index[first:last] - rows.start]
        return gathered

    def stream(self, chunks: Sequence[slice]) -> Iterator[tuple[slice, Array]]:
        """Checked blocks for consecutive chunks; only one at a time is in memory."""
        if not chunks:
            return
        try:
            pieces = self.read(chunks[0].start, chunks[-1].stop)
            for rows, block in zip(chunks, reblock(pieces, chunks), strict=True):
                self.told_of_long = self.told_of_long or warn_of_long(block, self.columns)
                block = np.ascontiguousarray(block, dtype=self.dtype)
                check_finite(block, rows.start, self.columns, self.place, self.allow_nan)
                self.watch.check(now=rows is chunks[-1])
                yield rows, block
        except Exception:
            self.watch.check()  # if the file changed, that is the reason to name
            raise

    @property
    def n_steps(self) -> int:
        """Number of parts that :meth:`map_steps` gives."""
        return len(_steps(len(self)))

    def map_steps(
        self, function: Callable[[slice, Array], Result], first: int = 0
    ) -> Iterator[Result]:
        """``function(rows, block)`` for chunk after chunk from step ``first`` on, in order.

        The next chunks are read while threads work on the earlier ones.
        """
        stream = self.stream(_steps(len(self))[first:])
        return ordered_map(lambda item: function(*item), stream)

    def apply(self, function: Callable[[Array], Array], width: int, dtype: Precision) -> Any:
        """``function(block)`` for all rows, as one (n, width) array, or (n,) for width 0."""
        out = np.empty((len(self), width) if width else len(self), dtype=dtype)
        for rows, block in self.stream(blocks(len(self), CHUNK)):
            out[rows] = function(block)
        return out

    def refuse_nan(self) -> None:
        """From here on a missing value is an error."""
        self.allow_nan = False

    def place(self, row: int) -> str:
        """How to name a row in a message."""
        return f"row {row}"


class MemoryRows(Source):
    """An array, or a list of objects, that the estimator has checked already.

    Parameters
    ----------
    X : (n, d) array, sparse rows, or a list
    columns : names, optional
    """

    def __init__(self, X: Rows, columns: Sequence[str] | None = None) -> None:
        self.X = X
        self.columns = None if columns is None else tuple(map(str, columns))
        self._is_table = isinstance(X, np.ndarray | Points)
        self.shape = (len(X), int(X.shape[1]) if self._is_table else 1)
        self.dtype = X.dtype if self._is_table else np.dtype(object)

    def read(self, start: int, stop: int) -> Iterator[Array]:
        yield self.X[start:stop]

    def stream(self, chunks: Sequence[slice]) -> Iterator[tuple[slice, Any]]:
        """Views, without a copy and without a second check."""
        return ((rows, self.X[rows]) for rows in chunks)

    def gather(self, index: Array) -> Any:
        return self.X[index] if self._is_table else [self.X[i] for i in index]

    def fingerprint(self) -> str:
        if not self._is_table:
            return hashlib.sha256(repr(self.X[:256]).encode()).hexdigest()
        some = np.linspace(0, len(self) - 1, min(len(self), 256)).astype(np.intp)
        parts = as_points(self.X).take(some).arrays()
        whole = [part.astype(np.int64) if part.dtype.kind == "i" else part for part in parts]
        return hashlib.sha256(b"".join(part.tobytes() for part in whole)).hexdigest()


class SomeRows(Source):
    """Those rows of a source that have these increasing numbers; they stay where they are."""

    def __init__(self, every: Source, index: Array) -> None:
        self.every, self.index = every, index
        self.shape, self.dtype, self.columns = (len(index), every.width), every.dtype, every.columns
        self.watch = every.watch

    def read(self, start: int, stop: int) -> Iterator[Array]:
        at = int(self.index[start])
        for piece in self.every.read(at, int(self.index[stop - 1]) + 1):
            first, last = np.searchsorted(self.index, [at, at + len(piece)])
            yield piece[self.index[first:last] - at]
            at += len(piece)

    def fingerprint(self) -> str:
        parts = self.every.fingerprint().encode(), self.index.tobytes()
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def place(self, row: int) -> str:
        return self.every.place(int(self.index[row]))


def as_source(points: Points) -> Source:
    """Points as a source: themselves if they are elsewhere, else those in memory."""
    return points if isinstance(points, Source) else MemoryRows(points.rows)


def _steps(n: int) -> list[slice]:
    """The chunks of a pass over n rows."""
    return blocks(n, CHUNK if n > CHUNK else max(FEWEST, -(-n // PARTS)))


def reblock(pieces: Iterator[Array], chunks: Sequence[slice]) -> Iterator[Array]:
    """Cut pieces of any length into the given consecutive chunks."""
    waiting: list[Array] = []
    have = 0
    for rows in chunks:
        size = rows.stop - rows.start
        while have < size:
            piece = next(pieces, None)
            if piece is None:
                early = f"the rows end {size - have} before row {rows.stop}"
                changed = "the data changed while they were read; open them again."
                raise DataError(f"{early}: {changed}")
            waiting.append(piece)
            have += len(piece)
        block = waiting[0] if len(waiting) == 1 else np.concatenate(waiting)
        yield block[:size]
        waiting = [block[size:]] if have > size else []
        have -= size


def check_finite(
    block: Array,
    start: int,
    columns: Sequence[str] | None,
    place: Callable[[int], str],
    allow_nan: bool = False,
) -> None:
    """Raise for the first NaN (unless allowed) or infinity, naming where it is."""
    with np.errstate(over="ignore", invalid="ignore"):  # the sum is only a quick look
        if np.isfinite(block.sum(dtype=np.float64)):
            return
    bad = np.argwhere(np.isinf(block) if allow_nan else ~np.isfinite(block))
    if not len(bad):
        return
    row, column = bad[0]
    label = f"{column}" if columns is None else f"{column} ({columns[column]!r})"
    value = block[row, column]
    where = f"Input X contains {value} at {place(start + int(row))}, column {label}; "
    raise DataError(where + remedy_for(value) + ".")


def check_no_empty_row(
    rows: Array, place: Callable[[int], str] = "row {}".format, start: int = 0
) -> None:
    """Raise for rows, or columns, of which nothing is known: any answer would be made up."""
    empty = np.flatnonzero(np.isnan(rows).all(axis=1))
    if empty.size:
        more = f", nor have {empty.size - 1} more" if empty.size > 1 else ""
        which = f"{place(start + int(empty[0]))} has no value at all{more}"
        raise DataError(f"{which}; leave out what is empty, for nothing can be filled in there.")


def warn_of_long(block: Array, columns: Sequence[str] | None) -> bool:
    """Whether (n, d) whole numbers, of any type, hold one that float64 changes; it is named."""
    if block.dtype.kind not in "iuO" or block.dtype.itemsize < 8:
        return False
    places = np.argwhere((block > LONGEST) | (block < -LONGEST)).tolist()
    for i, j in places:
        value = int(block[i, j])
        if int(float(value)) != value:
            name = f"{j}" if columns is None else repr(columns[j])
            keep = "" if columns is None else "keep it with " + argument("label", columns[j]) + ", "
            long = f"column {name} holds {value}, a whole number too long for float64"
            remedy = "leave it out, or subtract the same whole number from all of them before."
            warn(f"{long}, and it is read as {int(float(value))}; " + keep + remedy)
            return True
    return False


def floating_type(dtype: Precision, what: str) -> np.dtype:
    """float32 for float32, float64 for other real numbers; anything else is refused."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "fiub":
        raise DataError(f"{what} holds {dtype} entries, not numbers; give a table of numbers.")
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


def remedy_for(value: float) -> Remedy:
    """What to do about a value that is not finite: NaN can be filled in, infinity cannot."""
    if np.isnan(value):
        return "remove such rows, or " + fill_in("them")
    return "remove such rows, or " + Remedy(
        "make such values NaN and fit TableModel(...) of any estimator, which fills them in",
        shell="leave the field empty, which then counts as a missing value",
    )


def fill_in(what: str) -> Remedy:
    """What to do about missing values, ``"it"`` or ``"them"``."""
    return Remedy(
        f"fill {what} in by impute, MissingKernelPCA, or TableModel(...) of any estimator",
        shell=f"fill {what} in by 'mercer impute MODEL DATA', or fit with '--model missing', "
        "a text file with '--missing fill'",
        page="choose the estimator 'With missing values'",
    )
