"""Folders of PNG images: an image is a row, a pixel a column named by its place."""

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.files import FileWatch
from mercer._base.optional import require
from mercer._base.types import Array, Names
from mercer.exceptions import DataError
from mercer.io.files import decoding, file_fingerprint
from mercer.points.source import Source

_NAME = re.compile(r"pixel (\d+),(\d+)(?:,([rgb]))?")
#: Bytes that PNG compresses into one, at most.
_SHRINKS = 1032
_DEEP = ("I", "I;16", "I;16B", "I;16L")


def find_images(folder: Path) -> list[Path]:
    """The PNG files of a folder, in the order of their names."""
    return sorted(path for path in folder.iterdir() if path.suffix.lower() == ".png")


class ImageRows(Source):
    """PNG files of one size as rows of ink from 0 to 1, decoded when read; grey if the first is."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._pillow = require("PIL.Image", "io")
        self.paths = list(paths)
        self.watch = FileWatch(self.paths)
        first = self._decode(self.paths[0])
        self.image_shape = first.shape
        self.columns = pixel_names(first.shape)
        self.shape = (len(self.paths), first.size)
        self.dtype = np.dtype(np.float64)

    def read(self, start: int, stop: int) -> Iterator[Array]:
        for path in self.paths[start:stop]:
            image = self._decode(path)
            if image.shape != self.image_shape:
                size, first = _size(image.shape), _size(self.image_shape)
                raise DataError(f"'{path}' has {size}, the first {first}; make all images alike.")
            yield image.reshape(1, -1)

    def fingerprint(self) -> str:
        return file_fingerprint(self.paths)

    def place(self, row: int) -> str:
        return f"'{self.paths[row].name}'"

    def _decode(self, path: Path) -> Array:
        with decoding(path, "readable PNG"), self._pillow.open(path, formats=["PNG"]) as image:
            w, h = image.size
            if w * h > 8 * _SHRINKS * path.stat().st_size:  # at one bit for each pixel
                raise DataError(f"'{path}' is too short for {w} × {h} pixels; save it again.")
            return _ink(image, path)


def pixel_names(shape: Sequence[int]) -> tuple[str, ...]:
    """The names of an image's columns, from which :func:`image_shape` knows its size."""
    h, w = shape[:2]
    ends = [""] if len(shape) == 2 else [",r", ",g", ",b"]
    return tuple(f"pixel {i},{j}{end}" for i in range(h) for j in range(w) for end in ends)


def image_shape(names: Names | None) -> tuple[int, ...] | None:
    """The size of the images whose pixels have these names; None if they are not pixels.

    Examples
    --------
    >>> image_shape(pixel_names((2, 3, 3)))
    (2, 3, 3)
    >>> image_shape(["height", "weight"]) is None
    True
    """
    if names is None or not len(names) or not (last := _NAME.fullmatch(str(names[-1]))):
        return None
    shape = (int(last[1]) + 1, int(last[2]) + 1, *([3] if last[3] else []))
    return shape if tuple(map(str, names)) == pixel_names(shape) else None


def _ink(image: Any, path: Path) -> Array:
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    if has_alpha and np.asarray(image.convert("RGBA"))[..., 3].min() < 255:
        raise DataError(f"'{path}' is partly transparent; put it on a background first.")
    if image.mode in _DEEP:
        return np.asarray(image).astype(np.float64) / 65535
    grey = image.mode in ("1", "L", "LA")
    return np.asarray(image.convert("L" if grey else "RGB")).astype(np.float64) / 255


def _size(shape: Sequence[int]) -> str:
    return f"{shape[1]} × {shape[0]} pixels in {'grey' if len(shape) == 2 else 'colour'}"


def to_bytes(image: Array) -> Array:
    """Ink from 0 to 1 as whole numbers from 0 to 255; what lies outside becomes 0 or 255."""
    return np.asarray(np.rint(np.clip(image, 0.0, 1.0) * 255), dtype=np.uint8)


def encode_png(image: Array) -> bytes:
    """A PNG file of an (h, w) grey or (h, w, 3) colour image."""
    h, w = image.shape[:2]
    colour = 2 if image.ndim == 3 else 0
    # Each line begins with its filter, here none.
    lines = np.zeros((h, 1 + image.size // h), dtype=np.uint8)
    lines[:, 1:] = image.reshape(h, -1)
    header = struct.pack(">IIBBBBB", w, h, 8, colour, 0, 0, 0)
    chunks = {b"IHDR": header, b"IDAT": zlib.compress(lines.tobytes(), 9), b"IEND": b""}
    png = b"\x89PNG\r\n\x1a\n"
    for kind, data in chunks.items():
        png += struct.pack(f">I4s{len(data)}sI", len(data), kind, data, zlib.crc32(kind + data))
    return png
