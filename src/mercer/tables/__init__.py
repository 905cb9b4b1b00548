"""Tables as people have them: numbers, categories, dates, missing values, to vectors and back."""

from mercer.tables import checks as _checks  # noqa: F401  (files are checked by them)
from mercer.tables.columns import Category, Date, LeftOut, Number
from mercer.tables.encoder import TableEncoder
from mercer.tables.frames import Frame
from mercer.tables.model import TableModel
from mercer.tables.opening import open_encoded
from mercer.tables.reading import read_table

__all__ = ["Category", "Date", "Frame", "LeftOut", "Number", "TableEncoder", "TableModel"]
__all__ += ["open_encoded", "read_table"]
