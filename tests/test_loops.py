"""No fit without an end: every loop that has no counter is listed here with what bounds it."""

import ast
from pathlib import Path

import numpy as np
import pytest

from mercer.kernels import Gaussian
from mercer.landmarks import rpcholesky
from mercer.points.tiles import Tiles

SOURCE = Path(__file__).resolve().parents[1] / "src" / "mercer"

#: File and condition of each ``while``, and why it ends.
BOUNDED = {
    ("_base/linalg.py", "free.any() and len(chosen) < count"): "one fewer is free",
    ("_base/machine.py", "waiting"): "each turn takes one of the futures",
    ("alternatives/robust_pca.py", "True"): "the basis grows in each turn, up to a limit",
    ("live/page.py", "waiting"): "each module of the page is read once",
    ("solvers/base.py", "True"): "k doubles up to the number of rows",
    ("gram/feature_sums.py", "len(chosen) < room"): "one is chosen each turn",
    ("exceptions.py", "frame.f_back is not None and _package(frame) in BETWEEN"): "the stack",
    (
        "landmarks/rpcholesky.py",
        "len(self.pivots) < m and self.left.sum() > floor",
    ): "a drawn row is taken, or its share falls to what is left of it, which is taken next time",
    ("live/server.py", "len(self._items) >= MOST_ITEMS"): "one fewer each turn",
    ("live/worker.py", "True"): "jobs of the parent; its end ends it",
    ("live/worker.py", "self._free"): "one fewer each turn",
    ("live/worker.py", "self._next is not None"): "the latest request of a client is taken",
    ("io/opening.py", "own in names or own in columns"): "the name grows, names are finite",
    (
        "io/model_file/codec.py",
        "name in self.tensors",
    ): "a number that grows, names that are finite",
    ("selection/search.py", "places"): "each number of components once",
    ("preimage/fixed_point.py", "running.size"): "each point has max_iter sweeps; its status tells",
    ("points/source.py", "have < size"): "pieces end, and too few are refused",
    ("io/cluster.py", "len(parts) > 1"): "parts are added in pairs",
    ("io/delimited.py", "(batch := list(islice(rest, CHUNK)))"): "the rows",
    ("io/look.py", "(content := file.readline(MAX_LINE))"): "the file",
    (
        "io/files.py",
        "self._place < place and self.read(min(place - self._place, SKIP))",
    ): "the file, and the place grows",
    ("sparse/column_generation.py", "screens and rounds < MAX_ROUNDS"): "MAX_ROUNDS; uncertified",
    (
        "sparse/pool.py",
        "entries < 10 * len(start.pool) + 100 and len(at.active) <= most",
    ): "entries are counted; what is left over is in the violation",
    ("_base/linalg.py", "sum(widths) < X.shape[1]"): "each turn is a column or more",
    ("points/crew.py", "turn not in done"): "tasks end; those of a broken executor are done here",
    ("io/cluster.py", "futures"): "one fewer each turn",
    ("io/cluster.py", "not future.done()"): "the task; a scheduler that is gone raises",
    ("novelty/martingale.py", "len(values)"): "a block of the rows each turn",
    ("sparse/likelihood.py", "free.any()"): "weights are fixed one by one",
    ("sparse/noise.py", "fits.count(low) < n_kernels"): "a decade a turn, to SMALLEST_SHARE",
    (
        "sparse/noise.py",
        "not fits.roots and len(fits.found) < MAX_FITS and (high - low > 0.001)",
    ): "MAX_FITS; then a larger model is thinned",
    ("sparse/noise.py", "len(at.active) > n_kernels"): "one kernel fewer each turn",
    (
        "sparse/noise.py",
        "fits.count(log_var) < n_kernels and log_var > least",
    ): "steps double, down to SMALLEST_SHARE",
}
#: Iterators without an end.
ENDLESS = {"count", "cycle", "repeat"}


def trees():
    for path in sorted(SOURCE.rglob("*.py")):
        yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def test_every_open_loop_has_a_known_bound():
    found = {
        (name, ast.unparse(node.test))
        for name, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.While)
    }
    assert found - BOUNDED.keys() == set(), "new loops: say what bounds them"
    assert BOUNDED.keys() - found == set(), "loops that are gone"


def test_no_iterator_without_an_end():
    for name, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "itertools":
                assert not ENDLESS & {alias.name for alias in node.names}, name
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "itertools":
                assert node.attr not in ENDLESS, name


def test_landmarks_that_are_rejected_for_ever_are_not_drawn_again(monkeypatch):
    """Entries a little smaller than the diagonal says: copies of a pivot look unexplained."""
    X = np.repeat(np.random.default_rng(0).standard_normal((3, 2)), 20, axis=0)
    entries, calls = Tiles.gram, []

    def smaller(*args):
        calls.append(1)
        if len(calls) > 500:
            pytest.fail("500 rounds for 60 rows")
        return entries(*args) * (1 - 1e-9)

    monkeypatch.setattr(Tiles, "gram", smaller)
    pivots, _ = rpcholesky.partial_cholesky(Gaussian(gamma=1.0), X, 10, np.random.default_rng(1))
    assert 3 <= len(pivots) <= 10
