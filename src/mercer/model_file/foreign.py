"""What a file that is none of ours seems to be, so that the error can say it."""

from mercer.exceptions import Remedy

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
    """In a few words, from the first bytes of the file."""
    for sign, words in _SIGNS:
        if start.startswith(sign):
            return f"it looks like {words}"
    if start[8:10] == b'{"':
        return "it is a safetensors file, but none that mercer wrote"
    if start[:12].isascii() and b"\0" not in start[:12]:
        text = start[:12].decode("ascii")
        return f"it begins with {text!r}, as a table might; fit a model to it first" + Remedy(
            "", shell=", 'mercer fit DATA'. MODEL comes before DATA"
        )
    return f"it begins with {start[:12]!r}, which no model does"
