"""The landmark view of the matrix: worth starting from, also in float32."""

import numpy as np
import pytest

from mercer.gram import StreamedGram, whiten
from mercer.gram.low_rank import _landmarks
from mercer.kernels import Gaussian
from mercer.points import Vectors

SMOOTH = Gaussian(sigma=2.0)


def with_small_groups(seed):
    """Five thousand rows, and three groups of eight far away."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([[50.0, 0.0], [-50.0, 0.0], [0.0, 50.0]], 8, axis=0)
    return np.vstack([rng.standard_normal((5000, 2)), groups + 0.01 * rng.standard_normal((24, 2))])


@pytest.mark.parametrize("seed", range(3))
def test_landmarks_reach_small_groups(seed):
    X = with_small_groups(seed)
    Z = _landmarks(SMOOTH, Vectors(X), 100, np.random.default_rng(seed)).rows
    for group in ([50, 0], [-50, 0], [0, 50]):
        assert np.abs(Z - group).max(axis=1).min() < 1


def test_float32_entries_give_the_same_leading_spectrum():
    """A smooth kernel's landmarks are nearly dependent: whitened as far as float64 allows, the
    rounding of float32 entries would become eigenvalues a hundred times the largest."""
    X = with_small_groups(0)
    double, single = (
        StreamedGram.from_rows(SMOOTH, X, np.float64, tile)
        .low_rank(250, np.random.default_rng(0))
        .spectrum()[0]
        for tile in (np.float64, np.float32)
    )
    np.testing.assert_allclose(single[:20], double[:20], rtol=1e-2)


@pytest.mark.parametrize("floor", [1e-12, 1e-6])
def test_whitening_leaves_out_what_has_no_variance(floor):
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((6, 6)))
    K = (Q * [1.0, 0.1, 1e-3, 2e-6, 5e-7, 1e-14]) @ Q.T
    R = whiten(K, floor)
    assert R.shape[1] == (5 if floor == 1e-12 else 4)
    np.testing.assert_allclose(R.T @ K @ R, np.eye(R.shape[1]), atol=1e-6)
