"""Whatever happened to a file: ModelFileError, quickly, and never a model."""

import hashlib
import json
import os
import pickle
import struct
import time
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer import KernelNovelty, KernelPCA
from mercer.exceptions import ModelFileError
from mercer.io.model_file import describe
from mercer.io.model_file.container import MAX_HEADER
from tests.io.model_file.forge import forge
from tests.io.model_file.models import rows


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """A small file: 6 rows of 2 columns."""
    path = tmp_path_factory.mktemp("good") / "small.mercer"
    return KernelPCA(2, kernel="linear").fit(rows(6, 2)).save(path)


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    path = tmp_path_factory.mktemp("larger") / "larger.mercer"
    return KernelPCA(3).fit(rows()).save(path)


def refusal(path) -> str:
    """The message with which both doors refuse a file."""
    with pytest.raises(ModelFileError) as loaded:
        mercer.load(path)
    with pytest.raises(ModelFileError):
        describe(path)
    assert str(path) in str(loaded.value)
    assert "\n" not in str(loaded.value)
    return str(loaded.value)


def load_refuses(path) -> bool:
    try:
        mercer.load(path)
    except ModelFileError:
        return True
    return False


def slipped(good, path, masks):
    """Changes of single bytes after which the file still loads."""
    data = good.read_bytes()
    path.write_bytes(data)
    found = []
    with path.open("r+b", buffering=0) as file:
        for at, byte in enumerate(data):
            for mask in masks:
                os.pwrite(file.fileno(), bytes([byte ^ mask]), at)
                if not load_refuses(path):
                    found.append((at, mask))
            os.pwrite(file.fileno(), bytes([byte]), at)
    assert not load_refuses(path)
    return found


def test_every_single_byte_flip(good, tmp_path):
    """Every bit of every byte, and every byte as its complement."""
    masks = [*(1 << bit for bit in range(8)), 0xFF]
    assert not slipped(good, tmp_path / "flipped.mercer", masks)


def test_every_truncation_and_every_growth(good, tmp_path):
    data, path = good.read_bytes(), tmp_path / "cut.mercer"
    path.write_bytes(data)
    for length in reversed(range(len(data))):
        os.truncate(path, length)
        assert load_refuses(path), length
    for tail in (b"\0", b" ", b"x" * 8, data):
        path.write_bytes(data + tail)
        assert f"{len(data + tail)} bytes, not {len(data)}" in refusal(path)


def test_exchanged_and_moved_bytes(good, tmp_path):
    data, path = good.read_bytes(), tmp_path / "mixed.mercer"
    rng = np.random.default_rng(0)
    for _ in range(300):
        mixed = bytearray(data)
        i, j, length = rng.integers(0, len(data) - 16, 3) % (len(data) - 16)
        piece = slice(int(i), int(i) + 1 + int(length) % 15)
        mixed[piece] = data[int(j) : int(j) + piece.stop - piece.start]
        path.write_bytes(mixed)
        assert bytes(mixed) == data or load_refuses(path)


