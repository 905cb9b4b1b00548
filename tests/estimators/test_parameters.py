"""Parameters as people spell them: of parts given by name, and as the neighbours call them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import mercer
from mercer.kernels import Cauchy, Gaussian

X = np.random.default_rng(0).standard_normal((60, 3))
ESTIMATORS = [
    mercer.KernelPCA,
    mercer.SparseKernelPCA,
    mercer.KernelNovelty,
    mercer.GenerativeKernelPCA,
    mercer.IncrementalKernelPCA,
    mercer.DeepGenerativeKernelPCA,
    mercer.RKMClassifier,
    mercer.RKMRegressor,
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_a_part_of_the_default_kernel_can_be_set(estimator):
    model = estimator().set_params(kernel__gamma=0.5)
    assert repr(model.kernel) == repr(Gaussian(gamma=0.5))
    default = None if estimator is mercer.KernelNovelty else "gaussian"
    assert estimator().kernel == default  # nobody else's
    assert repr(clone(model)) == repr(model)
    assert clone(model).get_params()["kernel__gamma"] == 0.5


def test_a_name_and_a_part_of_it_in_one_call():
    model = mercer.KernelPCA(2).set_params(kernel="cauchy", kernel__length_scale=3.0)
    assert repr(model.kernel) == repr(Cauchy(length_scale=3.0))


@pytest.mark.parametrize("wrapper", [mercer.MissingKernelPCA, mercer.ReweightedKernelPCA])
def test_a_part_of_the_default_estimator_can_be_set(wrapper):
    model = wrapper().set_params(estimator__kernel__gamma=0.5, estimator__n_components=3)
    assert model.kernel.gamma == 0.5
    assert model.estimator.n_components == 3


def test_a_grid_search_of_a_default_model():
    search = GridSearchCV(mercer.KernelPCA(2), {"kernel__gamma": [0.1, 1.0]}, cv=2).fit(X)
    assert search.best_params_["kernel__gamma"] in (0.1, 1.0)
    assert search.best_estimator_.kernel_.gamma == search.best_params_["kernel__gamma"]


def test_a_part_of_another_name_is_told_what_to_give():
    with pytest.raises(ValueError, match="solver='auto' is no object with solver__tol; give one"):
        mercer.KernelPCA().set_params(solver__tol=1e-3)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("gamma", r"kernel=Gaussian\(gamma="),
        ("verbose", r"mercer\.listen"),
        ("contamination", "false_alarm_rate="),
        ("eigen_solver", "solver="),
    ],
)
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_the_words_of_neighbours_get_a_hint(estimator, name, ours):
    if name in estimator().get_params():
        pytest.skip("it is a parameter")
    with pytest.raises(TypeError, match=f"{estimator.__name__} has no {name}=; .*{ours}"):
        estimator(**{name: 1})


@pytest.mark.parametrize(("alias", "name"), [("rbf", "gaussian"), ("poly", "polynomial")])
def test_the_kernels_of_scikit_learn_by_their_names_there(alias, name):
    found = mercer.KernelPCA(2, kernel=alias).fit_transform(X)
    np.testing.assert_array_equal(found, mercer.KernelPCA(2, kernel=name).fit_transform(X))


@pytest.mark.parametrize("wrapper", [mercer.MissingKernelPCA, mercer.ReweightedKernelPCA])
def test_a_wrapper_given_a_number_says_what_to_write(wrapper):
    with pytest.raises(TypeError, match=r"estimator=10 is no estimator; .*KernelPCA\(10\)"):
        wrapper(10).fit(X)
