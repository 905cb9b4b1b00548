"""What `mercer fit` chooses, says and keeps."""

import json
from dataclasses import replace

import numpy as np
import pytest

import mercer as package
from tests.cli.conftest import NAMES, make_rows, sensors, told, write_columns, write_csv


def test_only_a_file(mercer, test, tmp_path, monkeypatch):
    """Sensible choices, explained, under a sensible name."""
    monkeypatch.chdir(tmp_path)
    done = mercer("fit", test)
    assert (tmp_path / "test.mercer").is_file()
    for word in (
        "25 rows",
        "median distance",
        "of the true variance",
        "Dense",
        "auto",
        "MB",
        " s,",
    ):
        assert word in done.out, done.out
    assert "free memory" in done.err
    fitted = package.load(tmp_path / "test.mercer")
    assert fitted.explained_variance_ratio_.sum() >= 0.95
    assert list(fitted.feature_names_in_) == list(NAMES)


def test_json_and_quiet(mercer, test, tmp_path):
    model = tmp_path / "m.mercer"
    facts = json.loads(mercer("fit", test, "-o", model, "--components", "3", "--json").out)
    fitted = package.load(model)
    assert facts["components"] == 3
    assert facts["share_of_variance"] == pytest.approx(fitted.explained_variance_ratio_.sum())
    assert facts["file_bytes"] == model.stat().st_size
    assert facts["converged"] is True
    done = mercer("fit", test, "-o", model, "--force", "--quiet")
    assert (done.out, done.err) == ("", "")


