"""The pages: shell blocks run, links lead somewhere, measured tables and pictures are ours."""

import importlib.util
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris, load_wine

import mercer.io
import mercer.sparse
from mercer.cli import main
from mercer.io.images import encode_png, to_bytes
from tests.cli.conftest import write_csv
from tests.conftest import ROOT

DOCS = ROOT / "docs"
MERCER = Path(sys.executable).with_name("mercer")
BUILT = {"_build", "auto_examples", "learn", "generated", "backreferences"}
PAGES = sorted(p for p in DOCS.rglob("*.md") if not BUILT & set(p.parts))
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
FLOWERS = ("sepal length", "sepal width", "petal length", "petal width")

#: Lines that install, or take longer than a test may: what runs them instead, in `.ci/run`.
ELSEWHERE = {
    "pip install .": "uv pip install",
    "pip install '.[all]'": "uv pip install",
    "pip download '.[all]' -d wheels": "uv pip install",
    "pip install --no-index --find-links wheels '.[all]'": "uv pip install",
    "pip install uv && uv run mercer demo": "venv/bin/mercer demo",
    "pip install uv && uv run --all-extras --group test pytest": "--group test pytest\n",
    "mercer reproduce all --data DIR -o papers": "mercer reproduce all --fast",
    "mercer reproduce all --full --data DIR -o papers": "mercer reproduce all --fast",
}


def shell_lines(page):
    """The commands of a page's shell blocks, without remarks."""
    lines, inside = [], False
    for line in page.read_text(encoding="utf-8").splitlines():
        inside = line == "```bash" or (inside and line != "```")
        if inside and line != "```bash" and line.strip():
            lines.append(re.sub(r"\s+# .*", "", line).strip())
    return [line for line in lines if not line.startswith("#")]


