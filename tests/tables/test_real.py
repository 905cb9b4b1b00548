"""Five real tables: what comes out could stand in them."""

import csv

import numpy as np
import pytest

from mercer import GenerativeKernelPCA
from mercer.tables import Category, Frame, Number, TableModel, read_table

NAMES = ["Auto", "OJ", "BrainCancer", "Publication", "Bikeshare"]


def first_rows(path, tmp_path, n=300):
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if "NA" not in row][: n + 1]
    with (tmp_path / path.name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return read_table(tmp_path / path.name)


def assert_legal(model, made):
    assert_legal_values(model.encoder_.columns_, made)


def assert_legal_values(given, made):
    for name, column in given.items():
        if isinstance(column, Category):
            assert set(made[name].tolist()) <= set(column.values)
        elif isinstance(column, Number):
            values = made[name].astype(float)
            assert np.isfinite(values).all()
            assert not column.levels or set(values.tolist()) <= set(column.levels)
            assert not column.whole or (values == np.rint(values)).all()
            assert ((values >= column.low) & (values <= column.high)).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_new_denoised_and_filled_rows_are_legal(name, data_dir, tmp_path):
    table = first_rows(data_dir / "tables" / f"{name}.csv", tmp_path)
    model = TableModel(GenerativeKernelPCA(8, random_state=0)).fit(table)
    assert_legal(model, model.sample(2000))
    assert_legal(model, model.denoise(table))
    holes = np.random.default_rng(0).random((len(table), len(table.columns))) < 0.2
    holes[np.arange(len(table)), np.arange(len(table)) % holes.shape[1]] = False
    pierced = {}
    for j, (key, values) in enumerate(table.columns.items()):
        pierced[key] = values.copy()
        pierced[key][holes[:, j]] = None if values.dtype == object else np.nan
    filled = model.impute(Frame(pierced, "columns", table.dtypes))
    assert_legal(model, filled)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_ten_thousand_rows_of_each_way_are_legal(name, data_dir, tmp_path):
    """Five tables, 2,000 rows drawn, denoised and filled in of each."""
    table = first_rows(data_dir / "tables" / f"{name}.csv", tmp_path)
    model = TableModel(GenerativeKernelPCA(8, random_state=0)).fit(table)
    made = model.sample(2000, random_state=1)
    assert_legal(model, made)
    rng = np.random.default_rng(1)
    again = rng.integers(0, len(table), 2000)
    used = {key: values[again] for key, values in table.columns.items()}
    for values in used.values():  # noise, or every row would be one of the 300
        if values.dtype.kind == "f":
            values += rng.standard_normal(2000) * np.nanstd(values)
    assert_legal(model, model.denoise(Frame(used, "columns", table.dtypes)))
    seen = [key for key in used if model.encoder_.columns_[key].width]
    left = rng.integers(0, len(seen), 2000)  # a value that each row keeps
    for j, key in enumerate(seen):
        holes = (rng.random(2000) < 0.4) & (left != j)
        used[key][holes] = None if used[key].dtype == object else np.nan
    filled = model.impute(Frame(used, "columns", table.dtypes))
    pierced = {key: np.array([v is None or v != v for v in used[key].tolist()]) for key in seen}
    only = {key: np.asarray(filled[key])[holes] for key, holes in pierced.items()}
    given = {key: model.encoder_.columns_[key] for key in seen}
    assert all(only[key].size for key in seen)
    assert_legal_values(given, only)
