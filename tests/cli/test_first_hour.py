"""A stranger's first hour with files of their own: each stumble of a walk, as it was found."""

import csv

import numpy as np
import pytest

#: Warnings are lines on standard error, as at a shell.
told = pytest.mark.filterwarnings("always::mercer.exceptions.MercerWarning")


def write(path, columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def sensors(n=60, seed=0, start="2024-03-01"):
    rng = np.random.default_rng(seed)
    turn = rng.uniform(0, 6, n)
    minutes = np.arange(n) * np.timedelta64(10, "m")
    return {
        "time": (np.datetime64(f"{start}T00:00") + minutes).astype(str).tolist(),
        "temperature": np.round(20 + 4 * np.sin(turn) + rng.normal(0, 0.2, n), 3).tolist(),
        "pressure": np.round(1013 + 3 * np.cos(turn) + rng.normal(0, 0.2, n), 3).tolist(),
        "state": rng.choice(["run", "stop"], n).tolist(),
    }


@pytest.fixture
def log(tmp_path):
    return write(tmp_path / "log.csv", sensors())


@pytest.fixture
def fitted(mercer, log, tmp_path):
    mercer("fit", log, "--drop", "time", "-o", tmp_path / "log.mercer", "-q")
    return tmp_path / "log.mercer"


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.csv"
    path.write_text("name,height,weight\nAnn,170,65\nBo,182,80\nCy,165,55\nDi,190,95\nEd,158,50\n")
    return path


@told
def test_names_of_the_samples_do_not_scale_a_spectrum(mercer, tmp_path):
    rng = np.random.default_rng(0)
    spectrum = {f"{w} nm": (0.5 + 0.1 * rng.random(40)).tolist() for w in range(900, 930)}
    names = {"sample": [f"s{i}" for i in range(40)]}
    done = mercer("fit", write(tmp_path / "a.csv", names | spectrum), "-o", tmp_path / "a.mercer")
    assert "30 × number as it is: '900 nm'" in done.err
    assert "× left" not in done.err
    assert done.err.count("sample: left out: id-like") == 1
    odd = {"moisture": (10 + 5 * rng.random(40)).tolist()}
    odd = write(tmp_path / "b.csv", names | spectrum | odd)
    done = mercer("fit", odd, "-o", tmp_path / "b.mercer")
    assert "30 of 31 columns seem to have one unit" in done.err
    assert "leave it out (--drop moisture)" in done.err


@told
@pytest.mark.parametrize("kind", ["embedding", "roc"])
def test_a_column_of_the_model_may_be_the_label(mercer, fitted, log, tmp_path, kind):
    pytest.importorskip("matplotlib")
    label = {"embedding": "temperature", "roc": "state"}[kind]
    more = ["--positive", "stop"] if kind == "roc" else []
    guard = tmp_path / "guard.mercer"
    mercer("fit", log, "--drop", "time", "--model", "novelty", "-o", guard, "-q")
    model = guard if kind == "roc" else fitted
    done = mercer("plot", kind, model, log, "--label", label, *more, "-o", tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()
    assert ("'state' is one of the columns that the model sees" in done.err) == (kind == "roc")


def test_a_folder_without_rows_is_called_so(mercer, fitted, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    for command in (["transform", fitted, folder], ["explore", folder, "--no-browser"]):
        mercer.fails(*command, status=3, words=["holds neither .png nor .parquet files"])


@told
def test_rows_in_other_units_and_at_other_times_are_noticed(mercer, log, tmp_path):
    model = tmp_path / "m.mercer"
    mercer("fit", log, "-o", model, "-q")
    other = sensors(20, seed=1)
    other["pressure"] = [value / 1000 for value in other["pressure"]]
    done = mercer("transform", model, write(tmp_path / "units.csv", other))
    assert (
        "column 'pressure': most of 20 rows lie far from those of fit (1.012, and 1013 there)"
        in done.err
    )
    assert "in the same unit" in done.err
    later = write(tmp_path / "later.csv", sensors(20, seed=1, start="2031-01-01"))
    done = mercer("novelty", model, later)
    assert "column 'time': most of 20 rows lie far from those of fit (2031-01-01" in done.err
    assert "--index time" in done.err
    done = mercer("denoise", model, later)
    assert "20 of 20 rows are so far from those of fit" in done.err
    assert "far from those of fit" not in mercer("denoise", model, log).err


@told
def test_the_rows_of_the_fit_are_no_test_of_novelty(mercer, log, tmp_path):
    model = tmp_path / "guard.mercer"
    fit = ["fit", log, "--drop", "time", "--model", "novelty", "-o", model, "-q"]
    mercer(*fit)
    done = mercer("novelty", model, log)
    assert "the rows that the model was fitted to" in done.err
    assert "--contamination" in done.err
    fresh = write(tmp_path / "fresh.csv", sensors(30, seed=2))
    assert "fitted to" not in mercer("novelty", model, fresh).err
    mercer(*fit, "--contamination", "0.05", "--force")
    assert "fitted to" not in mercer("novelty", model, log).err


def test_impute_tells_what_was_filled_and_what_was_not(mercer, log, fitted, tmp_path):
    out = tmp_path / "full.csv"
    assert "nothing was missing" in mercer("impute", fitted, log, "-o", out).err
    holes = sensors(20, seed=1)
    holes["pressure"][3] = holes["state"][4] = holes["time"][5] = holes["time"][6] = ""
    path = write(tmp_path / "holes.csv", holes)
    done = mercer("impute", fitted, path, "-o", out, "--force")
    assert "2 values filled in" in done.err
    assert "2 of columns that the model does not see are left empty: 'time'" in done.err
    numbers = write(tmp_path / "n.csv", {"a": [1.0, 2, 3, 4.5, 2], "b": [1.0, 2, 2.5, 4, 3]})
    mercer("fit", numbers, "--raw", "-o", tmp_path / "n.mercer", "-q")
    some = write(tmp_path / "s.csv", {"a": [1.0, ""], "b": ["", 2.0]})
    assert (
        "2 values filled in"
        in mercer("impute", tmp_path / "n.mercer", some, "-o", out, "--force").err
    )


@told
def test_advice_can_be_typed(mercer, log, tiny, tmp_path):
    done = mercer("fit", log, "-o", tmp_path / "m.mercer")
    assert "--intervals" not in done.out + done.err  # which a model of tables has not
    words = ["5 rows", "at least 10 rows"]
    done = mercer("tune", tiny, "-o", tmp_path / "t.mercer", status=3)
    assert all(word in done.err for word in words), done.err
    mercer("fit", tiny, "--components", "1", "-o", tmp_path / "one.mercer", "-q")
    pytest.importorskip("matplotlib")
    picture = tmp_path / "a.png"
    words = ["has 1 component", "fit again with --components 2"]
    mercer.fails("plot", "embedding", tmp_path / "one.mercer", "-o", picture, status=3, words=words)
    done = mercer("fit", tiny, "--model", "novelty", "-o", tmp_path / "n.mercer")
    assert "calibration=" not in done.err
    assert "--false-alarm-rate 0.167" in done.err


def test_holes_are_all_told_with_a_command_for_each_place(mercer, tmp_path):
    holes = sensors(30)
    holes["pressure"][3] = holes["temperature"][4] = holes["state"][5] = ""
    path = write(tmp_path / "holes.csv", holes)
    for command in ("fit", "tune"):
        words = ["'temperature'", "'pressure'", "'state'", "'mercer fit DATA --model missing'"]
        mercer.fails(command, path, "-o", tmp_path / "m.mercer", status=3, words=words)


def test_a_model_that_was_never_fitted_is_no_table(mercer, log, tmp_path):
    model = tmp_path / "log.mercer"
    fit = f"fit it first: mercer fit {log} -o {model}"
    mercer.fails("transform", model, log, status=4, words=[fit])


def test_options_of_other_commands_are_known(mercer, log):
    words = ["'--noise'", "an option of 'mercer tune'"]
    mercer.fails("fit", log, "--noise", "0.3", status=2, words=words)


def test_values_are_written_as_people_write_them(mercer, log, tmp_path):
    model = tmp_path / "x.mercer"
    done = mercer("fit", log, "--date", "pressure", "-o", model, status=3)
    assert "np.float64" not in done.err
    done = mercer("fit", log, "--kernel", "laplacian", "-o", model)
    assert "np.float64" not in done.out


def test_a_table_is_counted_by_its_own_columns(mercer, tiny, tmp_path):
    model = tmp_path / "tiny.mercer"
    done = mercer("fit", tiny, "-o", model)
    assert "name: left out: id-like" in done.err
    assert "5 rows, 1 column →" in mercer("transform", model, tiny, "-o", tmp_path / "z.csv").err
    sizes = write(tmp_path / "s.csv", {"size": ["S", "M"] * 8 + ["L"] * 4, "g": [*range(10)] * 2})
    done = mercer("fit", sizes, "-o", tmp_path / "s.mercer")
    assert "20 rows, 2 columns as 4 numbers" in done.err
    assert "20 rows, 2 columns as 4 numbers" in done.out


def test_a_novelty_model_does_not_say_that_its_width_is_the_median(mercer, log, tmp_path):
    done = mercer("fit", log, "--model", "novelty", "-o", tmp_path / "n.mercer")
    assert "from the median distance" not in done.out
    assert "from the distances between rows" in " ".join(done.out.split())


def test_relevance_on_a_terminal_has_words(mercer, fitted):
    done = mercer("relevance", fitted)
    assert done.out.startswith("component 0,")
    assert "component 0: " in done.err


def test_info_tells_which_columns_a_model_wants(mercer, fitted):
    done = " ".join(mercer("info", fitted).out.split())
    assert "pressure: number, (x - 1013" in done
    assert "state: category of 2" in done


def test_tables_with_texts_are_converted(mercer, log, tmp_path):
    pytest.importorskip("pyarrow")
    columns = sensors(9)
    columns["code"] = [f"0106{i}" for i in range(9)]
    columns["temperature"][2] = columns["state"][3] = ""
    first = write(tmp_path / "first.csv", columns)
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
    assert "1486653023415623644\n2.0,1486653023415623643" in (tmp_path / "z.csv").read_text()


@pytest.mark.parametrize("kind", ["biplot", "relevance"])
def test_pictures_of_tables_name_their_columns(mercer, fitted, log, tmp_path, kind):
    pytest.importorskip("matplotlib")
    for name, data in (("a.svg", [log]), ("b.svg", [])):
        mercer("plot", kind, fitted, *data, "-o", tmp_path / name)
        drawn = (tmp_path / name).read_text()
        assert "<!-- pressure -->" in drawn
        assert "<!-- x0 -->" not in drawn
