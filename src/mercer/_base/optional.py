"""Packages that mercer can do without: found, or named with what to type."""

import re
from importlib import import_module
from typing import Any


def require(module: str, extra: str) -> Any:
    """An optional module, or an error that says how to install its package.

    Packages are named, not ``mercer[extra]``: mercer is on no index, and a package of that name
    there would be another one.
    """
    try:
        return import_module(module)
    except ImportError as error:
        import shlex  # of no use but here

        name = module.partition(".")[0]
        needed = shlex.join(_packages(extra) or [name])
        raise ImportError(
            f"{name} is not installed; pip install {needed} (in a clone of mercer: pip install "
            f"'.[{extra}]', or uv run --extra {extra} ...)."
        ) from error


def _packages(extra: str) -> list[str]:
    """What mercer's own metadata name for the extra, without versions."""
    from importlib import metadata

    try:
        lines = metadata.requires("mercer") or []
    except metadata.PackageNotFoundError:  # sources that were never installed
        return []
    of_extra = rf"([\w.-]+(?:\[[\w,.-]+\])?).*extra == ['\"]{extra}['\"]"
    return [match[1] for line in lines if (match := re.match(of_extra, line))]
