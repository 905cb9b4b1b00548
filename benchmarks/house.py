"""The house in numbers: ``python -m benchmarks house [TREE ...]``, such as another checkout.

Lines by kind, files, top-level entries, classes in the MRO of two estimators, questions for the
type of rows, and what one ``mercer fit`` of a CSV file opens.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from benchmarks._measure import table


def main() -> None:
    """Print one column for each tree, this one if none is named."""
    trees = [Path(name) for name in sys.argv[2:]] or [Path(__file__).resolve().parents[1]]
    columns = [measures(tree / "src" / "mercer") for tree in trees]
    rows = [[name, *(str(column[name]) for column in columns)] for name in columns[0]]
    print(table(["", *(tree.name for tree in trees)], rows))


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
        'getattr(model, "…_")': len(re.findall(r"(?:get|has)attr\(\w+, \"\w+_\"", whole)),
    }


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
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            marked["__all__"].update(lines)
    numbered = enumerate(text.splitlines(), 1)
    rest = {i for i, line in numbered if line.split("#")[0].strip()}.difference(*marked.values())
    counted = {kind: len(lines) for kind, lines in marked.items()}
    return {**counted, "code": len(rest), "all": len(text.splitlines())}
