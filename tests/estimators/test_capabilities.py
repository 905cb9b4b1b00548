"""Each yes and each no of ``capabilities`` is tried; the docs' table is made from the same."""

import importlib.util
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import mercer
from mercer.exceptions import DataError, KernelError, ModelFileError
from mercer.kernels import Chi2, FunctionKernel, Gaussian
from tests.sources import KINDS, bytes_as_rows, elsewhere

ROOT = Path(__file__).parents[2]
ESTIMATORS = {
    name: getattr(mercer, name)
    for name in mercer.__all__
    if hasattr(getattr(mercer, name), "capabilities")
}
SMALL = {
    "SparseKernelPCA": {"n_kernels": 5},
    "IncrementalKernelPCA": {"n_components": 2, "n_landmarks": 10},
    "DeepGenerativeKernelPCA": {"layers": (3, 2)},
    "KernelNovelty": {"n_components": 2, "calibration": "split", "false_alarm_rate": 0.2},
    "RKMClassifier": {},
    "RKMRegressor": {},
    "KernelDrift": {"n_landmarks": 20},
    "MapModel": {},  # y is a map of one dimension
    "MissingKernelPCA": {"max_iter": 3},
    "ReweightedKernelPCA": {"max_iter": 3},
}
X = np.random.default_rng(0).gamma(2.0, size=(40, 3))
y = np.arange(40) % 2
WORDS = ["abc", "abd", "abe", "xyz", "xyw", "xyv", "xya", "bcd"] * 5


def make(cls, kernel="gaussian"):
    given = dict(SMALL.get(cls.__name__, {"n_components": 2}))
    if cls.__name__ in ("MissingKernelPCA", "ReweightedKernelPCA"):
        return cls(mercer.KernelPCA(2, kernel=kernel), random_state=0, **given)
    preimage = {"preimage": "nearest"} if kernel != "gaussian" and "Generative" in str(cls) else {}
    return cls(kernel=kernel, random_state=0, **preimage, **given)


def ask(model, rows):
    """What the estimator is for."""
    return getattr(model, "transform" if hasattr(model, "transform") else "predict")(rows)


def tables(cls, tmp_path):
    frame = pd.DataFrame(X, columns=list("abc"))
    model = make(cls).fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert len(ask(model, frame)) == 40


def sparse(cls, tmp_path):
    rows = csr_array(np.where(X > 2, X, 0))
    assert len(ask(make(cls).fit(rows, y), rows[:7])) == 7


def objects(cls, tmp_path):
    kernel = FunctionKernel(lambda a, b: float(len(set(a) & set(b))))
    assert len(ask(make(cls, kernel).fit(WORDS, y), WORDS)) == 40


def precomputed(cls, tmp_path):
    K = Gaussian(gamma=0.3)(X)
    assert len(ask(make(cls, "precomputed").fit(K, y), K[:7])) == 7


def files(cls, tmp_path):
    rows = bytes_as_rows(40)
    places = [elsewhere(kind, rows, tmp_path) for kind in KINDS if kind != "dask"]
    fitted = [ask(make(cls).fit(place, y), place) for place in places]
    expected = ask(make(cls).fit(rows, y), rows)
    for place, found in zip(places, fitted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9, err_msg=place.name)


def dask(cls, tmp_path):
    array = pytest.importorskip("dask.array")
    assert len(ask(make(cls).fit(array.from_array(X, chunks=(15, 3)), y), X)) == 40


def missing(cls, tmp_path):
    rows = X.copy()
    rows[3, 1] = np.nan
    assert np.isfinite(ask(make(cls).fit(rows, y), rows)).all()


def weights(cls, tmp_path):
    make(cls).fit(X, y, sample_weight=np.ones(40))


def streaming(cls, tmp_path):
    assert len(ask(make(cls).partial_fit(X[:20]).partial_fit(X[20:]), X)) == 40


def onnx(cls, tmp_path):
    pytest.importorskip("onnx")
    mercer.export_onnx(make(cls).fit(X, y), tmp_path / "m.onnx")


CASES = [tables, sparse, objects, precomputed, files, dask, missing, weights, streaming, onnx]
WITHOUT_ERROR_OF_OURS = {"weights", "streaming"}  # Python says that there is no such thing


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_a_yes_works_and_a_no_says_what_to_do(name, case, tmp_path):
    cls = ESTIMATORS[name]
    if getattr(cls.capabilities, case.__name__):
        case(cls, tmp_path)
    elif case.__name__ in WITHOUT_ERROR_OF_OURS:
        with pytest.raises((TypeError, AttributeError)):
            case(cls, tmp_path)
    else:
        with pytest.raises((DataError, KernelError, ModelFileError, TypeError)) as caught:
            case(cls, tmp_path)
        assert any(
            word in str(caught.value).lower() for word in ("use ", "give ", "fit ", "remove")
        )


def test_every_capability_is_tried():
    declared = [part.name for part in fields(mercer.KernelPCA.capabilities)]
    assert declared == [*(case.__name__ for case in CASES), "experimental"]


def test_every_estimator_declares():
    around = {"TableEncoder", "TableModel"}  # take tables, and what their model can do
    own = {name for name in mercer.__all__ if hasattr(getattr(mercer, name), "fit")} - around
    assert own == set(ESTIMATORS)


def test_what_is_experimental_says_so():
    page = (ROOT / "docs" / "explanation" / "stability.md").read_text(encoding="utf-8")
    for name, cls in ESTIMATORS.items():
        assert (
            cls.capabilities.experimental
            == ("xperimental" in cls.__doc__)
            == (f"`{name}`" in page.partition("## What may change")[2])
        )


def test_the_table_of_the_docs():
    path = ROOT / "docs" / "_extensions" / "capabilities.py"
    spec = importlib.util.spec_from_file_location("capabilities", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table = module.table().splitlines()
    assert len(table) == 2 + len(ESTIMATORS)
    assert "| KernelPCA | yes | yes | yes | yes | yes | yes |  | yes |  | yes |  |" in table


@pytest.mark.parametrize("kernel", [Chi2(), 0.5 * Chi2() + Gaussian()], ids=repr)
# The layers of a deep model see scores, which Chi2 refuses; the kernel of a map is of distances.
@pytest.mark.parametrize(
    "name", sorted(ESTIMATORS.keys() - {"DeepGenerativeKernelPCA", "MapModel"})
)
def test_rows_that_cannot_be_written_to(name, kernel, tmp_path):
    wanted = ask(make(ESTIMATORS[name], kernel).fit(X, y), X)
    np.save(tmp_path / "rows.npy", X)
    frozen = np.asfortranarray(X)
    frozen.flags.writeable = False
    for rows in (frozen, np.load(tmp_path / "rows.npy", mmap_mode="r")):
        found = ask(make(ESTIMATORS[name], kernel).fit(rows, y), rows)
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
