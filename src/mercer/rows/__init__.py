"""Rows that live elsewhere: files and clusters, read in blocks."""

from mercer.rows.base import CHUNK, Rows
from mercer.rows.files import write_npy, write_whole
from mercer.rows.memory import MemoryRows
from mercer.rows.opening import as_rows, is_source, open_rows

__all__ = [
    "CHUNK",
    "MemoryRows",
    "Rows",
    "as_rows",
    "is_source",
    "open_rows",
    "write_npy",
    "write_whole",
]
