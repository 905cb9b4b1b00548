"""The promises of CONTRIBUTING.md about the code itself, checked."""

import ast
import doctest
import importlib
import inspect
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from mercer import exceptions

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "mercer"
FILES = sorted(SOURCE.rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

MAX_FILE_LINES = 310
MAX_BODY_LINES = 60
MAX_CONSTRUCTOR_ARGUMENTS = 8

# One letter of each in brackets, so that this file does not contain what it forbids.
FORBIDDEN = {
    "a path of one machine": r"/[w]ork/|/[h]ome/\w+/|/[r]oot/|shared/[h]ooks",
    "a package registry": r"[p]ypi\.org|[p]ythonhosted\.org",
    "a private key": r"BEGIN [A-Z ]*PRIVATE [K]EY",
    "an access token": r"\b(AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9]{20,})",
    "an unfinished place": r"\b([T]ODO|[F]IXME|[X]XX)\b",
}
LOCK_FILES = {"uv.lock"}


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def module_of(path: Path) -> str:
    parts = ("mercer", *path.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nodes(kind: type | tuple[type, ...]) -> Iterator[tuple[Path, ast.AST]]:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind):
                yield path, node


def code_lines(path):
    """Lines with code: neither blank, nor comments, nor docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    spoken = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            spoken.update(range(node.lineno, node.end_lineno + 1))
    lines = path.read_text(encoding="utf-8").splitlines()
    code = (number for number, line in enumerate(lines, 1) if line.split("#")[0].strip())
    return len(set(code) - spoken)


def test_files_are_short():
    """Lines of code count, and docstrings do not: nobody shall split a class to make room."""
    lengths = {name_of(path): code_lines(path) for path in FILES}
    long = {name: lines for name, lines in lengths.items() if lines >= MAX_FILE_LINES}
    assert not long, f"split these files: {long}"


def test_functions_are_short():
    """Counted from the first statement after the docstring to the last line."""
    long = {}
    for path, node in nodes((ast.FunctionDef, ast.AsyncFunctionDef)):
        body = node.body[1:] if ast.get_docstring(node) else node.body
        lines = node.end_lineno - body[0].lineno + 1 if body else 0
        if lines >= MAX_BODY_LINES:
            long[f"{name_of(path)}::{node.name}"] = lines
    assert not long, f"split these functions: {long}"


def test_constructors_are_narrow():
    wide = {}
    for path, node in nodes(ast.ClassDef):
        count = len(_parameters_of(node))
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and method.name == "__init__":
                given = method.args
                count = len(given.posonlyargs) + len(given.args) - 1 + len(given.kwonlyargs)
        if count > MAX_CONSTRUCTOR_ARGUMENTS:
            wide[f"{name_of(path)}::{node.name}"] = count
    assert not wide, f"give some arguments to an object of their own: {wide}"


def _parameters_of(node: ast.ClassDef) -> list[ast.AnnAssign]:
    """The attributes that ``with_parameters`` makes arguments of."""
    if "with_parameters" not in map(ast.unparse, node.decorator_list):
        return []
    noted = [part for part in node.body if isinstance(part, ast.AnnAssign)]
    kinds = {part: ast.unparse(part.annotation).partition("[")[0] for part in noted}
    return [part for part in noted if kinds[part] not in ("ClassVar", "KW_ONLY")]


def test_public_names_have_docstrings():
    """Every module, and every public class and function at its top level."""
    bare = []
    for path in FILES:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if not ast.get_docstring(tree):
            bare.append(name_of(path))
        bare += [
            f"{name_of(path)}::{node.name}"
            for node in tree.body
            if isinstance(node, ast.ClassDef | ast.FunctionDef)
            and not node.name.startswith("_")
            and not ast.get_docstring(node)
        ]
    assert not bare, f"without docstring: {bare}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_public_methods_have_docstrings(path):
    """A method may inherit its text from the interface that it implements."""
    module = importlib.import_module(module_of(path))
    bare = []
    for name, cls in inspect.getmembers(module, inspect.isclass):
        if name.startswith("_") or cls.__module__ != module.__name__:
            continue
        bare += [
            f"{name}.{attribute}"
            for attribute, value in vars(cls).items()
            if not attribute.startswith("_")
            and (inspect.isfunction(value) or isinstance(value, property | classmethod))
            and not inspect.getdoc(getattr(cls, attribute))
        ]
    assert not bare, f"without docstring: {bare}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_docstring_examples_run(path):
    module = importlib.import_module(module_of(path))
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    outcome = doctest.testmod(module, optionflags=options)
    assert outcome.failed == 0, f"{outcome.failed} of {outcome.attempted} examples fail, see stdout"


# The one atomic writer, images that are written into a folder of its making, and the members of an
# archive that it replaces as a whole.
WRITERS = {"_base/files.py", "io/writing.py", "gram/checkpoint.py"}


def test_files_are_written_in_one_place():
    """Elsewhere nothing is opened for writing, and nothing renamed: see _base/files.py."""
    found = []
    for path, node in nodes(ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        modes = [arg.value for arg in given if isinstance(arg, ast.Constant)]
        opens = name == "open" and any(re.fullmatch("[wxa]b?", str(mode)) for mode in modes)
        if opens or name in ("rename", "write_bytes", "write_text"):
            found.append((name_of(path), node.lineno))
    assert not [place for place in found if place[0] not in WRITERS]


def test_imports_point_down():
    """The layers contract in pyproject.toml."""
    call = "from importlinter.cli import lint_imports_command as run; run(['--no-cache'])"
    done = subprocess.run(
        [sys.executable, "-c", call], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_random_numbers_come_from_one_place():
    """Generators are made in ``_base/numbers.py`` alone; elsewhere they are arguments."""
    made = [
        f"{name_of(path)}:{node.lineno}"
        for path, node in nodes((ast.Attribute, ast.Call, ast.ImportFrom))
        if name_of(path) != "_base/numbers.py" and _makes_random_numbers(node)
    ]
    assert not made, (
        f"take a Generator, or use make_rng or fixed_rng of mercer._base.numbers: {made}"
    )


def _makes_random_numbers(node: ast.AST) -> bool:
    """``np.random.anything`` but the two types, a call of these, or an import of the means."""
    if isinstance(node, ast.ImportFrom):
        means = {"check_random_state", "default_rng", "RandomState"}
        return node.module == "numpy.random" or bool(means & {name.name for name in node.names})
    called = isinstance(node, ast.Call)
    text = ast.unparse(node.func if called else node)
    types = ("np.random.Generator", "np.random.RandomState")
    return text.startswith("np.random.") and (called or not text.startswith(types))


def test_kernels_are_evaluated_by_tiles():
    """``kernel(X, Y)`` is for a look at a kernel; the library asks ``Basis``, which has tiles.

    ``mercer.testing`` looks at kernels, this way, too.
    """
    names = re.compile(r"(.*\.)?(kernel_?|resolved|radial|k[12])")
    called = [
        f"{name_of(path)}:{node.lineno}"
        for path, node in nodes(ast.Call)
        if names.fullmatch(ast.unparse(node.func)) and not name_of(path).startswith("testing/")
    ]
    assert not called, f"use mercer.kernels.Basis: {called}"


def test_siblings_do_not_know_each_other():
    """The contract says so with a bar, which somebody might soften to a colon."""
    layers = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '"(generative) | (novelty) | (relevance) | (robust) | (sparse)"' in layers
    assert '"(compat) | (testing) | (alternatives) | (tables)"' in layers


def test_every_layer_is_there():
    """In brackets a layer may be missing, as one is that has been renamed."""
    (contract, *_) = PROJECT["tool"]["importlinter"]["contracts"]
    layers = re.findall(r"\((\w+)\)", " ".join(contract["layers"]))
    entries = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in FILES}
    assert sorted(layers) == sorted(entries - {"__init__"})


#: Import name → distribution, where they differ; traitlets comes with anywidget.
DISTRIBUTIONS = {"sklearn": "scikit-learn", "traitlets": "anywidget"}


def test_every_import_is_declared():
    """Of the core or of an extra; what another package happens to bring may go with it."""
    project = PROJECT["project"]
    texts = sum(project["optional-dependencies"].values(), project["dependencies"])
    declared = {re.match(r"[\w-]+", text)[0] for text in texts}
    modules = [node.module for _, node in nodes(ast.ImportFrom)]
    modules += [name.name for _, node in nodes(ast.Import) for name in node.names]
    imported = {module.partition(".")[0] for module in modules}
    foreign = imported - sys.stdlib_module_names - {"mercer"}
    assert {DISTRIBUTIONS.get(name, name) for name in foreign} <= declared


def test_every_error_and_warning_is_public():
    kinds = [kind for kind in vars(exceptions).values() if inspect.isclass(kind)]
    ours = {kind.__name__ for kind in kinds if kind.__module__ == exceptions.__name__}
    assert ours <= {*exceptions.__all__}


def test_subspaces_are_built_in_one_layer():
    """Normalisation and signs live there; whoever builds one elsewhere repeats them."""
    built = [
        f"{name_of(path)}:{node.lineno}"
        for path, node in nodes(ast.Call)
        if not name_of(path).startswith("model/") and ast.unparse(node.func) == "Subspace"
    ]
    assert not built, f"use from_gram or from_features of mercer.model: {built}"


def code_of(page: Path) -> str:
    """The Python blocks of a page as one script, each line where it stands on the page."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        inside = line == "```python" or (inside and line != "```")
        lines.append(line if inside and line != "```python" else "")
    return "\n".join(lines)


def pages_with_code() -> dict[str, str]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    code = {page.relative_to(ROOT).as_posix(): code_of(page) for page in pages}
    return {page: text for page, text in code.items() if text.strip()}


@pytest.mark.parametrize("page", pages_with_code())
def test_code_on_pages_runs(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    exec(compile(pages_with_code()[page], page, "exec"), {"__name__": "page"})


def test_readme_has_a_short_quick_start():
    code = pages_with_code()["README.md"]
    assert len([line for line in code.splitlines() if line.strip()]) <= 20


def test_readme_and_ci_agree_on_the_test_command():
    command = "uv run --all-extras --group test pytest"
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"\n{command}\n" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def repository_files() -> list[Path]:
    """What is, or is about to be, committed."""
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listing.returncode:
        pytest.skip("not a git checkout: " + listing.stderr.strip())
    paths = (ROOT / name for name in listing.stdout.split("\0") if name)
    return [path for path in paths if path.is_file() and path.name not in LOCK_FILES]


def test_nothing_private_is_committed():
    found = []
    for path in repository_files():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [
            f"{os.fspath(path.relative_to(ROOT))}: {what} ({match.group()!r})"
            for what, pattern in FORBIDDEN.items()
            # In a picture three letters come by chance; a path or a key does not.
            if not ("\0" in text and what == "an unfinished place")
            and (match := re.search(pattern, text))
        ]
    assert not found, "\n".join(found)
