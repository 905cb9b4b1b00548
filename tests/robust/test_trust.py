"""Which rows are trusted: by a loop from the textbook, and by what was planted."""

from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from mercer import KernelPCA, ReweightedKernelPCA
from mercer.exceptions import MercerWarning
from mercer.kernels import FunctionKernel, Gaussian
from mercer.robust.reweight import trusted_rows
from tests import naive
from tests.robust.test_reweight import half_circle, largest_angle, with_outliers

# The package has a function of this name.
trust = import_module("mercer.robust.reweight")


def cluster(X, share, rng, far=3.0):
    """A ball of a tenth of the data's radius, off the data."""
    radius = np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean())
    direction = rng.standard_normal(X.shape[1])
    centre = X.mean(axis=0) + far * radius * direction / np.linalg.norm(direction)
    n = round(share / (1 - share) * len(X))
    ball = rng.standard_normal((n, X.shape[1])) / np.sqrt(X.shape[1])
    return np.concatenate([X, centre + 0.1 * radius * ball])


def digits(rng):
    return load_digits().data[rng.permutation(1797)[:300]] / 16


def wine(rng):
    X = load_wine().data
    return ((X - X.mean(axis=0)) / X.std(axis=0))[rng.permutation(len(X))]


def cancer(rng):
    X = load_breast_cancer().data
    return ((X - X.mean(axis=0)) / X.std(axis=0))[rng.permutation(len(X))[:300]]


def counts(rng):
    return rng.poisson(0.5, (300, 6)).astype(float)


def half_zero(rng):
    """Linear structure of which half the entries are lost, and copies of rows."""
    X = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 6))
    X[rng.random(X.shape) < 0.5] = 0
    X[:60] = X[rng.integers(60, 90, 60)]
    return X


DATA = [digits, wine, cancer]


def test_as_the_loop_from_the_textbook(rng, monkeypatch):
    monkeypatch.setattr(trust, "TIGHT", np.inf)  # the loop knows no groups,
    monkeypatch.setattr(trust, "STRAYS", 0.0)  # and no strays
    X = with_outliers(half_circle(60, rng), 0.2, rng)
    found = trusted_rows(X, Gaussian())
    trusted, excess = naive.growing_trust(X, trust.NEIGHBOUR, trust.EDGE, trust.REACH)
    assert_array_equal(found.trusted, trusted)
    assert_allclose(found.excess, excess, atol=1e-8)


@pytest.mark.parametrize("data", [*DATA, counts, half_zero, lambda rng: half_circle(200, rng)])
def test_clean_rows_are_all_trusted(data, rng):
    assert trusted_rows(data(rng), Gaussian()).trusted.all()


def test_curves_are_followed_to_their_ends():
    """Spaces between rows on a curve are exponential; a long one must not end it."""
    followed = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        angle = rng.uniform(0, np.pi, 150)
        X = np.column_stack([np.cos(angle), np.sin(angle), angle])
        followed.append(trusted_rows(X, Gaussian()).trusted.mean() > 0.95)
    assert sum(followed) >= 36


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("data", [counts, half_zero])
def test_outliers_among_zeros_and_copies(data, seed):
    rng = np.random.default_rng(seed)
    X = data(rng)
    rows = np.concatenate([X, 20 * X.std() * rng.standard_normal((20, X.shape[1]))])
    trusted = trusted_rows(rows, Gaussian()).trusted
    assert trusted[:-20].all()
    assert trusted[-20:].sum() <= 1


@pytest.mark.parametrize("share", [0.1, 0.3])
@pytest.mark.parametrize("data", DATA)
def test_the_box_is_left_out(data, share, rng):
    X = data(rng)
    found = trusted_rows(with_outliers(X, share, rng), Gaussian())
    assert_array_equal(found.trusted, np.arange(len(found.trusted)) < len(X))


@pytest.mark.parametrize("data", DATA)
def test_a_group_is_left_out_and_known_as_one(data, rng):
    X = data(rng)
    found = trusted_rows(cluster(X, 0.1, rng), Gaussian())
    assert_array_equal(found.trusted, np.arange(len(found.trusted)) < len(X))
    assert_array_equal(found.grouped, ~found.trusted)