WITH_SHELL = {
    page.relative_to(ROOT).as_posix(): shell_lines(page)
    for page in [*PAGES, ROOT / "README.md"]
    # Set-up and the whole of CI, which is not run inside itself, are CONTRIBUTING.md's.
    if shell_lines(page)
}


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with the files that the pages speak of."""
    if "MERCER_DATA" in os.environ:  # may be a path from where the tests were started
        monkeypatch.setenv("MERCER_DATA", str(Path(os.environ["MERCER_DATA"]).resolve()))
    monkeypatch.chdir(tmp_path)
    iris = load_iris()
    order = np.random.default_rng(0).permutation(150)
    X, names = iris.data[order], iris.target_names[iris.target[order]]
    for name in ("train.csv", "rows.csv"):
        table = write_csv(tmp_path / name, X[:100], FLOWERS, names[:100])
    (tmp_path / "train.csv").write_text(table.read_text().replace("kind", "species"))
    write_csv(tmp_path / "test.csv", X[100:], FLOWERS)
    incomplete = X[100:110].copy()
    incomplete[3, 1] = np.nan
    write_csv(tmp_path / "incomplete.csv", incomplete, FLOWERS)
    wine = load_wine()
    write_csv(tmp_path / "wine.csv", wine.data / wine.data.std(axis=0), wine.feature_names)
    for name, table in (("wine.mercer", "wine.csv"), ("model.mercer", "rows.csv")):
        drop = ["--drop", "kind"] if table == "rows.csv" else []
        assert main(["fit", table, *drop, "--components", "4", "-o", name]) == 0
    t = np.random.default_rng(1).uniform(0.3, 0.7, (60, 1))
    curves = np.exp(-((np.linspace(0, 1, 40) - t) ** 2) / 0.01)
    rough = curves + np.random.default_rng(2).normal(scale=0.1, size=curves.shape)
    write_csv(tmp_path / "spectra.csv", rough, [f"x{i}" for i in range(40)])
    sensors = 24 * t, 1 + 8 * t**2, 40 + 60 * t, 0.2 + np.sin(8 * t) / 2
    names = ("flow", "pressure", "temperature", "vibration")
    write_csv(
        tmp_path / "sensors.csv",
        np.hstack(sensors) + 10 * (rough - curves)[:, :4] * (0.6, 0.1, 2, 0.05),
        names,
    )
    for name, first in (("people.csv", 0), ("new.csv", 60)):
        (tmp_path / name).write_text(people(first, first + 60))
    (tmp_path / "digits").mkdir()
    for i, image in enumerate(load_digits().images[:60]):
        (tmp_path / "digits" / f"{i:02d}.png").write_bytes(encode_png(to_bytes(image / 16)))
    return tmp_path


def people(start, stop):
    """A raw table: categories, dates, numbers of two units, and some empty cells."""
    rng = np.random.default_rng(3)
    lines = ["age,city,income,since"]
    for i in range(stop):
        city = ("Oslo", "Rome", "Bonn")[rng.integers(3)]
        age, income = rng.integers(20, 70), rng.integers(200, 900) * 100
        cells = [str(age), city, str(income), f"20{rng.integers(10, 26)}-0{rng.integers(1, 10)}-11"]
        if i % 7 == 0:
            cells[rng.integers(3)] = ""
        lines += [",".join(cells)] if i >= start else []
    return "\n".join(lines) + "\n"


def run(line, monkeypatch, capsys):
    """One line, whose parts hand their output on."""
    out = b""
    for part in line.split(" | "):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(out)))
        words = shlex.split(part)
        assert words[0] == "mercer", f"not run by any test: {part}"
        status = main(words[1:])
        done = capsys.readouterr()
        out = done.out.encode()
        assert status == 0, (part, done.err)


def serve(line):
    """`mercer explore` answers with its address, and ends when it is told to."""
    server = subprocess.Popen(
        [MERCER, *shlex.split(line)[1:], "--no-browser"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout.readline().startswith("http://127.0.0.1:")
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()


@pytest.mark.parametrize("page", WITH_SHELL)
def test_shell_blocks_run(page, place, monkeypatch, capsys):
    ci = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for line in WITH_SHELL[page]:
        if line in ELSEWHERE:
            assert ELSEWHERE[line] in ci
        elif line.startswith("mercer explore"):
            serve(line)
        else:
            run(line, monkeypatch, capsys)


LINK = re.compile(r"(?<!`)\[[^\]]*\]\(([^)\s]+)\)|href=\"([^\"]+)\"")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def source_of(target):
    """Pages that are made from scripts, by what they are made from."""
    relative = target.relative_to(DOCS).with_suffix("") if target.is_relative_to(DOCS) else None
    if relative is None or relative.parts[0] not in {"learn", "auto_examples"}:
        return target
    folder = DOCS / "tutorial" if relative.parts[0] == "learn" else ROOT / "examples"
    inside = Path(*relative.parts[1:])
    if thumb := re.fullmatch(r"sphx_glr_(\w+)_thumb", inside.name):  # of an example, by its name
        inside = inside.parents[2] / thumb[1]
    return folder / ("README.txt" if inside.name == "index" else inside.with_suffix(".py"))


@pytest.mark.parametrize("page", [*PAGES, *FRONT], ids=lambda p: p.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    dead = []
    for match in LINK.finditer(text):
        link = (match[1] or match[2]).partition("#")[0]
        if not link or link.startswith(("http://", "https://", "mailto:")):
            continue
        target = source_of((page.parent / link).resolve())
        made = target.suffix == ".html" and any(
            target.with_suffix(end).exists() for end in (".md", ".rst")
        )
        if not target.exists() and not made:
            dead.append(link)
    assert not dead


def extension(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "_extensions" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_measured_tables_are_whole_and_shown():
    results = extension("results")
    pages = (path.read_text(encoding="utf-8") for path in DOCS.glob("explanation/*.md"))
    shown = {name for page in pages for name in results.MARK.findall(page)}
    assert shown == {path.stem for path in results.FOLDER.glob("*.json")}
    for path in results.FOLDER.glob("*.json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        assert {len(row) for row in record["rows"]} == {len(record["columns"])}
        assert all(record[key] for key in ("what", "command", "machine", "state", "versions"))
        name = re.search(r"-m benchmarks (\w+)", record["command"])[1]
        assert (ROOT / "benchmarks" / f"{name}.py").is_file()


def kept(name):
    path = ROOT / "benchmarks" / "results" / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))


def test_what_the_readme_says_was_measured():
    fit, practice = kept("fit"), kept("practice")
    assert fit["columns"][1:3] == ["scikit-learn", "mercer"]
    assert practice["columns"][2:6] == ["wall s", "beside", "CPU s", "wall s"]
    rows = [
        f"| fit, {size} | scikit-learn | {theirs} | {ours} |"
        for size, theirs, ours, *_ in fit["rows"]
    ]
    rows += [f"| {row[0]} | {row[3]} | {row[5]} | {row[2]} |" for row in practice["rows"]]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    measured = readme[readme.index("## How fast it is") : readme.index("## Where")]
    shown = [line for line in measured.splitlines() if line.startswith("|")][2:]
    assert len(shown) == 4
    assert set(shown) <= set(rows)


def test_old_names_that_a_page_promises_work():
    page = (DOCS / "explanation" / "stability.md").read_text(encoding="utf-8")
    moved = re.findall(r"^\| `(mercer\.\w+)` \| (.+) \|$", page, re.MULTILINE)
    assert len(moved) == 6
    for old, places in moved:
        sys.modules.pop(old, None)
        homes = re.findall(r"`(.+?)`", places)
        with pytest.warns(DeprecationWarning, match=f"{old} is {' and '.join(homes)} since"):
            module = importlib.import_module(old)
        for home in map(importlib.import_module, homes):
            assert all(hasattr(module, name) for name in getattr(home, "__all__", ()))
    assert mercer.io.Rows is mercer.io.Source
    assert mercer.sparse.Rows is mercer.sparse.KernelRows
    with pytest.raises(ModuleNotFoundError):  # not a second copy of mercer.io.look
        importlib.import_module("mercer.rows.look")


def test_pictures_of_the_readme_are_drawn_here_and_small():
    pictures = extension("pictures")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in pictures.FOR_README:
        assert f"docs/_static/{name}.png" in readme
        assert 5_000 < (pictures.STATIC / f"{name}.png").stat().st_size < 150_000


def test_the_front_page_has_a_picture_and_the_version():
    pictures = extension("pictures")
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert pictures.MARK.search(text)[1] == "front"
    assert pictures.VERSION in text


def test_built_pages_are_judged(tmp_path):
    whole = extension("whole")
    (tmp_path / "b.html").write_text('<p id="here">')
    good = '<a href="b.html#here"></a><a href="https://elsewhere.example"></a>'
    (tmp_path / "a.html").write_text(good)
    assert whole.faults(tmp_path) == []
    bad = '<a href="c.html"></a><a href="b.html#there"></a><img src="https://elsewhere.example/x">'
    (tmp_path / "a.html").write_text(good + bad)
    faults = whole.faults(tmp_path)
    assert [fault.split()[-1] for fault in faults] == ["exist", "anchor", "machine"]


CHAPTERS = sorted((DOCS / "tutorial").glob("*.py"))


def test_chapters_lead_from_one_to_the_next():
    for chapter, following in pairwise(CHAPTERS):
        assert f"</learn/{following.stem}>" in chapter.read_text(encoding="utf-8")


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_chapters_name_pages_that_exist(chapter):
    """They run when the pages are built; their references must hold in any case."""
    text = chapter.read_text(encoding="utf-8")
    for name in re.findall(r":doc:`[^`]*?<?(/[\w/]+)>?`", text):
        target = source_of(DOCS / name.lstrip("/"))
        assert target.exists() or target.with_suffix(".md").exists(), name
    live = extension("live_models")
    assert {name for name, _ in live.RST_MARK.findall(text.replace("# ..", ".."))} <= set(
        live.MODELS
    )


NUMERIC = re.compile(r"[\d.,%/* ×–-]+")


def tables_of_numbers(text):
    """How many lines of its tables are mostly numbers."""
    rows = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in row.strip("|").split("|")[1:]] for row in rows]
    return sum(
        len(row) > 2 and sum(bool(NUMERIC.fullmatch(cell)) for cell in row) > len(row) / 2
        for row in cells
    )


def test_guides_leave_long_tables_of_results_to_the_page_of_benchmarks():
    """A reader who wants to do something has to scroll past them."""
    long = {
        page.name: found
        for page in (ROOT / "docs" / "howto").glob("*.md")
        if (found := tables_of_numbers(page.read_text(encoding="utf-8"))) > 10
    }
    assert not long
    results = (ROOT / "docs" / "explanation" / "benchmarks.md").read_text(encoding="utf-8")
    assert tables_of_numbers(results) > 100


def test_the_readme_can_be_read_in_a_few_minutes():
    """What belongs on another page is linked."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.split()) <= 750
