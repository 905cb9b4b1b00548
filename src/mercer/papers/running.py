"""Run items one after the other, and leave their files and the report in a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from mercer._progress import announce
from mercer.papers.drawing import need_matplotlib
from mercer.papers.item import Item, Setting
from mercer.papers.report import write_report
from mercer.papers.writing import Outcome, write


def reproduce(
    items: Sequence[Item],
    setting: Setting,
    folder: str | Path,
    tell: Callable[[Outcome], None] = lambda _: None,
) -> list[Outcome]:
    """Run items, write their files into ``folder``, and the report of all that is there.

    Parameters
    ----------
    items : sequence of Item
    setting : Setting
    folder : path
        What an earlier run left there stays, unless it is run again.
    tell : function of an Outcome
        Called after each item, whose files are then written.

    Returns
    -------
    list of Outcome
    """
    need_matplotlib()  # before minutes of work that could not be drawn
    outcomes = []
    for i, item in enumerate(items):
        announce("items", i, len(items))
        started = time.perf_counter()
        result = item.run(setting)
        outcome = Outcome(item, result, setting, time.perf_counter() - started)
        write(outcome, Path(folder))
        outcomes.append(outcome)
        tell(outcome)
    announce("items", len(items), len(items))
    write_report(folder)
    return outcomes
