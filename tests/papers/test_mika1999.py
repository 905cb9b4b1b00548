"""The numbers of Mika et al. 1999, cell by cell; the whole tables behind ``-m slow``."""

import numpy as np
import pytest

from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.papers import mika1999
from mercer.papers.mika1999 import PAPER_TABLE1, figure1, gaussians, table1
from mercer.papers.mika1999_digits import factors, usps
from mercer.preimage import FixedPoint

# Lower bars for medians of ten draws: a right implementation misses any of the 45 once in a hundred
# runs; uncentred models miss 28 of them, and models without the mean in gamma 24.
BARS = {
    0.05: (1600, 1050, 690, 400, 235, 138, 88, 69, 64),
    0.1: (3.5, 2.8, 2.5, 2.2, 1.8, 1.8, 1.8, 2.2, 4.0),
    0.2: (0.96, 1.03, 1.25, 1.58, 2.07, 2.72, 3.65, 4.9, 6.2),
    0.4: (1.05, 1.17, 1.34, 1.52, 1.73, 1.90, 2.06, 2.20, 2.34),
    0.8: (1.09, 1.25, 1.40, 1.54, 1.70, 1.84, 1.98, 2.11, 2.24),
}


def test_linear_pca_of_few_wide_rows_draws_no_random_numbers(rng):
    X = rng.standard_normal((600, 100))
    first, second = (mika1999.linear_denoise(X, X, 5) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_two_rows_of_table_1_on_three_draws():
    found = table1(3, sigmas=(0.4, 0.8))["fixed point"]
    for sigma in (0.4, 0.8):
        # Three draws scatter a little more than ten.
        assert (np.median(found[sigma], axis=0) > 0.97 * np.array(BARS[sigma])).all()


def test_uncentred_models_would_miss_the_bars():
    found = table1(3, sigmas=(0.05,), center=False)["fixed point"][0.05]
    assert (np.median(found, axis=0) < BARS[0.05]).any()


@pytest.mark.parametrize(
    ("make", "q", "bar"), [(mika1999.half_circle, 4, 0.0015), (mika1999.square, 8, 0.0032)]
)
def test_figure_1(make, q, bar):
    curve = make(np.random.default_rng(0))
    found = figure1(curve, q)
    noisy, kernel = (curve.squared_distance(found[name]) for name in ("noisy", "kernel"))
    assert kernel <= bar
    if make is mika1999.half_circle:
        assert kernel <= noisy / 7
    assert curve.coverage(found["kernel"]) > 0.9
    assert curve.squared_distance(found["linear"]) > 10 * kernel


def test_delayed_acceleration_keeps_the_points_of_table_1():
    for sigma in PAPER_TABLE1:
        data = gaussians(sigma, np.random.default_rng(3))
        model = KernelPCA(5, kernel=Gaussian(width=np.sqrt(20) * sigma)).fit(data.train)
        Z = model.transform(data.test)
        fast = FixedPoint().init(model.subspace_).solve(Z, data.test)
        slow = FixedPoint(accelerate=False, max_iter=3000).init(model.subspace_)
        slow = slow.solve(Z, data.test)
        assert fast.converged.all()
        # Sweeps in float32 count, too, and one in float64 comes after them.
        assert fast.iterations.sum() <= 0.9 * slow.iterations.sum()
        apart = np.linalg.norm(fast.points - slow.points, axis=1)
        assert (apart <= 1e-3 * np.linalg.norm(slow.points, axis=1)).mean() >= 0.995


@pytest.mark.slow
def test_table_1():
    found = table1(10)["fixed point"]
    missed = {
        (sigma, q + 1): (median, BARS[sigma][q])
        for sigma in BARS
        for q, median in enumerate(np.median(found[sigma], axis=0))
        if median < BARS[sigma][q]
    }
    assert not missed
    inside = sum(
        found[sigma][:, q].min() <= PAPER_TABLE1[sigma][q] <= found[sigma][:, q].max()
        for sigma in BARS
        for q in range(9)
    )
    assert inside >= 35  # of 45 printed numbers, between our smallest and largest of ten draws


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_usps(data_dir, seed):
    rows, _ = usps(data_dir, seed, counts=(8, 16, 32, 64, 128, 256, 512, 1024))
    gauss, speckle = (factors(rows, noise) for noise in ("gaussian 0.5", "speckle 20 %"))
    assert gauss["best/best"] >= 1.52
    assert gauss["n linear"] in (16, 32, 64)
    assert gauss["n kernel"] in (256, 512, 1024)
    assert gauss["largest same n"] >= 7.9
    assert speckle["best/best"] >= 1.11
    assert speckle["n kernel"] in (128, 256, 512)
    for noise, bar in (("gaussian 0.5", 1.64), ("speckle 20 %", 1.36), ("speckle 40 %", 1.37)):
        assert factors(rows, noise, "kernel, noise matched")["best/best"] >= bar