@pytest.mark.parametrize(
    "dirty", [lambda X, r: with_outliers(X, 0.3, r), lambda X, r: cluster(X, 0.1, r)]
)
@pytest.mark.parametrize("data", DATA)
def test_neither_width_nor_components_turn(data, dirty, rng):
    X = data(rng)
    clean = KernelPCA(8).fit(X)
    robust = ReweightedKernelPCA(KernelPCA(8), random_state=0).fit(dirty(X, rng))
    assert robust.weights_[len(X) :].max() == 0
    assert_allclose(robust.kernel_.gamma, clean.kernel_.gamma, rtol=0.02)
    assert np.degrees(largest_angle(clean.subspace_, robust.subspace_)) < 3


def test_a_large_group_may_be_data_and_that_is_said(rng):
    X = digits(rng)
    with pytest.warns(MercerWarning, match=r"129 of 429 rows lie apart .* may be data"):
        ReweightedKernelPCA(KernelPCA(4), random_state=0).fit(cluster(X, 0.3, rng))


def test_rows_that_do_not_hang_together_are_said(rng):
    X = np.concatenate([rng.standard_normal((60, 3)), 1e4 * rng.standard_cauchy((50, 3))])
    with pytest.warns(MercerWarning, match=r"two groups are plausible.*: \d+ of 110 rows"):
        ReweightedKernelPCA(KernelPCA(4), random_state=0).fit(X)


@pytest.mark.parametrize("most", [3000, 400])
@pytest.mark.parametrize("share", [0.4, 0.45])
@pytest.mark.parametrize("data", DATA)
def test_a_dense_group_of_fewer_than_half_is_not_taken_for_the_data(
    data, share, most, rng, monkeypatch
):
    """A tight ball inside the cloud used to be trusted, and most of the data were left out."""
    monkeypatch.setattr(trust, "MOST_GROWN", most)
    X = data(rng)
    rows = cluster(X, share, rng, far=0.5)
    found = trusted_rows(rows, Gaussian())
    assert found.trusted.all()
    assert (found.dense >= len(X)).all()
    assert len(found.dense) > 0.9 * share * min(most, len(rows))


def test_two_plausible_groups_are_said_and_the_fit_is_the_plain_one(rng):
    X = digits(rng)
    rows = cluster(X, 0.4, rng, far=1.0)
    model = ReweightedKernelPCA(KernelPCA(4), random_state=0)
    with pytest.warns(
        MercerWarning, match=r"plausible.*: 200 of 500 rows, such as 30\d, .* fitted"
    ):
        model.fit(rows)
    plain = KernelPCA(4).fit(rows)
    assert np.degrees(largest_angle(plain.subspace_, model.subspace_)) < 0.1


def test_copies_and_objects():
    copies = np.repeat(np.arange(3.0)[:, None], 20, axis=0)
    assert trusted_rows(copies, Gaussian()).trusted.all()
    assert trusted_rows(np.zeros((10, 2)), Gaussian()).trusted.all()
    same = FunctionKernel(lambda x, y: float(len(set(x) & set(y))))
    assert trusted_rows(["abc", "abd", "acd", "bcd"] * 5, same).trusted.all()


def test_more_rows_than_references(rng, monkeypatch):
    monkeypatch.setattr(trust, "MOST_REFERENCES", 100)
    X = digits(rng)
    found = trusted_rows(with_outliers(X, 0.2, rng), Gaussian())
    assert_array_equal(found.trusted, np.arange(len(found.trusted)) < len(X))


def test_trust_grows_among_some_rows_and_is_measured_by_the_others(rng, monkeypatch):
    """Outliers and a group stay out among rows that took no part in the growth, too."""
    monkeypatch.setattr(trust, "MOST_REFERENCES", 100)
    monkeypatch.setattr(trust, "MOST_GROWN", 150)
    X = digits(rng)
    found = trusted_rows(with_outliers(X, 0.2, rng), Gaussian())
    assert len(found.trusted) > 200
    assert_array_equal(found.trusted, np.arange(len(found.trusted)) < len(X))
