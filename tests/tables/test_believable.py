"""Rows that are drawn from tables: in range, as spread and as mixed as the data, class by class."""

import numpy as np
import pandas as pd
import pytest

from mercer import GenerativeKernelPCA, load
from mercer.generative import Local
from mercer.tables import TableModel


@pytest.fixture(scope="module")
def table():
    """Heavy prices that go with a category, ages in a band, and a level."""
    rng = np.random.default_rng(3)
    n = 400
    segment = rng.choice(["shop", "web", "bulk"], n, p=[0.5, 0.35, 0.15])
    level = pd.Series(segment).map({"shop": 2.0, "web": 3.0, "bulk": 6.0}).to_numpy()
    return pd.DataFrame(
        {
            "segment": segment,
            "price": np.round(np.exp(level + rng.normal(0, 0.6, n)), 2),
            "age": rng.integers(25, 81, n),
            "items": 1 + rng.poisson(level),
            "stars": rng.integers(1, 6, n),
            "member": np.where(rng.random(n) < 0.3, "yes", "no"),
        }
    )


@pytest.fixture(scope="module")
def drawn(table):
    return TableModel(GenerativeKernelPCA(random_state=0)).fit(table).sample(10_000)


NUMBERS = ["price", "age", "items", "stars"]


def test_no_row_leaves_the_range_of_a_column(table, drawn):
    for name in NUMBERS:
        low, high = table[name].min() * (1 - 1e-12), table[name].max() * (1 + 1e-12)
        assert drawn[name].between(low, high).all()


@pytest.mark.parametrize("name", NUMBERS)
def test_standard_deviations_are_within_a_tenth(name, table, drawn):
    assert drawn[name].std() == pytest.approx(table[name].std(), rel=0.1)


@pytest.mark.parametrize("name", ["segment", "member"])
def test_categories_are_as_frequent_as_in_the_data(name, table, drawn):
    shares = drawn[name].value_counts(normalize=True)
    for value, share in table[name].value_counts(normalize=True).items():
        assert shares[value] == pytest.approx(share, abs=0.03)


def test_numbers_go_with_their_category(table, drawn):
    """Prices of a segment have the middle half that they have in the data."""
    for segment, rows in table.groupby("segment"):
        low, high = rows["price"].quantile([0.25, 0.75])
        inside = drawn.loc[drawn["segment"] == segment, "price"].between(low, high).mean()
        assert inside == pytest.approx(0.5, abs=0.12)


def test_a_class_has_values_of_that_class_only(table):
    rest = table.drop(columns="segment")
    model = TableModel(GenerativeKernelPCA(random_state=0)).fit(rest, table["segment"])
    for segment, rows in table.groupby("segment"):
        made = model.sample(1000, label=segment)
        for name in NUMBERS:
            low, high = rows[name].min() * (1 - 1e-12), rows[name].max() * (1 + 1e-12)
            assert made[name].between(low, high).all()


def test_a_file_draws_the_same_rows(table, tmp_path):
    """Also of a model that keeps rows beside its few support points."""
    for solver in ("auto", "landmarks"):
        model = TableModel(GenerativeKernelPCA(5, solver=solver, random_state=0)).fit(table)
        path = tmp_path / f"{solver}.mercer"
        model.save(path)
        pd.testing.assert_frame_equal(load(path).sample(20), model.sample(20))


def test_rows_that_are_the_support_are_kept_once(table):
    few = GenerativeKernelPCA(5, solver="landmarks", random_state=0).fit(table[NUMBERS])
    every = GenerativeKernelPCA(5, solver="dense", random_state=0).fit(table[NUMBERS])
    assert few.rows_.shape == (400, 4)
    assert "rows_" not in vars(every)


def test_changing_the_data_afterwards_changes_no_draw(table):
    X = table[NUMBERS].to_numpy(dtype=float)
    model = GenerativeKernelPCA(5, density=Local(5), random_state=0).fit(X)
    X[:] = 1e6
    assert model.sample(50).max() < 1e5


def test_a_regression_is_there_for_those_who_ask(table):
    model = GenerativeKernelPCA(5, preimage="ridge", random_state=0).fit(table[NUMBERS])
    assert (model.sample(500) < table[NUMBERS].min().to_numpy()).any()
