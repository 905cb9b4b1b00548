"""Writing output: a file appears whole or not at all."""

import os
import tempfile
import uuid
from pathlib import Path

from mercer.cli.faults import Failure

__all__ = ["prepare_folder", "replace_text"]


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


def replace_text(path: Path, text: str) -> None:
    """Write ``text`` beside ``path``, then move it there in one step.

    A full disk, a signal or a power cut leaves the old file or the new one, never a part; the
    temporary file is removed on every way out.
    """
    # Not tempfile: it makes files private (mode 600), and the result should follow the umask.
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with temporary.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
