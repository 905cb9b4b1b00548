"""One self-contained page: code, style and numbers inside, and a policy that forbids the rest."""

import base64
import hashlib
import json
import os
import re
import zlib
from functools import cache
from graphlib import TopologicalSorter
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.files import filled, packaged
from mercer._base.types import Array, Estimator, RowsLike, Targets
from mercer.io import atomic_file
from mercer.io.model_file.onnx_maps import is_map
from mercer.live.maps import describe_map
from mercer.live.model import LiveModel, describe

# Pages opened from ``file://`` may not import files. So every ES module becomes a function that
# returns its exports, in the order in which they need each other; nothing else is changed, so that
# a line of the page is a line of the file. These are the forms that we write ourselves.
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";$', re.M)
_EXPORT = re.compile(r"^export (?:async )?(?:function\*?|class|const|let) (\w+)", re.M)


def source(name: str) -> str:
    """The text of a file in ``static/``."""
    return packaged("mercer.live", "static", name)


@cache
def bundle(entry: str) -> str:
    """The module ``entry`` and all that it imports, as the text of one script.

    Parameters
    ----------
    entry : str
        Name of a module without ``.js``. Its exports are left in ``$entry``.
    """
    imports: dict[str, list[str]] = {}
    waiting = [entry]
    while waiting:
        name = waiting.pop()
        imports[name] = [match[2] for match in _IMPORT.finditer(source(f"{name}.js"))]
        waiting += [other for other in imports[name] if other not in imports]
    # A module stands after everything that it imports.
    return "\n".join(map(_wrapped, TopologicalSorter(imports).static_order()))


def _wrapped(name: str) -> str:
    text = source(f"{name}.js")
    names = _EXPORT.findall(text)
    text = _IMPORT.sub(lambda m: f"const {{{m[1].replace(' as ', ': ')}}} = ${m[2]};", text)
    text = re.sub(r"^export ", "", text, flags=re.M)
    return f"const ${name} = (() => {{\n{text}\nreturn {{ {', '.join(names)} }};\n}})();"


def write_html(
    model: Estimator,
    path: str | os.PathLike[str],
    X: RowsLike = None,
    labels: Targets = None,
    images: Any = None,
    **options: Any,
) -> Path:
    """Write a fitted model as one interactive HTML file that works offline.

    Parameters
    ----------
    model : fitted estimator with a Subspace
    path : path
        Usually ``*.html``; the file is written completely or not at all.
    X, labels, images, **options
        See :func:`mercer.live.describe`; the title is the name of the file if none is given.

    Returns
    -------
    Path

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPCA
    >>> iris = load_iris()
    >>> model = KernelPCA(4).fit(iris.data)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "iris.html"
    >>> model.to_html(path, labels=iris.target_names[iris.target]).name
    'iris.html'
    """
    path = Path(path)
    options.setdefault("title", path.stem)
    page = page_of(model, X, labels, images, **options)
    with atomic_file(path) as file:
        file.write(page.encode())
    return path


def page_of(
    model: Estimator, X: RowsLike = None, labels: Targets = None, images: Any = None, **options: Any
) -> str:
    """The page of a fitted model, or of a map, as text."""
    look = describe_map if is_map(model) else describe
    return render(look(model, X, labels, images, **options))


def render(live: LiveModel) -> str:
    """The page as text."""
    return render_packed(*pack(live))


def render_packed(facts: dict[str, Any], numbers: bytes) -> str:
    """The page of what :func:`pack` has made."""
    entry = facts.get("entry", "start")
    code = f"{bundle(entry)}\n${entry}.start();\n"
    style = source("live.css")
    return filled(
        "mercer.live",
        "static/page.html",
        title=escape(str(facts["title"])),
        # No request to anywhere; this script, this style, and workers made of the script.
        policy=f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(style)}; "
        "img-src blob: data:; worker-src blob:; base-uri 'none'; form-action 'none'",
        style=style,
        code=code,
        # A name may hold anything, "</script>" included.
        facts=json.dumps(facts, ensure_ascii=True).replace("<", "\\u003c"),
        numbers=base64.b64encode(numbers).decode("ascii"),
    )


def pack(live: LiveModel, level: int = 9) -> tuple[dict[str, Any], bytes]:
    """The facts with a table of contents, and all arrays as one compressed piece.

    Float arrays are split into planes of bytes, all first bytes before all second ones: exponents
    then stand together, and compress.
    """
    parts, contents, at = [], {}, 0
    for name, array in live.arrays.items():
        raw = _planes(array)
        contents[name] = {"at": at, "shape": list(array.shape), "type": array.dtype.name}
        parts.append(raw)
        at += len(raw)
    return {**live.facts, "arrays": contents}, zlib.compress(b"".join(parts), level)


def _planes(array: Array) -> bytes:
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return little.view(np.uint8).reshape(-1, array.dtype.itemsize).T.tobytes()


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
