"""One self-contained page: code, style and numbers inside, and a policy that forbids the rest."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import zlib
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer._types import Estimator, RowsLike, Targets
from mercer.live.bundle import bundle, source
from mercer.live.model import LiveModel, describe
from mercer.rows import atomic_file


def write_html(
    model: Estimator,
    path: str | os.PathLike[str],
    X: RowsLike = None,
    labels: Targets = None,
    images: Any = None,
    **options: Any,
) -> Path:
    """Write a fitted model as one HTML file that is alive offline.

    Parameters
    ----------
    model : fitted estimator with a Subspace
    path : path
        By custom ``*.html``; the file appears whole or not at all.
    X, labels, images, **options
        See :func:`mercer.live.describe`.

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
    page = render(describe(model, X, labels, images, **options))
    path = Path(path)
    with atomic_file(path) as file:
        file.write(page.encode())
    return path


def render(live: LiveModel) -> str:
    """The page as text."""
    code = f"{bundle('start')}\n$start.start();\n"
    style = source("live.css")
    facts, numbers = pack(live)
    return Template(source("page.html")).substitute(
        title=escape(str(live.facts["title"])),
        policy=_policy(code, style),
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


def _policy(code: str, style: str) -> str:
    """No request to anywhere; this script, this style, and workers made of the script."""
    return (
        f"default-src 'none'; script-src {_hash(code)}; style-src {_hash(style)}; "
        "img-src blob: data:; worker-src blob:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
