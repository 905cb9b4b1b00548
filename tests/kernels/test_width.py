"""The median width of wide rows comes from one matrix product, and is that of all distances."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from mercer import KernelPCA
from mercer.exceptions import (
    DataError,
    DegenerateKernelWarning,
    KernelError,
)
from mercer.kernels import Gaussian, width
from mercer.kernels.width import median_length
from mercer.points import Vectors
from tests.refusals import refused

rng = np.random.default_rng(0)
PLAIN = rng.standard_normal((250, 120))
TWICE = np.vstack([PLAIN, PLAIN[:40], PLAIN[:3] + 1e-14])
#: Rows, and whether the product tells their median.
TABLES = {
    "plain": (PLAIN, True),
    "float32": (PLAIN.astype(np.float32), True),
    "copies": (TWICE, True),
    "offset": (1e8 + PLAIN, True),
    "tiny": (1e-200 * PLAIN, True),
    "huge": (1e200 * PLAIN, True),
    "ties": ((PLAIN > 0).astype(float), False),
    "far": (np.vstack([PLAIN, np.full((1, 120), 1e9)]), False),
    "many copies": (np.repeat(PLAIN[:30], 8, axis=0), False),
    "narrow": (PLAIN[:, :8], False),
}


def by_all_distances(X):
    shifted = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    unit = np.abs(shifted).max()
    r2 = pdist(shifted / unit, "sqeuclidean")
    return np.sqrt(np.median(r2[r2 > 0])) * unit


@pytest.mark.parametrize("name", TABLES)
def test_the_median_is_that_of_all_distances_to_the_last_bit(name):
    X, quick = TABLES[name]
    assert (width._by_products(Vectors(X).to_unit()[0]) is not None) == quick
    assert median_length(X) == by_all_distances(X)


@pytest.mark.parametrize("seed", range(30))
def test_coarse_numbers_and_copies(seed):
    """Where distances tie or vanish by chance, an error of one place would be another distance."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((230, 100)), seed % 4) * 10.0 ** (seed % 7 - 3)
    X = np.vstack([X, X[rng.integers(0, 230, seed)]])
    assert median_length(X) == by_all_distances(X)


def test_pairs_that_coincide_are_told():
    with pytest.warns(DegenerateKernelWarning, match="pairs of rows coincide"):
        median_length(np.vstack([PLAIN[:3], np.zeros((300, 120))]))


class TestWidthsOfAFit:
    rows = PLAIN[:40, :3]

    @pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf, "wide"])
    def test_rejected(self, gamma):
        refused(KernelError, "gamma", self.rows, KernelPCA(2, kernel=Gaussian(gamma=gamma)))

    def test_zero_is_said_before_it_fails(self):
        with pytest.warns(DegenerateKernelWarning, match="constant"):
            refused(DataError, "no variance", self.rows, KernelPCA(2, kernel=Gaussian(gamma=0)))

    def test_the_median_of_duplicates_falls_back_and_says_so(self):
        rows = np.concatenate([np.zeros((30, 2)), np.eye(2)])
        with pytest.warns(DegenerateKernelWarning, match="coincide"):
            model = KernelPCA(1).fit(rows)
        assert 0 < model.kernel_.gamma < np.inf
