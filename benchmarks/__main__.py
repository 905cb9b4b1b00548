"""``python -m benchmarks NAME`` runs ``benchmarks/NAME.py``."""

import sys
from importlib import import_module
from pathlib import Path


def main() -> None:
    """Dispatch by module name."""
    names = sorted(p.stem for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("_"))
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        sys.exit(f"usage: python -m benchmarks NAME [...], with NAME one of {', '.join(names)}")
    import_module(f"benchmarks.{sys.argv[1]}").main()


main()
