"""What row sources in files share: names, fingerprints, a watch, and optional packages."""

from __future__ import annotations

import contextlib
import hashlib
import stat
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mercer._spelling import did_you_mean, similar_file
from mercer.exceptions import DataError, Remedy

#: Endings of files that are not the names of folders, too.
FILES = (
    *(".csv", ".tsv", ".txt", ".npy", ".npz", ".mtx", ".jsonl", ".ndjson", ".feather", ".arrow"),
    *(".gz", ".xz", ".zst", ".xlsx", ".xlsm", ".xls", ".ods"),
)
_LOOK = 4096
#: Looking whether files have changed may take this share of the time.
_WATCHING = 0.01


def check_there(path: Path) -> None:
    """Raise unless there is a file, or a folder that is not called as a file is.

    A pipe would wait for a writer, and a device may never end.
    """
    if not path.exists():
        guess = similar_file(path) or "; check its name."
        raise DataError(f"there is no file '{path}'{guess}")
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or (stat.S_ISDIR(mode) and path.suffix.lower() not in FILES):
        return
    if stat.S_ISDIR(mode):
        raise DataError(f"'{path}' is a folder, not a {path.suffix} file; name a file in it.")
    kinds = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
    raise DataError(
        f"'{path}' is {kinds.get(stat.S_IFMT(mode), 'a device')}, not a file; copy what comes out "
        "of it into a file, or "
        + Remedy(
            "read it by spooled(stream) of mercer.rows.",
            shell="give '-' in its place, and '< FILE' at the end.",
        )
    )


@contextlib.contextmanager
def decoding(path: Path, kind: str) -> Iterator[None]:
    """Whatever another package says about a damaged file becomes one line that names the file."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:  # of any kind: decoders raise what they like
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(
            f"'{path}' is not a {kind}, or is damaged: {reason}; write it again."
        ) from error


def file_fingerprint(paths: Iterable[Path], opened: BinaryIO | None = None) -> str:
    """A hash of names, sizes, times of the last change, and 64 small pieces of each file.

    ``opened`` is the file, if there is one and somebody has opened it already.
    """
    digest = hashlib.sha256()
    for path in paths:
        state = path.stat()
        size = state.st_size
        digest.update(f"{path.name} {size} {state.st_mtime_ns} ".encode())
        with contextlib.nullcontext(opened) if opened else path.open("rb") as file:
            for start in sorted({int(x) for x in np.linspace(0, max(size - _LOOK, 0), 64)}):
                file.seek(start)
                digest.update(file.read(_LOOK))
    return digest.hexdigest()


def stamps(paths: Iterable[Path]) -> dict[Path, tuple[int, int, int]]:
    """Size, time of the last change (ns) and inode of the files, and of those in the folders."""
    found = {}
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            with contextlib.suppress(FileNotFoundError):
                state = file.stat()
                if not stat.S_ISDIR(state.st_mode):
                    found[file] = (state.st_size, state.st_mtime_ns, state.st_ino)
    return found


class FileWatch:
    """Notices that files are cut, rewritten, replaced or removed after they were opened.

    Parameters
    ----------
    paths : files, or folders of which every file counts
    """

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = list(paths)
        self._seen = stamps(self._paths)
        self._next = 0.0

    def check(self, *, now: bool = True) -> None:
        """Raise DataError for a change; many files are looked at seldom, unless it must be now."""
        started = time.monotonic()
        if not now and started < self._next:
            return
        found = stamps(self._paths)
        if found != self._seen:
            names = sorted(found.keys() | self._seen.keys())
            name = next(name for name in names if found.get(name) != self._seen.get(name))
            what = "changed" if name in found else "was removed"
            raise DataError(
                f"'{name}' {what} while it was read; wait until nobody writes to it, or copy it, "
                "and start again."
            )
        ended = time.monotonic()
        self._next = ended + (ended - started) / _WATCHING


def pick_columns(names: tuple[str, ...], wanted: Iterable[str] | None, path: Path) -> list[int]:
    """Positions of the wanted columns; all of them if nothing is wanted in particular."""
    if twice := repeated(names):
        raise DataError(f"'{path}' has two columns named {twice[0]!r}; rename one of them.")
    if wanted is None:
        return list(range(len(names)))
    places = {name: j for j, name in enumerate(names)}
    missing = [name for name in wanted if name not in places]
    if missing:
        raise DataError(
            f"'{path}' has no column {missing[0]!r}; {did_you_mean(missing[0], names)}name one of "
            f"{', '.join(names[:20])}."
        )
    return [places[name] for name in wanted]


def repeated(names: Iterable[Any]) -> list[str]:
    """Names that there are more than once."""
    return sorted(str(name) for name, count in Counter(names).items() if count > 1)


def names_text(names: Sequence[str]) -> str:
    """Some names for a message."""
    shown = ", ".join(repr(name) for name in names[:8])
    return shown if len(names) <= 8 else f"{shown} and {len(names) - 8} more"


def instead_text(strange: Sequence[str]) -> str:
    """What may be another name of what is missing: the columns that the model does not know."""
    return f"it has {names_text(strange)} instead; rename what is the same, or " if strange else ""
