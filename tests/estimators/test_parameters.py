"""Parameters as people spell them: of parts given by name, and as the neighbours call them."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import mercer
from mercer import (
    IncrementalKernelPCA,
    KernelNovelty,
    KernelPCA,
    MissingKernelPCA,
    ParallelAnalysis,
    ReweightedKernelPCA,
    SparseKernelPCA,
    compress,
)
from mercer.exceptions import DataError
from mercer.kernels import Cauchy, Gaussian
from mercer.novelty import CrossFit
from mercer.preimage import Distances, Smoother
from mercer.solvers import Davidson, Landmarks

X = np.random.default_rng(0).standard_normal((80, 3))
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
    with pytest.raises(ValueError, match="'auto' is not an object with solver__tol; give one"):
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
    with pytest.raises(TypeError, match=r"estimator=10 is not an estimator; .*KernelPCA\(10\)"):
        wrapper(10).fit(X)


HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)


HOLES[:, 0] = X[:, 0]


WIDE = np.random.default_rng(2).standard_normal((600, 3))


REFUSED = {
    # A third of the rows would have had no score, and whatever was in memory instead.
    "folds of novelty": lambda: KernelNovelty(5, calibration=CrossFit(2.5)).fit(X),
    "folds of weights": lambda: ReweightedKernelPCA(KernelPCA(3), folds=2.5).fit(X),
    "folds of holes": lambda: MissingKernelPCA(KernelPCA(3), folds=2.5).fit(HOLES),
    "one fold of holes": lambda: MissingKernelPCA(KernelPCA(3), folds=1).fit(HOLES),
    "no rounds of weights": lambda: ReweightedKernelPCA(KernelPCA(3), max_iter=0).fit(X),
    "no rounds of holes": lambda: MissingKernelPCA(KernelPCA(3), max_iter=0).fit(HOLES),
    "half a kernel": lambda: compress(KernelPCA(10).fit(X), 5.5),
    "kernels as a text": lambda: compress(KernelPCA(10).fit(X), "5"),
    "half a component": lambda: (
        SparseKernelPCA(n_kernels=9).fit(X).reconstruction_error(X, n_components=2.5)
    ),
    "smoother": lambda: KernelPCA(5, preimage=Smoother(2.7)).fit(X).denoise(X),
    "distances": lambda: KernelPCA(5, preimage=Distances(2.7)).fit(X).denoise(X),
    "distances as a text": lambda: KernelPCA(5, preimage=Distances("a")).fit(X).denoise(X),
    "no draws": lambda: KernelPCA(5).fit(X).imputation_draws(HOLES, 0),
    "no passes": lambda: KernelPCA(2, solver=Davidson(max_passes=0)).fit(WIDE),
    "half a landmark": lambda: KernelPCA(2, solver=Landmarks(2.5)).fit(X),
    "landmarks as a text": lambda: KernelPCA(2, solver=Landmarks("a")).plan(X),
    "no landmarks of a solver": lambda: KernelPCA(2, solver=Landmarks(0)).fit(X),
    "no landmarks": lambda: IncrementalKernelPCA(2, n_landmarks=0).fit(X),
    "no components to look at": lambda: KernelPCA(ParallelAnalysis(0)).fit(X),
    "no permutations": lambda: KernelPCA(ParallelAnalysis(n_permutations=0)).fit(X),
    "quantile": lambda: KernelPCA(ParallelAnalysis(quantile=2)).fit(X),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_what_is_no_count_is_refused_with_what_to_give(mistake):
    with pytest.raises(DataError, match=r"(give|ask for) "):
        REFUSED[mistake]()
