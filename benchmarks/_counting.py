"""How often functions of mercer are called, and files opened: shared by ``house`` and the tests.

Functions are known by their names, wherever their modules are, so that other checkouts can be
compared.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA

import mercer

PACKAGE = str(Path(mercer.__file__).parent)
#: What happens at the door of a fit, by the functions that do it.
DOOR = {
    "check_rows": ("check_rows",),
    "fingerprint": ("remember_data",),
    "plan": ("Solver.plan",),
    "fit": ("Plan.fit",),
    "audit": ("audited",),
}
#: Estimators as they are counted: small, and wrappers around others.
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "KernelPCA": lambda: mercer.KernelPCA(4),
    "SparseKernelPCA": lambda: mercer.SparseKernelPCA(10),
    "IncrementalKernelPCA": lambda: mercer.IncrementalKernelPCA(4),
    "GenerativeKernelPCA": lambda: mercer.GenerativeKernelPCA(4),
    "DeepGenerativeKernelPCA": lambda: mercer.DeepGenerativeKernelPCA((6, 3)),
    "RKMRegressor": lambda: mercer.RKMRegressor(),
    "RKMClassifier": lambda: mercer.RKMClassifier(),
    "KernelNovelty": lambda: mercer.KernelNovelty(4),
    "contaminated": lambda: mercer.KernelNovelty(4, contamination=0.1),
    "ReweightedKernelPCA": lambda: mercer.ReweightedKernelPCA(mercer.KernelPCA(4)),
    "MissingKernelPCA": lambda: mercer.MissingKernelPCA(mercer.KernelPCA(4)),
    "sparse rows": lambda: mercer.MissingKernelPCA(
        mercer.SparseKernelPCA(10, n_components=4), max_iter=2
    ),
    "KernelDrift": lambda: mercer.KernelDrift(20, random_state=0),
    "MapModel": lambda: mercer.MapModel(PCA(2), random_state=0),
    "TableModel": lambda: mercer.TableModel(mercer.KernelNovelty(4)),
}


class Calls(Counter[tuple[str, str]]):
    """Calls by file, relative to the package, and qualified name."""

    @property
    def files(self) -> set[str]:
        """Files of which something was called."""
        return {file for file, _ in self}

    def of(self, *names: str) -> int:
        """Calls of functions of these names, or of these qualified names."""
        return sum(n for (_, name), n in self.items() if {name, name.split(".")[-1]} & set(names))


@contextlib.contextmanager
def calls() -> Iterator[Calls]:
    """Count what is called of mercer, in this thread and in those that are started meanwhile."""
    counts = Calls()

    def note(frame: Any, event: str, _argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE):
            counts[code.co_filename[len(PACKAGE) + 1 :], code.co_qualname] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield counts
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]


_WATCHED: dict[str, int] = {}


def _note_open(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _WATCHED and (name := Path(str(arguments[0])).name) in _WATCHED:
        _WATCHED[name] += 1


sys.addaudithook(_note_open)


@contextlib.contextmanager
def opens(name: str) -> Iterator[Callable[[], int]]:
    """Count how often a file of this name is opened, by Python or by Arrow."""
    _WATCHED[name] = 0
    try:
        with _arrow_opens(name):
            yield lambda: _WATCHED[name]
    finally:
        del _WATCHED[name]


@contextlib.contextmanager
def _arrow_opens(name: str) -> Iterator[None]:
    try:
        import pyarrow
    except ImportError:
        yield
        return
    plain = pyarrow.OSFile

    def opening(path: str, *args: Any, **options: Any) -> Any:
        _WATCHED[name] += Path(path).name == name
        return plain(path, *args, **options)

    pyarrow.OSFile = opening
    try:
        yield
    finally:
        pyarrow.OSFile = plain


def at_the_door(name: str, n: int = 150) -> dict[str, int]:
    """How often a fit of n × 3 rows checks them, plans, fits and audits."""
    model, rng = ESTIMATORS[name](), np.random.default_rng(0)
    X = rng.standard_normal((n, 3))
    if "Missing" in type(model).__name__:
        X = np.where(rng.random(X.shape) < 0.2, np.nan, X)
        X[:, 2] = 1.0 + np.arange(n) / n
    with calls() as counted:
        model.fit(X, np.arange(n) % 3)
    return {label: counted.of(*names) for label, names in DOOR.items()}
