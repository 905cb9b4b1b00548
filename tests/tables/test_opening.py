"""A file as vectors for a fit, from Python as on the command line."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelNovelty, KernelPCA
from mercer.cli import main
from mercer.exceptions import DataError
from mercer.io import Choice, MemoryRows, Table
from mercer.io.delimited import CsvRows
from mercer.io.look import Look
from mercer.novelty import judge
from mercer.selection import assess
from mercer.tables import TableEncoder, TableModel, open_encoded
from mercer.tables.opening import read_for, vectors_for


@pytest.fixture
def units(tmp_path):
    """400 rows of numbers in many units, and a label."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3)) * [1, 50, 0.01] + [0, 300, 0.5]
    lines = [",".join(map(repr, row.tolist())) + f",{'ab'[i % 2]}" for i, row in enumerate(X)]
    path = tmp_path / "units.csv"
    path.write_text("\n".join(["t,glucose,ratio,kind", *lines]) + "\n")
    return path, X


def test_numbers_in_many_units_are_scaled_as_they_are_read(units):
    path, X = units
    table, encoder = open_encoded(path, choice=Choice(label="kind"))
    assert not isinstance(table.rows, MemoryRows)
    assert_allclose(table.rows[:].std(axis=0), 1, rtol=0.3)
    assert set(table.label) == {"a", "b"}
    assert_allclose(encoder.inverse_transform(table.rows[:])["glucose"], X[:, 1], rtol=1e-12)
    model = TableModel.from_fitted(KernelPCA(5).fit(table.rows), encoder)
    again = vectors_for(model, Look(path), Choice(label="kind"))
    assert_allclose(again.rows[:], table.rows[:], rtol=1e-12)
    kept = read_for(model, Look(path), Choice(keep=["kind"]))
    assert list(kept.columns) == ["t", "glucose", "ratio", "kind"]


def test_numbers_of_one_unit_stay_where_they_are(units, tmp_path):
    path = tmp_path / "pixels.csv"
    np.savetxt(path, np.eye(5) * 9, delimiter=",", header="a,b,c,d,e", comments="")
    table, encoder = open_encoded(path)
    assert encoder is None
    assert isinstance(table.rows, CsvRows)
    raw, none = open_encoded(units[0], TableEncoder(scale="none"), Choice(drop=["kind"]))
    assert none is None
    assert_array_equal(raw.rows[:], units[1])


def test_what_is_said_about_columns_is_done_and_the_encoder_given_stays(units):
    said = TableEncoder(kind="category", ratio="drop")
    table, encoder = open_encoded(units[0], said)
    assert table.rows.shape == (400, 4)
    assert encoder is not said
    assert not hasattr(said, "columns_")
    np.save(units[0].with_suffix(".npy"), units[1])
    table, encoder = open_encoded(units[0].with_suffix(".npy"), TableEncoder(scale="std"))
    assert list(encoder.columns_) == ["0", "1", "2"]
    assert_allclose(table.rows[:].std(axis=0), 1)


def test_assess_is_what_a_loop_would_find():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 4)) + 1e3
    model = KernelPCA(6, random_state=0).fit(X[:200])
    found = assess(model, Table(MemoryRows(X[200:])))
    assert found.noise == pytest.approx(np.sqrt(X[200:].var(axis=0).mean()) / 2, rel=1e-9)
    assert found.score == pytest.approx(model.score(X[200:]), rel=1e-9)
    kept = ((model.reconstruct(X[200:]) - X[200:]) ** 2).mean()
    assert found.root_mean_square_error == pytest.approx(np.sqrt(kept))
    assert found.reconstruction_error == pytest.approx(
        model.reconstruction_error(X[200:]).mean(), rel=1e-9
    )


def test_verdicts_are_those_of_the_detector():
    rng = np.random.default_rng(2)
    X, new = rng.standard_normal((200, 3)), rng.standard_normal((50, 3)) * 3
    model = KernelNovelty(10, random_state=0).fit(X)
    found = judge(model, Table(MemoryRows(new), {"score": np.arange(50)}))
    assert_allclose(found.rows[:][:, 0], -model.score_samples(new))
    assert_array_equal(found.rows[:][:, 1], model.p_values(new))
    assert_array_equal(found.beside["new"], model.predict(new) == -1)
    assert_array_equal(found.beside["data_score"], np.arange(50))
    alone = judge(KernelPCA(5).fit(X), Table(MemoryRows(new)))
    assert alone.names == ["score"]


LONG = [900002971734914716, 900003111280725317, 900000000000000001] * 20


@pytest.fixture
def with_long_ids(rng):
    """Ids that a float64 cannot hold beside what a model is made of."""
    city = np.array(["Oslo", "Rome"], dtype=object)[rng.integers(2, size=60)]
    ids = [number + 10 * i for i, number in enumerate(LONG)]
    return {"id": ids, "city": city, "a": rng.standard_normal(60), "b": rng.standard_normal(60)}


def test_long_ids_come_back_to_the_last_digit(with_long_ids):
    """They went through float64: 900002971734914716 was written as 900002971734914688."""
    pandas = pytest.importorskip("pandas")
    ids = with_long_ids["id"]
    for table in (with_long_ids, pandas.DataFrame(with_long_ids, index=range(7, 67))):
        model = TableModel(KernelPCA(3), TableEncoder(id="index")).fit(table)
        assert list(model.denoise(table)["id"]) == ids
    for library in ("polars", "pyarrow"):
        module = pytest.importorskip(library)
        make = module.DataFrame if library == "polars" else module.table
        table = make({name: list(column) for name, column in with_long_ids.items()})
        found = TableModel(KernelPCA(3), TableEncoder(id="index")).fit(table).denoise(table)["id"]
        assert (found.to_pylist() if library == "pyarrow" else found.to_list()) == ids


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_long_ids_of_a_file_are_written_to_the_last_digit(with_long_ids, tmp_path, ending):
    pandas = pytest.importorskip("pandas")
    table, path = pandas.DataFrame(with_long_ids), tmp_path / f"x.{ending}"
    if ending == "csv":
        table.to_csv(path, index=False)
    elif ending == "jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_parquet(path)
    model, out = tmp_path / "m.mercer", tmp_path / "y.csv"
    assert main(["fit", str(path), "-o", str(model), "-q"]) == 0
    for command in (["denoise"], ["transform", "--id", "id"], ["novelty", "--id", "id"]):
        assert main([*command, str(model), str(path), "-o", str(out), "--force", "-q"]) == 0
        assert pandas.read_csv(out)["id"].tolist() == with_long_ids["id"]


def test_long_numbers_are_no_categories_before_they_are_texts(with_long_ids):
    """900000000000000001 and 900000000000000011 are one float64, and were one category."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(with_long_ids)
    with pytest.raises(DataError, match=r"column 'id' .*; give them as texts"):
        TableEncoder(id="category").fit(table)
    encoder = TableEncoder(id="category").fit(table.assign(id=table["id"].astype(str)))
    assert encoder.columns_["id"].width == 60
