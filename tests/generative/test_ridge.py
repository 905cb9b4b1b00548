"""The regression that is chosen on drawn points: steady where leave-one-out is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.base import clone

import mercer
from mercer import GenerativeKernelPCA, KernelPCA
from mercer.exceptions import DataError, KernelError
from mercer.generative import LocalRidge, as_generator_preimage
from mercer.kernels import FunctionKernel, Gaussian
from mercer.papers.schreurs2018 import circle_and_lines
from mercer.preimage import Ridge, as_preimage
from mercer.testing import check_preimage
from tests.io.model_file.forge import forge


def test_draws_stay_near_the_data_where_leave_one_out_lets_them_go(rng):
    """A kernel much narrower than the scene, with few components: scores with large gaps."""
    X = circle_and_lines("vertical", rng).points
    model = GenerativeKernelPCA(8, kernel=Gaussian(gamma=2.5), random_state=0).fit(X)
    steady = cdist(model.sample(300), X).min(axis=1).mean()
    loose = cdist(model.set_params(preimage=Ridge()).sample(300), X).min(axis=1).mean()
    assert steady < 0.15
    assert loose > 3 * steady


def test_smooth_data_are_reconstructed(rng):
    t = rng.uniform(0, 3, 200)
    X = np.column_stack([t, np.sin(t)])
    model = KernelPCA(10, preimage=LocalRidge()).fit(X)
    assert np.abs(model.reconstruct(X) - X).max() < 0.02


def test_contract_of_a_preimage():
    check_preimage(LocalRidge())


def test_few_and_equal_rows(rng):
    X = rng.standard_normal((3, 2))
    model = GenerativeKernelPCA(1, random_state=0).fit(X)
    assert np.isfinite(model.sample(5)).all()
    doubled = GenerativeKernelPCA(2, random_state=0).fit(np.repeat(X, 20, axis=0))
    assert np.isfinite(doubled.sample(5)).all()


def test_float32_is_chosen_in_float64(rng):
    X = rng.standard_normal((100, 2))
    Z = KernelPCA(5).fit(X).transform(X)
    models = [KernelPCA(5, preimage=LocalRidge()).fit(X.astype(t)) for t in (np.float32, float)]
    single, double = (model.inverse_transform(Z) for model in models)
    assert single.dtype == np.float32
    assert_allclose(single, double, atol=0.05)


def test_only_the_word_ridge_is_changed():
    assert as_generator_preimage("ridge").n_neighbors == 10
    assert as_generator_preimage(Ridge()).n_neighbors is None
    assert isinstance(as_generator_preimage("nearest"), type(as_preimage("nearest")))


def test_one_class(rng):
    """The other name makes it, and takes what was given to the class that it was."""
    assert type(LocalRidge(5)) is Ridge
    assert clone(LocalRidge(5)).get_params() == {"kernel": None, "alpha": None, "n_neighbors": 5}


def test_what_is_given_is_not_chosen(rng):
    """A penalty or a kernel of one's own, steady or not."""
    model = KernelPCA(3).fit(rng.standard_normal((60, 2)))
    kernel = Gaussian(gamma=0.5)
    for n_neighbors in (None, 8):
        solver = Ridge(alpha=0.1, n_neighbors=n_neighbors)
        assert solver.init(model.subspace_).alpha == 0.1
        solver = Ridge(kernel, n_neighbors=n_neighbors)
        assert solver.init(model.subspace_).basis.kernel == kernel


def test_files_of_the_other_class_are_read(rng, tmp_path):
    def rename(header, model, payload):
        preimage = model["with"]["preimage"]
        preimage["object"] = "generative.LocalRidge"
        del preimage["with"]["kernel"], preimage["with"]["alpha"]

    X = rng.standard_normal((60, 2))
    model = KernelPCA(8, preimage=LocalRidge(7)).fit(X)
    path = forge(model.save(tmp_path / "new.mercer"), tmp_path / "old.mercer", rename)
    old = mercer.load(path)
    assert_allclose(old.reconstruct(X), model.reconstruct(X))
    assert old.preimage.n_neighbors == 7


def test_mistakes_are_named(rng):
    model = KernelPCA(2).fit(rng.standard_normal((9, 2)))
    with pytest.raises(DataError, match="n_neighbors=0"):
        LocalRidge(0).init(model.subspace_)
    objects = KernelPCA(1, kernel=FunctionKernel(lambda a, b: len(set(a) & set(b))))
    with pytest.raises(KernelError, match="nearest"):
        LocalRidge().init(objects.fit(["abc", "abd", "xyz"]).subspace_)
