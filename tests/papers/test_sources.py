"""Data from a folder, from OpenML (imitated: tests ask no other machine), and stand-ins."""

import numpy as np
import pytest

from mercer.exceptions import DataError, MercerWarning
from mercer.papers import Labelled, Sources, mika1999_digits, sources


@pytest.fixture(autouse=True)
def forget():
    sources._find.cache_clear()
    yield
    sources._find.cache_clear()


@pytest.mark.parametrize("name", ["usps", "mnist", "pima"])
def test_the_folder_holds_the_real_thing(data_dir, name):
    data = getattr(Sources(data_dir, offline=True), name)()
    assert data.stands_in == ""
    assert len(data.X) == len(data.y) == sum(sources.COUNTS[data.name][0])


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [("usps", 256, "digits"), ("mnist", 784, "digits"), ("pima", 7, "breast cancer")],
)
def test_a_stand_in_says_so(tmp_path, name, columns, words):
    with pytest.warns(MercerWarning, match="--data"):
        data = getattr(Sources(tmp_path, offline=True), name)()
    assert words in data.stands_in
    assert data.name in data.stands_in
    assert data.X.shape[1] == data.X_test.shape[1] == columns
    assert not (data.X[:50, None] == data.X_test[:50]).all(axis=2).any()  # disjoint


def test_another_file_of_that_name_is_refused(tmp_path):
    X, y = np.zeros((20, 256), dtype=np.int16), np.arange(20) % 10
    np.savez(tmp_path / "usps.npz", X_train=X, y_train=y, X_test=X, y_test=y, scale=1000)
    with pytest.raises(DataError, match="not USPS"):
        Sources(tmp_path).usps()


def labels_of(name):
    return np.concatenate([np.repeat(np.arange(len(c)), c) for c in sources.COUNTS[name]])


@pytest.mark.parametrize(("name", "shift"), [("USPS", 1), ("MNIST", 0)])
def test_openml_is_checked_by_its_counts(monkeypatch, name, shift):
    y = labels_of(name)
    text = (y + shift).astype(str)
    monkeypatch.setattr(sources, "_fetch", lambda _id: (np.zeros((len(y), 2)), text))
    data = getattr(Sources(), name.lower())()
    assert data.stands_in == ""
    np.testing.assert_array_equal(np.concatenate([data.y, data.y_test]), y)


def test_openml_in_another_order_is_not_taken(monkeypatch):
    y = np.sort(labels_of("USPS"))
    monkeypatch.setattr(sources, "_fetch", lambda _id: (np.zeros((len(y), 2)), y + 1))
    with pytest.warns(MercerWarning, match="OpenML"):
        assert Sources().usps().stands_in


def test_pima_from_openml_has_a_split_of_its_own(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.uniform(1, 2, (768, 8))
    kind = np.array(["tested_negative"] * 500 + ["tested_positive"] * 268)
    X[355:500, 1] = 0  # incomplete rows, as OpenML codes them
    X[677:, 3] = 0
    monkeypatch.setattr(sources, "_fetch", lambda _id: (X, kind))
    data = Sources().pima()
    assert isinstance(data, Labelled)
    assert np.bincount(data.y).tolist() == [132, 68]
    assert np.bincount(data.y_test).tolist() == [223, 109]
    assert "drawn anew" in data.stands_in


def test_no_network_is_no_failure(monkeypatch):
    def fail(_id):
        raise OSError("no route")

    monkeypatch.setattr(sources, "_fetch", fail)
    with pytest.warns(MercerWarning, match="OpenML did not answer"):
        assert Sources().usps().stands_in


def test_a_stand_in_has_fewer_images_and_says_how_many():
    with pytest.warns(MercerWarning):
        data = Sources(offline=True).usps()
    train, test = mika1999_digits.usps_digits(data, np.random.default_rng(0))
    counts = mika1999_digits.per_digit(data)
    assert (len(train), len(test)) == tuple(10 * count for count in counts)
    assert counts == (117, 50)
