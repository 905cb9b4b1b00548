"""``--map``: from rows and another tool's map to a model, and to its page."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder with rows of two kinds of columns, and a map of them."""
    monkeypatch.chdir(tmp_path)
    iris = load_iris(as_frame=True)
    table = iris.data.assign(kind=iris.target_names[iris.target])
    table.to_csv("rows.csv", index=False)
    Z = PCA(2).fit_transform(iris.data)
    np.save("umap.npy", Z)
    np.savetxt("coords.csv", Z, delimiter=",", header="u1,u2", comments="")
    return tmp_path


def test_both_ways_in_the_shell(mercer, place):
    found = json.loads(
        mercer("fit", "rows.csv", "--map", "coords.csv", "-o", "m.mercer", "--json").out
    )
    assert (found["rows"], found["dimensions"]) == (150, 2)
    placed = mercer("transform", "m.mercer", "rows.csv").out.splitlines()
    assert placed[0] == "u1,u2"
    back = mercer("inverse", "m.mercer", "coords.csv").out.splitlines()
    assert back[0].endswith(",kind")
    assert back[1].endswith(",setosa")
    assert len(mercer("denoise", "m.mercer", "rows.csv").out.splitlines()) == 151
    for source in (("rows.csv", "--map", "umap.npy"), ("m.mercer",)):
        address = mercer("explore", *source, "--no-browser").out.strip()
        assert address.startswith("file:")
    assert b"map_page" in (place / "rows.html").read_bytes()
    for rows in ((), ("rows.csv",)):
        mercer("plot", "trust", "m.mercer", *rows, "-o", "trust.png")
    assert (place / "trust.png").stat().st_size > 5000
    mercer("convert", "m.mercer", "m.onnx")
    for command in ("score m.mercer rows.csv", "novelty m.mercer rows.csv"):
        assert "a MapModel, which cannot" in mercer(*command.split(), status=None).err
    said = mercer(*["plot", "scree", "m.mercer", "-o", "s.png"], status=None).err
    assert "holds a map of another tool; draw it as trust" in said
    mercer("plot", "live", "m.mercer", "rows.csv", "--label", "kind", "-o", "live.html")
    assert b"virginica" in (place / "live.html").read_bytes()


def test_row_numbers_and_classes_are_no_coordinates(mercer, place):
    """As ``DataFrame.to_csv`` writes a map, with the classes beside."""
    Z = pd.DataFrame(np.load("umap.npy"), columns=["u1", "u2"])
    Z.assign(kind=["a", "b", "c"] * 50).to_csv("frame.csv")
    answer = mercer("fit", "rows.csv", "--map", "frame.csv", "-o", "m.mercer", "--json")
    assert json.loads(answer.out)["dimensions"] == 2
    assert "'', 'kind' in 'frame.csv' are not used" in answer.err
    assert mercer("transform", "m.mercer", "rows.csv").out.startswith("u1,u2\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("fit", "rows.csv", "--map", "short.npy", "-o", "m.mercer"), "150 rows and 9 places"),
        (("fit", "rows.csv", "--map", "bad.npy", "-o", "m.mercer"), "that of row 3"),
        (("fit", "rows.csv", "--map", "umap.npy", "--kernel", "matern"), "leave --model"),
        (("explore", "--map", "umap.npy"), "name their file"),
    ],
)
def test_what_does_not_fit_is_said(mercer, place, arguments, said):
    Z = np.load("umap.npy")
    np.save("short.npy", Z[:9])
    np.save("bad.npy", np.where(np.arange(150)[:, None] == 3, np.nan, Z))
    answer = mercer(*arguments, status=None)
    assert said in answer.err
    assert "fault of mercer" not in answer.err
