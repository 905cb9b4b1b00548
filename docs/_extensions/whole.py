"""The built pages are whole: no link leads nowhere, and no page asks another machine for anything.

Sphinx checks the references that it resolves itself; this looks at the HTML that came out, with
its pictures, frames, scripts and links written by hand. What is found stops the build.
"""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

TAG = re.compile(r"<(\w+)\b([^>]*)>", re.DOTALL)
ATTRIBUTE = re.compile(r"\b(id|name|href|src|data|poster|rel)=\"([^\"]*)\"")
#: Tags that fetch something when the page is opened; an ``a`` waits for a click.
FETCHES = {"audio", "embed", "iframe", "img", "link", "object", "script", "source", "video"}


def read(page: Path) -> tuple[set[str], list[tuple[str, str]]]:
    """The anchors of a page, and its links as (tag, address)."""
    anchors, links = {"", "top"}, []
    for tag, rest in TAG.findall(page.read_text(encoding="utf-8")):
        found = dict(ATTRIBUTE.findall(rest))
        anchors |= {found[key] for key in ("id", "name") if key in found}
        links += [(tag, found[key]) for key in ("href", "src", "data", "poster") if key in found]
    return anchors, links


def faults(folder: Path) -> list[str]:
    """What is wrong with the pages of a folder, one line each."""
    pages = {page: read(page) for page in sorted(folder.rglob("*.html")) if ours(page, folder)}
    found = []
    for page, (_, links) in pages.items():
        for tag, link in links:
            parts = urlsplit(link)
            if parts.scheme == "data" or parts.scheme in {"mailto", "javascript"}:
                continue
            if parts.scheme or parts.netloc:
                wrong = "asks another machine" if tag in FETCHES else None
            else:
                wrong = dead(page, parts.path, parts.fragment, pages)
            if wrong:
                found.append(f"{page.relative_to(folder)}: <{tag}> {link} {wrong}")
    return found


def ours(page: Path, folder: Path) -> bool:
    """Not the live models, which forbid requests themselves, nor the theme's own templates."""
    return page.relative_to(folder).parts[0] not in {"_live", "_static"}


def dead(page: Path, path: str, fragment: str, pages: dict[Path, Any]) -> str | None:
    """Why a link inside the folder leads nowhere, or None."""
    target = (page.parent / unquote(path)).resolve() if path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return "does not exist"
    # Listings of source code name a class by the module that they met it in first.
    listing = "_modules" in page.parts
    if fragment and not listing and target in pages and unquote(fragment) not in pages[target][0]:
        return "has no such anchor"
    return None


def look(app: Any, problem: Exception | None) -> None:
    """After everything else has been written."""
    if problem is None and app.builder.format == "html":
        found = faults(Path(app.outdir).resolve())
        if found:
            from sphinx.errors import ExtensionError  # the rest works without Sphinx

            raise ExtensionError(
                f"{len(found)} faults in the built pages:\n" + "\n".join(found[:40])
            )


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("build-finished", look, priority=900)
    return {"parallel_read_safe": True}
