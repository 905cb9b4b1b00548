"""The regression that is chosen on drawn points: steady where leave-one-out is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from mercer import GenerativeKernelPCA, KernelPCA
from mercer.exceptions import DataError, KernelError
from mercer.generative import LocalRidge, as_generator_preimage
from mercer.kernels import FunctionKernel, Gaussian
from mercer.papers.schreurs2018 import circle_and_lines
from mercer.preimage import Ridge, as_preimage
from mercer.testing import check_preimage


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
    assert isinstance(as_generator_preimage("ridge"), LocalRidge)
    assert isinstance(as_generator_preimage(Ridge()), Ridge)
    assert isinstance(as_generator_preimage("nearest"), type(as_preimage("nearest")))


def test_mistakes_are_named(rng):
    model = KernelPCA(2).fit(rng.standard_normal((9, 2)))
    with pytest.raises(DataError, match="n_neighbors=0"):
        LocalRidge(0).init(model.subspace_)
    objects = KernelPCA(1, kernel=FunctionKernel(lambda a, b: len(set(a) & set(b))))
    with pytest.raises(KernelError, match="nearest"):
        LocalRidge().init(objects.fit(["abc", "abd", "xyz"]).subspace_)
