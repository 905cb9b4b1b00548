"""Missing values are a non-event: every model learns from incomplete tables, and promises hold."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mercer
from mercer import KernelNovelty, KernelPCA, MissingKernelPCA
from mercer.cli import main
from mercer.exceptions import DataError
from mercer.tables import TableModel, open_encoded, opening

pd = pytest.importorskip("pandas")

MIXED = np.array([[1, 0.9, 0.2, 0, 0.5], [0, 0.5, 0.8, 0.3, -0.4], [0, 0, 0.3, 0.9, 0.2]])
CENTRES = np.array([[0, 0, 0, 0, 0], [2, 1, -1, 0, 2], [-1, 2, 1, 2, 0]])


def rows(n, rng):
    """Three groups with correlated columns."""
    X = 0.6 * rng.standard_normal((n, 3)) @ MIXED + CENTRES[rng.integers(0, 3, n)]
    return X + 0.2 * rng.standard_normal((n, 5))


def without(X, rng, share=0.1):
    missing = rng.random(X.shape) < share
    missing[missing.all(axis=1), 0] = False
    return np.where(missing, np.nan, X)


@pytest.fixture
def birds(rng):
    """120 rows with a category, numbers of several units, and 14 missing values."""
    kind = rng.integers(0, 2, 120)
    mass = 3700 + 1300 * kind + 250 * rng.standard_normal(120)
    table = pd.DataFrame(
        {
            "kind": np.array(["adelie", "gentoo"], dtype=object)[kind],
            "bill": 18.3 - 3 * kind + 0.001 * (mass - 4000) + 0.4 * rng.standard_normal(120),
            "flipper": np.rint(190 + 27 * kind + 0.01 * (mass - 4000) + rng.standard_normal(120)),
            "mass": mass,
        }
    )
    table.loc[[3, 50], ["bill", "flipper", "mass"]] = np.nan
    table.loc[[7, 8, 20, 70, 71, 90, 99, 100], "kind"] = None
    return table


ESTIMATORS = [
    mercer.KernelPCA(3),
    mercer.SparseKernelPCA(8, n_components=3),
    mercer.IncrementalKernelPCA(3),
    mercer.GenerativeKernelPCA(3, random_state=0),
    mercer.KernelNovelty(3, random_state=0),
    mercer.ReweightedKernelPCA(mercer.KernelPCA(3), random_state=0),
    mercer.MissingKernelPCA(mercer.KernelPCA(3), random_state=0),
]


@pytest.mark.filterwarnings("ignore:.*may be data, not outliers")
@pytest.mark.parametrize("model", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_every_estimator_learns_from_incomplete_tables(model, birds, tmp_path):
    """Each refused them, and MissingKernelPCA(KernelNovelty()) ended in "kernel=None"."""
    table = TableModel(model).fit(birds)
    assert "14 missing values in 10 of 120 rows ('kind', 'bill', 'flipper', 'mass')" in table.note_
    verb = "p_values" if isinstance(model, KernelNovelty) else "transform"
    found = getattr(table, verb)(birds)
    assert np.isfinite(found).all()
    filled = table.impute(birds)
    assert not filled.isna().any().any()
    # What is asked about is filled in as impute does it.
    if not isinstance(model, MissingKernelPCA):  # which sees what lies between categories
        assert_allclose(getattr(table, verb)(filled), found, rtol=1e-9, atol=1e-12)
    again = mercer.load(table.save(tmp_path / "m.mercer"))
    assert_array_equal(getattr(again, verb)(birds), found)


def test_rows_are_dropped_with_what_belongs_to_them(birds):
    complete = birds.dropna()
    weight = np.arange(1.0, 121)
    model = TableModel(KernelPCA(4), missing="drop").fit(birds, sample_weight=weight)
    assert model.note_.endswith("10 rows left out")
    assert len(model.model_.subspace_.support) == len(complete) == 110
    encoded = model.encoder_.transform(complete)
    same = KernelPCA(4).fit(encoded, sample_weight=weight[complete.index])
    assert_allclose(model.transform(complete), same.transform(encoded), atol=1e-12)
    with pytest.raises(DataError, match=r"missing in column 'kind'.* missing='auto'"):
        TableModel(missing="refuse").fit(birds)
    refusing = TableModel(missing="refuse").fit(complete)
    with pytest.raises(DataError, match="missing in column"):
        refusing.transform(birds)


def test_rows_of_which_nothing_is_known(birds):
    birds.loc[11] = np.nan
    with pytest.raises(DataError, match="1 row without any value, the first in row 11"):
        TableModel(missing="fill").fit(birds)
    model = TableModel(KernelPCA(3)).fit(birds)
    assert model.note_.endswith("1 row left out without any value")
    assert len(model.model_.subspace_.support) == 119
    with pytest.raises(DataError, match="row 11 has no value at all"):
        model.transform(birds)
    with pytest.raises(DataError, match=r"missing='mean' is not known; give one of 'auto', 'fill'"):
        TableModel(missing="mean").fit(birds)


def test_a_tuned_model_knows_its_incomplete_table(birds):
    """It knew the values that were drawn for it, which are others at the next look."""
    fitted = TableModel(KernelPCA(3)).fit(birds)
    tuned = TableModel(KernelPCA(3)).tune(birds, noise=0.5, rows="clean")
    for one, other in ((fitted, tuned), (fitted.model_, tuned.model_)):
        assert one._data_fingerprint["sha256"] == other._data_fingerprint["sha256"]


def test_a_detector_has_its_wrapper_named():
    with pytest.raises(TypeError, match=r"TableModel\(KernelNovelty\(\.\.\.\)\)"):
        MissingKernelPCA(KernelNovelty()).fit(np.eye(5))


def test_new_rows_are_filled_in_by_a_model_of_complete_ones(birds):
    complete = birds.dropna()
    for model in (KernelPCA(3), KernelNovelty(random_state=0)):
        table = TableModel(model).fit(complete)
        assert table.filler_ is None
        verb = table.p_values if isinstance(model, KernelNovelty) else table.transform
        assert np.isfinite(verb(birds)).all()


def test_false_alarms_stay_within_the_promise():
    """5 % are promised; complete rows learnt from promise no more than incomplete ones."""
    alarms, spreads = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, new = rows(150, rng), rows(500, rng)
        given = without(X, rng)
        models = [TableModel(KernelNovelty(random_state=0)).fit(one) for one in (given, X)]
        asked = (models[0], without(new, rng)), (models[0], new), (models[1], new)
        alarms.append([(model.predict(some) == -1).mean() for model, some in asked])
        learnt = models[0].encoder_.decode(models[0].model_.subspace_.support)
        missing = np.isnan(given)
        spreads.append(np.column_stack([*learnt.values()])[missing].std() / X[missing].std())
    incomplete, whole, usual = np.mean(alarms, axis=0)
    assert 0.01 < incomplete < 0.055
    assert whole < usual + 0.01
    # Expected values in their place would have 0.92 of the spread, and samples too little.
    assert np.mean(spreads) == pytest.approx(1, abs=0.05)


def test_commands_take_incomplete_tables(birds, tmp_path, capsys):
    """``fit`` refused them, and ``score`` said that 344 rows do not differ."""
    data, model, out = tmp_path / "x.csv", tmp_path / "m.mercer", tmp_path / "y.csv"
    birds.to_csv(data, index=False)

    def run(*args):
        capsys.readouterr()
        assert main([str(arg) for arg in args]) == 0
        return capsys.readouterr()

    line = "mercer: 14 missing values in 10 of 120 rows"
    assert line in run("fit", data, "-o", model).err
    assert json.loads(run("score", model, data, "--json").out)["rows"] == 120
    run("fit", data, "-o", model, "--force", "--model", "missing", "-q")
    assert json.loads(run("score", model, data, "--json").out)["noise_left"] < 1
    run("fit", data, "-o", model, "--force", "--model", "novelty", "-q")
    said = run("novelty", model, data, "-o", out).err
    assert f"missing values of '{data}' are filled in by the model" in said
    assert len(pd.read_csv(out).dropna()) == 120
    run("fit", data, "-o", model, "--force", "--model", "generative", "-q")
    run("sample", model, "-n", 50, "-o", out, "--force")
    assert set(pd.read_csv(out)["kind"]) == {"adelie", "gentoo"}
    assert line in run("tune", data, "-o", model, "--force", "--rows", "clean").err
    said = run("fit", data, "-o", model, "--force", "--missing", "drop").err
    assert "10 rows left out" in said
    assert "110 rows, 4 columns as 5 numbers" in said


def test_numbers_of_one_unit_are_filled_in_too(rng, tmp_path, capsys):
    data, model = tmp_path / "x.csv", tmp_path / "m.mercer"
    frame = pd.DataFrame(without(rows(150, rng), rng), columns=list("abcde"))
    frame.to_csv(data, index=False)
    for kind in ("kpca", "novelty"):
        fit = ["fit", data, "-o", model, "--force", "--model", kind]
        assert main([str(word) for word in fit]) == 0
        assert "a: number as it is" in capsys.readouterr().err
        assert main(["novelty", str(model), str(data), "--json"]) == 0
        assert "NaN" not in capsys.readouterr().out
    # A model of complete numbers, without an encoder, fills new rows in as well.
    whole = tmp_path / "whole.csv"
    frame.dropna().to_csv(whole, index=False)
    for kind in ("kpca", "novelty"):
        fit = ["fit", whole, "-o", model, "--force", "--model", kind, "-q"]
        assert main([str(word) for word in fit]) == 0
        assert type(mercer.load(model)) is not TableModel
        capsys.readouterr()
        assert main(["novelty", str(model), str(data)]) == 0
        assert "nan" not in capsys.readouterr().out


def test_files_of_which_the_first_rows_decide(rng, tmp_path, monkeypatch):
    """A value that is missing behind them is found by those who ask for it."""
    monkeypatch.setattr(opening, "WHOLE", 100)
    monkeypatch.setattr(opening, "FIRST_ROWS", 50)
    X = rows(150, rng)
    X[140, 1] = np.nan
    path = tmp_path / "x.csv"
    pd.DataFrame(X, columns=list("abcde")).to_csv(path, index=False)
    with pytest.raises(DataError, match="line 142"):
        TableModel(KernelPCA(3)).fit(path)
    for missing, n in (("fill", 150), ("drop", 149)):
        model = TableModel(KernelPCA(3, solver="dense"), missing=missing).fit(path)
        assert len(model.model_.subspace_.support) == n
    table, _ = open_encoded(path, allow_nan=True)
    assert np.isnan(table.rows[:]).sum() == 1


@pytest.mark.parametrize("missing", ["auto", "refuse"])
def test_holes_of_a_column_that_is_left_out_do_no_harm(rng, tmp_path, missing):
    """A constant with gaps, beside columns that are scaled, ended a fit."""
    lines = [
        f"{a},{500 + 99 * b},{'' if i == 7 else 5}" for i, (a, b) in enumerate(rows(60, rng)[:, :2])
    ]
    (tmp_path / "x.csv").write_text("\n".join(["a,b,k", *lines]))
    opened = opening.Opening(missing=missing).of_file(tmp_path / "x.csv")
    assert opened.encoder.left_out_ == {"k": "constant"}
    assert opened.rows[:].shape == (60, 2)
    assert opened.filler is None
