"""The container: a safetensors file of which every byte is covered by a checksum.

::

    8 bytes   length of the header, little-endian
    header    JSON: {"__metadata__": {"digest": ..., ...}, name: {dtype, shape, data_offsets}}
    payload   the tensors, one after the other, nothing between or behind them

``digest`` is the SHA-256 of length and header with the digest itself written as zeros; the header
holds the SHA-256 of each tensor. So a damaged header is noticed before it is believed, and a
damaged tensor before it is used. Any reader of safetensors opens the file, too.
"""

import hashlib
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mercer._base.machine import blocks
from mercer._base.spelling import similar_file
from mercer._base.types import Array, PathLike
from mercer.exceptions import MissingModelError, ModelFileError, Remedy

_PICKLE = "a Python pickle, which could run any code and is never read; save with model.save(path)"
_SIGNS = (
    *((bytes([0x80, protocol]), _PICKLE) for protocol in (2, 3, 4, 5)),
    (b"\x93NUMPY", "a NumPy array; open it with numpy.load"),
    (b"PK\x03\x04", "a zip archive (.npz, skops, PyTorch); open it with what wrote it"),
    (b"\x89HDF\r\n", "an HDF5 file; open it with what wrote it"),
    (b"\x1f\x8b", "a gzip archive; unpack it first"),
    (b"\x89PNG", "a picture"),
    (b"PAR1", "a Parquet table; fit a model to it first"),
)


def looks_like(start: bytes) -> str:
    """What a file is, in a few words, from its first bytes."""
    for sign, words in _SIGNS:
        if start.startswith(sign):
            return f"it looks like {words}"
    if start[8:10] == b'{"':
        return "it is a safetensors file, but none that mercer wrote"
    if start[:12].isascii() and b"\0" not in start[:12]:
        shell = Remedy("", shell=", 'mercer fit DATA'. MODEL comes before DATA")
        table = f"it begins with {start[:12].decode('ascii')!r}, as a table might"
        return f"{table}; fit a model to it first" + shell
    return f"it begins with {start[:12]!r}, which no model does"


#: A longer header is none of ours: names of columns are tensors, and lists of parameters are short.
MAX_HEADER = 1 << 18
_START = b'{"__metadata__":{"digest":"'
_ZEROS = b"0" * 64
_DIGEST_AT = 8 + len(_START)

_KINDS = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}
_DTYPES: dict[str, np.dtype] = {name: np.dtype(kind) for name, kind in _KINDS.items()}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


