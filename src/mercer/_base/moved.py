"""Modules of 0.1 under their old names: ``mercer.rows`` is ``mercer.io`` now."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED = {
    "mercer.rows": ("mercer.io",),
    "mercer.eigen": ("mercer.solvers", "mercer.model"),
    "mercer.subspace": ("mercer.model",),
    "mercer.model_file": ("mercer.io.model_file",),
    "mercer.sparse_rows": ("mercer.points.sparse",),
    "mercer.tiles": ("mercer.points.tiles",),
}


class OldNames(MetaPathFinder, Loader):
    """Finds what has moved, and says once where it is."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """A place for names that have moved."""
        return ModuleSpec(name, self) if name in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Whatever is asked of the old module is looked up in the new ones."""
        homes = [import_module(home) for home in MOVED[module.__name__]]

        def look_up(name: str) -> Any:
            for home in homes:
                # With a path, files of the new package would be loaded twice.
                if name != "__path__" and hasattr(home, name):
                    return getattr(home, name)
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        module.__getattr__ = look_up  # type: ignore[method-assign]
        places = " and ".join(home.__name__ for home in homes)
        warnings.warn(f"{module.__name__} is {places} since 0.2.", DeprecationWarning, stacklevel=2)
