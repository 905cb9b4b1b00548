"""Readers under fire: a finite table, or one line that names the file; soon, and never a crash."""

import io
import json
import shutil
import struct
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from mercer.exceptions import DataError
from mercer.io import open_rows
from mercer.io.images import ImageRows, encode_png, find_images
from tests.fuzz import ODD, cases, damaged, pick, run

WORDS = (
    "",
    "nan",
    "-inf",
    "1e999",
    "1e-400",
    "0x10",
    "1_0",
    "1,5",
    '"',
    '"1"',
    "1 2",
    "\0",
    "é",
    "−1",
    "١",
    "NA",
    "true",
    "=1+1",
    "9" * 400,
    "1" + "0" * 5000,
    "'",
    "\t",
    "#",
    "-",
    ".",
    "1.",
    "+.5",
    "\ufeff",
)
ENDS = ("\n", "\r\n", "\r", "\n\n", "\x0b", "\x0c", "\x85", "\u2028", "")
TYPES = (
    "<f8",
    ">f4",
    "<f2",
    "i1",
    "<u8",
    "?",
    "<c16",
    "<U3",
    "O",
    "<M8[s]",
    "V8",
    "<f16",
    "S4",
    "",
    "f8,f8",
    "<i99",
)


def table(rng):
    return rng.standard_normal((int(rng.integers(1, 40)), int(rng.integers(1, 5))))


def mostly(rng, usual, others):
    return usual if rng.random() < 0.8 else pick(rng, others)


def write_csv(rng, path):
    X, delimiter = table(rng), mostly(rng, ",", (";", "\t", " ", "|"))
    lines = [[repr(float(x)) for x in row] for row in X]
    if rng.random() < 0.7:
        lines.insert(0, [f"c{j}" for j in range(X.shape[1])])
    for _ in range(int(rng.integers(0, 4))):
        line = pick(rng, lines)
        j = int(rng.integers(len(line) + 1))
        how = rng.integers(4)
        if how == 0:
            line[j : j + 1] = [pick(rng, WORDS)]
        elif how == 1:
            del line[j : j + 1]
        elif how == 2:
            line.insert(j, pick(rng, WORDS))
        else:
            lines.insert(int(rng.integers(len(lines))), list(line))
        lines = [line or [""] for line in lines]
    end = mostly(rng, "\n", ENDS)
    text = end.join(delimiter.join(line) for line in lines) + pick(rng, ENDS)
    content = text.encode(mostly(rng, "utf-8", ("utf-8-sig", "utf-16", "utf-32")))
    path.write_bytes(damaged(rng, content) if rng.random() < 0.3 else content)


def npy(rng):
    X = table(rng)
    header = {"descr": "<f8", "fortran_order": bool(rng.random() < 0.5), "shape": X.shape}
    for _ in range(mostly(rng, 0, (1, 2, 3))):
        sides = tuple(int(pick(rng, ODD)) for _ in range(int(rng.integers(0, 4))))
        change = pick(rng, ("descr", "fortran_order", "shape", "extra", "absent"))
        if change == "absent":
            header.pop(pick(rng, list(header)), None)
        else:
            header[change] = {"descr": pick(rng, TYPES), "shape": sides}.get(change, pick(rng, ODD))
    text = (repr(header) + " " * int(rng.integers(0, 70)) + "\n").encode()
    version = pick(rng, (1, 1, 1, 2, 3, 9))
    size = struct.pack("<H" if version == 1 else "<I", len(text))
    content = b"\x93NUMPY" + bytes([version, 0]) + size + text + X.tobytes()
    return damaged(rng, content) if rng.random() < 0.3 else content


def write_npy(rng, path):
    path.write_bytes(npy(rng))


