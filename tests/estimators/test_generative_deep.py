"""DeepGenerativeKernelPCA behind scikit-learn's door."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import DeepGenerativeKernelPCA, GenerativeKernelPCA, KernelPCA
from mercer.exceptions import DataError, KernelError, NotFittedError
from mercer.generative import largest_step


# Tiny random data in the checks rightly bring RankWarning and DegenerateKernelWarning.
@parametrize_with_checks([DeepGenerativeKernelPCA((3, 2), random_state=0)])
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16, y[:500]


@pytest.fixture(scope="module")
def model(digits):
    return DeepGenerativeKernelPCA((40, 15), random_state=0).fit(*digits)


def test_one_layer_is_generative_kernel_pca(digits):
    X, y = digits
    one = DeepGenerativeKernelPCA((20,), random_state=0).fit(X, y)
    plain = GenerativeKernelPCA(20, preimage="ridge", random_state=0).fit(X, y)
    assert_allclose(one.transform(X[:5]), plain.transform(X[:5]), atol=1e-8)
    assert_allclose(one.sample(5), plain.sample(5), atol=1e-6)
    assert_allclose(one.generate(one.hidden_[:3]), plain.generate(plain.hidden_[:3]), atol=1e-6)


def test_a_layer_works_on_the_scores_of_the_one_below(digits, model):
    X, _ = digits
    first = KernelPCA(40).fit(X)
    second = KernelPCA(15).fit(first.transform(X))
    wanted = second.transform(first.transform(X[:9]))
    assert_allclose(np.abs(model.transform(X[:9])), np.abs(wanted), atol=1e-6)
    assert_allclose(model.hidden_.T @ model.hidden_, np.eye(15), atol=1e-8)
    assert_allclose(model.hidden_units(X), model.hidden_, atol=1e-6)


def test_generation_goes_back_through_all_layers(digits, model):
    """The reconstruction is near the rows, and much nearer than their mean."""
    X, _ = digits
    back = model.inverse_transform(model.transform(X))
    error = ((back - X) ** 2).sum(axis=1).mean()
    assert error < 0.4 * ((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert_allclose(model.generate(model.hidden_units(X[:4])), back[:4], atol=1e-6)


def test_samples_of_a_class(digits, model):
    X, y = digits
    drawn = model.sample(60, label=np.repeat([0, 4, 7], 20), random_state=0)
    nearest = y[cdist(drawn, X).argmin(axis=1)]
    assert (nearest == np.repeat([0, 4, 7], 20)).mean() > 0.9
    assert model.sample(2).shape == (2, 64)


def test_interpolation(digits, model):
    X, _ = digits
    path = model.interpolate(X[0], X[1], steps=8)
    assert path.shape == (8, 64)
    assert largest_step(path) <= 1.6


def test_float32_stays(digits):
    X, _ = digits
    model = DeepGenerativeKernelPCA((10, 4), random_state=0).fit(X.astype(np.float32))
    assert model.transform(X[:2].astype(np.float32)).dtype == np.float32
    assert model.sample(2).dtype == np.float32


def test_saving(model, tmp_path):
    again = mercer.load(model.save(tmp_path / "deep.mercer"))
    assert_allclose(again.sample(3, label=1), model.sample(3, label=1), atol=1e-9)


def test_mistakes_are_named(digits):
    X, _ = digits
    with pytest.raises(NotFittedError):
        DeepGenerativeKernelPCA().sample()
    with pytest.raises(DataError, match=r"layers=\(\).* at least one layer"):
        DeepGenerativeKernelPCA(()).fit(X)
    with pytest.raises(DataError, match="layers=5"):
        DeepGenerativeKernelPCA(5).fit(X)
    with pytest.raises(DataError, match="eta=0"):
        DeepGenerativeKernelPCA(eta=0).fit(X)
    with pytest.raises(KernelError, match="second layer"):
        DeepGenerativeKernelPCA(kernel="precomputed").fit(X @ X.T)
    with pytest.raises(DataError, match="3 columns, but the model has 2"):
        DeepGenerativeKernelPCA((3, 2)).fit(X).generate(np.zeros((1, 3)))


def test_layers_speak_of_the_scores_that_they_were_given(rng):
    X = rng.standard_normal((80, 3))
    model = DeepGenerativeKernelPCA((5, 3), random_state=0).fit(X)
    with pytest.raises(DataError, match="Z has 7 columns.*as transform returns"):
        model.inverse_transform(np.zeros((2, 7)))


def test_layers_with_frames_as_output_interpolate(rng):
    X = rng.standard_normal((80, 3))
    pytest.importorskip("pandas")
    plain = DeepGenerativeKernelPCA((5, 3), random_state=0).fit(X)
    framed = DeepGenerativeKernelPCA((5, 3), random_state=0).set_output(transform="pandas").fit(X)
    np.testing.assert_array_equal(framed.interpolate(X[0], X[1]), plain.interpolate(X[0], X[1]))
