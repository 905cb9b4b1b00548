"""``mercer fit --time``, and how long a long fit is going to take."""

import json

import numpy as np
import pytest

from .conftest import make_rows


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, make_rows(2_000))
    return path


def test_a_limit_of_time_chooses_landmarks_and_says_so(mercer, data, tmp_path):
    args = ("fit", data, "-o", tmp_path / "m.mercer", "--components", 5)
    assert "Lanczos" in mercer(*args, "--dry-run").out
    out = " ".join(mercer(*args, "--time", "0.003s", "--dry-run").out.split())
    assert "Landmarks" in out
    assert "to stay within 0.003 s" in out


def test_a_limit_that_nothing_keeps_is_an_error_with_a_remedy(mercer, data, tmp_path):
    args = ("fit", data, "-o", tmp_path / "m.mercer", "--time", "0.0001")
    mercer.fails(*args, "--raw", status=3, words=["landmarks", "allowed", "fewer rows"])


@pytest.mark.parametrize("text", ["soon", "0", "-3s", "nan", "s", ""])
def test_what_is_not_a_time(mercer, data, text):
    words = ["--time", "is not a time such as 30s, 5m or 1h"]
    mercer.fails("fit", data, "--time", text, status=2, words=words)


def test_a_solver_that_is_asked_for_has_no_limit(mercer, data):
    words = ["--time chooses the solver"]
    mercer.fails("fit", data, "--time", "1m", "--solver", "dense", status=2, words=words)


def test_a_sparse_fit_that_is_too_long_is_refused_with_a_number_that_is_not(
    mercer, data, tmp_path, monkeypatch
):
    args = ("fit", data, "-o", tmp_path / "m.mercer", "--raw", "--model", "sparse", "--kernels")
    long = json.loads(mercer(*args, 900, "--dry-run", "--json").out)["seconds"]
    short = json.loads(mercer(*args, 9, "--dry-run", "--json").out)["seconds"]
    assert long == pytest.approx(10_000 * short)
    words = ["2,000 rows", "is allowed", "ask for 86 of them by --kernels"]
    mercer.fails(*args, 900, "--time", "20s", status=3, words=words)
    mercer(*args, 86, "--time", "20s", "--dry-run")
    monkeypatch.setattr("mercer._base.machine.LONG", 1e-6)
    assert "fewer --kernels are quicker" in mercer(*args, 9, "--time", "20s").err
    words = ["3000 kernels cannot be chosen from 2000 rows"]
    mercer.fails(*args, 3000, "-o", tmp_path / "x.mercer", status=3, words=words)


@pytest.mark.parametrize(("model", "fits"), [("novelty", 6), ("robust", 7), ("missing", 20)])
def test_models_of_several_fits_share_the_time_between_them(mercer, data, tmp_path, model, fits):
    args = ("fit", data, "-o", tmp_path / "m.mercer", "--components", 5, "--model", model)
    plan = json.loads(mercer(*args, "--dry-run", "--json").out)
    one = json.loads(mercer(*args[:6], "--dry-run", "--json", "--solver", "lanczos").out)
    if model != "novelty":  # which takes landmarks of so many rows
        assert plan["seconds"] == pytest.approx(fits * one["seconds"])
    out = " ".join(mercer(*args, "--time", f"{0.003 * fits}s", "--dry-run").out.split())
    assert "Landmarks" in out
    assert "to stay within 0.003 s" in out
    mercer(*args, "--time", "1m", "--raw")


def test_a_long_fit_says_how_long_before_it_starts(mercer, data, tmp_path, monkeypatch):
    monkeypatch.setattr("mercer._base.machine.LONG", 1e-6)
    done = mercer("fit", data, "-o", tmp_path / "m.mercer", "--components", 5)
    assert (
        "estimated to take less than a second on an idle machine; --time sets a limit" in done.err
    )
    monkeypatch.undo()
    done = mercer("fit", data, "-o", tmp_path / "m.mercer", "--components", 5, "--force")
    assert "estimated to take" not in done.err
