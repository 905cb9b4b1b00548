"""Scores of noisy rows are shrunk before the way back; other scores are not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import mercer
from mercer import KernelPCA
from mercer.exceptions import KernelError
from mercer.preimage import Ridge, Shrunk

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 4)) @ RNG.standard_normal((4, 9)) + RNG.standard_normal((60, 9))
NEW = RNG.standard_normal((7, 9))


def textbook(X, rows, q, power=0.5):
    """Linear PCA with singular values shrunk, as one would write it down."""
    mean = X.mean(axis=0)
    _, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
    factors = np.array([(1 - (s[q - 1] / s[k]) ** 2) ** power for k in range(q)])
    return mean + ((rows - mean) @ Vt[:q].T * factors) @ Vt[:q]


@pytest.mark.parametrize("solver", ["dense", "landmarks"])
def test_of_the_linear_kernel_it_is_shrinkage_of_singular_values(solver):
    model = KernelPCA(5, kernel="linear", solver=solver, preimage="shrunk", random_state=0).fit(X)
    for rows in (X, NEW):
        assert_allclose(model.denoise(rows), textbook(X, rows, 5), atol=1e-8)
    assert_allclose(model.preimages(NEW).points, model.denoise(NEW))
    model.set_params(preimage=Shrunk(power=1.0))
    assert_allclose(model.denoise(NEW), textbook(X, NEW, 5, power=1.0), atol=1e-8)


def test_scores_that_are_given_are_taken_at_their_word():
    shrunk, plain = (KernelPCA(5, preimage=name).fit(X) for name in ("shrunk", "auto"))
    Z = plain.transform(NEW)
    assert_array_equal(shrunk.transform(NEW), Z)
    assert_array_equal(shrunk.inverse_transform(Z), plain.inverse_transform(Z))
    assert_array_equal(shrunk.reconstruct(NEW), plain.reconstruct(NEW))
    assert np.abs(shrunk.denoise(NEW) - plain.denoise(NEW)).max() > 1e-3
    assert shrunk.score(NEW) != plain.score(NEW)


def test_a_saved_model_shrinks_as_before(tmp_path):
    model = KernelPCA(5, preimage=Shrunk(Ridge(alpha=0.1), power=1.0)).fit(X)
    again = mercer.load(model.save(tmp_path / "m.mercer"))
    assert (again.preimage.preimage.alpha, again.preimage.power) == (0.1, 1.0)
    assert_array_equal(again.denoise(NEW), model.denoise(NEW))


def test_a_method_that_does_not_fit_the_kernel_says_so():
    with pytest.raises(KernelError, match="FixedPoint needs"):
        Shrunk("fixed_point").check_kernel(mercer.kernels.Linear())
