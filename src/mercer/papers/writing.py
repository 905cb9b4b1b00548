"""The files of an item: a picture, its numbers, and everything for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mercer import __version__
from mercer.papers.item import Check, Item, Result, Setting
from mercer.rows import atomic_file

DPI = 110


@dataclass(frozen=True)
class Outcome:
    """An item that was run."""

    item: Item
    result: Result
    setting: Setting
    seconds: float


def write(outcome: Outcome, folder: Path) -> Path:
    """Write ``NAME.png``, ``NAME.csv``, ``NAME-paper.csv`` and ``NAME.json`` into PAPER/.

    Parameters
    ----------
    outcome : Outcome
    folder : Path
        Files of an earlier run are replaced.

    Returns
    -------
    Path
        Of the JSON file, which is written last: where it is, the others are.
    """
    place = folder / outcome.item.paper
    place.mkdir(parents=True, exist_ok=True)
    stem = place / outcome.item.name
    result = outcome.result
    _keep(stem.with_suffix(".png"), picture(result))
    _keep(stem.with_suffix(".csv"), _csv(result.numbers))
    _keep(
        place / f"{outcome.item.name}-paper.csv", _csv([_beside(check) for check in result.checks])
    )
    text = json.dumps(record(outcome), indent=1, ensure_ascii=False, default=_plain)
    _keep(stem.with_suffix(".json"), (text + "\n").encode())
    return stem.with_suffix(".json")


def record(outcome: Outcome) -> dict[str, Any]:
    """Everything about an outcome but its picture, for programs."""
    item, result = outcome.item, outcome.result
    verdict = result.verdict
    return {
        "paper": item.paper,
        "item": item.name,
        "title": item.title,
        "verdict": "reproduced" if verdict.reproduced else "differs",
        "reason": verdict.reason,
        "run": "full" if outcome.setting.full else "fast",
        "seed": outcome.setting.seed,
        "setting": dict(result.setting),
        "stands_in": result.stands_in,
        "remarks": list(result.remarks),
        "checks": [_beside(check) for check in result.checks],
        "numbers": [dict(row) for row in result.numbers],
        "seconds": round(outcome.seconds, 1),
        "mercer": __version__,
    }


def picture(result: Result) -> bytes:
    """The result's figure as PNG, without the date and version that would change every run."""
    buffer = io.BytesIO()
    result.draw().savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _beside(check: Check) -> dict[str, Any]:
    return {
        "what": check.what,
        "paper": "" if check.paper is None else check.paper,
        "mercer": float(f"{check.found:.4g}"),
        "bar": check.bar,
        "holds": "yes" if check.holds else "no",
    }


def _csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
    return buffer.getvalue().encode()


def _keep(path: Path, content: bytes) -> None:
    with atomic_file(path) as file:
        file.write(content)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