def write_npz(rng, path):
    file = io.BytesIO()
    method = pick(
        rng, (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    )
    with zipfile.ZipFile(file, "w", method) as archive:
        for name in ("X", "../x", "y")[: mostly(rng, 1, (0, 2, 3))]:
            archive.writestr(f"{name}{mostly(rng, '.npy', ('.txt', ''))}", npy(rng))
    content = bytearray(file.getvalue())
    start = content.find(b"PK\x01\x02")
    if start >= 0 and rng.random() < 0.5:  # a field of the central directory
        at, kind = pick(
            rng, ((8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I"), (42, "<I"))
        )
        struct.pack_into(kind, content, start + at, pick(rng, ODD) % 256 ** struct.calcsize(kind))
    path.write_bytes(damaged(rng, content) if rng.random() < 0.3 else content)


def write_parquet(rng, path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X = table(rng)
    arrays = [pa.array(column) for column in X.T]
    n = len(X)
    strange = (
        pa.array([None] * n),
        pa.array(["a"] * n),
        pa.array([[1.0]] * n),
        pa.array([{"a": 1}] * n),
        pa.array([1.0] * n).dictionary_encode(),
        pa.array([True] * n),
        pa.array([1] * n, pa.timestamp("s")),
        pa.array([1] * n).cast(pa.decimal128(30, 2)),
        pa.array([b"x"] * n),
        pa.array([2**60] * n),
        pa.array([1.0, None] * n)[:n],
        pa.array([np.inf] * n),
        pa.array([1.0] * n).cast(pa.float16()),
    )
    if rng.random() < 0.4:
        arrays[int(rng.integers(len(arrays)))] = pick(rng, strange)
    names = [
        pick(rng, ("a", "b", "c", "d", "", "é")) + str(j) * int(rng.integers(2))
        for j in range(len(arrays))
    ]
    codec = pick(rng, ("snappy", "gzip", "none", "zstd"))
    size = int(rng.integers(1, n + 1))
    parquet.write_table(pa.table(arrays, names=names), path, compression=codec, row_group_size=size)
    if rng.random() < 0.7:
        path.write_bytes(damaged(rng, path.read_bytes()))


def write_zarr(rng, path):
    zarr = pytest.importorskip("zarr")
    X = table(rng)
    chunks = (int(rng.integers(1, len(X) + 1)), int(rng.integers(1, X.shape[1] + 1)))
    version = pick(rng, (2, 3))
    zarr.create_array(str(path), shape=X.shape, chunks=chunks, dtype=X.dtype, zarr_format=version)[
        :
    ] = X
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    for _ in range(int(rng.integers(0, 3))):
        file = pick(rng, files)
        if file.name in ("zarr.json", ".zarray"):
            entry = json.loads(file.read_text())
            name = pick(rng, sorted(entry))
            entry[name] = pick(
                rng, (None, "x", [], {}, [2, 3], *ODD[:9], [10**12, 10**6], "float16", "<f4")
            )
            file.write_text(json.dumps(entry))
        elif rng.random() < 0.2:
            file.unlink()
            files.remove(file)
        else:
            file.write_bytes(damaged(rng, file.read_bytes()))


def write_images(rng, path):
    path.mkdir()
    h, w = (int(x) for x in rng.integers(1, 6, 2))
    for i in range(int(rng.integers(1, 5))):
        colour = (3,) if rng.random() < 0.1 else ()
        content = encode_png(rng.integers(0, 256, (h, w, *colour), dtype=np.uint8))
        if rng.random() < 0.3:  # another head, with the right checksum
            head = bytearray(content[16:29])
            at = int(rng.integers(13))
            head[at] = int(rng.integers(256)) if at > 7 else head[at] ^ (1 << int(rng.integers(8)))
            content = (
                content[:16] + head + struct.pack(">I", zlib.crc32(b"IHDR" + head)) + content[33:]
            )
        (path / f"{i}.png").write_bytes(damaged(rng, content) if rng.random() < 0.3 else content)


WRITERS = {
    "x.csv": write_csv,
    "x.tsv": write_csv,
    "x.npy": write_npy,
    "x.npz": write_npz,
    "x.parquet": write_parquet,
    "x.zarr": write_zarr,
    "images": write_images,
}


def read(path, allow_nan):
    if path.name == "images":
        return ImageRows(find_images(path))[:]
    return open_rows(path, allow_nan=allow_nan)[:]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("seeds", cases(40, 1000))
def test_a_finite_table_or_one_line(name, seeds):
    def case(rng):
        folder = Path(tempfile.mkdtemp(prefix="mercer-fuzz-"))
        try:
            path = folder / name
            WRITERS[name](rng, path)
            allow_nan = bool(rng.random() < 0.3)
            X = read(path, allow_nan)
            assert X.ndim == 2
            assert not np.isinf(X).any()
            assert allow_nan or np.isfinite(X).all()
        except DataError as error:
            text = str(error)
            assert "\n" not in text, text
            assert len(text) < 1000, text
        finally:
            shutil.rmtree(folder)

    run(seeds, case, f"tests/io/test_fuzz.py -k {name}")
