"""Cover: from 20,000 to 200,000 rows."""

import resource
import time

import numpy as np
import pytest

from mercer import KernelPCA, SparseKernelPCA
from mercer.kernels import Gaussian
from mercer.sparse import ColumnGeneration


@pytest.fixture(scope="module")
def cover(data_dir):
    with np.load(data_dir / "odds_cover.npz") as file:
        X = file["X"].astype(np.float64)
    X = X[np.random.default_rng(0).permutation(len(X))]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def fit(X, solver="auto"):
    started = time.process_time()
    model = SparseKernelPCA(noise=0.1, solver=solver, random_state=0).fit(X)
    return model, time.process_time() - started


@pytest.mark.slow
def test_twenty_thousand_rows_and_their_certificate(cover):
    X = cover[:20_000]
    model, seconds = fit(X)
    swept, _ = fit(X, ColumnGeneration(sweeps=30))
    assert seconds <= 60
    assert 40 <= len(model.support_indices_) <= 100
    assert "certified" in swept.report_.reason
    assert swept.kkt_ <= 2.1e-3  # a gain of 1e-6 per row
    assert abs(swept.log_likelihood_ - model.log_likelihood_) / len(X) <= 1e-3


@pytest.mark.slow
def test_two_hundred_thousand_rows_in_linear_time(cover):
    _, small = fit(cover[:20_000])
    model, large = fit(cover[:200_000])
    assert large <= 90
    assert np.log10(large / small) <= 1.2
    assert 40 <= len(model.support_indices_) <= 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss <= 3 << 20  # kilobytes


@pytest.mark.slow
def test_prediction_is_fifty_times_faster(cover):
    X, new = cover[:20_000], cover[20_000:30_000]
    kernel = Gaussian().resolve(X)
    sparse = SparseKernelPCA(100, kernel=kernel, n_components=20, random_state=0).fit(X)
    full = KernelPCA(20, kernel=kernel, center=False, solver="davidson", random_state=0).fit(X)
    assert full.subspace_.n_support == 20_000
    assert sparse.subspace_.n_support == 100
    seconds = {id(model): [] for model in (sparse, full)}
    for _ in range(3):
        for model in (sparse, full):
            started = time.perf_counter()
            model.transform(new)
            seconds[id(model)].append(time.perf_counter() - started)
    assert min(seconds[id(full)]) >= 50 * min(seconds[id(sparse)])
