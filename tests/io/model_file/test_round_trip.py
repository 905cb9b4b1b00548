"""A loaded model gives the same bits: every estimator, kernel, pre-image and precision."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from safetensors import safe_open
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import mercer
from mercer import KernelNovelty, KernelPCA, SparseKernelPCA, compat
from mercer._base import catalogue
from mercer._base import registry as _registry
from mercer.estimators.monitor import Monitor
from mercer.exceptions import ModelFileError
from mercer.generative import Density, FittedDensity
from mercer.io.model_file import describe
from mercer.kernels import FunctionKernel, Gaussian, Kernel
from mercer.landmarks import LandmarkRule
from mercer.model import ComponentRule
from mercer.novelty import Calibration
from mercer.preimage import PreImageSolver
from mercer.robust import Loss
from mercer.solvers import Landmarks, Solver
from mercer.sparse import SparseSolver
from tests.io.model_file.models import KERNELS, PREIMAGES, answers, estimators, rows

pytestmark = pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
DTYPES = ["float64", "float32"]


def again(model, tmp_path):
    return mercer.load(model.save(tmp_path / "model.mercer"))


def assert_same_answers(model, loaded, X, *, impute=False):
    expected, found = (answers(each, X, impute=impute) for each in (model, loaded))
    assert expected
    for name, value in expected.items():
        assert_array_equal(found[name], value, err_msg=name, strict=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_estimator(dtype, tmp_path):
    new = rows(23, dtype=dtype, seed=5)
    models = estimators(dtype)
    first = {type(model): name for name, model in reversed(models.items())}
    for name, model in models.items():
        loaded = again(model, tmp_path)
        assert type(loaded) is type(model), name
        assert repr(loaded) == repr(model), name
        assert_same_answers(model, loaded, new, impute=first[type(model)] == name)
    tested = {type(model) for model in models.values()}
    # They take frames, or a detector: see tests/tables and tests/estimators/test_monitor.py.
    others = {mercer.TableEncoder, mercer.TableModel, Monitor}
    known = {cls for cls in map(catalogue.load, catalogue.WORDS.values()) if hasattr(cls, "save")}
    assert tested == known - others, "an estimator that is registered is not tested"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel(kernel, dtype, tmp_path):
    model = KernelPCA(4, kernel=kernel).fit(rows(dtype=dtype))
    loaded = again(model, tmp_path)
    assert repr(loaded.kernel_) == repr(model.kernel_)
    assert loaded.subspace_.coef.dtype == dtype
    assert_same_answers(model, loaded, rows(17, dtype=dtype, seed=5))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("kernel", "preimage"), PREIMAGES, ids=repr)
def test_every_preimage(kernel, preimage, dtype, tmp_path):
    model = KernelPCA(4, kernel=kernel, preimage=preimage).fit(rows(dtype=dtype))
    assert_same_answers(model, again(model, tmp_path), rows(17, dtype=dtype, seed=5))


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_lie_in_memory_as_they_did(order, tmp_path):
    """Products of large arrays round differently if they do not."""
    model = KernelPCA(3, kernel="polynomial").fit(rows())
    parts = {p: getattr(model.subspace_, p).copy(order=order) for p in ("support", "coef")}
    model._model_ = replace(model._model_, subspace=replace(model.subspace_, **parts))
    loaded = again(model, tmp_path)
    for part, before in parts.items():
        after = getattr(loaded.subspace_, part)
        assert after.strides == before.strides
        assert after.flags.writeable
    assert_same_answers(model, loaded, rows(17, seed=5))


def test_precomputed(tmp_path):
    X, new = rows(), rows(9, seed=5)
    kernel = Gaussian(gamma=0.3)
    model = KernelPCA(3, kernel="precomputed").fit(kernel(X))
    loaded = again(model, tmp_path)
    assert_array_equal(loaded.transform(kernel(new, X)), model.transform(kernel(new, X)))


def test_every_configuration_of_the_package_is_registered():
    """A new kernel or solver must not be forgotten; a function kernel is left out on purpose."""
    import mercer.plots  # noqa: F401  everything that defines subclasses is loaded by now

    def public(cls):
        for sub in cls.__subclasses__():
            yield from public(sub)
            if sub.__module__.startswith("mercer.") and not sub.__name__.startswith("_"):
                yield sub

    bases = (Kernel, PreImageSolver, Solver, ComponentRule, LandmarkRule, SparseSolver)
    bases += (Density, FittedDensity, Calibration, Loss)
    concrete = {cls for base in bases for cls in public(base) if not cls.__abstractmethods__} - {
        FunctionKernel
    }
    forgotten = {cls for cls in concrete if _registry.word_of(cls) is None}
    assert not forgotten
    assert len(concrete) > 30


def test_feature_names_and_output_container(tmp_path):
    table = pd.DataFrame(rows(), columns=["größe", "b", "c", "d"])
    model = KernelPCA(2).set_output(transform="pandas").fit(table)
    loaded = again(model, tmp_path)
    assert list(loaded.feature_names_in_) == ["größe", "b", "c", "d"]
    pd.testing.assert_frame_equal(loaded.transform(table), model.transform(table))
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(table[["b", "größe", "c", "d"]])


def test_an_incremental_model_goes_on_learning(tmp_path):
    model = copy.deepcopy(estimators()["incremental"])
    loaded = again(model, tmp_path)
    more = rows(30, seed=9)
    assert_array_equal(loaded.partial_fit(more).eigenvalues_, model.partial_fit(more).eigenvalues_)
    assert loaded.n_samples_seen_ == 90


def test_wrapped_models_share_their_arrays(tmp_path):
    model = estimators()["reweighted"]
    loaded = again(model, tmp_path)
    assert loaded.subspace_.support is loaded.estimator_.subspace_.support
    support = [t for t in describe(tmp_path / "model.mercer").tensors if t.shape == (60, 4)]
    assert len(support) == 1


def test_a_fitted_pattern_is_not_saved_twice(tmp_path):
    pattern = KernelPCA(3).fit(rows(50, seed=3))
    model = mercer.ReweightedKernelPCA(pattern, random_state=0).fit(rows())
    with pytest.raises(NotFittedError):
        check_is_fitted(again(model, tmp_path).estimator)


def test_random_sources_become_none(tmp_path):
    model = KernelPCA(2, random_state=np.random.default_rng(0)).fit(rows())
    assert again(model, tmp_path).random_state is None
    assert describe(tmp_path / "model.mercer").parameters["random_state"] == "Generator"


def test_fingerprint_tells_data_apart_and_survives(tmp_path):
    first, second = KernelPCA(2).fit(rows()), KernelPCA(2).fit(rows(seed=1))
    prints = [describe(m.save(tmp_path / "m.mercer")).data for m in (first, second)]
    assert prints[0]["rows"] == 60
    assert prints[0]["columns"] == 4
    assert prints[0]["sha256"] != prints[1]["sha256"]
    assert describe(again(first, tmp_path).save(tmp_path / "b.mercer")).data == prints[0]
    chunks = estimators()["incremental"]
    assert describe(chunks.save(tmp_path / "c.mercer")).data["rows"] == 60


def test_describe(tmp_path):
    model = estimators()["sparse"]
    path = model.save(tmp_path / "m.mercer")
    info = describe(path)
    assert info.class_name == "SparseKernelPCA"
    assert info.parameters["n_kernels"] == "10"
    assert info.fitted["kernel_"].startswith("Gaussian(gamma=0.")
    assert info.n_bytes == path.stat().st_size
    assert info.libraries["numpy"] == np.__version__
    assert info.created_at.endswith("+00:00")
    sizes = {tensor.name: tensor.shape for tensor in info.tensors}
    assert sizes["subspace.support"] == (10, 4)
    assert sum(tensor.n_bytes for tensor in info.tensors) < info.n_bytes


def test_other_readers_of_safetensors_open_it(tmp_path):
    model = estimators()["exact"]
    with safe_open(model.save(tmp_path / "m.mercer"), framework="np") as file:
        assert file.metadata()["class"] == "KernelPCA"
        assert_array_equal(file.get_tensor("subspace.support"), model.subspace_.support)


@pytest.mark.parametrize(
    ("n", "m"), [(3000, 300), pytest.param(100_000, 1000, marks=pytest.mark.slow)]
)
def test_landmark_models_are_small(n, m, tmp_path):
    """However many rows there were, the file is the landmarks and their coefficients."""
    X = np.random.default_rng(0).standard_normal((n, 64))
    model = KernelPCA(10, solver=Landmarks(m, select="uniform"), random_state=0).fit(X)
    needed = model.subspace_.support.nbytes + model.subspace_.coef.nbytes
    size = model.save(tmp_path / "m.mercer").stat().st_size
    print(f"{n} rows: {size} bytes, {size / needed:.3f} of support and coefficients")
    assert size <= 1.2 * needed


def test_a_function_kernel_is_refused_with_a_remedy(tmp_path):
    code = FunctionKernel(lambda x, y: float(len(set(x) & set(y))))
    model = KernelPCA(1, kernel=code).fit(["abc", "abd", "xyz"])
    with pytest.raises(ModelFileError, match="code.*precomputed"):
        model.save(tmp_path / "m.mercer")
    with pytest.raises(ModelFileError, match="function"):
        compat.KernelPCA(1, kernel=lambda x, y: float(x @ y)).fit(rows()).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


class Foreign(Gaussian):
    """Somebody's own kernel."""


def test_foreign_classes_are_refused(tmp_path):
    model = KernelPCA(2, kernel=Foreign(gamma=1.0)).fit(rows())
    with pytest.raises(ModelFileError, match=r"mercer's own classes.*mercer\.register\(Foreign\)"):
        model.save(tmp_path / "m.mercer")


@pytest.mark.parametrize(
    "model", [KernelPCA(), SparseKernelPCA(), KernelNovelty(), compat.KernelPCA()], ids=repr
)
def test_an_unfitted_model_is_refused(model, tmp_path):
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "m.mercer")
    model.n_features_in_ = 3  # as a fit leaves it that failed halfway
    with pytest.raises(NotFittedError):
        model.save(tmp_path / "m.mercer")
