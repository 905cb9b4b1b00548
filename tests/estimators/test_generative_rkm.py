"""RKMClassifier and RKMRegressor behind scikit-learn's door."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

import mercer
from mercer import RKMClassifier, RKMRegressor
from mercer.exceptions import DataError, NotFittedError
from mercer.generative import KernelSmoother
from mercer.kernels import Gaussian
from tests import naive_generative as naive


# Tiny data in the checks rightly bring warnings about their width.
@parametrize_with_checks([RKMClassifier(), RKMRegressor()])
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X / 16, y


@pytest.fixture(scope="module")
def classifier(digits):
    X, y = digits
    return RKMClassifier(random_state=0).fit(X[:400], y[:400])


def test_classes_of_new_rows(digits, classifier):
    X, y = digits
    assert classifier.score(X[400:], y[400:]) > 0.9
    assert classifier.decision_function(X[:5]).shape == (5, 10)
    assert_allclose(classifier.hidden_.sum(axis=0), 0, atol=1e-8)


def test_regression_is_kernel_ridge_with_a_bias():
    X, y = load_diabetes(return_X_y=True)
    y = y - y.mean()
    model = RKMRegressor(Gaussian(gamma=50.0), lam=0.5, eta=0.4).fit(X, y)
    ridge = KernelRidge(kernel="rbf", gamma=50.0, alpha=0.2).fit(X, y - model.machine_.bias[0])
    assert_allclose(model.predict(X), ridge.predict(X) + model.machine_.bias[0], atol=1e-6)


def test_only_the_product_of_the_penalties_counts(digits):
    X, y = digits
    models = [
        RKMClassifier(lam=lam, eta=eta).fit(X[:200], y[:200]) for lam, eta in [(0.2, 1), (2, 0.1)]
    ]
    first, second = (model.decision_function(X[200:220]) for model in models)
    assert_allclose(first, second, atol=1e-8)


def test_several_targets():
    X, y = load_diabetes(return_X_y=True)
    both = RKMRegressor().fit(X, np.column_stack([y, -y])).predict(X[:4])
    assert_allclose(both[:, 0], RKMRegressor().fit(X, y).predict(X[:4]))
    assert_allclose(both[:, 1], -both[:, 0], atol=1e-7)


@pytest.mark.parametrize("preimage", ["ridge", KernelSmoother(10), "nearest"])
def test_samples_are_of_their_class(preimage, digits, classifier):
    X, _ = digits
    wanted = np.repeat(np.arange(10), 8)
    model = classifier.set_params(preimage=preimage)
    drawn = model.sample(80, label=wanted, random_state=0)
    assert drawn.shape == (80, 64)
    assert (model.predict(drawn) == wanted).mean() > 0.85
    assert cdist(drawn, X[:400]).min(axis=1).mean() < 0.5 * cdist(X, X).mean()
    assert model.sample(3).shape == (3, 64)
    classifier.set_params(preimage="ridge")


def test_generating_from_hidden_units(digits, classifier):
    """W h of the axis of a class looks like the class; its length does not matter."""
    model = clone(classifier).set_params(preimage=KernelSmoother(10))
    X, y = digits
    model.fit(X[:300], y[:300])
    found = model.generate(np.eye(10))
    assert (model.predict(found) == np.arange(10)).all()
    assert_allclose(model.generate(50 * np.eye(10)), found, atol=1e-8)
    # Eq. (6) with the machine's W: similarities K h / η.
    similarity = model.kernel_(X[:300]) @ model.hidden_[:, 3]
    assert_allclose(found[3], naive.smooth(similarity, X[:300], 10), atol=1e-8)


def test_saving_and_pickling(digits, classifier, tmp_path):
    X, _ = digits
    classifier.sample(2)
    again = mercer.load(classifier.save(tmp_path / "a.mercer"))
    assert_array_equal(again.predict(X[600:650]), classifier.predict(X[600:650]))
    assert_allclose(again.sample(2, label=3), classifier.sample(2, label=3), atol=1e-9)
    copy = pickle.loads(pickle.dumps(classifier))
    assert "_made" not in vars(copy)
    assert_allclose(copy.sample(2, label=3), classifier.sample(2, label=3))


def test_float32_stays(digits):
    X, y = digits
    model = RKMClassifier().fit(X[:200].astype(np.float32), y[:200])
    assert model.decision_function(X[:3].astype(np.float32)).dtype == np.float32


def test_mistakes_are_named(digits):
    X, y = digits
    with pytest.raises(NotFittedError):
        RKMClassifier().sample()
    with pytest.raises(DataError, match="lam=0"):
        RKMClassifier(lam=0).fit(X[:50], y[:50])
    with pytest.raises(DataError, match="eta=-1"):
        RKMRegressor(eta=-1).fit(X[:50], y[:50])
    with pytest.raises(DataError, match="only one class"):
        RKMClassifier().fit(X[:50], np.zeros(50, int))
    with pytest.raises(DataError, match="coordinates"):
        RKMClassifier("precomputed").fit(X[:50], y[:50])
    with pytest.raises(DataError, match="without classes"):
        RKMRegressor().fit(X[:50], y[:50]).sample(2, label=1)
