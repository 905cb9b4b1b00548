"""The papers: every table and figure that they print, run again, with our number beside theirs.

One module per paper computes data and numbers; :data:`ITEMS` lists what can be reproduced, each an
:class:`Item` whose ``run`` returns a :class:`Result` with a picture and a computed verdict.
``mercer reproduce`` runs them from the command line.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.papers.item import Check, Item, Result, Setting, Verdict
    from mercer.papers.registry import ITEMS, PAPERS, select
    from mercer.papers.report import write_report
    from mercer.papers.running import reproduce
    from mercer.papers.sources import Labelled, Sources

#: Names that are not in ``item``, and where they are.
_ELSEWHERE = {
    "ITEMS": "registry",
    "PAPERS": "registry",
    "Labelled": "sources",
    "Sources": "sources",
    "reproduce": "running",
    "select": "registry",
    "write_report": "report",
}

__all__ = [
    "ITEMS",
    "PAPERS",
    "Check",
    "Item",
    "Labelled",
    "Result",
    "Setting",
    "Sources",
    "Verdict",
    "reproduce",
    "select",
    "write_report",
]


def __getattr__(name: str) -> Any:
    # Loaded on first use: one paper's data should not wait for the code of all the others.
    if name not in __all__:
        raise AttributeError(f"module 'mercer.papers' has no attribute {name!r}")
    return getattr(import_module(f"mercer.papers.{_ELSEWHERE.get(name, 'item')}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
