"""Measured tables on a page: ``<!-- results: fit -->`` shows ``benchmarks/results/fit.json``.

A result has its command, machine, versions and state (quiet or busy) beside it; nothing is typed
twice.
"""

import json
import re
from pathlib import Path
from typing import Any

MARK = re.compile(r"^<!-- results: (\w+) -->$", re.MULTILINE)
FOLDER = Path(__file__).parents[2] / "benchmarks" / "results"


def table(match: re.Match[str]) -> str:
    """One result as Markdown."""
    record = json.loads((FOLDER / f"{match[1]}.json").read_text(encoding="utf-8"))
    columns = record["columns"]
    lines = [
        "| " + " | ".join(columns) + " |",
        "|---|" + "---:|" * (len(columns) - 1),
        *("| " + " | ".join(map(str, row)) + " |" for row in record["rows"]),
    ]
    where = f"{record['machine']}; {record['state']}; {record['versions']}"
    return "\n".join(
        [f"{record['what']}", "", *lines, "", f"`{record['command']}` ({where})", ""]
        + [f"- {note}" for note in record.get("notes", [])]
    )


def fill(_app: Any, _page: str, source: list[str]) -> None:
    """Fill in the results of a page before it is parsed."""
    source[0] = MARK.sub(table, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
