"""The way in and out: rows in files, folders, streams and clusters, read and written in blocks."""

from mercer.rows.atomic import atomic_file, spooled, write_atomic
from mercer.rows.base import CHUNK, MemoryRows, Rows
from mercer.rows.choosing import Choice, open_table
from mercer.rows.images import image_shape, pixel_names
from mercer.rows.opening import as_rows, is_source, open_rows
from mercer.rows.table import Table
from mercer.rows.writing import check_sink, write_stream, write_table

__all__ = [
    "CHUNK",
    "Choice",
    "MemoryRows",
    "Rows",
    "Table",
    "as_rows",
    "atomic_file",
    "check_sink",
    "image_shape",
    "is_source",
    "open_rows",
    "open_table",
    "pixel_names",
    "spooled",
    "write_atomic",
    "write_stream",
    "write_table",
]

# The names of 0.1.
whole_file, write_whole = atomic_file, write_atomic
