"""One door: checks, fingerprints and plans happen once, whoever wraps whom."""

import inspect
from dataclasses import fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

import mercer
from benchmarks._counting import ESTIMATORS, at_the_door
from mercer import KernelPCA
from mercer.estimators._validation import check_rows
from mercer.exceptions import DataError
from mercer.kernels import FunctionKernel, Gaussian, Precomputed
from mercer.points import Columns, Objects, Points, Vectors
from mercer.points.sparse import SparseRows
from tests.sources import KINDS, bytes_as_rows, elsewhere


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_a_fit_has_one_door(name):
    counted = at_the_door(name, n=60)
    assert counted["check_rows"] == 1
    assert counted["fingerprint"] == 1
    assert counted["plan"] == counted["fit"], "one plan for each model that is fitted"


@pytest.mark.parametrize(
    ("X", "kernel", "kind"),
    [
        (np.eye(3), Gaussian(), Vectors),
        (csr_array(np.eye(3)), Gaussian(), SparseRows),
        (["a", "b", "ab"], FunctionKernel(lambda x, y: float(x[0] == y[0])), Objects),
        (np.eye(3), Precomputed(), Columns),
    ],
    ids=["vectors", "sparse", "objects", "columns"],
)
def test_what_the_door_lets_in_is_points(X, kernel, kind):
    model = KernelPCA(1, kernel=kernel)
    assert type(check_rows(model, X, kernel, reset=True)) is kind
    assert type(model.fit(X)._rows(X)) is kind


@pytest.mark.parametrize("kind", KINDS)
def test_rows_elsewhere_stay_there_as_points(kind, places):
    rows = check_rows(KernelPCA(), places[1][kind], Gaussian(), reset=True, stream=True)
    assert isinstance(rows, Points)
    assert not rows.is_here
    assert type(check_rows(KernelPCA(), places[1][kind], Gaussian(), reset=True)) is Vectors


def test_every_estimator_is_counted():
    assert {type(make()).__name__ for make in ESTIMATORS.values()} >= {
        name for name in mercer.estimators.__all__ if name[0].isupper()
    }


FROM_ROWS = ("rows", "blocks", "source", "missing")


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    """The same rows in memory, and by kind of source."""
    X, folder = bytes_as_rows(), tmp_path_factory.mktemp("rows")
    return X, {kind: elsewhere(kind, X, folder) for kind in KINDS}


def verbs_of(model):
    """Verbs that take rows, of those that this model has."""
    for name in dir(type(model)):
        declared = getattr(getattr(type(model), name), "verb", None)
        if declared and declared.takes in FROM_ROWS and hasattr(model, name):
            yield name


def ask(model, verb, rows, path):
    """What comes of it: an answer, or what a refusal says; a cluster's answer is fetched."""
    more = {"transform_to": {"path": path}, "imputation_draws": {"random_state": 0}}
    if verb == "calibrate":
        more[verb] = {"Z": model.embedding_}
    try:
        answer = getattr(model, verb)(X=rows, **more.get(verb, {}))
    except DataError as refusal:
        return str(refusal)
    return answer.compute() if hasattr(answer, "compute") else answer


def assert_same(found, expected, text):
    """Equal but for rounding, also inside of tuples and results."""
    assert type(found) is type(expected), f"{text}: {found}"
    if isinstance(expected, Path):
        assert_same(np.load(found), np.load(expected), text)
    elif isinstance(expected, np.ndarray) and expected.dtype.kind != "f":
        np.testing.assert_array_equal(found, expected, err_msg=text)
    elif isinstance(expected, np.ndarray | float):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=text)
    elif isinstance(expected, str):
        assert found == expected, text
    elif isinstance(expected, tuple):
        assert len(found) == len(expected), text
        for one, other in zip(found, expected, strict=True):
            assert_same(one, other, text)
    elif is_dataclass(expected):
        for part in [part for part in fields(expected) if not part.name.startswith("_")]:
            one, other = getattr(found, part.name), getattr(expected, part.name)
            assert_same(one, other, f"{text}: {part.name}")


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name != "TableModel"])
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_every_verb_that_takes_rows_takes_them_from_every_source(name, places, tmp_path):
    X, sources = places
    model = ESTIMATORS[name]().fit(X, np.arange(len(X)) % 3)
    verbs = list(verbs_of(model))
    assert verbs
    for verb in verbs:
        expected = ask(model, verb, X, tmp_path / "expected.npy")
        for kind, rows in sources.items():
            found = ask(model, verb, rows, tmp_path / f"{kind}.npy")
            assert_same(found, expected, f"{verb} of {kind}")


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
