"""Dates with parts that come again: they are angles, and come back as dates."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import mercer
from mercer import KernelPCA, MissingKernelPCA, TableModel
from mercer.exceptions import DataError, ModelFileError
from mercer.tables import TableEncoder
from mercer.tables.columns import Date, Number, angles, moved, parse_cycles


def hours(n=300, seed=0):
    rng = np.random.default_rng(seed)
    minutes = rng.integers(0, 3 * 365 * 24 * 60, n)
    when = pd.Timestamp("2021-03-01") + pd.to_timedelta(minutes, "min")
    warm = -np.cos(2 * np.pi * when.day_of_year / 365) + 0.1 * rng.standard_normal(n)
    light = -np.cos(2 * np.pi * when.hour / 24) + 0.1 * rng.standard_normal(n)
    return pd.DataFrame({"when": when, "warm": warm, "light": light})


@pytest.mark.parametrize(
    "kind", ["date:month", "date:hour", "date:weekday+month", "date:hour+month+weekday"]
)
def test_the_round_trip_is_exact(kind):
    table = hours()
    encoder = TableEncoder(when=kind).fit(table)
    rows = encoder.transform(table)
    assert rows.shape[1] == 3 + 2 * (kind.count("+") + 1)
    assert len(encoder.get_feature_names_out()) == len(encoder.groups_) == rows.shape[1]
    back = encoder.inverse_transform(rows)
    assert back["when"].equals(table["when"])
    assert_allclose(back[["warm", "light"]], table[["warm", "light"]], atol=1e-12)
    assert "as angles" in encoder.describe()[0]


def test_december_lies_beside_january():
    days = np.array(["2020-12-31", "2021-01-01", "2021-07-01"], dtype="M8[D]")
    near, far = (np.linalg.norm(np.diff(angles(days, ["month"]), axis=0), axis=1)).tolist()
    assert near < 0.03 < 1.9 < far
    sunday_monday = np.array(["2026-11-15", "2026-11-16", "2026-11-23"], dtype="M8[D]")
    found = angles(sunday_monday, ["weekday"])
    assert_allclose(found[1], [1, 0], atol=1e-12)  # a week begins on Monday
    assert_allclose(found[1], found[2], atol=1e-12)
    noon = angles(np.array(["2020-05-05T12:00", "NaT"], dtype="M8[m]"), ["hour"])
    assert_allclose(noon[0], [-1, 0], atol=1e-12)
    assert np.isnan(noon[1]).all()


def test_angles_move_a_date_by_half_a_cycle_at_most():
    days = np.array(["2020-06-10T00:00"] * 3, dtype="M8[m]")
    block = angles(
        np.array(["2020-06-10T09:30", "2020-06-10T21:00", "2020-01-01"], "M8[m]"), ["hour"]
    )
    block[2] *= 0.1  # undecided
    wanted = np.array(["2020-06-10T09:30", "2020-06-09T21:00", "2020-06-10T00:00"], "M8[m]")
    assert (moved(days, block, ("hour",)).astype("M8[m]") == wanted).all()


def test_the_finest_units_stay():
    first, step = np.datetime64("2020-02-03T04:05:06", "ns"), np.timedelta64(10**15 + 7, "ns")
    when = first + np.arange(40) * step
    table = pd.DataFrame({"when": when, "x": np.arange(40) % 7.5})
    encoder = TableEncoder(when="date:month+hour").fit(table)
    rows = encoder.transform(table)
    plain = TableEncoder(when="date").fit(table)
    wanted = plain.inverse_transform(plain.transform(table))["when"]
    found = encoder.inverse_transform(rows)["when"]
    assert np.abs(found - wanted).max() <= pd.Timedelta("2us")


def test_a_missing_date_gets_its_season_and_hour():
    table = hours()
    given = table.copy()
    given.loc[::10, "when"] = pd.NaT
    model = TableModel(
        MissingKernelPCA(KernelPCA(0.95), random_state=0), TableEncoder(when="date:month+hour")
    )
    filled = model.fit(given).impute(given)
    assert filled["when"].notna().all()
    assert filled["when"].drop(table.index[::10]).equals(table["when"].drop(table.index[::10]))
    off = (filled["when"][::10].dt.hour - table["when"][::10].dt.hour + 12) % 24 - 12
    assert np.abs(off).median() <= 6  # the light tells the hour, but not morning from evening
    drawn = model.denoise(filled)
    assert drawn["when"].notna().all()


def test_kinds_that_make_no_sense_are_named(tmp_path):
    table = hours()
    assert parse_cycles("date") == ()
    assert parse_cycles("date:hour+month") == ("month", "hour")
    for kind in ("date:", "date:year", "month", "number:month"):
        with pytest.raises(DataError, match=r"date:month\+weekday\+hour"):
            TableEncoder(when=kind).fit(table)
    days = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=30), "x": np.arange(30) % 7.5})
    with pytest.raises(DataError, match="'day' holds whole days"):
        TableEncoder(day="date:hour").fit(days)
    with pytest.raises(DataError, match="not a date of a known form"):
        TableEncoder(warm="date:month").fit(table)
    model = TableModel(KernelPCA(3), TableEncoder(day="date:month+weekday")).fit(days)
    model.save(tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert_allclose(again.transform(days), model.transform(days))
    day = model.encoder_.columns_["day"]
    model.encoder_.columns_["day"] = Date(Number(), day.origin, "D", "", ("year", "weekday"))
    model.save(tmp_path / "bad.mercer")
    with pytest.raises(ModelFileError, match="cannot be Date.*year"):
        mercer.load(tmp_path / "bad.mercer")
