"""One page of HTML over all items in a folder: nothing is fetched, light and dark."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from mercer import __version__
from mercer.papers.registry import ITEMS, PAPERS
from mercer.rows import atomic_file

#: Checks shown at once; the rest of a long table opens with a click.
OPEN_CHECKS = 12


def write_report(folder: str | Path) -> Path:
    """Write ``report.html`` over the items whose files are in ``folder``.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Path
        Of the page.
    """
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
