"""Small tables of names and values: how models, plans and reports show themselves."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, TypeVar

from mercer._base.files import packaged

Shown = TypeVar("Shown")


@dataclass(frozen=True)
class SmallTable:
    """A title, and rows whose first cell is a name; as text, and as HTML for notebooks."""

    title: str
    rows: Sequence[Sequence[str]]

    def __str__(self) -> str:
        widths = [max(map(len, cells)) for cells in zip(*self.rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in self.rows
        ]
        return "\n  ".join(filter(None, [self.title, *lines]))

    def html(self) -> str:
        """The same, in the colours of the page around it."""
        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        rows = ""
        for name, *cells in self.rows:
            others = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
            rows += f'<tr><th scope="row">{escape(name)}</th>{others}</tr>'
        style = packaged("mercer._base", "small_table.css")
        return f'<style>{style}</style><table class="mercer-table">{caption}{rows}</table>'


def shown_as_table(cls: type[Shown]) -> type[Shown]:
    """Give a class the ``repr`` and the HTML of the :class:`SmallTable` that ``_table()`` makes."""
    shown: Any = cls
    shown.__repr__ = lambda self: str(self._table())
    shown._repr_html_ = lambda self: self._table().html()
    return cls
