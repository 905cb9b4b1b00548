"""GenerativeKernelPCA behind scikit-learn's door."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import GenerativeKernelPCA, KernelPCA, SparseKernelPCA, load
from mercer.exceptions import DataError, KernelError, NotFittedError
from mercer.generative import KDE, KernelSmoother, Local, largest_step
from mercer.kernels import FunctionKernel, Gaussian
from mercer.preimage import FixedPoint
from mercer.solvers import Davidson, Landmarks

ESTIMATORS = [
    GenerativeKernelPCA(),
    GenerativeKernelPCA(2, density="normal", preimage=KernelSmoother(), random_state=0),
    GenerativeKernelPCA(2, solver=Landmarks(8), random_state=0),
]


# Tiny random data in the checks rightly bring RankWarning and DegenerateKernelWarning.
@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


@pytest.fixture(scope="module")
def model(digits):
    return GenerativeKernelPCA(30, random_state=0).fit(*digits)


def test_scores_are_those_of_kernel_pca(digits, model):
    X, _ = digits
    pca = KernelPCA(30).fit(X)
    assert_allclose(model.transform(X[:9]), pca.transform(X[:9]), atol=1e-8)
    assert_allclose(model.eigenvalues_, pca.eigenvalues_)
    assert_allclose(model.hidden_.T @ model.hidden_, np.eye(30), atol=1e-8)
    assert_allclose(model.hidden_units(X), model.hidden_, atol=1e-7)


def test_generating_from_a_rows_own_hidden_unit_is_reconstruction(digits, model):
    X, _ = digits
    H = model.hidden_units(X[:5])
    assert_allclose(model.generate(H), model.reconstruct(X[:5]), atol=1e-8)
    assert_allclose(model.generate(H), model.inverse_transform(model.transform(X[:5])), atol=1e-8)


def test_eta_scales_hidden_units_and_changes_no_sample(digits, model):
    X, y = digits
    other = GenerativeKernelPCA(30, eta=4.0, random_state=0).fit(X, y)
    assert_allclose(other.hidden_, 2 * model.hidden_)
    assert_allclose(other.sample(4), model.sample(4), atol=1e-7)


def test_samples_look_like_digits_and_are_no_copies(digits, model):
    X, _ = digits
    rest, labels = load_digits(return_X_y=True)
    rest, labels = rest[600:] / 16, labels[600:]
    samples = model.sample(300, random_state=1)
    to_train, between = cdist(samples, X).min(axis=1), cdist(rest, X).min(axis=1)
    assert 0.4 * between.mean() < to_train.mean() < 1.5 * between.mean()
    classifier = LogisticRegression(max_iter=2000).fit(rest, labels)
    wanted = np.tile(np.arange(10)[::-1], 30)  # in no order: each draw must get its own class
    drawn = model.sample(300, label=wanted, random_state=2)
    assert (classifier.predict(drawn) == wanted).mean() > 0.85


def test_one_label(digits, model):
    X, y = digits
    threes = model.sample(40, label=3, random_state=0)
    nearest = y[cdist(threes, X).argmin(axis=1)]
    assert (nearest == 3).mean() > 0.9


def test_labels_may_be_words(digits):
    X, y = digits
    words = np.where(y < 5, "small", "large")
    model = GenerativeKernelPCA(5, random_state=0).fit(X, words)
    assert model.sample(3, label="small").shape == (3, 64)
    assert_array_equal(model.classes_, ["large", "small"])
    with pytest.raises(DataError, match="'tiny' is not among the classes; give one of 'large'"):
        model.sample(3, label="tiny")


def test_seeds(model):
    assert_array_equal(model.sample(3), model.sample(3))  # the model's own seed
    assert_array_equal(model.sample(3, random_state=1), model.sample(3, random_state=1))
    assert np.abs(model.sample(3, random_state=1) - model.sample(3, random_state=2)).max() > 0.01
    rng = np.random.default_rng(0)
    assert np.abs(model.sample(3, random_state=rng) - model.sample(3, random_state=rng)).max() > 0


@pytest.mark.parametrize("density", ["normal", "mixture", "kde", "local", "interpolate"])
@pytest.mark.parametrize("preimage", ["ridge", "nearest", "smoother", KernelSmoother(10)])
def test_every_density_with_every_preimage(density, preimage, digits):
    X, y = digits
    model = GenerativeKernelPCA(8, density=density, preimage=preimage, random_state=0)
    model.fit(X[:150], y[:150])
    for drawn in (model.sample(6), model.sample(6, label=2)):
        assert drawn.shape == (6, 64)
        assert np.isfinite(drawn).all()


def test_fixed_point(digits):
    X, _ = digits
    model = GenerativeKernelPCA(8, preimage=FixedPoint(), random_state=0).fit(X[:150])
    assert np.isfinite(model.sample(6)).all()


def test_moons_stay_moons():
    X, y = make_moons(300, noise=0.06, random_state=0)
    model = GenerativeKernelPCA(12, random_state=0).fit(X, y)
    fresh, _ = make_moons(300, noise=0.06, random_state=1)
    drawn = model.sample(300)
    assert cdist(drawn, X).min(axis=1).mean() < 1.5 * cdist(fresh, X).min(axis=1).mean()
    upper = model.sample(100, label=0)
    assert (y[cdist(upper, X).argmin(axis=1)] == 0).mean() > 0.97


@pytest.mark.parametrize(
    "solver", ["dense", Davidson(tol=1e-10), Landmarks(300)], ids=["dense", "davidson", "landmarks"]
)
def test_any_solver(solver, digits):
    X, y = digits
    model = GenerativeKernelPCA(15, solver=solver, random_state=0).fit(X, y)
    assert_allclose(model.hidden_.T @ model.hidden_, np.eye(15), atol=1e-6)
    drawn = model.sample(20, label=np.repeat([1, 7], 10))
    assert cdist(drawn, X).min(axis=1).max() < cdist(X, X).max() / 2
    assert model.similarities(model.hidden_[:3]).shape == (3, 600)


def test_on_a_sparse_model(digits):
    X, y = (part[:200] for part in digits)
    sparse = SparseKernelPCA(noise=0.2, n_components=8).fit(X)
    model = GenerativeKernelPCA.from_fitted(sparse, X, y, random_state=0)
    assert_allclose(model.hidden_.T @ model.hidden_, np.eye(8), atol=1e-6)
    assert model.sample(7, label=4).shape == (7, 64)
    assert_allclose(model.transform(X[:4]), sparse.transform(X[:4]))
    with pytest.raises(NotFittedError):
        GenerativeKernelPCA.from_fitted(SparseKernelPCA(), X)


def test_interpolation_goes_from_one_to_the_other_evenly(digits, model):
    X, _ = digits
    path = model.interpolate(X[0], X[1], steps=9)
    assert_allclose(path[[0, -1]], model.reconstruct(X[:2]), atol=1e-8)
    assert largest_step(path) <= 1.5
    assert_allclose(model.interpolate(X[:1], X[1:2], steps=9), path)


def test_traversal_is_smooth_and_passes_through_the_row(digits, model):
    X, _ = digits
    for component in (0, 1, 5):
        path = model.traverse(X[3], component, span=1.5, steps=11)
        assert_allclose(path[5], model.reconstruct(X[3:4])[0], atol=1e-8)
        assert largest_step(path) <= 1.5
    up = model.transform(model.traverse(X[3], 0, span=(0.0, 1.0), steps=2))[:, 0]
    assert up[1] > up[0]


def test_float32_stays(digits):
    X, y = digits
    model = GenerativeKernelPCA(8, random_state=0).fit(X.astype(np.float32), y)
    assert model.hidden_.dtype == np.float32
    for made in (model.sample(3), model.sample(3, label=1), model.traverse(X[0], 1)):
        assert made.dtype == np.float32
    assert model.denoise(X[:3].astype(np.float32)).dtype == np.float32


def test_objects_and_precomputed_matrices(rng):
    def common(x, y):
        return float(sum(min(x.count(c), y.count(c)) for c in set(x)))

    words = ["".join(rng.choice(list("aeiou"), 6)) for _ in range(30)]
    model = GenerativeKernelPCA(4, kernel=FunctionKernel(common), preimage="nearest")
    drawn = model.fit(words).sample(5, random_state=0)
    assert all(word in words for word in drawn)
    assert len(model.interpolate(words[0], words[1], steps=4)) == 4
    with pytest.raises(KernelError, match="nearest"):
        model.set_params(preimage="ridge").sample(5)
    X = rng.standard_normal((30, 2))
    pairwise = GenerativeKernelPCA(4, kernel="precomputed", preimage="nearest", random_state=0)
    index = pairwise.fit(Gaussian(gamma=0.5)(X)).sample(6)
    assert index.shape == (6,)
    assert set(index) <= set(range(30))


def test_data_frames(digits):
    X, y = digits
    table = pd.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    model = GenerativeKernelPCA(6, random_state=0).fit(table, pd.Series(y))
    assert_array_equal(model.feature_names_in_, table.columns)
    assert model.interpolate(table.iloc[[0]], table.iloc[[1]], steps=3).shape == (3, 64)
    assert model.sample(2, label=0).shape == (2, 64)


def test_what_is_no_class_is_ignored(digits):
    X, y = digits
    model = GenerativeKernelPCA(3).fit(X, y + 0.5 * np.arange(600) / 600)
    assert not hasattr(model, "classes_")
    with pytest.raises(DataError, match="fitted without classes"):
        model.sample(2, label=1)


def test_fitting_again_forgets_the_classes(digits):
    X, y = digits
    model = GenerativeKernelPCA(3, random_state=0).fit(X, y)
    model.sample(2, label=1)
    model.fit(X)
    assert not hasattr(model, "classes_")


def test_pickle_keeps_samples_and_leaves_out_what_can_be_made_again(model):
    drawn = model.sample(2, label=1, random_state=0)
    model.denoise(np.zeros((1, 64)))
    again = pickle.loads(pickle.dumps(model))
    assert "_made" not in vars(again)
    assert_allclose(again.sample(2, label=1, random_state=0), drawn)


@pytest.mark.parametrize("solver", ["dense", Landmarks(40)], ids=["support", "beside"])
def test_files_keep_samples(solver, digits, tmp_path):
    """Rows to be mixed are the support, or stand beside it."""
    X, y = digits
    model = GenerativeKernelPCA(8, solver=solver, random_state=0).fit(X[:200], y[:200])
    model.save(tmp_path / "m.mercer")
    again = load(tmp_path / "m.mercer")
    assert ("rows_" in vars(again)) == (solver != "dense")
    assert_array_equal(again.sample(3), model.sample(3))
    assert_array_equal(again.sample(3, label=2), model.sample(3, label=2))


def test_fitted_state_is_arrays_and_small_frozen_objects(model):
    for density in ("normal", "mixture", "kde", "local", "interpolate"):
        fitted = GenerativeKernelPCA(3, density=density, random_state=0).fit(
            np.random.default_rng(0).standard_normal((40, 3))
        )
        for value in vars(fitted.density_).values():
            assert isinstance(value, np.ndarray | float | int)


def test_in_a_pipeline(digits):
    X, y = digits
    pipe = make_pipeline(GenerativeKernelPCA(30), LogisticRegression(max_iter=500, C=100.0))
    assert pipe.fit(X[:400], y[:400]).score(X[400:], y[400:]) > 0.8


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"eta": 0}, "eta=0"),
        ({"eta": np.inf}, "eta=inf"),
        ({"eta": "1"}, "eta='1'"),
        ({"density": "gauss"}, "density='gauss'"),
        ({"preimage": "ridges"}, "preimage='ridges'"),
        ({"density": KDE(0.0)}, "bandwidth=0.0"),
        ({"density": Local(-1)}, "n_neighbors=-1"),
    ],
)
def test_mistakes_in_the_constructor_are_named(change, message, digits):
    with pytest.raises(ValueError, match=message):
        GenerativeKernelPCA(2, **change).fit(digits[0][:50])


@pytest.mark.parametrize("scale", [1e-300, 1e-20, 1e20, 1e300])
def test_any_scale(scale, digits):
    """The same points in other units; their squares would overflow."""
    X, _ = digits
    X = X[:150]
    plain = GenerativeKernelPCA(8, random_state=0).fit(X)
    scaled = GenerativeKernelPCA(8, random_state=0).fit(X * scale)
    assert_allclose(scaled.sample(4) / scale, plain.sample(4), atol=1e-6)
    assert_allclose(scaled.denoise(X[:4] * scale) / scale, plain.denoise(X[:4]), atol=1e-6)


def test_mistakes_in_calls_are_named(digits, model):
    X, y = digits
    with pytest.raises(NotFittedError):
        GenerativeKernelPCA().sample()
    with pytest.raises(DataError, match="n_samples=0"):
        model.sample(0)
    with pytest.raises(DataError, match="label has shape \\(2,\\) for 3 samples"):
        model.sample(3, label=[1, 2])
    with pytest.raises(DataError, match="label 12 is not among the classes"):
        model.sample(3, label=12)
    with pytest.raises(DataError, match="5 columns, but the model has 30"):
        model.generate(np.zeros((2, 5)))
    with pytest.raises(DataError, match="finite hidden units"):
        model.generate(np.full((2, 30), np.nan))
    with pytest.raises(DataError, match="got 2 rows where one is needed"):
        model.interpolate(X[:2], X[0])
    with pytest.raises(DataError, match="component=30"):
        model.traverse(X[0], 30)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        GenerativeKernelPCA(2).fit(X, y[:5])
    with pytest.raises(DataError, match="y contains NaN"):
        GenerativeKernelPCA(2).fit(X, np.full(600, np.nan))
    with pytest.raises(DataError, match="smoother='ridge'"):
        model.denoise(X, smoother="ridge")
    alone = np.where(np.arange(600) == 0, "alone", "many")
    with pytest.raises(DataError, match="class 'alone' has 1 training row"):
        GenerativeKernelPCA(2).fit(X, alone).sample(label="alone")


def test_a_preimage_that_is_none_is_refused_before_the_density_is_fitted(rng):
    X = rng.standard_normal((80, 3))
    with pytest.raises(KernelError, match="preimage='nonsense'"):
        GenerativeKernelPCA.from_fitted(KernelPCA(5).fit(X), X, preimage="nonsense")
