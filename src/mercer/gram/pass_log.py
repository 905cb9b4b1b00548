"""A file that keeps what the passes of a fit have given.

All that a near-exact solver does between its passes is quick and can be repeated to the last bit.
So the file holds the products themselves: a fit that was stopped is computed again, with the
products of the passes it had made read in the place of being computed. It is replaced in one step
after each pass. No pickle: an .npz archive, whose checksums tell of damage.
"""

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from mercer._base import files
from mercer._base.types import Array
from mercer.gram.checkpoint import changed, foreign, header, read_arrays, read_state


class PassLog:
    """The products of a fit in one file.

    Parameters
    ----------
    path : path of the file
    fingerprint : str
        Of everything that the products depend on; a file with another one is refused.
    digest : int
        Of the rows; a file of other rows is refused.
    rng : the fit's; of a fit that was stopped, the state that it began with
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        fingerprint: str,
        digest: int,
        rng: np.random.Generator,
    ) -> None:
        self.path = Path(path)
        self._done = 0
        if self.path.exists():
            state = read_state(self.path, fingerprint, ("rows", "rng"))
            if state["rows"] != digest:
                raise changed(self.path, "the rows")
            rng.bit_generator.state = json.loads(state["rng"].tobytes())
            return
        seed = np.frombuffer(json.dumps(rng.bit_generator.state).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {
            "header": header(fingerprint),
            "rng": seed,
            "rows": np.array(digest),
        }
        files.write_atomic(self.path, lambda file: np.savez(file, **arrays))

    def product(self, V: Array, compute: Callable[[], Array]) -> Array:
        """The next product: kept, or computed and kept."""
        name, self._done = f"product{self._done}", self._done + 1
        asked = np.frombuffer(hashlib.sha256(np.ascontiguousarray(V).data).digest(), np.uint8)
        kept = read_arrays(self.path, (name + "_of", name))
        if kept:
            same = np.array_equal(kept[name + "_of"], asked) and kept[name].shape == V.shape
            if not same:
                other = "another processor or BLAS, or another number of its threads"
                raise foreign(self.path, f"pass {self._done} was of other vectors: {other}")
            return kept[name]
        found = compute()
        self._append({name + "_of": asked, name: found})
        return found

    def remove(self) -> None:
        """The fit is done: nothing is left to resume."""
        self.path.unlink(missing_ok=True)
        files.remove_strays(self.path)

    def _append(self, arrays: dict[str, Array]) -> None:
        """A new file with all that the old one holds, member by member, and these."""
        with (
            zipfile.ZipFile(self.path) as before,
            files.atomic_file(self.path) as file,
            zipfile.ZipFile(file, mode="w") as after,
        ):
            for name in before.namelist():
                with before.open(name) as old, _member(after, name) as new:
                    shutil.copyfileobj(old, new, 1 << 20)
            for name, array in arrays.items():
                with _member(after, f"{name}.npy") as new:
                    np.lib.format.write_array(new, array, allow_pickle=False)


def _member(archive: zipfile.ZipFile, name: str) -> IO[bytes]:
    return archive.open(name, mode="w", force_zip64=True)  # of a file that is replaced as a whole
