"""Small tables and models, and the command line in this process."""

import csv
from dataclasses import dataclass

import numpy as np
import pytest

from mercer.cli import main

NAMES = ("length", "width", "height", "weight")


@dataclass(frozen=True)
class Done:
    status: int
    out: str
    err: str


@pytest.fixture
def mercer(capsys):
    """Run `mercer ARGS` in this process; `mercer(...)` checks that it is well, `.fails` how not."""

    def run(*args, status=0):
        capsys.readouterr()
        found = main([str(arg) for arg in args])
        done = Done(found, *capsys.readouterr())
        assert found == status or (status is None and found), done
        return done

    def fails(*args, status, words=()):
        done = run(*args, status=status)
        assert done.out == ""
        assert done.err.startswith("mercer: ")
        assert done.err.count("\n") == 1, done.err
        for word in words:
            assert word in done.err, done.err

    run.fails = fails
    return run


def make_rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = np.column_stack([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)])
    return ring + rng.normal(scale=0.05, size=(n, 4))


def write_csv(path, X, names=NAMES, label=None):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        if names is not None:
            writer.writerow([*names, *(["kind"] if label is not None else [])])
        for i, row in enumerate(X):
            writer.writerow([*map(repr, row.tolist()), *([label[i]] if label is not None else [])])
    return path


@pytest.fixture
def train(tmp_path):
    X = make_rows()
    return write_csv(tmp_path / "train.csv", X, label=np.where(X[:, 0] > 0, "right", "left"))


@pytest.fixture
def test(tmp_path):
    return write_csv(tmp_path / "test.csv", make_rows(25, seed=1))


@pytest.fixture
def model(mercer, train, tmp_path):
    """A model file, fitted by the command line."""
    path = tmp_path / "m.mercer"
    mercer("fit", train, "--label", "kind", "--components", 5, "-o", path, "-q")
    return path
