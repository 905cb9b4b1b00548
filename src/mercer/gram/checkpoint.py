"""Passes over the rows that can be stopped at any moment and taken up again.

The file of a pass holds the landmarks, the sums so far and the position, together with a
fingerprint of the data and of the parameters, and digests of the rows that the landmarks were
chosen from and of the rows that have been summed: before the pass goes on they are read again and
compared, so that old sums never meet new rows. It is replaced in one step, so that a kill at any
moment leaves the last state or the one before. No pickle: an .npz archive, whose checksums tell of
damage.

All that a near-exact solver does between its passes is quick and can be repeated to the last bit.
So its file holds the products themselves: a fit that was stopped is computed again, with the
products of the passes it had made read in the place of being computed.
"""

import hashlib
import json
import os
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from mercer._base import files, linalg, progress
from mercer._base.types import Array
from mercer.exceptions import DataError, ModelFileError
from mercer.gram.feature_sums import FeatureSums
from mercer.points import Points, as_points
from mercer.points.source import Source
from mercer.points.sparse import SparseRows

#: Saving may take this share of the time.
OVERHEAD = 0.05
#: A larger file is none of ours: 10,000 landmarks of 10,000 columns take less.
MAX_BYTES = 1 << 32
#: Version of the file; 1 had no digests.
VERSION = 2
#: What a block of rows adds: ``work(rows, block)``.
Work = Callable[[slice, Array], FeatureSums]


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
        self._state: dict[str, Array] = {}
        if self.path.exists():
            self._state = read_state(self.path, fingerprint)
        self._digests = [int(number) for number in self._state.get("digests", ())]
        self._saved = time.monotonic()
        self._cost = 0.0

    @property
    def landmarks(self) -> Any:
        """Those of the fit that was stopped, if there was one."""
        if "landmarks_data" not in self._state:
            return self._state.get("landmarks")
        data, indices, indptr = (self._state[name] for name in _SPARSE)
        rows = SparseRows(data, indices, indptr, int(self._state["landmarks_width"]))
        try:
            rows.check()
        except ModelFileError as error:
            raise foreign(self.path, f"its landmarks make no sense, {error}") from error
        return rows

    @property
    def seeds(self) -> Array | None:
        """Those of the fit that was stopped, if there was one."""
        return self._state.get("seeds")

    def begin(self, landmarks: Points, seeds: Array, pool: Points) -> None:
        """Keep the landmarks, the seeds, and what the landmarks were chosen from.

        Proves, too, that the file can be written, before the long pass.
        """
        if not landmarks.can_wait:
            raise DataError("a checkpoint keeps vectors, not objects; fit without checkpoint=.")
        chosen_from = np.array(digest(slice(0, len(pool)), pool.rows))
        if not self._state:
            names = _SPARSE if landmarks.is_sparse else ("landmarks",)
            self._state = dict(zip(names, landmarks.arrays(), strict=True))
            width = np.array(landmarks.width)
            self._state |= {"landmarks_width": width, "seeds": seeds, "pool": chosen_from}
            self._save(0, None)
        elif self._state["pool"] != chosen_from:
            raise changed(self.path, "the rows from which the landmarks were chosen")

    def position(self, zero: FeatureSums, rows: Source) -> tuple[int, FeatureSums]:
        """Steps done, and the sums over them; the rows of these steps are read and compared."""
        if "square" not in self._state:
            return 0, zero
        done, weight, diagonal = self._state["scalars"]
        linear, square = self._state["linear"], self._state["square"]
        if square.shape != zero.square.shape or len(self._digests) != int(done):
            raise foreign(self.path, "its sums are of another size")
        self._compare(rows)
        return int(done), FeatureSums(float(weight), linear, square, float(diagonal))

    def steps(self, rows: Source, work: Work, first: int) -> Iterator[FeatureSums]:
        """What ``rows.map_steps`` gives, while the digests are noted for :meth:`keep`."""
        for part in rows.map_steps(partial(_witnessed, work), first):
            self._digests.append(part.digest)
            yield part.sums

    def keep(self, done: int, sums: FeatureSums) -> None:
        """Save, unless the last time was too short ago to be worth it."""
        if time.monotonic() - self._saved >= self._cost / OVERHEAD:
            self._save(done, sums)

    def remove(self) -> None:
        """The fit is done: nothing is left to resume."""
        self.path.unlink(missing_ok=True)
        files.remove_strays(self.path)

    def _compare(self, rows: Source) -> None:
        """Read the rows that have been summed, without any work on them, and compare digests."""
        done = len(self._digests)
        for i, digest_now in enumerate(islice(rows.map_steps(digest), done)):
            if digest_now != self._digests[i]:
                raise changed(self.path, f"the rows in part {i + 1} of {rows.n_steps}")
            progress.announce("rows compared", i + 1, done)

    def _save(self, done: int, sums: FeatureSums | None) -> None:
        started = time.monotonic()
        state: dict[str, Any] = dict(self._state)
        if sums is not None:
            scalars = np.array([done, sums.weight, sums.diagonal], dtype=np.float64)
            state |= {"linear": sums.linear, "square": sums.square, "scalars": scalars}
            state["digests"] = np.array(self._digests[:done], dtype=np.uint64)
        state["header"] = header(self.fingerprint)
        files.write_atomic(self.path, lambda file: np.savez(file, **state))
        self._saved = time.monotonic()
        self._cost = self._saved - started


