"""``<!-- capabilities -->`` becomes the table of what each estimator declares."""

from dataclasses import fields
from typing import Any

import mercer

MARK = "<!-- capabilities -->"


def table() -> str:
    """One line for each estimator, one column for each capability."""
    found = [getattr(mercer, name) for name in mercer.__all__]
    estimators = [cls for cls in found if hasattr(cls, "capabilities")]
    parts = fields(estimators[0].capabilities)
    head = ["", *(part.metadata["words"] for part in parts)]
    rows = [
        [cls.__name__, *("yes" if getattr(cls.capabilities, p.name) else "" for p in parts)]
        for cls in estimators
    ]
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fill(_app: Any, _page: str, source: list[str]) -> None:
    """Fill in the table before the page is parsed."""
    if MARK in source[0]:
        source[0] = source[0].replace(MARK, table())


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
