"""Rows in Parquet: one file, or a folder of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.files import FileWatch
from mercer._base.optional import require
from mercer._base.types import Array
from mercer.exceptions import DataError
from mercer.io.files import decoding, file_fingerprint, pick_columns
from mercer.points.source import CHUNK, Source, floating_type, warn_of_long


class ParquetRows(Source):
    """A Parquet file, or a folder whose files (in the order of their names) hold the same columns.

    Row groups are decoded in small batches, so that memory does not grow with their size.

    Parameters
    ----------
    path : Path
    columns : names, optional
        Columns to use; all if not given. Missing values are refused when they are met.
    """

    def __init__(self, path: Path, columns: Sequence[str] | None = None) -> None:
        self._parquet = require("pyarrow.parquet", "io")
        self.path = path
        self._files = parquet_files(path)
        self.watch = FileWatch(self._files)
        counts, schema = [], None
        for file in self._files:
            with self._open(file) as parquet:
                counts.append(parquet.metadata.num_rows)
                schema = parquet.schema_arrow if schema is None else schema
                if parquet.schema_arrow.names != schema.names:
                    raise DataError(
                        f"'{file}' has other columns than '{self._files[0]}'; "
                        "put files of one table into a folder."
                    )
        names = tuple(schema.names)  # type: ignore[union-attr]
        picked = pick_columns(names, columns, path)
        self.columns = tuple(names[i] for i in picked)
        chosen = [schema.field(i) for i in picked]  # type: ignore[union-attr]
        kinds = [
            floating_type(_dtype(field), f"column {field.name!r} of '{path}' ({field.type})")
            for field in chosen
        ]
        self.dtype = np.dtype(np.float32 if set(kinds) == {np.dtype(np.float32)} else np.float64)
        self._starts = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        self.shape = (int(self._starts[-1]), len(self.columns))

    def read(self, start: int, stop: int) -> Iterator[Array]:
        for file, first, last in zip(self._files, self._starts[:-1], self._starts[1:], strict=True):
            if last > start and first < stop:
                yield from self._read_file(file, max(start - first, 0), min(stop, last) - first)

    def _read_file(self, file: Path, start: int, stop: int) -> Iterator[Array]:
        with decoding(file, "Parquet file"), self._open(file) as parquet:
            metadata = parquet.metadata
            sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
            ends = np.cumsum(sizes)
            groups = np.flatnonzero((ends > start) & (ends - sizes < stop))
            if not len(groups):
                return
            position = int(ends[groups[0]] - sizes[groups[0]])
            for batch in parquet.iter_batches(
                CHUNK, row_groups=groups.tolist(), columns=list(self.columns or ())
            ):
                low, high = max(start - position, 0), min(stop - position, len(batch))
                position += len(batch)
                if low < high:
                    yield self._array(batch.slice(low, high - low))

    def _array(self, batch: Any) -> Array:
        block = np.empty((len(batch), self.shape[1]), dtype=self.dtype)
        for j, column in enumerate(batch.columns):
            block[:, j] = column.to_numpy(zero_copy_only=False)  # nulls become NaN
            if "int64" in str(column.type) and not self.told_of_long:
                whole, name = column.drop_null().to_numpy(), batch.schema.names[j]
                self.told_of_long = warn_of_long(whole[:, None], [name])
        return block

    def column(self, name: str) -> list[Any]:
        """All values of one column, of whatever kind."""
        return [
            value
            for file in self._files
            for value in self._parquet.read_table(file, columns=[name]).column(0).to_pylist()
        ]

    def _open(self, file: Path) -> Any:
        with decoding(file, "Parquet file"):
            return self._parquet.ParquetFile(file, pre_buffer=False, buffer_size=1 << 20)

    def fingerprint(self) -> str:
        return file_fingerprint(self._files) + ",".join(self.columns or ())


def parquet_names(path: Path) -> tuple[list[str], list[str]]:
    """Names of the columns, and of those that hold no numbers."""
    file = parquet_files(path)[0]
    with decoding(file, "Parquet file"):
        schema = require("pyarrow.parquet", "io").read_schema(file)
    return list(schema.names), [f.name for f in schema if _dtype(f).kind not in "fiub"]


def _dtype(field: Any) -> np.dtype:
    """NumPy's type of a column; object where it has none."""
    try:
        dtype: np.dtype = np.dtype(field.type.to_pandas_dtype())
    except (NotImplementedError, TypeError):
        dtype = np.dtype(object)
    return dtype


def parquet_files(path: Path) -> list[Path]:
    """The file, or those of a folder and the folders in it."""
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith((".", "_")))
    if not files:
        raise DataError(f"the folder '{path}' holds neither .png nor .parquet files.")
    return files