@dataclass(frozen=True)
class Tensor:
    """Where a tensor lies in the payload, and what it should be."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int
    sha256: str

    @property
    def n_bytes(self) -> int:
        """Bytes in the file."""
        return self.stop - self.start


def write_container(file: BinaryIO, texts: Mapping[str, str], tensors: Mapping[str, Array]) -> None:
    """Write contiguous arrays and texts; nothing is written if one of the arrays cannot be."""
    # Wide types first, so that each tensor lies at a multiple of its item size.
    names = sorted(tensors, key=lambda name: -tensors[name].itemsize)
    arrays = {name: _little_endian(name, tensors[name]) for name in names}
    sums = {name: hashlib.sha256(_bytes(array)).hexdigest() for name, array in arrays.items()}
    first = {"digest": _ZEROS.decode(), **texts, "sha256": json.dumps(sums)}
    header: dict[str, object] = {"__metadata__": first}
    at = 0
    for name, array in arrays.items():
        kind, place = _NAMES[array.dtype], [at, at + array.nbytes]
        header[name] = {"dtype": kind, "shape": array.shape, "data_offsets": place}
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":"), allow_nan=False).encode("ascii")
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER:
        long = f"the header takes {len(text)} bytes of {MAX_HEADER}"
        raise ModelFileError(f"{long}; give large parameters as arrays.")
    start = len(text).to_bytes(8, "little") + text
    digest = hashlib.sha256(start).hexdigest().encode()
    file.write(start[:_DIGEST_AT] + digest + start[_DIGEST_AT + 64 :])
    for array in arrays.values():
        file.write(_bytes(array))


@contextmanager
def open_container(path: PathLike) -> Iterator["Reader"]:
    """A file whose header has been checked; nothing is believed before that."""
    path = Path(path)
    if not path.exists():
        guess = similar_file(path) or "; check its name."
        raise MissingModelError(f"there is no model file '{path}'{guess}")
    # A pipe would wait for a writer, for ever.
    if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise ModelFileError(f"'{path}' is a device or a pipe; give the name of a file.")
    with path.open("rb") as file:
        yield Reader(path, file)


class Reader:
    """An open file whose header has been checked; tensors are checked as they are read.

    Nothing is allocated before its length has been compared with that of the file. ``texts`` are
    the metadata, without checksums.
    """

    def __init__(self, path: Path, file: BufferedReader) -> None:
        self.path, self._file = path, file
        self.size = os.fstat(file.fileno()).st_size
        self.texts, self.tensors = self._check_header(self._read_header())

    def error(self, trouble: str) -> ModelFileError:
        """An error that says what was found, and names the file."""
        if not isinstance(trouble, Remedy):
            trouble = " ".join(trouble.split())[:500]  # NumPy's error may print a whole array
        error = ModelFileError(f"'{self.path}' is not a model that can be loaded: " + trouble + ".")
        error.path = self.path
        return error

    def read(self, name: str) -> Array:
        """One tensor, if its bytes are those that were written, all of them finite."""
        tensor = self.tensors[name]
        try:
            array = np.empty(tensor.shape, dtype=_DTYPES[tensor.dtype])
        except (ValueError, MemoryError) as error:
            raise self.error(f"tensor {name!r} of shape {tensor.shape}: {error}") from error
        self._file.seek(self._payload + tensor.start)
        self._file.readinto(_bytes(array))
        self._compare(tensor, hashlib.sha256(_bytes(array)).hexdigest())
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise self.error(f"tensor {name!r} holds NaN or infinity; fit and save again")
        return array.astype(array.dtype.newbyteorder("="), copy=False)

    def verify(self) -> None:
        """Check every tensor, in pieces that need no memory."""
        for tensor in self.tensors.values():
            self._file.seek(self._payload + tensor.start)
            digest = hashlib.sha256()
            for part in blocks(tensor.n_bytes, 1 << 20):
                digest.update(self._file.read(part.stop - part.start))
            self._compare(tensor, digest.hexdigest())

    def _compare(self, tensor: Tensor, sha256: str) -> None:
        if sha256 != tensor.sha256:
            changed = f"tensor {tensor.name!r} has changed since it was saved"
            raise self.error(f"{changed} (SHA-256 now {sha256[:12]}…); copy the file again")

    def _read_header(self) -> bytes:
        """The header, if it is ours and unchanged."""
        start = self._file.read(_DIGEST_AT)
        length = int.from_bytes(start[:8], "little")
        if start[8:] != _START:
            cut = f"it is empty or cut off after {self.size} bytes; copy it again"
            raise self.error(cut if _START.startswith(start[8:]) else looks_like(start))
        if not len(_START) + 64 <= length <= min(MAX_HEADER, self.size - 8):
            raise self.error(f"its header has {length} of {self.size} bytes; copy the file again")
        rest = self._file.read(length + 8 - len(start))
        if hashlib.sha256(start + _ZEROS + rest[64:]).hexdigest().encode() != rest[:64]:
            raise self.error("its header has changed since it was saved; copy the file again")
        self._payload = length + 8
        return start[8:] + rest

    def _check_header(self, header: bytes) -> tuple[dict[str, str], dict[str, Tensor]]:
        entries = parse_json(header.decode("ascii", errors="replace"), self.error)
        texts = entries.pop("__metadata__")  # as it begins
        if not all(isinstance(text, str) for text in texts.values()):
            raise self.error("its header has more than texts")
        del texts["digest"]
        sums = parse_json(texts.pop("sha256", "null"), self.error)
        if not isinstance(sums, dict) or set(sums) != set(entries):
            raise self.error("its tensors and its checksums disagree")
        tensors: dict[str, Tensor] = {}
        at = 0
        for name, entry in entries.items():  # in the order of the payload
            tensors[name] = self._tensor(name, entry, at, str(sums[name]))
            at = tensors[name].stop
        if self._payload + at != self.size:
            raise self.error(f"it has {self.size} bytes, not {self._payload + at}; copy it again")
        return texts, tensors

    def _tensor(self, name: str, entry: Any, at: int, sha256: str) -> Tensor:
        """One entry of the header, if its numbers agree with each other and it begins at ``at``."""
        match entry:
            case {"dtype": str(kind), "shape": [*shape], "data_offsets": [int(start), int(stop)]}:
                whole = len(shape) <= 8 and all(type(n) is int and 0 <= n < 2**62 for n in shape)
                known = kind in _DTYPES and whole and len(entry) == 3
                # Python's integers: no overflow
                if known and (start, stop) == (at, at + prod(shape) * _DTYPES[kind].itemsize):
                    return Tensor(name, kind, tuple(shape), start, stop, sha256)
        raise self.error(f"tensor {name!r}, from byte {at} on, is described as {str(entry)[:120]}")


def parse_json(text: str, error: Callable[[str], ModelFileError]) -> Any:
    """Strict JSON: no NaN, no repeated names, no deep nesting, all of which Python would accept."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        members = dict(pairs)
        if len(members) != len(pairs):
            raise ValueError("a name appears twice")
        return members

    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a number")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=refuse)
    except (ValueError, RecursionError) as reason:
        raise error(f"its header cannot be read ({reason})") from reason


def _little_endian(name: str, array: Array) -> Array:
    dtype = array.dtype.newbyteorder("<")
    if dtype not in _NAMES:
        raise ModelFileError(f"{name!r} holds {array.dtype}; use float32 or float64.")
    if dtype.kind == "f" and not np.isfinite(array).all():
        raise ModelFileError(f"{name!r} holds NaN or infinity; fit the model again.")
    return np.asarray(array, dtype=dtype, order="C")


def _bytes(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data