class PassLog:
    """The products of a fit in one file.

    Parameters
    ----------
    path : path of the file
    fingerprint : str
        Of everything that the products depend on; a file with another one is refused.
    rows : int
        Their :func:`digest`; a file of other rows is refused.
    rng : the fit's; of a fit that was stopped, the state that it began with
    """

    def __init__(
        self, path: str | os.PathLike[str], fingerprint: str, rows: int, rng: np.random.Generator
    ) -> None:
        self.path = Path(path)
        self._done = 0
        if self.path.exists():
            state = read_state(self.path, fingerprint, ("rows", "rng"))
            if state["rows"] != rows:
                raise changed(self.path, "the rows")
            rng.bit_generator.state = json.loads(state["rng"].tobytes())
            return
        seed = np.frombuffer(json.dumps(rng.bit_generator.state).encode(), dtype=np.uint8)
        arrays: dict[str, Any] = {"header": header(fingerprint), "rng": seed, "rows": rows}
        files.write_atomic(self.path, lambda file: np.savez(file, **arrays))

    def product(self, V: Array, compute: Callable[[], Array]) -> Array:
        """The next product: kept, or computed and kept."""
        name, self._done = f"product{self._done}", self._done + 1
        digest = np.frombuffer(hashlib.sha256(np.ascontiguousarray(V).data).digest(), np.uint8)
        kept = read_arrays(self.path, (name + "_of", name))
        if kept:
            same = np.array_equal(kept[name + "_of"], digest) and kept[name].shape == V.shape
            if not same:
                other = "another processor or BLAS, or another number of its threads"
                raise foreign(self.path, f"pass {self._done} was of other vectors: {other}")
            return kept[name]
        computed = compute()
        self._append({name + "_of": digest, name: computed})
        return computed

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


def header(fingerprint: str) -> Array:
    """What a checkpoint says of itself."""
    text = json.dumps({"mercer_checkpoint": VERSION, "fingerprint": fingerprint})
    return np.frombuffer(text.encode(), dtype=np.uint8)


def read_state(
    path: Path, fingerprint: str, names: Sequence[str] | None = None
) -> dict[str, Array]:
    """The arrays of a checkpoint, all if no names are given; refused if it is not of this fit."""
    state = read_arrays(path, None if names is None else ("header", *names))
    try:
        said = json.loads(state["header"].tobytes())
        version, known = said["mercer_checkpoint"], said["fingerprint"]
    except (ValueError, KeyError, TypeError) as error:
        raise _no_checkpoint(path, error) from error
    if version != VERSION:
        old = f"it was written by another version of mercer, in format {version}"
        raise foreign(path, old)
    if known != fingerprint:
        raise foreign(path, "it belongs to other data or parameters")
    return state


def read_arrays(path: Path, names: Sequence[str] | None = None) -> dict[str, Array]:
    """Those of these names that the file holds."""
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        in_file = [name.removesuffix(".npy") for name in sizes]
        if names is None and sum(sizes.values()) > MAX_BYTES:
            raise ValueError(f"it would take {sum(sizes.values()) >> 20} MB")
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in in_file if names is None or name in names}
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise _no_checkpoint(path, error) from error


def foreign(path: Path, reason: str) -> DataError:
    """The refusal of a checkpoint of another fit."""
    return _refusal(f"the checkpoint '{path}' cannot be resumed: {reason}")


def changed(path: Path, what: str) -> DataError:
    """The refusal of rows that are not those of the checkpoint."""
    since = f"{what} have changed since the checkpoint '{path}' was written"
    return _refusal(since, "put the old rows back")


def _no_checkpoint(path: Path, error: Exception) -> DataError:
    return _refusal(f"'{path}' is not a checkpoint of mercer ({error})")


def _refusal(reason: str, remedy: str = "give another path") -> DataError:
    return DataError(f"{reason}; {remedy}, or remove the file to start anew.")


def digest(rows: slice, block: Any) -> int:
    """A checksum of a chunk of rows and its place; those of chunks may be added up.

    Against accidents, at the speed of the memory; the sums themselves are no safer from malice.
    """
    total = zlib.crc32(f"{rows.start}".encode())
    for part in as_points(block).arrays():
        total = zlib.crc32(np.ascontiguousarray(part).data, total)
    return total


#: A sparse set of landmarks is three arrays and a width.
_SPARSE = ("landmarks_data", "landmarks_indices", "landmarks_indptr")


@dataclass(frozen=True)
class _Witnessed(linalg.Sums):
    """Sums over rows and the digest of these rows, which add up together."""

    sums: FeatureSums
    digest: int


def _witnessed(work: Work, rows: slice, block: Array) -> _Witnessed:
    """What the work makes of a block of rows, and a digest of these."""
    return _Witnessed(work(rows, block), digest(rows, block))
