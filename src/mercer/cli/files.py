"""Writing output: a file appears whole or not at all."""

import contextlib
import os
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from mercer.cli.faults import Failure

__all__ = [
    "check_target",
    "prepare_folder",
    "remove_temporary",
    "replace_text",
    "temporary_folder",
    "whole_file",
    "whole_folder",
]

#: What must not be left behind if the process has to end in the middle.
_temporary: set[Path] = set()


def prepare_folder(folder: Path, option: str) -> None:
    """Create ``folder`` and prove that it can be written to, before any long work starts.

    Parameters
    ----------
    folder : Path
        The folder that will receive the output.
    option : str
        The option that names another one, for the error message.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise Failure(
            f"cannot write to '{folder}': {error.strerror}. Choose another folder with {option}."
        ) from error


def check_target(path: Path, *, force: bool) -> None:
    """Prove that ``path`` can be written, before any long work starts; refuse to replace a file.

    Parameters
    ----------
    path : Path
        The file, device or folder to write.
    force : bool
        Whether what is there may be replaced.
    """
    if is_device(path):
        return
    if path.exists() and not force:
        raise Failure(f"'{path}' exists. Add --force to replace it, or choose another name.")
    folder = path.parent
    if not folder.is_dir():
        raise Failure(f"there is no folder '{folder}'. Create it, or write to another place.")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0")
    except OSError as error:
        raise Failure(f"cannot write to '{folder}': {error.strerror}. Choose another.") from error


def is_device(path: Path) -> bool:
    """Whether the path is a pipe or a device, which is written to and not replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file to write that takes its place in one step at the end of the block.

    A full disk, a signal or a power cut leaves the old file or the new one, never a part; the
    temporary file is removed on every way out. Pipes and devices are written to directly.
    """
    if is_device(path):
        with path.open("wb") as file:
            yield file
        return
    path = path.resolve()  # what a link points to is replaced, not the link
    with _vanishing(path) as temporary:
        # Not tempfile: it makes files private (mode 600), and the result should follow the umask.
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


@contextlib.contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A folder to fill that takes its place at the end of the block.

    An old folder of that name is removed, but only if it holds nothing but images.
    """
    path = path.resolve()
    if path.exists():
        strange = [entry.name for entry in path.iterdir() if entry.suffix.lower() != ".png"]
        if strange:
            raise Failure(
                f"'{path.name}' holds more than images ('{strange[0]}'), and is not replaced. "
                "Choose another folder."
            )
    with _vanishing(path) as temporary:
        temporary.mkdir()
        yield temporary
        if path.exists():
            with _vanishing(path) as old:
                path.rename(old)
                temporary.rename(path)
        else:
            temporary.rename(path)


def replace_text(path: Path, text: str) -> None:
    """Write ``text`` beside ``path``, then move it there in one step."""
    with whole_file(path) as file:
        file.write(text.encode())


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A private folder that is removed on every way out."""
    folder = Path(tempfile.mkdtemp(prefix="mercer-"))
    _temporary.add(folder)
    try:
        yield folder
    finally:
        _remove(folder)


def remove_temporary() -> None:
    """Remove what a work that is left behind cannot remove any more."""
    for path in list(_temporary):
        _remove(path)


@contextlib.contextmanager
def _vanishing(path: Path) -> Iterator[Path]:
    """A name beside ``path``; whatever is there is removed at the end of the block."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
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
