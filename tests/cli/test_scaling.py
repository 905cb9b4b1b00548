"""One rule says whether columns are scaled in every kind of file, and it is always said."""

import numpy as np
import pytest

from mercer import KernelPCA, TableModel, load

from .conftest import make_rows, write_csv

UNITS = np.array([1.0, 1000.0, 0.01, 5.0])


def save(path, X):
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".npz":
        np.savez(path, X=X, kind=np.arange(len(X)) % 2)
    elif path.suffix == ".zarr":
        zarr = pytest.importorskip("zarr")
        zarr.save_array(path, X)
    else:
        write_csv(path, X, names=None)
    return path


KINDS = ["x.csv", "x.npy", "x.npz", "x.zarr"]


@pytest.mark.parametrize("name", KINDS)
def test_columns_of_many_units_are_scaled_in_every_kind_of_file(mercer, tmp_path, name):
    X = make_rows() * UNITS
    data, path = save(tmp_path / name, X), tmp_path / "m.mercer"
    done = mercer("fit", data, "-o", path, "--components", 3)
    assert done.err.count(": number, (x ") == 4, done.err
    expected = TableModel(KernelPCA(3, random_state=0)).fit(X)
    found = load(path)
    assert repr(found.model_.kernel_) == repr(expected.model_.kernel_)
    scores = tmp_path / "z.npy"
    mercer("transform", path, data, "-o", scores)
    np.testing.assert_allclose(np.abs(np.load(scores)), np.abs(expected.transform(X)), atol=1e-9)


@pytest.mark.parametrize("name", KINDS)
def test_columns_of_one_unit_stay_as_they_are_and_that_is_said(mercer, tmp_path, name):
    data, path = save(tmp_path / name, make_rows()), tmp_path / "m.mercer"
    done = mercer("fit", data, "-o", path, "--components", 3)
    assert "4 columns of numbers, not scaled: they seem to have one unit" in done.err
    assert isinstance(load(path), KernelPCA)


def test_scaled_arrays_come_back_as_arrays(mercer, tmp_path):
    X = make_rows() * UNITS
    data, path, out = save(tmp_path / "x.npy", X), tmp_path / "m.mercer", tmp_path / "y.npy"
    mercer("fit", data, "-o", path, "--components", 3)
    mercer("denoise", path, data, "-o", out, "--digits", "all")
    expected = load(path).denoise(X)
    np.testing.assert_allclose(np.load(out), np.asarray(expected), rtol=1e-2)
    mercer("fit", data, "-o", path, "--model", "generative", "--components", 3, "--force")
    mercer("sample", path, "-n", 7, "-o", out, "--force")
    assert np.load(out).shape == (7, 4)


def test_columns_of_an_array_are_chosen_by_number_and_stay_the_same_ones(mercer, tmp_path):
    X = make_rows() * UNITS
    data, path = save(tmp_path / "x.npz", X), tmp_path / "m.mercer"
    mercer("fit", data, "-o", path, "--components", 3, "--drop", 1)
    expected = TableModel(KernelPCA(3, random_state=0)).fit(X[:, [0, 2, 3]])
    found, scores = load(path), tmp_path / "z.npy"
    assert list(found.encoder_.columns_) == ["0", "2", "3"]
    mercer("transform", path, save(tmp_path / "x.npy", X), "-o", scores)
    other = expected.transform(X[:, [0, 2, 3]])
    np.testing.assert_allclose(np.abs(np.load(scores)), np.abs(other), atol=1e-9)


def test_missing_values_of_an_array_are_filled_in_as_those_of_a_table(mercer, tmp_path):
    X = make_rows()
    X[3, 1] = np.nan
    data, path = save(tmp_path / "x.npy", X), tmp_path / "m.mercer"
    assert "missing" in mercer("fit", data, "-o", path, "--components", 3).err


def test_arrays_have_no_columns_to_keep_by_name(mercer, tmp_path):
    data, path = save(tmp_path / "x.npy", make_rows() * UNITS), tmp_path / "m.mercer"
    mercer("fit", data, "-o", path, "--components", 3)
    words = ["--keep and --id name columns", "x.npy"]
    for command in ("transform", "denoise"):
        mercer.fails(command, path, data, "--keep", "kind", status=2, words=words)


def test_sparse_rows_are_not_scaled_and_that_is_said(mercer, tmp_path):
    scipy_io = pytest.importorskip("scipy.io")
    from scipy.sparse import random_array

    data = tmp_path / "x.mtx"
    scipy_io.mmwrite(data, random_array((40, 6), density=0.4, rng=np.random.default_rng(0)))
    path = tmp_path / "m.mercer"
    done = mercer("fit", data, "-o", path, "--components", 3)
    assert "6 columns of numbers, not scaled: sparse rows would have few zeros left" in done.err
    words = ["--scale std", "few zeros", "scale them before"]
    mercer.fails("fit", data, "-o", tmp_path / "n.mercer", "--scale", "std", status=3, words=words)
