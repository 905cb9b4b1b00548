"""From file to file, compared with the Python API to the last bit."""

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_digits

import mercer as package
from mercer import KernelNovelty, KernelPCA, MissingKernelPCA, SparseKernelPCA
from mercer.io import Choice, open_rows, open_table
from mercer.io.images import encode_png, to_bytes
from tests.cli.conftest import NAMES, make_rows, sensors, told, write_columns, write_csv


@pytest.fixture
def reference():
    return KernelPCA(5, random_state=0).fit(make_rows())


def records(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read(path):
    return open_rows(path, array="X" if path.suffix == ".npz" else None)[:]


@pytest.mark.parametrize("ending", ["csv", "tsv", "npy", "npz", "parquet"])
def test_fit_and_transform(mercer, model, test, tmp_path, reference, ending):
    target = tmp_path / f"z.{ending}"
    done = mercer("transform", model, test, "-o", target)
    np.testing.assert_array_equal(read(target), reference.transform(make_rows(25, seed=1)))
    assert done.out == ""
    assert "25 rows, 5 columns" in done.err


def test_transform_to_standard_output(mercer, model, test, reference):
    done = mercer("transform", model, test)
    lines = done.out.splitlines()
    assert lines[0] == "kernelpca0,kernelpca1,kernelpca2,kernelpca3,kernelpca4"
    found = np.loadtxt(lines[1:], delimiter=",")
    np.testing.assert_array_equal(found, reference.transform(make_rows(25, seed=1)))
    assert done.err == ""


def test_the_way_back(mercer, model, test, tmp_path, reference):
    scores, rows = tmp_path / "z.parquet", tmp_path / "x.npy"
    mercer("transform", model, test, "-o", scores)
    mercer("inverse", model, scores, "-o", rows)
    Z = reference.transform(make_rows(25, seed=1))
    np.testing.assert_array_equal(np.load(rows), reference.inverse_transform(Z))


def test_denoise_keeps_names_and_labels(mercer, model, train, tmp_path, reference):
    target = tmp_path / "clean.csv"
    mercer("denoise", model, train, "--label", "kind", "-o", target)
    lines = target.read_text().splitlines()
    assert lines[0] == ",".join([*NAMES, "kind"])
    found = np.array([line.split(",")[:4] for line in lines[1:]], dtype=float)
    np.testing.assert_array_equal(found, reference.denoise(make_rows()))
    assert {line.split(",")[4] for line in lines[1:]} == {"left", "right"}


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """Rows on a circle in twelve columns, and their noisy versions in a file."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 150)
    clean = np.column_stack([np.cos(angle), np.sin(angle)]) @ rng.standard_normal((2, 12))
    path = tmp_path_factory.mktemp("noisy") / "noisy.csv"
    write_csv(path, clean + 0.3 * rng.standard_normal(clean.shape), "abcdefghijkl")
    return clean, path


def test_noisy_rows_alone(mercer, noisy, tmp_path):
    clean, path = noisy
    done = mercer("denoise", path, "-o", tmp_path / "clean.csv")
    assert "linear PCA" in done.err
    assert "estimated" in done.err
    left, before = (((read(file) - clean) ** 2).sum() for file in (tmp_path / "clean.csv", path))
    assert left < 0.4 * before
    told_level = mercer("denoise", path, "--noise", "0.3", "-o", tmp_path / "again.csv")
    assert "0.3, given" in told_level.err


@pytest.mark.filterwarnings("default::mercer.exceptions.DenoisingWarning")
def test_what_is_warned_of_is_said_once(mercer, noisy, tmp_path):
    done = mercer("denoise", noisy[1], "--noise", "3", "-o", tmp_path / "clean.csv")
    assert "below zero" in done.err
    assert done.err.count("squared error of a row") == 1


def test_tune_on_noisy_rows(mercer, noisy, tmp_path):
    _, path = noisy
    done = mercer("tune", path, "--rows", "noisy", "-o", tmp_path / "m.mercer", "--json")
    facts = json.loads(done.out)
    assert facts["components_asked"] == "by estimated error of denoising"
    assert facts["error"] < facts["error_of_noise"]


def test_denoise_the_wrong_way(mercer, model, test, noisy, tmp_path):
    mercer.fails("denoise", model, status=2, words=["Missing argument 'DATA'"])
    mercer.fails("denoise", model, test, "--noise", "1", status=2, words=["without a MODEL"])
    few = tmp_path / "few.csv"
    write_csv(few, np.random.default_rng(0).standard_normal((60, 2)), "ab")
    words = ["--noise", "--rows clean"]
    mercer.fails("denoise", few, "-o", tmp_path / "y.csv", "-q", status=3, words=words)
    mercer.fails("denoise", few, "--noise", "speckle", "-q", status=3, words=["speckle:0.3"])


def test_denoise_without_a_model_says_what_is_missing(mercer, noisy, tmp_path):
    clean, path = noisy
    mercer.fails("denoise", "-o", tmp_path / "y.csv", status=2, words=["Missing argument 'DATA'"])
    words = ["there is no file", "give '-o "]
    mercer.fails("denoise", path, tmp_path / "new.csv", status=2, words=words)
    mercer.fails("denoise", path, "-o", path, status=1, words=["--force"])  # before the work
    two = write_csv(tmp_path / "two.csv", clean[:2], "abcdefghijkl")
    words = ["2 rows are too few", "--noise"]
    mercer.fails("denoise", two, "-q", status=3, words=words)
    words = ["'1,x' is not a noise level", "independent"]
    mercer.fails("denoise", path, "--noise", "1,x", "-o", tmp_path / "y.csv", status=2, words=words)


def test_a_folder_of_noisy_images(mercer, tmp_path):
    rng = np.random.default_rng(0)
    (tmp_path / "noisy").mkdir()
    for i, image in enumerate(load_digits().images[:60]):
        pixels = np.clip(0.25 + image / 32 + 0.1 * rng.standard_normal((8, 8)), 0, 1)
        (tmp_path / "noisy" / f"{i:02d}.png").write_bytes(encode_png(to_bytes(pixels)))
    assert "squared error" in mercer("denoise", tmp_path / "noisy", "-o", tmp_path / "clean").err
    assert len(list((tmp_path / "clean").glob("*.png"))) == 60


def test_names_and_dates_of_noisy_rows_are_copied(mercer, noisy, tmp_path):
    """Whole numbers as names, with one unit in all others; and dates among columns of all kinds."""
    rows = open_rows(noisy[1])[:]
    numbered, dated = tmp_path / "numbered.csv", tmp_path / "dated.csv"
    keys = np.arange(1001, 1001 + len(rows))
    write_csv(numbered, np.column_stack([keys, rows]), ["id", *"abcdefghijkl"])
    mercer("denoise", numbered, "-o", tmp_path / "clean.csv")
    assert [float(row["id"]) for row in records(tmp_path / "clean.csv")] == keys.tolist()

    days = np.arange("2024-01-01", len(rows), dtype="datetime64[D]").astype(str)
    lines = [",".join([day, *map(str, row)]) for day, row in zip(days, rows.tolist(), strict=True)]
    dated.write_text("\n".join(["day," + ",".join("abcdefghijkl"), *lines]))
    mercer("denoise", dated, "-o", tmp_path / "again.csv")
    assert [row["day"] for row in records(tmp_path / "again.csv")] == days.tolist()


def test_what_is_kept_needs_no_noise(mercer, noisy, tmp_path):
    levels = ",".join(["0.3"] * 11)
    how = ("denoise", noisy[1], "--noise", levels, "-o", tmp_path / "clean.csv", "-q")
    mercer.fails(*how, status=3, words=["one for each of 12 columns"])
    mercer(*how, "--keep", "a")
    before, after = (records(path) for path in (noisy[1], tmp_path / "clean.csv"))
    assert [float(row["a"]) for row in after] == [float(row["a"]) for row in before]


def test_very_many_noisy_rows_are_not_fitted_exactly(mercer, noisy, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer.estimators.subspace.PATIENCE", 1e-9)
    mercer.fails("denoise", noisy[1], "-q", status=3, words=["are allowed"])


def test_noise_of_each_column_in_its_own_unit(mercer, tmp_path):
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 2 * np.pi, 120)
    clean = np.column_stack([20 + 5 * np.cos(t), 1000 + 30 * np.sin(t), 0.4 + 0.1 * np.cos(2 * t)])
    sigma = np.array([0.8, 3.0, 0.03])
    table = clean + sigma * rng.standard_normal(clean.shape)
    path = write_csv(tmp_path / "sensors.csv", table, "abc")
    levels = ",".join(map(str, sigma))
    done = mercer("denoise", path, "--noise", levels, "-o", tmp_path / "clean.csv")
    assert "given" in done.err
    errors = [
        (((rows - clean) / sigma) ** 2).mean() for rows in (table, read(tmp_path / "clean.csv"))
    ]
    assert errors[1] < 0.75 * errors[0]
    words = ["2 numbers for 3 columns"]
    mercer.fails("denoise", path, "--noise", "1,2", "-q", status=3, words=words)
    names = [f"r{i}" for i in range(len(table))]
    named = write_csv(tmp_path / "named.csv", table, "abc", names)  # left out, and needs no number
    kept = mercer("denoise", named, "--noise", levels, "--keep", "kind", "-o", tmp_path / "d.csv")
    assert "given" in kept.err
    kinds = write_csv(tmp_path / "kinds.csv", table, "abc", rng.choice(["x", "y"], len(table)))
    mercer.fails(
        "tune", kinds, "--noise", levels + ",1", "-q", status=3, words=["'kind'", "--drop"]
    )


def test_impute(mercer, model, tmp_path, reference):
    X = make_rows(25, seed=1)
    X[3, 1] = X[8, 0] = np.nan
    holes, target = tmp_path / "holes.csv", tmp_path / "full.npy"
    write_csv(holes, X)
    holes.write_text(holes.read_text().replace("nan", ""))
    mercer("impute", model, holes, "-o", target)
    np.testing.assert_array_equal(np.load(target), reference.impute(X))


def test_a_fit_with_holes(mercer, tmp_path):
    X = make_rows()
    X[3, 1] = X[8, 0] = np.nan
    holes, model = write_csv(tmp_path / "holes.csv", X), tmp_path / "m.mercer"
    refuse = ("fit", holes, "-o", model, "-q", "--missing", "refuse")
    mercer.fails(*refuse, status=3, words=["nan", "line 5", "'width'"])
    mercer("fit", holes, "--model", "missing", "--components", 5, "-o", model, "-q")
    expected = MissingKernelPCA(KernelPCA(5, random_state=0), random_state=0).fit(X)
    Z = package.load(model).model_.subspace_.scores(make_rows(9, seed=2))
    np.testing.assert_array_equal(Z, expected.transform(make_rows(9, seed=2)))


def test_score(mercer, model, test, reference):
    facts = json.loads(mercer("score", model, test, "--json").out)
    X = make_rows(25, seed=1)
    assert facts["score"] == pytest.approx(reference.score(X), rel=1e-9)
    assert facts["rows"] == 25
    assert "-" in mercer("score", model, test).out


def test_sparse(mercer, train, test, tmp_path):
    model = tmp_path / "s.mercer"
    options = ["--drop", "kind", "--model", "sparse", "--kernels", 8, "-o", model, "--json"]
    facts = json.loads(mercer("fit", train, *options).out)
    assert facts["support_points"] == 8
    expected = SparseKernelPCA(8, random_state=0).fit(make_rows())
    Z = package.load(model).subspace_.scores(make_rows(9, seed=2))
    np.testing.assert_array_equal(Z, expected.transform(make_rows(9, seed=2)))


def test_novelty(mercer, train, tmp_path):
    model, target = tmp_path / "n.mercer", tmp_path / "new.csv"
    mercer("fit", train, "--drop", "kind", "--model", "novelty", "-o", model, "-q",
           "--false-alarm-rate", "0.1")  # fmt: skip
    X = np.vstack([make_rows(25, seed=1), np.zeros((1, 4)), np.full((1, 4), 9.0)])
    done = mercer("novelty", model, write_csv(tmp_path / "x.csv", X), "-o", target)
    expected = KernelNovelty(false_alarm_rate=0.1, random_state=0).fit(make_rows())
    found = np.loadtxt(target, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(found[:, 0], -expected.score_samples(X))
    np.testing.assert_array_equal(found[:, 1], expected.p_values(X))
    np.testing.assert_array_equal(found[:, 2], expected.predict(X) == -1)
    assert found[-2:, 2].tolist() == [1, 1]
    assert target.read_text().startswith("score,p_value,new\n")
    assert f"{int(found[:, 2].sum())} new" in done.err


def test_novelty_of_any_model(mercer, model, train, test, tmp_path, reference):
    scores = mercer("novelty", model, test, "--json")
    assert json.loads(scores.out)["columns"] == ["score"]
    judged = json.loads(mercer("novelty", model, test, "--normal", test, "--json").out)
    assert judged["columns"] == ["score", "p_value", "new"]
    errors = reference.reconstruction_error(make_rows(25, seed=1))
    assert [row[0] for row in judged["data"]] == errors.tolist()


def test_columns_are_taken_by_name(mercer, model, tmp_path, reference):
    X = make_rows(25, seed=1)
    order = [2, 0, 3, 1]
    mixed = np.column_stack([X[:, order], np.arange(25.0)])
    table = write_csv(tmp_path / "mixed.csv", mixed, [*(NAMES[j] for j in order), "id"])
    target = tmp_path / "z.npy"
    done = mercer("transform", model, table, "-o", target)
    np.testing.assert_array_equal(np.load(target), reference.transform(X))
    assert "'id'" in done.err  # it is said what was left out
    assert mercer("transform", model, table, "-o", target, "--force", "--quiet").err == ""


def test_columns_by_number_where_there_are_no_names(mercer, tmp_path):
    X = make_rows()
    plain, model = tmp_path / "x.npy", tmp_path / "m.mercer"
    np.save(plain, np.column_stack([np.arange(60.0), X]))
    mercer("fit", plain, "--columns", "1-4", "--components", 3, "-o", model, "-q")
    expected = KernelPCA(3, random_state=0).fit(X)
    np.testing.assert_array_equal(package.load(model).transform(X[:5]), expected.transform(X[:5]))
    target = tmp_path / "z.npy"
    mercer("transform", model, plain, "--drop", 0, "-o", target, "-q")
    np.testing.assert_array_equal(np.load(target), expected.transform(X))
    mercer.fails("transform", model, plain, status=3, words=["5 features", "4 features"])
    mercer.fails("transform", model, plain, "--columns", "length", status=3, words=["0 to 4"])
    mercer.fails("transform", model, plain, "--columns", "1-9", status=3, words=["9"])


def test_an_archive_with_labels(mercer, tmp_path):
    archive, model = tmp_path / "a.npz", tmp_path / "m.mercer"
    np.savez(archive, rows=make_rows(), kind=np.repeat(["a", "b"], 30))
    mercer("fit", archive, "--array", "rows", "--label", "kind", "-o", model, "-q")
    done = mercer("transform", model, archive, "--array", "rows", "--label", "kind")
    assert done.out.splitlines()[1].endswith(",a")
    mercer.fails(
        "fit", archive, "-o", model, "--force", status=3, words=["'rows', 'kind'", "--array"]
    )
    mercer.fails("fit", archive, "--array", "rows", "--label", "sort", "-o", model, "--force",
                 status=3, words=["'sort'", "kind"])  # fmt: skip


@pytest.mark.parametrize("ending", ["csv", "npz", "parquet"])
@pytest.mark.parametrize(
    ("name", "kind", "verb"),
    [("new", "novelty", "novelty"), ("kernelpca0", "kpca", "transform"), ("X", "kpca", "denoise")],
)
def test_a_label_never_takes_the_place_of_a_result(
    mercer, train, tmp_path, ending, name, kind, verb
):
    model, target, data = tmp_path / "n.mercer", tmp_path / f"out.{ending}", tmp_path / "d.csv"
    data.write_text(train.read_text().replace("kind", name))
    mercer("fit", data, "--label", name, "--model", kind, "-o", model, "-q")
    mercer(verb, model, data, "--label", name, "-o", target, "-q")
    taken = name != "X" or ending == "npz"
    table = open_table(target, Choice(label=f"data_{name}" if taken else name))
    assert set(table.label) == {"left", "right"}
    if name == "new" and ending == "csv":
        assert target.read_text().startswith("score,p_value,new,data_new\n")


def test_the_training_rows_give_no_threshold(mercer, model, test, tmp_path):
    seen = write_csv(tmp_path / "copy.csv", make_rows())
    streamed = tmp_path / "s.mercer"
    mercer("fit", seen, "--landmarks", 10, "-o", streamed, "-q")
    for fitted in (model, streamed):
        mercer.fails(
            "novelty", fitted, test, "--normal", seen, status=3, words=["60 rows", "not seen"]
        )


@told
def test_rows_in_other_units_and_at_other_times_are_noticed(mercer, log, tmp_path):
    model = tmp_path / "m.mercer"
    mercer("fit", log, "-o", model, "-q")
    other = sensors(20, seed=1)
    other["pressure"] = [value / 1000 for value in other["pressure"]]
    done = mercer("transform", model, write_columns(tmp_path / "units.csv", other))
    assert (
        "column 'pressure': most of 20 rows lie far from those of the fit (1.012, and 1013 there)"
        in done.err
    )
    assert "in the same unit" in done.err
    later = write_columns(tmp_path / "later.csv", sensors(20, seed=1, start="2031-01-01"))
    done = mercer("novelty", model, later)
    assert "column 'time': most of 20 rows lie far from those of the fit (2031-01-01" in done.err
    assert "--index time" in done.err
    done = mercer("denoise", model, later)
    assert "20 of 20 rows are so far from those of the fit" in done.err
    assert "far from those of the fit" not in mercer("denoise", model, log).err


@told
def test_the_rows_of_the_fit_are_no_test_of_novelty(mercer, log, tmp_path):
    model = tmp_path / "guard.mercer"
    fit = ["fit", log, "--drop", "time", "--model", "novelty", "-o", model, "-q"]
    mercer(*fit)
    done = mercer("novelty", model, log)
    assert "the rows that the model was fitted to" in done.err
    assert "--outliers" in done.err
    fresh = write_columns(tmp_path / "fresh.csv", sensors(30, seed=2))
    assert "fitted to" not in mercer("novelty", model, fresh).err
    mercer(*fit, "--contamination", "0.05", "--force")
    assert "fitted to" not in mercer("novelty", model, log).err


def test_impute_tells_what_was_filled_and_what_was_not(mercer, log, fitted, tmp_path):
    out = tmp_path / "full.csv"
    assert "nothing was missing" in mercer("impute", fitted, log, "-o", out).err
    holes = sensors(20, seed=1)
    holes["pressure"][3] = holes["state"][4] = holes["time"][5] = holes["time"][6] = ""
    path = write_columns(tmp_path / "holes.csv", holes)
    done = mercer("impute", fitted, path, "-o", out, "--force")
    assert "2 values filled in" in done.err
    assert "2 left empty, in columns that the model does not use: 'time'" in done.err
    numbers = write_columns(
        tmp_path / "n.csv", {"a": [1.0, 2, 3, 4.5, 2], "b": [1.0, 2, 2.5, 4, 3]}
    )
    mercer("fit", numbers, "--raw", "-o", tmp_path / "n.mercer", "-q")
    some = write_columns(tmp_path / "s.csv", {"a": [1.0, ""], "b": ["", 2.0]})
    assert (
        "2 values filled in"
        in mercer("impute", tmp_path / "n.mercer", some, "-o", out, "--force").err
    )


def test_tables_with_texts_are_converted(mercer, log, tmp_path):
    pytest.importorskip("pyarrow")
    columns = sensors(9)
    columns["code"] = [f"0106{i}" for i in range(9)]
    columns["temperature"][2] = columns["state"][3] = ""
    first = write_columns(tmp_path / "first.csv", columns)
    mercer("convert", first, tmp_path / "a.parquet")
    mercer("convert", tmp_path / "a.parquet", tmp_path / "b.csv")
    with first.open() as one, (tmp_path / "b.csv").open() as other:
        assert list(csv.reader(one)) == list(csv.reader(other))
    mercer("convert", log, tmp_path / "c.csv", "--drop", "time")
    assert (tmp_path / "c.csv").read_text().startswith("temperature,pressure,state")


@pytest.mark.filterwarnings("always")
def test_long_numbers_are_not_rounded_in_silence(mercer, tmp_path):
    """1486653023415623644 was written as 1.4866530234156237e+18; what is advised keeps it."""
    (tmp_path / "x.csv").write_text("a,n\n1,1486653023415623644\n2,1486653023415623643\n")
    done = mercer("convert", tmp_path / "x.csv", tmp_path / "y.csv")
    assert "holds 1486653023415623644, a whole number too long for float64" in done.err
    assert "--label n" in done.err
    done = mercer("convert", tmp_path / "x.csv", tmp_path / "z.csv", "--label", "n")
    assert "too long" not in done.err
    assert "1486653023415623644\n2,1486653023415623643" in (tmp_path / "z.csv").read_text()
