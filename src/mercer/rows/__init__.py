"""The way in and out: rows in files, folders, streams and clusters, read and written in blocks."""

from mercer.rows.base import CHUNK, Rows
from mercer.rows.choosing import Choice, open_table
from mercer.rows.images import image_shape, pixel_names
from mercer.rows.memory import MemoryRows
from mercer.rows.opening import as_rows, is_source, open_rows
from mercer.rows.table import Table
from mercer.rows.whole import spooled, whole_file, write_whole
from mercer.rows.writing import check_sink, write_stream, write_table

__all__ = [
    "CHUNK",
    "Choice",
    "MemoryRows",
    "Rows",
    "Table",
    "as_rows",
    "check_sink",
    "image_shape",
    "is_source",
    "open_rows",
    "open_table",
    "pixel_names",
    "spooled",
    "whole_file",
    "write_stream",
    "write_table",
    "write_whole",
]
