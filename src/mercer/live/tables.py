"""Files of a visitor as tables: which column is the label, which ones are no numbers."""

from __future__ import annotations

import zipfile
from pathlib import Path

from mercer.exceptions import DataError
from mercer.live.model import MOST_CLASSES
from mercer.live.wanted import MOST_NUMBERS
from mercer.rows import Choice, Table, open_table
from mercer.rows.dialect import TEXT, sniff
from mercer.rows.parquet import parquet_names

__all__ = ["ENDINGS", "open_guessing", "unpack_images"]

#: Endings of files that are taken.
ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".npy", ".npz", ".zip", ".mercer")
MOST_IMAGES = 100_000


def open_guessing(path: Path, label: str | None, *, allow_nan: bool = False) -> Table:
    """A table in memory; columns without numbers are left out, and the first may be the label.

    Parameters
    ----------
    path : file, or a folder of images
    label : name of the column that colours the map, or None to guess; "" for none
    allow_nan : whether values may be missing
    """
    strange = _strange(path)
    guessed = label is None and bool(strange)
    chosen = strange[0] if guessed else (label or None)
    drop = [name for name in strange if name != chosen]
    table = open_table(path, Choice(drop=drop, label=chosen), allow_nan=allow_nan)
    n, d = table.rows.shape
    if n * d > MOST_NUMBERS:
        raise DataError(
            f"'{path.name}' has {n:,} × {d:,} numbers, and a page takes {MOST_NUMBERS:,}; "
            "fit it by 'mercer fit', and explore the model."
        )
    table = table.loaded()
    if guessed and table.label is not None and len({*table.label.tolist()}) > MOST_CLASSES:
        return Table(table.rows)  # names of the rows rather than classes
    return table


def _strange(path: Path) -> list[str]:
    """Columns that hold no numbers."""
    kind = path.suffix.lower()
    if kind in TEXT and path.is_file():
        dialect = sniff(path)
        return dialect.strange(path) if dialect.named else []
    return parquet_names(path)[1] if kind == ".parquet" else []


def unpack_images(path: Path, folder: Path) -> Path:
    """The PNG images of a zip archive in ``folder``, under numbers: no name of it is used."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [e for e in archive.infolist() if e.filename.lower().endswith(".png")]
            entries.sort(key=lambda entry: entry.filename)
            size = sum(entry.file_size for entry in entries)
            if not entries or len(entries) > MOST_IMAGES or size > 8 * MOST_NUMBERS:
                raise DataError(
                    f"'{path.name}' holds {len(entries):,} PNG images of {size >> 20:,} MB; give "
                    f"from 1 to {MOST_IMAGES:,}, of at most {8 * MOST_NUMBERS >> 20} MB."
                )
            for i, entry in enumerate(entries):
                entry.filename = f"{i:06}.png"
                archive.extract(entry, folder)
    except zipfile.BadZipFile as error:
        raise DataError(f"'{path.name}' is no zip archive: {error}; pack it again.") from error
    return folder
