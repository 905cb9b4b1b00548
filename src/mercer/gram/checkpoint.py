"""A pass over the rows that can be stopped at any moment and taken up again.

The file holds the landmarks, the sums so far and the position, together with a fingerprint of the
data and of the parameters. It is replaced in one step, so that a kill at any moment leaves the last
state or the one before. No pickle: an .npz archive, whose checksums tell of damage.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mercer._linalg import Array
from mercer.exceptions import DataError
from mercer.gram.sums import FeatureSums
from mercer.rows import write_whole

__all__ = ["Checkpoint"]

#: Saving may take this share of the time.
OVERHEAD = 0.05
#: A larger file is none of ours: 10,000 landmarks of 10,000 columns take less.
MAX_BYTES = 1 << 32


class Checkpoint:
    """The state of one pass, in one file.

    Parameters
    ----------
    path : path of the file
    fingerprint : str
        Of everything that the sums depend on; a file with another one is refused.
    """

    def __init__(self, path: str | os.PathLike[str], fingerprint: str) -> None:
        self.path = Path(path)
        self.fingerprint = fingerprint
        self.landmarks: Array | None = None
        self._state: dict[str, Array] | None = self._load() if self.path.exists() else None
        if self._state is not None:
            self.landmarks = self._state["landmarks"]
        self._saved = time.monotonic()
        self._cost = 0.0

    def begin(self, landmarks: Any) -> None:
        """Keep the landmarks; proves, too, that the file can be written, before the long pass."""
        if not isinstance(landmarks, np.ndarray):
            raise DataError("a checkpoint keeps vectors, not objects; fit without checkpoint=.")
        self.landmarks = landmarks
        if self._state is None:
            self._save(0, None)

    def position(self, zero: FeatureSums) -> tuple[int, FeatureSums]:
        """Steps done, and the sums over them."""
        if self._state is None or "square" not in self._state:
            return 0, zero
        done, weight, diagonal = self._state["scalars"]
        sums = FeatureSums(
            float(weight), self._state["linear"], self._state["square"], float(diagonal)
        )
        return int(done), sums

    def keep(self, done: int, sums: FeatureSums) -> None:
        """Save, unless the last time was too short ago to be worth it."""
        if time.monotonic() - self._saved >= self._cost / OVERHEAD:
            self._save(done, sums)

    def remove(self) -> None:
        """The fit is done: nothing is left to resume."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()

    def _save(self, done: int, sums: FeatureSums | None) -> None:
        started = time.monotonic()
        state: dict[str, Any] = {"landmarks": self.landmarks}
        if sums is not None:
            scalars = np.array([done, sums.weight, sums.diagonal], dtype=np.float64)
            state |= {"linear": sums.linear, "square": sums.square, "scalars": scalars}
        header = json.dumps({"mercer_checkpoint": 1, "fingerprint": self.fingerprint})
        state["header"] = np.frombuffer(header.encode(), dtype=np.uint8)

        def write(file: BinaryIO) -> None:
            np.savez(file, **state)

        write_whole(self.path, write)
        self._saved = time.monotonic()
        self._cost = self._saved - started

    def _load(self) -> dict[str, Array]:
        try:
            with zipfile.ZipFile(self.path) as archive:
                declared = sum(entry.file_size for entry in archive.infolist())
            if declared > MAX_BYTES:
                raise ValueError(f"it would take {declared >> 20} MB")
            with np.load(self.path, allow_pickle=False) as archive:
                state = {name: archive[name] for name in archive.files}
            header = json.loads(state["header"].tobytes())
            fingerprint = header["fingerprint"] if header["mercer_checkpoint"] == 1 else None
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise DataError(
                f"'{self.path}' is no checkpoint of mercer ({error}); "
                "give another path, or remove the file to start anew."
            ) from error
        if fingerprint != self.fingerprint:
            raise DataError(
                f"the checkpoint '{self.path}' belongs to other data or parameters; "
                "give another path, or remove the file to start anew."
            )
        return state
