"""The slow second opinion sees what is planted, and leaves the rows alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import KernelPCA
from mercer.exceptions import DataError
from mercer.kernels import Gaussian
from mercer.relevance import permutation, subspace_angles


@pytest.fixture(scope="module")
def planted():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 120)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.column_stack([0.2 * rng.standard_normal((120, 3)), ring])


def test_planted_variables_come_first(planted):
    model = KernelPCA(3, kernel=Gaussian(gamma=0.7)).fit(planted)
    before = planted.copy()
    found = permutation(model, planted, repeats=3, random_state=0)
    assert_allclose(planted, before)
    assert found.drops.shape == found.angles.shape == (3, 5)
    assert found.drop[3:].min() > 5 * np.abs(found.drop[:3]).max()
    assert found.angle[3:].min() > 1.5 * found.angle[:3].max()
    share = float(model.explained_variance_ratio_.sum())
    assert_allclose(found.share, share, rtol=1e-8)


def test_the_same_seed_gives_the_same_answer(planted):
    model = KernelPCA(2).fit(planted)
    a, b = (permutation(model, planted, repeats=1, random_state=3) for _ in range(2))
    assert_allclose(a.drops, b.drops)


def test_angles_of_a_subspace_with_itself_and_with_another(planted):
    model = KernelPCA(4, kernel="linear").fit(planted)
    same = subspace_angles(model.subspace_, model.subspace_)
    assert_allclose(same, 0, atol=1e-6)
    first, second = np.eye(5)[:2], np.eye(5)[2:4]
    rng = np.random.default_rng(0)
    a = KernelPCA(2, kernel="linear").fit(rng.standard_normal((50, 2)) @ first)
    b = KernelPCA(2, kernel="linear").fit(rng.standard_normal((50, 2)) @ second)
    assert_allclose(np.degrees(subspace_angles(a.subspace_, b.subspace_)), 90)


def test_wrong_calls(planted):
    model = KernelPCA(2).fit(planted)
    with pytest.raises(DataError, match="repeats=0"):
        permutation(model, planted, repeats=0)
    with pytest.raises(DataError, match="5 variables"):
        permutation(model, planted[:, :3])
