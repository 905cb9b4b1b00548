"""A Model knows the columns and the rows that it was learnt from, whoever keeps it."""

import pytest
from sklearn.base import clone

import mercer
from mercer.model import model_of

pd = pytest.importorskip("pandas")

ESTIMATORS = [
    mercer.KernelPCA(3),
    mercer.SparseKernelPCA(10, n_components=3),
    mercer.IncrementalKernelPCA(3, n_landmarks=20, random_state=0),
    mercer.GenerativeKernelPCA(3, random_state=0),
    mercer.KernelNovelty(3, random_state=0),
    mercer.ReweightedKernelPCA(mercer.KernelPCA(3), random_state=0),
    mercer.MissingKernelPCA(mercer.KernelPCA(3), random_state=0),
    mercer.TableModel(mercer.KernelPCA(3)),
]


@pytest.fixture
def table(rng):
    return pd.DataFrame(rng.standard_normal((60, 3)), columns=["a", "b", "c"])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda model: type(model).__name__)
def test_a_model_knows_its_columns_and_its_rows(estimator, table, tmp_path):
    fitted = clone(estimator).fit(table)
    for model in (fitted, mercer.load(fitted.save(tmp_path / "model.mercer"))):
        learnt = model_of(model)
        assert learnt.names == ["a", "b", "c"]
        assert learnt.fingerprint["rows"] == 60
    rows = table.to_numpy()
    if not isinstance(fitted, mercer.TableModel):  # which learns from vectors of its making
        assert model_of(fitted).was_fitted_to(rows, rows)
    assert not model_of(fitted).was_fitted_to(rows + 1, rows + 1)


def test_a_compressed_model_knows_them_too(table):
    small = mercer.compress(mercer.KernelPCA(3).fit(table), 20)
    assert model_of(small).names == ["a", "b", "c"]
    assert model_of(small).fingerprint["rows"] == 60


def test_arrays_have_no_names(rng):
    assert model_of(mercer.KernelPCA(2).fit(rng.standard_normal((20, 3)))).names is None


def test_further_chunks_change_the_fingerprint(rng):
    X = rng.standard_normal((60, 3))
    model = mercer.IncrementalKernelPCA(2, n_landmarks=10, random_state=0).partial_fit(X[:40])
    first = model_of(model).fingerprint
    second = model_of(model.partial_fit(X[40:])).fingerprint
    assert (first["rows"], second["rows"]) == (40, 60)
    assert first["sha256"] != second["sha256"]


@pytest.mark.parametrize("wrapper", [mercer.ReweightedKernelPCA, mercer.MissingKernelPCA])
def test_a_class_is_not_an_estimator(wrapper, rng):
    with pytest.raises(TypeError, match="is not an estimator; wrap one"):
        wrapper(mercer.KernelPCA).fit(rng.standard_normal((20, 3)))
