"""One door: checks, fingerprints and plans happen once, whoever wraps whom."""

import inspect

import numpy as np
import pytest

import mercer
from benchmarks._counting import ESTIMATORS, at_the_door


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_a_fit_has_one_door(name):
    counted = at_the_door(name, n=60)
    assert counted["check_rows"] == 1
    assert counted["fingerprint"] == 1
    assert counted["plan"] == counted["fit"], "one plan for each model that is fitted"


def test_every_estimator_is_counted():
    assert {type(make()).__name__ for make in ESTIMATORS.values()} >= {
        name for name in mercer.estimators.__all__ if name[0].isupper()
    }


FROM_ROWS = ("rows", "blocks", "source", "missing")


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "TableModel"])
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_every_verb_that_takes_rows_takes_a_file_of_them(name, rng, tmp_path):
    X = rng.standard_normal((60, 3))
    np.save(tmp_path / "x.npy", X)
    model = ESTIMATORS[name]().fit(X, np.arange(60) % 3)
    verbs = {
        each: getattr(type(model), each).verb
        for each in dir(type(model))
        if hasattr(getattr(type(model), each), "verb") and hasattr(model, each)
    }
    asked = [each for each, declared in verbs.items() if declared.takes in FROM_ROWS]
    assert asked
    for each in set(asked) - {"transform_to", "imputation_draws"}:
        found, expected = (getattr(model, each)(X=rows) for rows in (tmp_path / "x.npy", X))
        if isinstance(expected, np.ndarray):
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=each)
        else:
            assert type(found) is type(expected), each


@pytest.mark.parametrize("cls", [mercer.KernelPCA, mercer.KernelNovelty])
def test_one_base_and_no_chain_of_mixins(cls):
    ours = [base.__name__ for base in cls.__mro__ if base.__module__.startswith("mercer")]
    assert len(ours) <= 3, ours
    assert not [name for name in ours if name.endswith("Mixin")]


def test_a_verb_is_seen_as_the_plain_method():
    assert list(inspect.signature(mercer.KernelPCA.denoise).parameters) == [
        "self",
        "X",
        "match_noise",
    ]
    assert mercer.KernelPCA.impute.__doc__.startswith("Fill")
    assert mercer.KernelPCA(2).fit(np.eye(5)).tune.__name__ == "tune"
