"""``{KERNELS}`` on the reference page becomes the names of that table of mercer._base.catalogue."""

import re
from typing import Any

from mercer._base import catalogue


def names(found: re.Match[str]) -> str:
    """The classes of a table, one a line; ``{SOLVERS: solvers.}`` puts a package before each."""
    places = getattr(catalogue, found[2]).values()
    return "\n".join(f"{found[1]}{found[3] or ''}{place.partition(':')[2]}" for place in places)


def fill(_app: Any, page: str, source: list[str]) -> None:
    """Fill in the names before the page is parsed."""
    if page == "reference/index":
        source[0] = re.sub(r"( +)\{([A-Z_]+)(?:: ([\w.]+))?\}", names, source[0])


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
