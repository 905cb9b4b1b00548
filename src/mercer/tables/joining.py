"""Several files as one table: a pattern such as ``part-*.csv``, or a list of names."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._linalg import Array
from mercer.exceptions import DataError
from mercer.rows.files import names_text
from mercer.rows.look import Look
from mercer.tables.frames import Frame, absent


def is_pattern(path: str | os.PathLike[str]) -> bool:
    """Whether a name stands for several files, and is not that of one."""
    return glob.has_magic(os.fspath(path)) and not Path(path).exists()


def matching(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Look]:
    """The files of a name, a pattern (in order of their names) or a list of these."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[Look] = []
    for path in given:
        several = is_pattern(path)  # of any form, as a shell would take it
        files = sorted(glob.glob(os.fspath(path))) if several else [path]  # noqa: PTH207
        if not files:
            raise DataError(f"no file matches '{os.fspath(path)}'; check the pattern.")
        found += map(Look.at, files)
    if not found:
        raise DataError("there are no files in the list; give at least one.")
    return found


def joined(frames: Sequence[Frame], paths: Sequence[Path]) -> Frame:
    """Tables of the same columns, in any order, one below the other."""
    first, names = frames[0], set(frames[0].columns)
    for frame, path in zip(frames, paths, strict=True):
        if other := sorted(names ^ set(frame.columns)):
            lacking = sorted(names - set(frame.columns))
            verb = "lacks" if lacking else "has one more than"
            raise DataError(
                f"'{path}' {verb} the columns of '{paths[0]}': {names_text(lacking or other)}; "
                "give files of the same columns."
            )
    columns = {
        name: np.concatenate(_alike(name, [frame.columns[name] for frame in frames], paths))
        for name in first.columns
    }
    dtypes = {
        name: dtype if all(frame.dtypes.get(name) == dtype for frame in frames) else ""
        for name, dtype in first.dtypes.items()
    }
    long = {name for frame in frames for name in frame.exact}
    as_given = [frame.make(frame.columns) for frame in frames] if long else []
    exact = {name: np.concatenate([given[name] for given in as_given]) for name in long}
    return Frame(columns, first.container, dtypes, exact=exact)


def _alike(name: str, parts: list[Array], paths: Sequence[Path]) -> list[Array]:
    """Parts of one kind; one without a single value is of any."""
    empty = [bool(absent(part).all()) for part in parts]
    kinds = {part.dtype.kind for part, none in zip(parts, empty, strict=True) if not none}
    if len(kinds) > 1:
        known = [part.dtype.kind for part in parts]
        other = next(i for i, kind in enumerate(known) if kind != known[0])
        words = {"f": "numbers", "M": "dates"}
        raise DataError(
            f"column {name!r} holds {words.get(known[0], 'texts')} in '{paths[0]}' and "
            f"{words.get(known[other], 'texts')} in '{paths[other]}'; fix it, or make it a "
            "category."
        )
    kind = next(iter(kinds), "f")
    missing = {"f": np.nan, "M": np.datetime64("NaT", "us")}.get(kind)
    dtype: Any = {"f": np.float64, "M": "M8[us]"}.get(kind, object)
    return [
        np.full(len(part), missing, dtype=dtype) if none and part.dtype.kind != kind else part
        for part, none in zip(parts, empty, strict=True)
    ]
