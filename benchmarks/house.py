"""The house in numbers: ``python -m benchmarks house [TREE ...]``, such as another checkout.

Lines by kind, files, top-level entries, questions for the type of rows; and, counted in runs,
classes in the MRO of two estimators, what happens at the door of a fit, what one ``mercer fit`` of
a CSV file opens and asks, and how many files and calls a row passes.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

from benchmarks._measure import table

#: Tells this program to print, as JSON, what is counted in runs of the mercer that is imported.
RUNS = "--runs"


def main() -> None:
    """Print one column for each tree, this one if none is named."""
    if sys.argv[2:] == [RUNS]:
        print(json.dumps(runs()))
        return
    trees = [Path(name) for name in sys.argv[2:]] or [Path(__file__).resolve().parents[1]]
    columns = [measures(tree / "src" / "mercer") | runs_of(tree) for tree in trees]
    rows = [[name, *(str(column.get(name, "")) for column in columns)] for name in columns[0]]
    table(["", *(tree.name for tree in trees)], rows)


def runs_of(tree: Path) -> dict[str, object]:
    """What is counted in runs of a tree, in a process that imports it."""
    environment = {**os.environ, "PYTHONPATH": str(tree.resolve() / "src")}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "house", RUNS],
        cwd=Path(__file__).resolve().parents[1],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def runs() -> dict[str, object]:
    """What is counted in runs of the mercer that is imported."""
    import mercer

    warnings.simplefilter("ignore")
    counted: dict[str, object] = {}
    for cls in (mercer.KernelPCA, mercer.KernelNovelty):
        ours = [base for base in cls.__mro__ if base.__module__.startswith("mercer")]
        counted[f"our classes in the MRO of {cls.__name__}"] = len(ours)
    return counted | doors() | file_of_a_fit() | walk()


def doors() -> dict[str, object]:
    """How often rows are checked in one fit of each estimator, and what follows."""
    from benchmarks._counting import DOOR, ESTIMATORS, at_the_door

    labels = [label for label in DOOR if label != "fit"]
    found = {}
    for name in ESTIMATORS:
        counted = at_the_door(name)
        key = f"{' / '.join(labels)}: {name}"
        found[key] = " / ".join(str(counted[label]) for label in labels)
    return found


def file_of_a_fit() -> dict[str, object]:
    """What ``mercer fit`` of a CSV file of 1,000 × 12 numbers opens and asks."""
    import numpy as np

    from benchmarks._counting import calls, opens
    from mercer.cli import main as command

    with tempfile.TemporaryDirectory() as folder:
        data, target = Path(folder) / "x.csv", Path(folder) / "x.mercer"
        X = np.random.default_rng(0).standard_normal((1000, 12))
        names = ",".join(f"c{j}" for j in range(12))
        np.savetxt(data, X, delimiter=",", header=names, comments="")
        fit = ["fit", str(data), "-o", str(target), "-q", "--force"]
        command(fit)  # imports what it needs
        with calls() as counted, opens(data.name) as opened:
            command(fit)
            times = opened()
    return {
        "mercer fit x.csv: opens": times,
        "mercer fit x.csv: sniffs": counted.of("sniff"),
        "mercer fit x.csv: is_number per cell": f"{counted.of('is_number') / X.size:.2f}",
        "mercer fit x.csv: files, calls": f"{len(counted.files)}, {counted.total()}",
    }


def walk() -> dict[str, object]:
    """Files that a row passes in ``KernelPCA``, and the calls of one row of ``transform``."""
    import numpy as np

    from benchmarks._counting import calls
    from mercer import KernelPCA

    X = np.random.default_rng(0).standard_normal((1500, 4))
    KernelPCA(5).fit(X).denoise(X[:5])  # imports what it needs
    with calls() as passed:
        model = KernelPCA(5).fit(X)
        model.denoise(X)
    with calls() as row:
        model.transform(X[:1])
    return {
        "fit and denoise of KernelPCA: files": len(passed.files),
        "transform of one row: calls": row.total(),
    }


def measures(package: Path) -> dict[str, object]:
    """What is counted of a package's sources."""
    files = sorted(package.rglob("*.py"))
    texts = [path.read_text(encoding="utf-8") for path in files]
    kinds = [lines_by_kind(text) for text in texts]
    total = {kind: sum(one[kind] for one in kinds) for kind in kinds[0]}
    whole = "\n".join(texts)
    brought = total["import"] + total["__all__"]
    return {
        "lines": total["all"],
        "code lines": total["code"],
        "docstring lines": total["docstring"],
        "imports and __all__, lines": brought,
        "imports and __all__, share": f"{100 * brought / total['all']:.1f} %",
        "files": len(files),
        "code lines a file": f"{total['code'] / len(files):.0f}",
        "top-level entries": len([p for p in package.iterdir() if p.name != "__pycache__"]),
        "own mixins": len(re.findall(r"^class \w*Mixin\w*[(:]", whole, re.M)),
        "isinstance(…, SparseRows)": len(
            re.findall(r"isinstance\([^()]*(?:\([^()]*\)[^()]*)*\bSparseRows\b", whole)
        ),
        "RowsLike": len(re.findall(r"\bRowsLike\b", whole)),
        'getattr(model, "…_") outside model_of': len(
            re.findall(r"(?:get|has)attr\(\w+, \"\w+_\"", _without(whole, "model_of"))
        ),
    }


def _without(text: str, function: str) -> str:
    return re.sub(rf"^def {function}\(.*?^(?=\S)(?!def {function})", "", text, flags=re.M | re.S)


def lines_by_kind(text: str) -> dict[str, int]:
    """Lines of a file: all, docstrings, imports, ``__all__``, and the rest that is not blank."""
    tree = ast.parse(text)
    marked: dict[str, set[int]] = {"docstring": set(), "import": set(), "__all__": set()}
    for node in ast.walk(tree):
        lines = range(getattr(node, "lineno", 0), getattr(node, "end_lineno", -1) + 1)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            marked["docstring"].update(lines)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            marked["import"].update(lines)
        elif isinstance(node, ast.Assign | ast.AugAssign):  # __all__ goes on in further lines
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if ast.unparse(target) == "__all__":
                marked["__all__"].update(lines)
    numbered = enumerate(text.splitlines(), 1)
    rest = {i for i, line in numbered if line.split("#")[0].strip()}.difference(*marked.values())
    counted = {kind: len(lines) for kind, lines in marked.items()}
    return {**counted, "code": len(rest), "all": len(text.splitlines())}
