"""What was missing in rows, and what is filled: counted while rows go by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mercer._numbers import counted
from mercer.rows.files import names_text
from mercer.tables.frames import absent, take_apart


@dataclass(frozen=True)
class MissingValues:
    """Missing values of all rows: those that a function has filled in, and those that it left."""

    filled: Counter[str] = field(default_factory=Counter)
    left: Counter[str] = field(default_factory=Counter)

    def watch(self, fill: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The function, whose missing values are counted before and after."""

        def watched(rows: Any) -> Any:
            made = fill(rows)
            before, after = _missing(rows), _missing(made)
            self.left.update(after)
            self.filled.update({name: n - after[name] for name, n in before.items()})
            return made

        return watched

    def describe(self) -> str:
        """How many were filled, and which columns still have some."""
        n, names = self.filled.total(), [name for name, count in self.left.items() if count]
        if not names:
            return f"{counted(n, 'value')} filled in" if n else "nothing was missing"
        done = f"{counted(n, 'value')} filled in" if n else "nothing was filled in"
        unseen = f"{self.left.total():,} of columns that the model does not see are left empty"
        return f"{done}; {unseen}: {names_text(names)}"


def _missing(rows: Any) -> Counter[str]:
    """Missing values: in each column of a table, or in all rows of numbers."""
    rows = getattr(rows, "X", rows)
    if isinstance(rows, np.ndarray):
        return Counter({"": int(np.isnan(rows).sum())})
    return Counter({k: int(absent(v).sum()) for k, v in take_apart(rows).columns.items()})
