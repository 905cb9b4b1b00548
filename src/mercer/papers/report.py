"""One page of HTML over all items in a folder: nothing is fetched, light and dark."""

from __future__ import annotations

import base64
import csv
import io
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from mercer import __version__
from mercer._base.progress import announce
from mercer.io import atomic_file
from mercer.papers.item import Check, Item, Result, Setting, need_matplotlib
from mercer.papers.registry import ITEMS, PAPERS

#: Checks shown at once; the rest of a long table opens with a click.
OPEN_CHECKS = 12


def write_report(folder: str | Path) -> Path:
    """Write ``report.html`` over the items whose files are in ``folder``; the path of the page."""
    folder = Path(folder)
    records = []
    for item in ITEMS:
        stem = folder / item.paper / item.name
        if stem.with_suffix(".json").is_file():
            record = json.loads(stem.with_suffix(".json").read_text(encoding="utf-8"))
            records.append((record, stem.with_suffix(".png").read_bytes()))
    page = folder / "report.html"
    with atomic_file(page) as file:
        file.write(_render(records).encode())
    return page


def _render(records: Sequence[tuple[Mapping[str, Any], bytes]]) -> str:
    page = files("mercer.papers").joinpath("page.html").read_text(encoding="utf-8")
    papers = list(dict.fromkeys(record["paper"] for record, _ in records))
    parts = []
    for paper in papers:
        own = [(record, image) for record, image in records if record["paper"] == paper]
        body = "\n".join(_article(record, image) for record, image in own)
        parts.append(
            f'<h2 id="{paper}">{paper}</h2>\n<p class="soft">{escape(PAPERS[paper])}</p>\n{body}'
        )
    good = sum(record["verdict"] == "reproduced" for record, _ in records)
    return Template(page).substitute(
        good=good,
        count=len(records),
        differ=len(records) - good,
        version=escape(__version__),
        index="\n".join(_line(record) for record, _ in records),
        papers="\n".join(parts),
    )


def _line(record: Mapping[str, Any]) -> str:
    key = f"{record['paper']}/{record['item']}"
    return (
        f'<tr><td><a href="#{key}">{key}</a></td><td>{escape(record["title"])}</td>'
        f'<td>{_badge(record)}</td><td class="right">{record["seconds"]:.1f} s</td></tr>'
    )


def _badge(record: Mapping[str, Any]) -> str:
    kind = "good" if record["verdict"] == "reproduced" else "other"
    return f'<span class="badge {kind}">{escape(record["verdict"])}</span>'


def _article(record: Mapping[str, Any], image: bytes) -> str:
    key = f"{record['paper']}/{record['item']}"
    data = base64.b64encode(image).decode()
    setting = {**record["setting"], "run": record["run"], "seed": record["seed"]}
    chosen = " · ".join(f"{name} {value}" for name, value in setting.items())
    reason = record["reason"]
    word = "" if record["verdict"] == "reproduced" else "because "
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in record["remarks"])
    links = " · ".join(
        f'<a href="{record["paper"]}/{record["item"]}{end}">{name}</a>'
        for name, end in (
            ("picture", ".png"),
            ("numbers", ".csv"),
            ("checks", "-paper.csv"),
            ("JSON", ".json"),
        )
    )
    return f"""<article id="{key}">
<h3>{escape(record["title"])} <small>{escape(key)}</small></h3>
<p>{_badge(record)} {word}{escape(reason)}</p>
<img alt="{escape(record["title"])}" src="data:image/png;base64,{data}">
{_checks(record["checks"])}
<ul>{remarks}</ul>
<p class="soft small">{escape(chosen)}<br>{links}</p>
</article>"""


def _checks(checks: Sequence[Mapping[str, Any]]) -> str:
    if not checks:
        return ""
    lines = "\n".join(
        f'<tr class="{"" if check["holds"] == "yes" else "miss"}"><td>{escape(check["what"])}</td>'
        f'<td class="right">{escape(str(check["paper"])) or "–"}</td>'
        f'<td class="right">{check["mercer"]:g}</td><td class="right">{escape(check["bar"])}</td>'
        f"<td>{check['holds']}</td></tr>"
        for check in checks
    )
    head = (
        '<tr><th>number</th><th class="right">paper</th><th class="right">mercer</th>'
        '<th class="right">bar</th><th>holds</th></tr>'
    )
    table = f'<div class="wide"><table>{head}\n{lines}</table></div>'
    if len(checks) <= OPEN_CHECKS:
        return table
    return f"<details><summary>{len(checks)} numbers beside the paper's</summary>{table}</details>"


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

    Files of an earlier run are replaced. Returns the path of the JSON file, which is written last:
    where it is, the others are.
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
