"""The papers: every table and figure that they print, run again, with our number beside theirs.

A module per paper has its data, numbers and pictures; :data:`ITEMS` lists what can be reproduced,
each an :class:`Item` whose ``run`` returns a :class:`Result` with a picture and a computed verdict.
``mercer reproduce`` runs them from the command line.
"""

from typing import TYPE_CHECKING, Any

from mercer._base import catalogue

if TYPE_CHECKING:
    from mercer.papers.item import ITEMS as ITEMS
    from mercer.papers.item import PAPERS as PAPERS
    from mercer.papers.item import Check as Check
    from mercer.papers.item import Item as Item
    from mercer.papers.item import Result as Result
    from mercer.papers.item import Setting as Setting
    from mercer.papers.item import Verdict as Verdict
    from mercer.papers.item import select as select
    from mercer.papers.report import reproduce as reproduce
    from mercer.papers.report import write_report as write_report
    from mercer.papers.sources import Labelled as Labelled
    from mercer.papers.sources import Sources as Sources

__all__ = [*catalogue.PAPERS]


def __getattr__(name: str) -> Any:
    # Loaded on first use: one paper's data should not wait for the code of all the others.
    if name not in __all__:
        raise AttributeError(f"module 'mercer.papers' has no attribute {name!r}")
    return catalogue.load(catalogue.PAPERS[name])


def __dir__() -> list[str]:
    return sorted(__all__)
