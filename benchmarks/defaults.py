"""How good a first call with nothing set is, beside rivals as their users would set them.

``python -m benchmarks defaults [novelty|impute|robust|denoise] [--confirm]``: each part has a
*development* list of data sets, on which settings are chosen, and a *confirmation* list, which is
looked at once they are. No default is changed without a row in these tables.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Run the parts that are named, or all."""
    parts = sorted(p.stem[len("_default_") :] for p in Path(__file__).parent.glob("_default_*.py"))
    named = [word for word in sys.argv[2:] if not word.startswith("-")]
    if unknown := set(named) - set(parts):
        sys.exit(f"no such part: {', '.join(sorted(unknown))}; there are {', '.join(parts)}")
    for part in named or parts:
        import_module(f"benchmarks._default_{part}").main(confirm="--confirm" in sys.argv)
