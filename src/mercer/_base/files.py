"""The one atomic writer (a file or a folder appears whole or not at all), and a watch on files."""

import contextlib
import glob
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, BinaryIO

from mercer.exceptions import DataError, OutputError

#: What must not be left behind if the process has to end in the middle.
_temporary: set[Path] = set()


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write that takes its place in one step at the end of the block.

    A full disk, a signal or a power cut leaves the old file or the new one, never a part; the
    temporary file is removed on every way out. A link stays a link, an old file's rights stay, and
    pipes and devices are written to directly.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer.io import atomic_file
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "x.txt"
    >>> with atomic_file(path) as file:
    ...     _ = file.write(b"done")
    >>> path.read_text()
    'done'
    """
    if is_device(Path(path)):
        with Path(path).open("wb") as file:
            yield file
        return
    target = Path(os.path.realpath(path))
    with _vanishing(target) as temporary:
        try:
            # Not tempfile: it makes files private (mode 600), and the result follows the umask.
            with temporary.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if target.exists():
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            temporary.replace(target)
        except OSError as error:
            if error.errno is None or error.filename not in (None, os.fspath(temporary)):
                raise
            # Nobody knows the temporary name.
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    _sync_folder(target.parent)


def write_atomic(path: str | os.PathLike[str], write: Callable[[BinaryIO], object]) -> None:
    """``write(file)`` on a :func:`atomic_file`."""
    with atomic_file(path) as file:
        write(file)


@contextlib.contextmanager
def atomic_folder(path: Path, may_replace: Callable[[Path], str | None]) -> Iterator[Path]:
    """A folder to fill that takes its place at the end of the block.

    What ``may_replace`` says of an old folder of that name is the reason not to replace it.
    """
    path = path.resolve()
    if path.exists() and (reason := may_replace(path)):
        raise OutputError(f"'{path.name}' {reason}, and is not replaced; choose another folder.")
    with _vanishing(path) as temporary:
        temporary.mkdir()
        yield temporary
        with _vanishing(path) as old:
            if path.exists():
                path.rename(old)
            temporary.rename(path)


def is_device(path: Path) -> bool:
    """Whether the path is a pipe or a device, which is written to and not replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:  # also a name that is too long, or a folder that may not be entered
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextlib.contextmanager
def spooled(stream: BinaryIO, kind: str = "csv", name: str = "standard input") -> Iterator[Path]:
    """Standard input, or another stream, as a file: it may be larger than the memory.

    Parameters
    ----------
    stream : binary file, such as ``sys.stdin.buffer``
    kind : ``"csv"``, ``"tsv"``, ``"npy"``, ``"npz"`` or ``"parquet"``
    name : what the file is called in messages

    Examples
    --------
    >>> import io
    >>> from mercer.io import open_rows, spooled
    >>> with spooled(io.BytesIO(b"1,2,3"), "csv") as path:
    ...     open_rows(path)[:]
    array([[1., 2., 3.]])
    """
    with temporary_folder() as folder:
        path = folder / f"{name}.{kind}"
        with path.open("wb") as file:
            shutil.copyfileobj(stream, file)
        os.utime(path, (0, 0))  # the same rows through another pipe may resume a fit
        yield path


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A private folder that is removed on every way out, also if this process is killed."""
    folder = Path(tempfile.mkdtemp(prefix="mercer-"))
    _temporary.add(folder)
    remover = _remover(folder)
    try:
        yield folder
    finally:
        _remove(folder)
        if remover is not None:
            remover.communicate()


def _remover(folder: Path) -> subprocess.Popen[bytes] | None:
    """A shell that waits for the end of a pipe, which comes with ours, and removes the folder."""
    if shutil.which("sh") is None:
        return None
    # In a session of its own, which Ctrl-C and a closed terminal do not reach.
    return subprocess.Popen(
        ["sh", "-c", 'read _; rm -rf -- "$0"', folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def remove_strays(path: Path) -> None:
    """Remove what processes have left that were killed while they wrote to ``path``."""
    target = Path(os.path.realpath(path))
    for stray in target.parent.glob(f".{glob.escape(target.name[:100])}.{'[0-9a-f]' * 32}"):
        _remove(stray)


def remove_temporary() -> None:
    """Remove what a work that is left behind cannot remove any more."""
    for path in list(_temporary):
        _remove(path)


@contextlib.contextmanager
def _vanishing(path: Path) -> Iterator[Path]:
    """A name beside ``path``; whatever is there is removed at the end of the block."""
    temporary = path.with_name(f".{path.name[:100]}.{uuid.uuid4().hex}")
    _temporary.add(temporary)
    try:
        yield temporary
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
    _temporary.discard(path)


def _sync_folder(folder: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


#: Looking whether files have changed may take this share of the time.
_WATCHING = 0.01


def stamps(paths: Iterable[Path]) -> dict[Path, tuple[int, int, int]]:
    """Size, time of the last change (ns) and inode of the files, and of those in the folders."""
    states = {}
    for path in paths:
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            with contextlib.suppress(FileNotFoundError):
                state = file.stat()
                if not stat.S_ISDIR(state.st_mode):
                    states[file] = (state.st_size, state.st_mtime_ns, state.st_ino)
    return states


class FileWatch:
    """Notices that files, or those in folders, are cut, rewritten or removed after opening."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._paths = list(paths)
        self._seen = stamps(self._paths)
        self._next = 0.0

    def check(self, *, now: bool = True) -> None:
        """Raise DataError for a change; many files are looked at seldom, unless it must be now."""
        started = time.monotonic()
        if not now and started < self._next:
            return
        if changed := stamps(self._paths).items() ^ self._seen.items():
            name, _ = min(changed)
            what = "changed" if name.exists() else "was removed"
            remedy = "wait until nobody writes to it, or copy it, and start again."
            raise DataError(f"'{name}' {what} while it was read; {remedy}")
        ended = time.monotonic()
        self._next = ended + (ended - started) / _WATCHING


@cache
def packaged(package: str, *path: str) -> str:
    """The text of a file that lies beside the code of a package."""
    return files(package).joinpath(*path).read_text(encoding="utf-8")


def filled(package: str, name: str, /, **facts: Any) -> str:
    """A page that lies beside the code, with its ``${field}`` as ``str.format`` fills them."""
    # ${found.detected:.0%} is a field; other braces are CSS.
    page = packaged(package, name).rstrip("\n")
    return re.sub(r"\$(\{.+?\})", lambda field: field[1].format(**facts), page)
