"""Seeded fuzz: a case is a number, and a failure prints the line that repeats it.

A few cases run with the plain tests, many behind the slow marker; ``MERCER_FUZZ=17`` runs case 17
alone, and ``MERCER_FUZZ=0:5000`` a range of them.
"""

import os
import time

import numpy as np
import pytest

#: Seconds of this process that a case may take.
PATIENCE = 10.0


def cases(few, many):
    """For ``parametrize("seeds", ...)``: the first ``few`` plainly, up to ``many`` if slow."""
    if chosen := os.environ.get("MERCER_FUZZ"):
        first, _, last = chosen.partition(":")
        return [pytest.param(range(int(first), int(last or int(first) + 1)), id=chosen)]
    slow = pytest.param(range(few, many), id="many", marks=pytest.mark.slow)
    return [pytest.param(range(few), id="few"), slow]


def run(seeds, case, where):
    """``case(rng)`` for every seed; the ones that fail, in one report."""
    failures = []
    for seed in seeds:
        started = time.process_time()
        try:
            case(np.random.default_rng(seed))
            if time.process_time() - started > PATIENCE:
                raise TimeoutError(f"took {time.process_time() - started:.1f} s")
        except Exception as error:
            text = " ".join(str(error).split())[:300]
            failures.append(
                f"MERCER_FUZZ={seed} pytest -n0 {where}  # {type(error).__name__}: {text}"
            )
    assert not failures, "\n".join([f"{len(failures)} of {len(seeds)} cases:", *failures[:40]])


def pick(rng, items):
    return items[int(rng.integers(len(items)))]


#: Numbers that sizes, versions, offsets and parameters should not be.
ODD = (0, 1, -1, 2, 7, 255, 65_536, 2**31, 2**32 - 1, 2**40, 2**63, -(2**63), 10**30)


def damaged(rng, content):
    """Bytes with a piece cut, doubled, flipped, overwritten or exchanged."""
    content = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        if not content:
            break
        a, b = sorted(int(x) for x in rng.integers(0, len(content) + 1, 2))
        how = rng.integers(6)
        if how == 0:
            del content[a:]
        elif how == 1:
            del content[a : min(b, a + 16)]
        elif how == 2:
            content[a:a] = content[a : min(b, a + 64)]
        elif how == 3:
            content[a : a + 1] = bytes([int(rng.integers(256))])
        elif how == 4:
            content[a:b] = bytes(rng.integers(0, 256, min(b - a, 9), dtype=np.uint8))
        else:
            content[a % len(content)] ^= 1 << int(rng.integers(8))
    return bytes(content)
