"""The commands on the page `Work from the command line` run, one after the other."""

import io
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from mercer.cli import main
from mercer.rows.png import encode_png, to_bytes
from tests.cli.conftest import write_csv
from tests.conftest import ROOT

NAMES = ("sepal length", "sepal width", "petal length", "petal width")


def commands():
    lines, inside = [], False
    page = ROOT / "docs" / "howto" / "command_line.md"
    for line in page.read_text(encoding="utf-8").splitlines():
        inside = line == "```bash" or (inside and line != "```")
        if inside and line.startswith("mercer "):
            lines.append(line)
    return lines


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    iris = load_iris()
    order = np.random.default_rng(0).permutation(150)
    X, names = iris.data[order], iris.target_names[iris.target[order]]
    train = write_csv(folder / "train.csv", X[:100], NAMES, names[:100])
    train.write_text(train.read_text().replace("kind", "species"))
    write_csv(folder / "test.csv", X[100:], NAMES)
    holes = X[100:110].copy()
    holes[3, 1] = np.nan
    write_csv(folder / "holes.csv", holes, NAMES)
    (folder / "digits").mkdir()
    for i, image in enumerate(load_digits().images[:60]):
        (folder / "digits" / f"{i:02d}.png").write_bytes(encode_png(to_bytes(image / 16)))
    return folder


def split(command):
    import shlex

    return shlex.split(command)[1:]


def test_commands_on_the_page(place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    for line in commands():
        out = b""
        for part in line.split(" | "):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(out)))
            status = main(split(part))
            done = capsys.readouterr()
            out = done.out.encode()
            assert status == 0, (part, done.err)
    assert len(list((place / "restored").iterdir())) == 60
