"""Batches beside a reference."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.stats import binom

from benchmarks._watch_data import TABLES
from mercer import KernelDrift, load
from mercer.exceptions import DataError, KernelError
from mercer.kernels import Precomputed
from mercer.novelty import drift as drift_module


@pytest.mark.parametrize("kind", TABLES)
def test_calm_batches_keep_the_level(kind, rng):
    draw, trials = TABLES[kind], 150
    p = []
    for seed in range(3):
        model = KernelDrift(80, random_state=seed).fit(draw(800, rng))
        p += [model.test(draw(100, rng)).p_value for _ in range(trials // 3)]
    assert np.sum(np.array(p) <= 0.05) <= binom.ppf(0.999, trials, 0.05)
    assert np.mean(np.array(p) <= 0.5) > 0.3  # and it is not merely careful


def test_the_curve_is_that_of_permutations(rng):
    """Of all coordinates: the quantiles that a permutation test would find."""
    model = KernelDrift(40, random_state=0).fit(rng.standard_normal((440, 3)))
    Z = rng.multivariate_normal(np.zeros(40), np.diag(model.explained_variance_), 460)
    Z -= Z[:400].mean(axis=0)
    reference, batch = Z[:400], Z[400:]
    pooled = drift_module._pooled(batch, batch.mean(axis=0), reference.var(axis=0), 400)
    found = []
    for _ in range(2000):
        part = rng.permutation(460)
        apart = Z[part[:60]].mean(axis=0) - Z[part[60:]].mean(axis=0)
        found.append(apart @ apart)
    limit = np.quantile(found, 0.95)
    # Variances alone stand for the reference: columns of so few rows are a little correlated.
    assert drift_module._p_value(limit, pooled, 1 / 60 + 1 / 400) == pytest.approx(0.05, abs=0.02)


def test_the_statistic_is_the_distance_of_means_in_feature_space(rng):
    """With every reference row a landmark's copy, it is the dense MMD² (biased estimate)."""
    known, batch = rng.standard_normal((60, 2)), rng.standard_normal((30, 2)) + 0.5
    model = KernelDrift(60, random_state=0).fit(np.r_[known, known])
    kernel = model.kernel_
    order = np.random.default_rng(0).permutation(120)[60:]
    rest = np.r_[known, known][np.sort(order)]
    dense = kernel(rest).mean() + kernel(batch).mean() - 2 * kernel(batch, rest).mean()
    assert_allclose(model.test(batch).statistic, dense, rtol=0.05)


def test_a_shift_is_found_and_its_column_named(rng):
    frame = pd.DataFrame(rng.standard_normal((1000, 5)), columns=list("abcde"))
    model = KernelDrift(random_state=0).fit(frame)
    batch = frame[:200] + 0.0
    batch["d"] += 0.6
    found = model.test(batch)
    assert found.p_value < 1e-4
    assert model.contributions(batch).argmax() == 3
    moved = found.moved
    assert np.corrcoef(moved, batch["d"])[0, 1] > 0.5  # rows with a large d have moved most
    assert moved.mean() > 0


def test_components_of_which_float32_leaves_no_digit_have_no_say(rng):
    known, batch = rng.standard_normal((300, 3)), rng.standard_normal((100, 3)) + 0.3
    exact = KernelDrift(random_state=0).fit(known).test(batch)
    single = KernelDrift(random_state=0).fit(known.astype(np.float32))  # a warning is an error
    found = single.test(batch.astype(np.float32))
    assert found.statistic == pytest.approx(exact.statistic, rel=0.01)
    assert found.p_value == pytest.approx(exact.p_value, rel=0.02)


def test_several_batches(rng):
    model = KernelDrift(50, random_state=0).fit(rng.standard_normal((500, 2)))
    batches = [rng.standard_normal((60, 2)) + shift for shift in (0, 0, 0, 1.0)]
    found, adjusted = model.test_many(batches)
    assert [drift.p_value for drift in found][3] <= adjusted[3] < 1e-3
    assert (adjusted[:3] > 0.05).all()


def test_sparse_rows(rng):
    X = rng.poisson(0.5, (400, 20)).astype(float)
    dense, sparse = (KernelDrift(50, random_state=0).fit(part) for part in (X, csr_array(X)))
    assert_allclose(sparse.test(csr_array(X[:80])).p_value, dense.test(X[:80]).p_value, rtol=1e-6)
    assert not hasattr(sparse, "contributions")


def test_round_trip(rng, tmp_path):
    model = KernelDrift(30, random_state=0).fit(rng.standard_normal((200, 3)))
    batch = rng.standard_normal((50, 3)) + 0.3
    again = load(model.save(tmp_path / "drift.mercer"))
    assert again.test(batch).p_value == model.test(batch).p_value
    assert again.n_reference_ == 170


def test_what_is_refused(rng):
    X = rng.standard_normal((40, 2))
    with pytest.raises(DataError, match="at least 4 rows"):
        KernelDrift().fit(X[:3])
    with pytest.raises(DataError, match="at least 2 rows"):
        KernelDrift().fit(X).test(X[:1])
    with pytest.raises(DataError, match="level=1"):
        KernelDrift(level=1).fit(X)
    with pytest.raises(KernelError, match="drift"):
        KernelDrift(kernel=Precomputed()).fit(X @ X.T)
