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


#: Warnings are lines on standard error, as at a shell.
told = pytest.mark.filterwarnings("always::mercer.exceptions.MercerWarning")


def write_columns(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def sensors(n=60, seed=0, start="2024-03-01"):
    rng = np.random.default_rng(seed)
    turn = rng.uniform(0, 6, n)
    minutes = np.arange(n) * np.timedelta64(10, "m")
    return {
        "time": (np.datetime64(f"{start}T00:00") + minutes).astype(str).tolist(),
        "temperature": np.round(20 + 4 * np.sin(turn) + rng.normal(0, 0.2, n), 3).tolist(),
        "pressure": np.round(1013 + 3 * np.cos(turn) + rng.normal(0, 0.2, n), 3).tolist(),
        "state": rng.choice(["run", "stop"], n).tolist(),
    }


@pytest.fixture
def log(tmp_path):
    return write_columns(tmp_path / "log.csv", sensors())


@pytest.fixture
def fitted(mercer, log, tmp_path):
    mercer("fit", log, "--drop", "time", "-o", tmp_path / "log.mercer", "-q")
    return tmp_path / "log.mercer"


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.csv"
    path.write_text("name,height,weight\nAnn,170,65\nBo,182,80\nCy,165,55\nDi,190,95\nEd,158,50\n")
    return path
