"""The way in and out: rows in files, folders, streams and clusters, read and written in blocks."""

from mercer._base.files import atomic_file, spooled, write_atomic
from mercer.io.batches import from_batches
from mercer.io.images import image_shape, pixel_names
from mercer.io.opening import Choice, Table, as_rows, is_source, open_rows, open_table
from mercer.io.writing import check_sink, write_stream, write_table
from mercer.points.source import CHUNK, MemoryRows, Source

__all__ = ["CHUNK", "Choice", "MemoryRows", "Source", "Table", "as_rows", "atomic_file"]
__all__ += ["check_sink", "from_batches", "image_shape", "is_source", "open_rows", "open_table"]
__all__ += ["pixel_names", "spooled", "write_atomic", "write_stream", "write_table"]

# The names of 0.1.
Rows, whole_file, write_whole = Source, atomic_file, write_atomic
