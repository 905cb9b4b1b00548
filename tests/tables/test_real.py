"""Real tables, and made ones: what comes out could stand in them."""

import csv
import datetime
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mercer import GenerativeKernelPCA
from mercer.tables import Category, Date, Frame, Number, TableEncoder, TableModel, read_table

NAMES = ["Auto", "OJ", "BrainCancer", "Publication", "Bikeshare", "Bikeshare with dates"]
#: What is asked for, beside what is decided.
ASKED = {"Bikeshare with dates": {"at": "date:month+weekday+hour"}}


def model_of(name):
    return TableModel(GenerativeKernelPCA(8, random_state=0), TableEncoder(ASKED.get(name)))


def with_dates(path, tmp_path, n=300):
    """The same hours of a year as dates and times as people write them, and with units."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (tmp_path / "dated.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["day", "at", "us", "weathersit", "temp", "hum", "bikers"])
        for row in rows[:: len(rows) // n][:n]:
            at = datetime.datetime(2011, 1, 1) + datetime.timedelta(
                days=int(row["day"]) - 1, hours=int(row["hr"])
            )
            stamps = [at.strftime(form) for form in ("%d.%m.%Y", "%Y-%m-%d %H:%M", "%b %d, %Y")]
            share = f"{100 * float(row['hum']):.0f} %"
            writer.writerow(
                [*stamps, row["weathersit"], row["temp"], share, f"{row['bikers']} bikes"]
            )
    return read_table(tmp_path / "dated.csv")


def first_rows(path, tmp_path, n=300):
    if path.stem == "Bikeshare with dates":
        return with_dates(path.with_stem("Bikeshare"), tmp_path, n)
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if "NA" not in row][: n + 1]
    with (tmp_path / path.name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return read_table(tmp_path / path.name)


def assert_legal(model, made):
    assert_legal_values(model.encoder_, model.encoder_.columns_, made)


def assert_legal_values(encoder, given, made):
    for name, column in given.items():
        if isinstance(column, Category):
            assert set(made[name].tolist()) <= set(column.values)
        elif isinstance(column, Date):
            assert_dates(made[name], column)
        elif isinstance(column, Number):
            values = without_unit(made[name], encoder.dtypes_.get(name, ""))
            assert np.isfinite(values).all()
            assert not column.levels or set(values.tolist()) <= set(column.levels)
            assert not column.whole or (values == np.rint(values)).all()
            assert ((values >= column.low) & (values <= column.high)).all()


def assert_dates(values, column):
    """Texts of the form of the column, or dates, in whole units; none is missing."""
    if not column.form:
        assert values.dtype.kind == "M"
        assert not np.isnat(values).any()
        return
    for text in values.tolist():
        assert datetime.datetime.strptime(text, column.form).strftime(column.form) == text


def without_unit(values, form):
    if "{}" not in form:
        return values.astype(float)
    if values.dtype.kind == "f":  # as the model has them
        return values
    pattern = re.compile(re.escape(form).replace(re.escape("{}"), "(.*)"))
    return np.array([float(pattern.fullmatch(text)[1]) for text in values.tolist()])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_new_denoised_and_filled_rows_are_legal(name, data_dir, tmp_path):
    table = first_rows(data_dir / "tables" / f"{name}.csv", tmp_path)
    model = model_of(name).fit(table)
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
    """2,000 rows of each table drawn, denoised and filled in."""
    table = first_rows(data_dir / "tables" / f"{name}.csv", tmp_path)
    model = model_of(name).fit(table)
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
    assert_legal_values(model.encoder_, given, only)


@st.composite
def made_tables(draw):
    """Columns of every kind, of long tails, few values, one value, dates and units among them."""
    n = draw(st.integers(25, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    day = np.datetime64(f"{draw(st.integers(1960, 2040))}-01-01")
    column = {
        "number": lambda: rng.normal(draw(st.sampled_from([0, 1e6])), 3, n),
        "count": lambda: rng.poisson(draw(st.sampled_from([0.3, 4, 500])), n).astype(float),
        "tails": lambda: np.exp(rng.normal(0, 4, n)),
        "share": lambda: rng.random(n),
        "category": lambda: rng.choice(list("abcdefgh")[: draw(st.integers(2, 8))], n).astype("O"),
        "truth": lambda: np.array([bool(x) for x in rng.integers(0, 2, n)], dtype=object),
        "day": lambda: day + rng.integers(0, 9000, n).astype("m8[D]"),
        "second": lambda: (
            day.astype("M8[s]") + rng.integers(0, 10 ** draw(st.integers(2, 9)), n).astype("m8[s]")
        ),
        "written": lambda: np.array(
            [
                d.strftime("%d.%m.%Y")
                for d in (day + rng.integers(0, 900, n).astype("m8[D]")).tolist()
            ],
            dtype=object,
        ),
    }
    kinds = draw(st.lists(st.sampled_from(sorted(column)), min_size=2, max_size=5))
    return {f"{kind} {j}": column[kind]() for j, kind in enumerate(kinds)}, rng


@given(made_tables())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.filterwarnings("ignore")
def test_rows_of_made_tables_are_legal(made):
    table, rng = made
    encoder = TableEncoder().fit(table)
    seen = [name for name in table if encoder.columns_[name].width]
    model = TableModel(GenerativeKernelPCA(3, random_state=0)).fit(table)
    assert_legal(model, model.sample(40, random_state=1))
    assert_legal(model, model.denoise(table))
    keep = rng.integers(0, len(seen), len(table[seen[0]]))
    holes = {name: values.copy() for name, values in table.items()}
    for j, name in enumerate(seen):
        empty = {"f": np.nan, "M": np.datetime64("NaT")}.get(holes[name].dtype.kind)
        holes[name][(rng.random(len(keep)) < 0.3) & (keep != j)] = empty
    assert_legal(model, model.impute(holes))