@pytest.mark.parametrize(
    ("given", "count"),
    [("7", 7), ("0.5", None), ("50%", None), ("all", 24), ("parallel", None), ("auto", None)],
)
def test_components(mercer, test, tmp_path, given, count):
    mercer("fit", test, "-o", tmp_path / "m.mercer", "--components", given, "-q")
    found = package.load(tmp_path / "m.mercer").n_components_
    assert 1 <= found <= 24
    assert count is None or found == count


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--gamma", "0.5"], "Gaussian(gamma=0.5)"),
        (["--sigma", "2"], "Gaussian(sigma=2.0)"),
        (["--width", "2"], "Gaussian(width=2.0)"),
        (["--gamma", "scale"], "Gaussian(gamma="),
        (["--kernel", "polynomial:degree=2,coef0=0.5"], "Polynomial(coef0=0.5, degree=2)"),
        (["--kernel", "matern:nu=2.5", "--width", "1.5"], "Matern(length_scale=1.5, nu=2.5)"),
        (["--kernel", "linear"], "Linear()"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_kernels(mercer, test, tmp_path, options, expected):
    done = mercer("fit", test, "-o", tmp_path / "m.mercer", "--components", 2, "--json", *options)
    assert json.loads(done.out)["kernel"].startswith(expected)


def test_landmarks_and_seed(mercer, test, tmp_path):
    coefs = []
    for seed in (0, 0, 1):
        options = ["--landmarks", 9, "--seed", seed, "--components", 2, "--force", "-q"]
        mercer("fit", test, "-o", tmp_path / "m.mercer", *options)
        coefs.append(package.load(tmp_path / "m.mercer").subspace_.support)
    np.testing.assert_array_equal(coefs[0], coefs[1])
    assert not np.array_equal(coefs[0], coefs[2])


def test_a_fit_that_does_not_converge_keeps_what_it_has(mercer, tmp_path, monkeypatch):
    """Status 5, one warning, and a model file all the same."""
    from mercer import solvers
    from mercer._base import catalogue

    class Impatient(solvers.Davidson):
        def __init__(self, tol=1e-14, checkpoint=None):
            super().__init__(tol, max_passes=1, checkpoint=checkpoint)

    monkeypatch.setattr(solvers, "Impatient", Impatient, raising=False)
    monkeypatch.setitem(catalogue.SOLVERS, "davidson", "mercer.solvers:Impatient")
    table = write_csv(tmp_path / "x.csv", np.random.default_rng(0).standard_normal((300, 4)))
    options = ["--solver", "davidson", "--components", 5, "-o", tmp_path / "m.mercer"]
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        done = mercer("fit", table, *options, status=5)
    assert "warning: " in done.err
    assert "did not converge" in done.out
    assert (tmp_path / "m.mercer").is_file()


def test_generative_models_keep_classes(mercer, train, tmp_path):
    model, target = tmp_path / "g.mercer", tmp_path / "new.csv"
    mercer("fit", train, "--label", "kind", "--model", "generative", "-o", model, "-q")
    mercer("sample", model, "-n", 7, "--label", "left", "-o", target)
    fitted = package.load(model)
    found = np.loadtxt(target, delimiter=",", skiprows=1, usecols=range(4))
    np.testing.assert_array_equal(found, fitted.sample(7, label="left", random_state=0))
    assert target.read_text().startswith(",".join(NAMES))
    mercer.fails("sample", model, "--label", "up", status=2, words=["'up'", "left, right"])
    done = mercer("sample", model, "-n", 2)
    assert len(done.out.splitlines()) == 3


def test_robust_model(mercer, tmp_path):
    X = make_rows()
    X[0] = 30.0
    model = tmp_path / "r.mercer"
    mercer("fit", write_csv(tmp_path / "x.csv", X), "--model", "robust", "-o", model, "-q",
           "--components", 5)  # fmt: skip
    assert package.load(model).n_components_ == 5


@pytest.mark.parametrize("solver", ["dense", "lanczos", "davidson"])
def test_solvers_that_need_the_rows(mercer, test, tmp_path, solver):
    options = ["--solver", solver, "--components", 3, "-o", tmp_path / "m.mercer", "--json"]
    assert json.loads(mercer("fit", test, *options).out)["solver"].lower() == solver


def test_dry_run_tells_the_plan_and_leaves_nothing(mercer, test, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    facts = json.loads(mercer("fit", test, "--dry-run", "--json").out)
    assert (facts["rows"], facts["columns"], facts["solver"]) == (25, 4, "Dense")
    assert facts["reason"].startswith("auto: ")
    assert (facts["loads"], facts["resumable"]) == (True, False)
    assert "Dense" in mercer("fit", test, "--dry-run").out
    landmarks = mercer("fit", test, "--landmarks", 9, "--dry-run", "--json")
    assert json.loads(landmarks.out)["resumable"] is True
    for model in ("sparse", "novelty", "missing", "robust", "generative"):
        found = json.loads(mercer("fit", test, "--model", model, "--dry-run", "--json").out)
        assert found["bytes"] > 25 * 4 * 8
    assert sorted(tmp_path.iterdir()) == before


def test_a_model_forgets_where_its_fit_kept_its_state(mercer, test, tmp_path):
    options = ["--landmarks", 9, "--components", 2, "-o", tmp_path / "m.mercer", "-q"]
    mercer("fit", test, *options)
    assert package.load(tmp_path / "m.mercer").solver.checkpoint is None
    mercer("fit", test, "--solver", "auto", *options[2:], "--force")
    assert package.load(tmp_path / "m.mercer").solver == "auto"


def test_parallel_analysis_of_a_file(mercer, tmp_path):
    """The rule permutes columns, for which the rows are loaded; the plan knows it."""
    table = write_csv(tmp_path / "x.csv", make_rows(30))
    options = ["--components", "parallel", "-o", tmp_path / "m.mercer"]
    done = mercer("fit", table, *options, "--landmarks", 9, "--dry-run", "--json")
    facts = json.loads(done.out)
    assert (facts["loads"], facts["resumable"]) == (True, False)
    mercer("fit", table, *options, "-q")


def test_outliers_among_the_rows_of_a_novelty_model(mercer, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    X[:6] = 7 + 0.1 * rng.standard_normal((6, 3))
    rows, path = tmp_path / "rows.npy", tmp_path / "finder.mercer"
    np.save(rows, X)
    novelty = ["fit", rows, "--model", "novelty", "--contamination"]
    mercer(*novelty, "0.05", "-o", path)
    model = package.load(path)
    assert model.contamination == 0.05
    assert model.kernel is None
    assert set(np.flatnonzero(model.predict(X) == -1)) == set(range(6))
    mercer.fails(*novelty, "0.7", status=2, words=["share from 0 to 0.5"])
    mercer.fails(*novelty, "few", status=2, words=["'auto'"])
    words = ["--contamination does not apply to --model kpca"]
    mercer.fails("fit", rows, "--contamination", "auto", status=2, words=words)


@pytest.mark.filterwarnings("ignore::mercer.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["kpca", "novelty", "robust", "missing", "generative"])
def test_a_solver_that_does_not_converge_is_status_5(kind, mercer, test, tmp_path, monkeypatch):
    """The model is kept, whichever it is, and the status tells."""
    from mercer.solvers import Lanczos

    solve = Lanczos.solve
    monkeypatch.setattr(Lanczos, "solve", lambda *a: replace(solve(*a), converged=False))
    target = tmp_path / "m.mercer"
    done = mercer(
        "fit", test, "-o", target, "--model", kind, "--solver", "lanczos", "--components", "3",
        status=5,
    )  # fmt: skip
    assert target.is_file()
    assert "did not converge" in done.out


@told
def test_names_of_the_samples_do_not_scale_a_spectrum(mercer, tmp_path):
    rng = np.random.default_rng(0)
    spectrum = {f"{w} nm": (0.5 + 0.1 * rng.random(40)).tolist() for w in range(900, 930)}
    names = {"sample": [f"s{i}" for i in range(40)]}
    done = mercer(
        "fit", write_columns(tmp_path / "a.csv", names | spectrum), "-o", tmp_path / "a.mercer"
    )
    assert "30 × number as it is: '900 nm'" in done.err
    assert "× left" not in done.err
    assert done.err.count("sample: left out: id-like") == 1
    odd = {"moisture": (10 + 5 * rng.random(40)).tolist()}
    odd = write_columns(tmp_path / "b.csv", names | spectrum | odd)
    done = mercer("fit", odd, "-o", tmp_path / "b.mercer")
    assert "30 of 31 columns seem to have one unit" in done.err
    assert "Leave out a label: --drop moisture" in done.err


@told
def test_advice_can_be_typed(mercer, log, tiny, tmp_path):
    done = mercer("fit", log, "-o", tmp_path / "m.mercer")
    assert "--intervals" not in done.out + done.err  # which a model of tables has not
    for rows, words in (("clean", ["5 rows", "at least 10 rows"]), ("auto", ["5 rows", "--noise"])):
        done = mercer("tune", tiny, "--rows", rows, "-o", tmp_path / "t.mercer", status=3)
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
    path = write_columns(tmp_path / "holes.csv", holes)
    for command in ("fit", "tune"):
        words = ["'temperature'", "'pressure'", "'state'", "--missing auto", "'mercer impute"]
        refuse = (command, path, "-o", tmp_path / "m.mercer", "--missing", "refuse")
        mercer.fails(*refuse, status=3, words=words)


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
    sizes = write_columns(
        tmp_path / "s.csv", {"size": ["S", "M"] * 8 + ["L"] * 4, "g": [*range(10)] * 2}
    )
    done = mercer("fit", sizes, "-o", tmp_path / "s.mercer")
    assert "20 rows, 2 columns as 4 numbers" in done.err
    assert "20 rows, 2 columns as 4 numbers" in done.out


def test_a_novelty_model_does_not_say_that_its_width_is_the_median(mercer, log, tmp_path):
    done = mercer("fit", log, "--model", "novelty", "-o", tmp_path / "n.mercer")
    assert "from the median distance" not in done.out
    assert "from the distances between rows" in " ".join(done.out.split())


@pytest.mark.filterwarnings("default")
def test_a_width_of_nothing_is_not_taken_for_none_given(mercer, test, tmp_path):
    novelty = ["fit", test, "--model", "novelty", "--gamma", "0"]
    assert "--gamma 0" in mercer(*novelty, "-o", tmp_path / "n.mercer", status=None).err
