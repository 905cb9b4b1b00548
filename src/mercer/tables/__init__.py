"""Tables as people have them: numbers, categories, dates and holes, to vectors and back."""

from mercer._registry import ours
from mercer.tables.columns import Category, Date, LeftOut, Number
from mercer.tables.encoder import TableEncoder
from mercer.tables.model import TableModel

__all__ = ["Category", "Date", "LeftOut", "Number", "TableEncoder", "TableModel"]

ours("tables", Category, Date, LeftOut, Number, TableEncoder, TableModel)
