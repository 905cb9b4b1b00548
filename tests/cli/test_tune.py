"""`mercer tune`: the choice by held-out error, said and saved; and what `score` and `fit` say."""

import json

import numpy as np
import pytest

import mercer as package
from mercer.selection import choose_by_noise


@pytest.fixture
def waves(tmp_path):
    """Rows around a curve in ten dimensions."""
    angle = np.random.default_rng(0).uniform(0, 3, 90)
    X = np.column_stack([np.sin(k * angle) for k in range(1, 11)])
    path = tmp_path / "waves.npy"
    np.save(path, X)
    return path


def test_the_choice_is_that_of_the_library(mercer, waves, tmp_path):
    model = tmp_path / "m.mercer"
    facts = json.loads(
        mercer("tune", waves, "--rows", "clean", "--noise", "0.3", "-o", model, "--json").out
    )
    choice = choose_by_noise(package.KernelPCA(random_state=0), np.load(waves), 0.3)
    fitted = package.load(model)
    assert facts["components"] == fitted.n_components == choice.n_components
    assert fitted.kernel.length == pytest.approx(choice.kernel.length)
    assert facts["error"] == pytest.approx(choice.value)
    assert facts["error_of_noise"] == pytest.approx(0.9)
    assert {"kernel", "components", "error"} == set(facts["compared"][0])
    done = mercer("tune", waves, "--rows", "clean", "-o", model, "--force")
    assert "is left in held-out rows" in " ".join(done.out.split())
    assert mercer("denoise", model, waves, "-o", tmp_path / "clean.npy").err
    facts = json.loads(mercer("score", model, waves, "--json").out)
    assert facts["noise"] == pytest.approx(0.5 * np.sqrt(np.load(waves).var(axis=0).mean()))
    assert -facts["score"] < facts["noise"] ** 2 * 10


def test_what_cannot_be_tuned_is_said(mercer, waves, tmp_path):
    assert mercer("tune", waves, "--noise", "0", status=2).err
    equal = tmp_path / "equal.npy"
    np.save(equal, np.ones((20, 3)))
    assert "differ" in mercer("tune", equal, "-o", tmp_path / "e.mercer", status=3).err
    mercer("tune", waves, "--rows", "clean", "-o", tmp_path / "m.mercer", "-q")
    again = mercer("tune", waves, "-o", tmp_path / "m.mercer", status=1)
    assert "--force" in again.err


@pytest.mark.filterwarnings("default")
def test_everything_kept_names_what_can_be_typed_here(mercer, waves, tmp_path):
    model = tmp_path / "all.mercer"
    mercer("fit", waves, "--components", "all", "-o", model, "-q")
    done = mercer("denoise", model, waves, "-o", tmp_path / "x.npy")
    assert "keeps all" in done.err
    assert "'mercer tune DATA'" in done.err
    assert "--components N" in done.err


def test_a_limit_that_was_reached_is_said(mercer, tmp_path):
    rows = tmp_path / "wide.npy"
    np.save(rows, np.random.default_rng(0).standard_normal((40, 200)))
    done = mercer("fit", rows, "-o", tmp_path / "m.mercer")
    text = " ".join(done.out.split())
    assert "stopped at one component for every four of 40 rows, short of 0.95" in text
    assert "--components 0.95 removes this limit" in text
    facts = json.loads(
        mercer("fit", rows, "-o", tmp_path / "n.mercer", "--components", "0.95", "--json").out
    )
    assert facts["share_of_variance"] >= 0.95
    assert "limit_reached" not in facts