class Bomb:
    """Writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_a_renamed_pickle_is_not_executed(tmp_path):
    path, trace = tmp_path / "model.mercer", tmp_path / "executed"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Bomb(trace), protocol))
        message = refusal(path)
        assert protocol < 2 or "pickle" in message
    assert not trace.exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\0", "cut off|begins with"),
        (b"\xff" * 64, "begins with"),
        (b"PK\x03\x04" + b"\0" * 60, "zip archive"),
        (b"\x93NUMPY\x01\x00" + b"\0" * 60, "NumPy array"),
        (b"a,b\n1,2\n" * 20, "begins with"),
        (struct.pack("<Q", 2) + b"{}", "safetensors file, but none|cut off|begins with"),
    ],
    ids=["empty", "one byte", "ones", "zip", "npy", "csv", "safetensors"],
)
def test_foreign_files_are_named(content, words, tmp_path):
    path = tmp_path / "model.mercer"
    path.write_bytes(content)
    message = refusal(path)
    assert any(word in message for word in words.split("|")), message


def test_safetensors_of_others(tmp_path):
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3)}, tmp_path / "m.mercer", {"format": "pt"})
    assert "none that mercer wrote" in refusal(tmp_path / "m.mercer")


def test_things_that_are_no_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        mercer.load(tmp_path / "absent.mercer")
    with pytest.raises(IsADirectoryError):
        mercer.load(tmp_path)
    os.mkfifo(tmp_path / "pipe.mercer")
    with pytest.raises(ModelFileError, match="pipe"):
        mercer.load(tmp_path / "pipe.mercer")
    with pytest.raises(ModelFileError, match="device"):
        mercer.load("/dev/zero")


def nothing(header, model, payload):
    """For the forger to prove that his files load."""


def set_text(name, value):
    return lambda header, model, payload: header["__metadata__"].__setitem__(name, value)


def in_subspace(name, value):
    def change(header, model, payload):
        model["state"]["subspace_"]["with"][name] = value

    return change


def nan(header, model, payload):
    payload[header["subspace.support"]["data_offsets"][0] :][:8] = b""
    start = header["subspace.coef"]["data_offsets"][0]
    payload[start : start + 8] = struct.pack("<d", float("nan"))
    return payload


def shape(name, new):
    return lambda header, model, payload: header[name].__setitem__("shape", new)


def empty(header, model, payload):
    """No bytes, and more entries in a row than an array can have."""
    at, stop = header["subspace.coef"]["data_offsets"]
    header["subspace.coef"] |= {"shape": [0, 2**61], "data_offsets": [at, at]}
    for entry in header.values():
        if (place := entry.get("data_offsets")) and place[0] >= stop:
            entry["data_offsets"] = [end - (stop - at) for end in place]
    del payload[at:stop]
    return payload


def offsets(header, model, payload):
    header["subspace.mean"]["data_offsets"] = [0, 480]


def unknown_class(header, model, payload):
    model["object"] = header["__metadata__"]["class"] = "os.system"


def unknown_kernel(header, model, payload):
    model["state"]["kernel_"]["object"] = "builtins.eval"


def unknown_parameter(header, model, payload):
    model["with"]["__class__"] = "x"


def unknown_attribute(header, model, payload):
    model["state"]["transform"] = 3


def bad_kernel(header, model, payload):
    model["state"]["kernel_"]["with"]["gamma"] = -1.0


def deep(header, model, payload):
    value = []
    for _ in range(400):
        value = {"tuple": [value]}
    model["with"]["solver"] = value


def never_fitted(header, model, payload):
    model["state"] = {}
    for name in [name for name in header if name != "__metadata__"]:
        del header[name]
    return b""


def unused_tensor(header, model, payload):
    header["extra"] = {
        "dtype": "U8",
        "shape": [3],
        "data_offsets": [len(payload), len(payload) + 3],
    }
    return bytes(payload) + b"abc"


def huge(header, model, payload):
    header["subspace.support"]["shape"] = [2**40, 2**20]


def list_for_type(header, model, payload):
    header["subspace.support"]["dtype"] = ["F64"]


FORGED = {
    "another format": (set_text("format", "pt"), "format is 'pt'"),
    "a later version": (set_text("version", "2"), "version is '2'.*reads version 1.*newer mercer"),
    "no version": (set_text("version", ""), "version is ''"),
    "another text": (set_text("extra", "x"), "extra"),
    "a terminal command": (set_text("created_at", "\x1b[2J"), "texts"),
    "one in JSON": (set_text("libraries", '{"a":"\\u001b[2J"}'), "where it comes from"),
    "a library's version": (set_text("libraries", '{"a":1}'), "where it comes from"),
    "fewer facts": (set_text("data", '{"rows":1}'), "where it comes from"),
    "a number too large": (
        in_subspace("mean_square", {"scalar": "int32", "value": 2**40}),
        "sense",
    ),
    "JSON that is none": (set_text("libraries", "{"), "cannot be read"),
    "NaN in JSON": (set_text("data", "NaN"), "not a number"),
    "a name twice": (set_text("data", '{"a":1,"a":2}'), "twice"),
    "NaN in a tensor": (nan, "NaN or infinity"),
    "m of c": (in_subspace("mean", {"array": "subspace.offset"}), "mean has shape"),
    "B for S": (in_subspace("support", {"array": "subspace.mean"}), "support has shape"),
    "a text for B": (in_subspace("coef", "x"), "coef is str"),
    "no kernel": (in_subspace("kernel", None), "kernel is NoneType"),
    "an absent tensor": (in_subspace("coef", {"array": "absent"}), "missing"),
    "no tag": (in_subspace("coef", {"what": 1}), "where an object should be"),
    "a field of its own": (in_subspace("more", 1), "no parameter 'more'"),
    "shape and bytes": (shape("subspace.coef", [60, 4]), "is described as .*60, 4"),
    "transposed": (shape("subspace.coef", [3, 60]), "shape"),
    "negative": (shape("subspace.coef", [-60, -3]), "is described as"),
    "not whole": (shape("subspace.coef", [60.0, 3]), "is described as"),
    "a list for a type": (list_for_type, "is described as"),
    "too long a side": (empty, "tensor 'subspace.coef' of shape"),
    "80 TB": (huge, "is described as .*1099511627776"),
    "overlapping": (offsets, r"from byte \d+ on, is described as .*\[0, 480\]"),
    "unknown class": (unknown_class, "'os.system', which is not registered"),
    "unknown kernel": (unknown_kernel, "'builtins.eval', which is not registered"),
    "unknown parameter": (unknown_parameter, "no parameter '__class__'"),
    "unknown attribute": (unknown_attribute, "'transform' is not an attribute"),
    "impossible kernel": (bad_kernel, "gamma=-1.0 is negative"),
    "deep": (deep, "nested too deeply|where an object"),
    "never fitted": (never_fitted, "never fitted"),
    "unused tensor": (unused_tensor, "nothing needs"),
}


@pytest.mark.parametrize("case", FORGED)
def test_forged_files_with_right_checksums(case, larger, tmp_path):
    change, words = FORGED[case]
    path = forge(larger, tmp_path / "forged.mercer", change)
    with pytest.raises(ModelFileError, match=words):
        mercer.load(path)


def test_the_forger_can_write_files_that_load(larger, tmp_path):
    loaded = mercer.load(forge(larger, tmp_path / "same.mercer", nothing))
    np.testing.assert_array_equal(loaded.transform(rows()), mercer.load(larger).transform(rows()))


def test_a_wrong_checksum_of_a_tensor(larger, tmp_path):
    def change(header, model, payload):
        sums = json.loads(header["__metadata__"]["sha256"])
        sums["subspace.coef"] = "0" * 64
        header["__metadata__"]["sha256"] = json.dumps(sums)

    path = forge(larger, tmp_path / "m.mercer", change, resum=False)
    assert "'subspace.coef' has changed since it was saved" in refusal(path)


def test_calibration_scores_out_of_order(tmp_path):
    path = (
        KernelNovelty(3, calibration="split", false_alarm_rate=0.1, random_state=0)
        .fit(rows())
        .save(tmp_path / "m.mercer")
    )

    def change(header, model, payload):
        start, stop = header["conformal.scores"]["data_offsets"]
        payload[start:stop] = np.frombuffer(payload[start:stop], "<f8")[::-1].tobytes()
        return payload

    with pytest.raises(ModelFileError, match="not in order"):
        mercer.load(forge(path, tmp_path / "forged.mercer", change))


def full_of_lists(length):
    """A header, checksum and all, full of what takes most memory to parse: empty lists."""
    start = b'{"__metadata__":{"digest":"' + b"0" * 64 + b'","x":"y"},"a":['
    text = start + b"[]," * ((length - len(start) - 16) // 3) + b"[]]}"
    text += b" " * (-len(text) % 8)
    whole = struct.pack("<Q", len(text)) + text
    return whole.replace(b"0" * 64, hashlib.sha256(whole).hexdigest().encode(), 1)


START = b'{"__metadata__":{"digest":"'


@pytest.mark.parametrize(
    "content",
    [
        struct.pack("<Q", 2**63) + START + b"0" * 100,
        struct.pack("<Q", 10**9) + START + b"0" * (1 << 22),
        full_of_lists(MAX_HEADER),
        b"\x80\x04" + b"x" * (1 << 22),
    ],
    ids=["8 EB header", "1 GB header", "empty lists", "long pickle"],
)
def test_refused_within_a_second_and_50_mb(content, tmp_path):
    path = tmp_path / "hostile.mercer"
    path.write_bytes(content)
    started = time.process_time()  # of this process: other tests run beside it
    refusal(path)
    assert time.process_time() - started < 1
    tracemalloc.start()
    refusal(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 << 20


def test_a_header_shorter_than_its_own_beginning(tmp_path):
    """It was a bare ValueError of Python's."""
    path = tmp_path / "m.mercer"
    path.write_bytes(struct.pack("<Q", 5) + START + b"0" * 100)
    os.truncate(path, 1 << 40)
    assert f"its header has 5 of {1 << 40} bytes" in refusal(path)


def test_a_sparse_file_of_a_terabyte_is_refused_at_once(good, tmp_path):
    path = tmp_path / "m.mercer"
    path.write_bytes(good.read_bytes())
    os.truncate(path, 1 << 40)
    started = time.process_time()
    assert f"{1 << 40} bytes" in refusal(path)
    assert time.process_time() - started < 1
