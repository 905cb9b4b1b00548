"""What row sources in files share: names, fingerprints, and packages that may be missing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mercer.exceptions import DataError

__all__ = ["file_fingerprint", "pick_columns", "require"]

_LOOK = 4096


def require(module: str, extra: str) -> Any:
    """An optional package, or an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{module.partition('.')[0]} is not installed; pip install 'mercer[{extra}]'."
        ) from error


def file_fingerprint(paths: Iterable[Path]) -> str:
    """A hash of names, sizes and 64 small pieces of each file."""
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(f"{path.name} {size} ".encode())
        with path.open("rb") as file:
            for start in sorted({int(x) for x in np.linspace(0, max(size - _LOOK, 0), 64)}):
                file.seek(start)
                digest.update(file.read(_LOOK))
    return digest.hexdigest()


def pick_columns(names: tuple[str, ...], wanted: Iterable[str] | None, path: Path) -> list[int]:
    """Positions of the wanted columns; all of them if nothing is wanted in particular."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise DataError(f"'{path}' has two columns named {twice[0]!r}; rename one of them.")
    if wanted is None:
        return list(range(len(names)))
    missing = [name for name in wanted if name not in names]
    if missing:
        raise DataError(
            f"'{path}' has no column {missing[0]!r}; its columns are {', '.join(names[:20])}."
        )
    return [names.index(name) for name in wanted]
