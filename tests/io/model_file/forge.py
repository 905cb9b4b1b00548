"""Model files as an attacker would write them: every checksum right, the content not."""

import hashlib
import json
import struct
from pathlib import Path

ZEROS = "0" * 64


def parts(path):
    """Header (JSON), the model in it (JSON), and the payload."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    return header, json.loads(header["__metadata__"]["model"]), data[8 + length :]


def assemble(path, header, model, payload, *, resum=True):
    """The file again, with checksums that are right."""
    texts = header["__metadata__"]
    texts["model"] = json.dumps(model)
    texts["digest"] = ZEROS
    if resum:
        sums = {}
        for name, entry in header.items():
            if name != "__metadata__":
                start, stop = entry["data_offsets"]
                sums[name] = hashlib.sha256(payload[start:stop]).hexdigest()
        texts["sha256"] = json.dumps(sums)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    start = struct.pack("<Q", len(text)) + text
    digest = hashlib.sha256(start).hexdigest().encode()
    Path(path).write_bytes(start.replace(ZEROS.encode(), digest, 1) + payload)


def forge(source, target, change, **options):
    """``change(header, model, payload) -> payload or None`` edits in place."""
    header, model, payload = parts(source)
    changed = change(header, model, bytearray(payload))
    assemble(target, header, model, bytes(payload if changed is None else changed), **options)
    return target
