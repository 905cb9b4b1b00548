"""Our ES modules as one script: a bundler for the imports and exports that we write ourselves.

Pages opened from ``file://`` may not import one file from another. Every module becomes a function
that returns its exports, in the order in which they need each other; nothing else is changed, so
that a line of the page is a line of the file.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";$', re.M)
_EXPORT = re.compile(r"^export (?:async )?(?:function\*?|class|const|let) (\w+)", re.M)


def source(name: str) -> str:
    """The text of a file in ``static/``."""
    return files("mercer.live").joinpath("static", name).read_text(encoding="utf-8")


@cache
def bundle(entry: str) -> str:
    """The module ``entry`` and all that it imports, as the text of one script.

    Parameters
    ----------
    entry : str
        Name of a module without ``.js``. Its exports are left in ``$entry``.
    """
    order: list[str] = []
    _visit(entry, order, ())
    return "\n".join(_wrapped(name) for name in order)


def _visit(name: str, order: list[str], above: tuple[str, ...]) -> None:
    """Depth first: what a module imports stands before it."""
    if name in above:
        raise ValueError(f"modules import each other in a circle: {' → '.join((*above, name))}")
    if name in order:
        return
    for match in _IMPORT.finditer(source(f"{name}.js")):
        _visit(match[2], order, (*above, name))
    order.append(name)


def _wrapped(name: str) -> str:
    text = source(f"{name}.js")
    names = _EXPORT.findall(text)
    text = _IMPORT.sub(lambda m: f"const {{{m[1].replace(' as ', ': ')}}} = ${m[2]};", text)
    text = re.sub(r"^export ", "", text, flags=re.M)
    left = re.search(r"^(import|export)\b.*", text, re.M)
    if left:
        raise ValueError(f"{name}.js: the bundler does not know this form: {left[0]!r}")
    return f"const ${name} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();"
