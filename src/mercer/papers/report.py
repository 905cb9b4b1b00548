"""One page of HTML over all items in a folder: nothing is fetched, light and dark."""

import base64
import csv
import io
import json
import time
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from mercer import __version__
from mercer._base.files import filled
from mercer._base.numbers import plain_value
from mercer._base.progress import announce, announced
from mercer.io import atomic_file
from mercer.papers.item import ITEMS, PAPERS, Item, Result, Setting, need_matplotlib

#: Checks shown at once; the rest of a long table opens with a click.
OPEN_CHECKS = 12


def write_report(folder: str | Path) -> Path:
    """Write ``report.html`` over the items whose files are in ``folder``; the path of the page."""
    page, index, papers, good = Path(folder) / "report.html", [], [], 0
    for item in ITEMS:
        stem = Path(folder) / item.key
        if not stem.with_suffix(".json").is_file():
            continue
        # Ready for HTML: JSON itself has none of the characters that are replaced.
        text = escape(stem.with_suffix(".json").read_text(encoding="utf-8"), quote=False)
        facts = {**json.loads(text), "key": item.key}
        good += facts["verdict"] == "reproduced"
        index.append(filled("mercer.papers", "line.html", **facts))
        title = f'<h2 id="{item.paper}">{item.paper}</h2>'
        if title not in papers:
            papers += [title, f'<p class="soft">{escape(PAPERS[item.paper])}</p>']
        papers.append(_article(facts, stem.with_suffix(".png").read_bytes()))
    counts = {"good": good, "count": len(index), "differ": len(index) - good}
    lists = {"index": "\n".join(index), "papers": "\n".join(papers)}
    with atomic_file(page) as file:
        text = filled("mercer.papers", "page.html", version=escape(__version__), **counts, **lists)
        file.write(text.encode())
    return page


def _article(facts: Mapping[str, Any], image: bytes) -> str:
    setting = {**facts["setting"], "run": facts["run"], "seed": facts["seed"]}
    words = {
        "because": "" if facts["verdict"] == "reproduced" else "because ",
        "image": base64.b64encode(image).decode(),
        "checks": _checks(facts["checks"]),
        "remarks": "".join(f"<li>{remark}</li>" for remark in facts["remarks"]),
        "setting": " · ".join(f"{name} {value}" for name, value in setting.items()),
    }
    return filled("mercer.papers", "article.html", **{**facts, **words})


def _checks(checks: Sequence[Mapping[str, Any]]) -> str:
    if not checks:
        return ""
    rows = "\n".join(filled("mercer.papers", "check.html", **check) for check in checks)
    table = filled("mercer.papers", "checks.html", rows=rows)
    if len(checks) <= OPEN_CHECKS:
        return table
    return f"<details><summary>{len(checks)} numbers beside the paper's</summary>{table}</details>"


DPI = 110


class Outcome(NamedTuple):
    """An item that was run."""

    item: Item
    result: Result
    setting: Setting
    seconds: float


def write(outcome: Outcome, folder: Path) -> None:
    """Write ``NAME.png``, ``NAME.csv``, ``NAME-paper.csv`` and ``NAME.json`` into PAPER/.

    Files of an earlier run are replaced. The JSON file is written last: where it is, the others
    are.
    """
    stem, facts = folder / outcome.item.key, record(outcome)
    stem.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(facts, indent=1, ensure_ascii=False, default=plain_value) + "\n"
    contents = {".png": picture(outcome.result), ".csv": _csv(facts["numbers"])}
    contents |= {"-paper.csv": _csv(facts["checks"]), ".json": text.encode()}
    for end, content in contents.items():
        with atomic_file(stem.with_name(stem.name + end)) as file:
            file.write(content)


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
        "checks": [check.row for check in result.checks],
        "numbers": [dict(row) for row in result.numbers],
        "seconds": round(outcome.seconds, 1),
        "mercer": __version__,
    }


def picture(result: Result) -> bytes:
    """The result's figure as PNG, without the date and version that would change every run."""
    buffer = io.BytesIO()
    result.draw().savefig(buffer, format="png", dpi=DPI, metadata={"Software": None})
    return buffer.getvalue()


def _csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()})
    return buffer.getvalue().encode()


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
    for item in announced("items", items):
        started = time.perf_counter()
        result = item.run(setting)
        outcomes.append(Outcome(item, result, setting, time.perf_counter() - started))
        write(outcomes[-1], Path(folder))
        tell(outcomes[-1])
    announce("items", len(items), len(items))
    write_report(folder)
    return outcomes
