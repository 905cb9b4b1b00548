"""Items of the papers on a page: ``<!-- item: mika1999/table1 -->`` becomes picture and table.

They are read from the files that ``mercer reproduce all --full`` wrote; nothing is copied by hand.
"""

import json
import re
from pathlib import Path
from typing import Any

MARK = re.compile(r"^<!-- item: (\w+)/(\w+) -->$", re.MULTILINE)
FOLDER = Path(__file__).parents[1] / "papers"


def item(match: re.Match[str]) -> str:
    """One item as Markdown."""
    paper, name = match.groups()
    record = json.loads((FOLDER / paper / f"{name}.json").read_text(encoding="utf-8"))
    word = "Reproduced" if record["verdict"] == "reproduced" else "Differs, because"
    setting = ", ".join(f"{key} {value}" for key, value in record["setting"].items())
    kind, number = re.fullmatch(r"([a-z]+)(\d+)", name).groups()
    title = f"{kind.capitalize()} {number}. {record['title']}"
    wide = (paper, name) == ("mika1999", "table1")
    cells = table1(record) if wide else table(record["checks"])
    lines = [
        f"## {title}",
        "",
        f"![{record['title']}]({paper}/{name}.png)",
        "",
        f"**{word}{':' if word == 'Reproduced' else ''}** {record['reason']}.",
        f"Setting: {setting}; seed {record['seed']}. `mercer reproduce {paper}/{name} --full`",
        "",
        *cells,
        "",
        *(f"- {remark}" for remark in record["remarks"]),
        "",
    ]
    return "\n".join(lines)


def table(checks: list[dict[str, Any]]) -> list[str]:
    """Paper, mercer and bar, one line for each number."""
    return ["| | paper | mercer | bar |", "|---|---|---|---|"] + [
        f"| {plain(c['what'])} | {c['paper'] or '–'} | {c['mercer']:g} | {unbroken(c['bar'])} |"
        for c in checks
    ]


def table1(record: dict[str, Any]) -> list[str]:
    """Mika's Table 1 as the paper prints it, with our median and spread below."""
    lines = ["| σ | n = | " + " | ".join(map(str, range(1, 10))) + " |", "|---" * 11 + "|"]
    names = {"paper": "paper", "median": "mercer", "min": "least", "max": "most"}
    for sigma in sorted({row["sigma"] for row in record["numbers"]}):
        own = [row for row in record["numbers"] if row["sigma"] == sigma]
        for key, who in names.items():
            cells = " | ".join(short(row[key]) for row in own)
            lines.append(f"| {sigma if key == 'paper' else ''} | {who} | {cells} |")
    return [*lines, "", "*mercer* is the median of the draws, *least* and *most* are their ends."]


def short(value: float) -> str:
    """Three digits, never with an exponent."""
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def unbroken(bar: str) -> str:
    """A sign and its number stay on one line."""
    return bar.replace("≥ ", "≥\N{NO-BREAK SPACE}").replace("≤ ", "≤\N{NO-BREAK SPACE}")


def plain(text: str) -> str:
    """A bar would end the cell."""
    return text.replace("|", "\\|")


def fill(_app: Any, _page: str, source: list[str]) -> None:
    """Fill in the items of a page before it is parsed."""
    source[0] = MARK.sub(item, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
