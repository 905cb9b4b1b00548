"""Files of a visitor as tables: which column is the label, and what is made of the others."""

from __future__ import annotations

import zipfile
from pathlib import Path

from mercer.exceptions import DataError
from mercer.live.model import MOST_CLASSES
from mercer.live.wanted import MOST_NUMBERS
from mercer.rows import Choice, Table
from mercer.rows.files import decoding
from mercer.tables import Category, TableEncoder, open_encoded

#: Endings of files that are taken.
ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".npy", ".npz", ".zip", ".mercer")
MOST_IMAGES = 100_000


def open_guessing(
    path: Path, label: str | None, *, allow_nan: bool = False
) -> tuple[Table, TableEncoder | None]:
    """A table in memory, as vectors where its columns are not all numbers of one unit.

    Parameters
    ----------
    path : file, or a folder of images
    label : name of the column that colours the map and is not learnt from; "" for none. If None,
        the first of few categories
    allow_nan : whether values may be missing

    Returns
    -------
    The table, and the encoder of its columns, if they needed one.
    """
    opened = open_encoded(path, choice=Choice(label=label or None), allow_nan=allow_nan)
    if label is None and (guess := _first_classes(opened[1])) is not None:
        opened = open_encoded(path, choice=Choice(label=guess), allow_nan=allow_nan)
    table, encoder = opened
    n, d = table.rows.shape
    if n * d > MOST_NUMBERS:
        raise DataError(
            f"'{path.name}' has {n:,} × {d:,} numbers, and a page takes {MOST_NUMBERS:,}; "
            "fit it by 'mercer fit', and explore the model."
        )
    return table.loaded(), encoder


def _first_classes(encoder: TableEncoder | None) -> str | None:
    """A column of few categories, unless it is the only one that is learnt from."""
    columns = {} if encoder is None else encoder.columns_
    used = [name for name, column in columns.items() if column.width]
    few = (
        name
        for name in used
        if isinstance(columns[name], Category) and columns[name].width <= MOST_CLASSES
    )
    return next(few, None) if len(used) > 1 else None


def unpack_images(path: Path, folder: Path) -> Path:
    """The PNG images of a zip archive in ``folder``, under numbers: no name of it is used."""
    with decoding(Path(path.name), "zip archive"), zipfile.ZipFile(path) as archive:
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
    return folder
