"""A method that cannot work is not there, and the error says why and what to do."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from mercer import (
    GenerativeKernelPCA,
    KernelNovelty,
    KernelPCA,
    MissingKernelPCA,
    ReweightedKernelPCA,
    SparseKernelPCA,
)
from mercer.exceptions import KernelError
from mercer.kernels import FunctionKernel, Gaussian
from mercer.preimage import Nearest
from mercer.selection import DenoisingScore

X = np.random.default_rng(0).standard_normal((40, 3))
WORDS = ["abc", "abd", "abe", "xyz", "xyw", "xyv"]
SHARED = FunctionKernel(lambda a, b: float(len(set(a) & set(b))))

MATRIX = Gaussian(gamma=0.3)(X)
WITHOUT_COORDINATES = {"impute", "imputations", "score", "tune", "component_images"}

ABSENT = [
    (KernelPCA(2), X, set()),
    (KernelPCA(2, kernel="precomputed"), MATRIX, WITHOUT_COORDINATES | {"reconstruction_error"}),
    (KernelPCA(2, kernel=SHARED), WORDS, WITHOUT_COORDINATES),
    (
        SparseKernelPCA(5, kernel="precomputed"),
        MATRIX,
        WITHOUT_COORDINATES | {"reconstruction_error", "span_error"},
    ),
    (ReweightedKernelPCA(KernelPCA(2, kernel=SHARED), max_iter=2), WORDS, WITHOUT_COORDINATES),
    (MissingKernelPCA(KernelPCA(2)), X, {"tune"}),
    (ReweightedKernelPCA(KernelPCA(2)), X, {"tune"}),
    (KernelNovelty(kernel=SHARED, calibration="split"), WORDS, {"contributions"}),
]
NAMES = sorted(set().union(*(absent for _, _, absent in ABSENT)))


@pytest.mark.parametrize(("model", "rows", "absent"), ABSENT, ids=range(len(ABSENT)))
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_what_cannot_work_is_not_there(model, rows, absent):
    fitted = clone(model).fit(rows)
    for each in (model, clone(model), fitted):
        there = {name for name in NAMES if hasattr(each, name)}
        assert not there & absent
        assert there == {name for name in NAMES if hasattr(type(each), name)} - absent
    for name in absent:
        with pytest.raises(AttributeError, match=f"has no {name}: .*; .*(use|choose|score|tune)"):
            getattr(fitted, name)
        with pytest.raises(KernelError):
            getattr(fitted, name)


def test_hidden_methods_are_methods():
    model = pickle.loads(pickle.dumps(KernelPCA(3).fit(X)))
    np.testing.assert_array_equal(model.impute(X), X)
    assert KernelPCA.impute.__doc__.startswith("Fill")
    assert KernelPCA.tune.__name__ == "tune"


def test_the_remedy_for_a_wrapper_works():
    tuned = KernelPCA().tune(X, noise=0.2, rows="clean")
    model = ReweightedKernelPCA(tuned, random_state=0).fit(X)
    assert model.n_components_ <= tuned.n_components_


def test_the_way_back_of_a_generator_is_one():
    """``denoise`` took a smoother where ``preimages`` and ``tune`` took a ridge."""
    for preimage in ("ridge", "fixed_point", Nearest()):
        model = GenerativeKernelPCA(5, preimage=preimage, random_state=0).fit(X)
        found = model.preimages(X[:7]).points
        np.testing.assert_array_equal(model.denoise(X[:7]), found)
        assert model.score(X[:7]) == pytest.approx(DenoisingScore()(model, X[:7]))
    ridge = GenerativeKernelPCA(5, preimage="ridge", random_state=0).fit(X)
    np.testing.assert_array_equal(ridge.denoise(X[:7]), ridge.reconstruct(X[:7]))


def test_tune_measures_what_denoise_does():
    noise = 0.3 * np.random.default_rng(1).standard_normal(X.shape)
    model = GenerativeKernelPCA(random_state=0).tune(X, noise=lambda rows, _: rows + 0.1)
    again = GenerativeKernelPCA(random_state=0).set_params(
        kernel=model.kernel, n_components=model.n_components
    )
    assert model.tuning_.value > 0
    np.testing.assert_array_equal(again.fit(X).denoise(X + noise), model.denoise(X + noise))
