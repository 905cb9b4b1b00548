"""Outliers among the training rows do not become normal."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import roc_auc_score

from mercer import KernelNovelty, KernelPCA, load
from mercer.exceptions import DataError
from mercer.kernels import FunctionKernel, Gaussian
from mercer.novelty import calm_rows, novelty_score, outlier_threshold
from mercer.novelty.calibration import TAIL, _from_mean
from mercer.points import Vectors
from tests import naive


def with_cluster(rng, n=300, share=0.1):
    """Normal rows, and outliers that stand close together."""
    X = rng.standard_normal((n, 4))
    is_out = np.arange(n) < round(share * n)
    X[is_out] = 5 + 0.3 * rng.standard_normal((is_out.sum(), 4))
    order = rng.permutation(n)
    return X[order], is_out[order]


@pytest.mark.parametrize("contamination", ["auto", 0.1, 0.02])
def test_a_cluster_of_outliers_is_found(contamination, rng):
    X, is_out = with_cluster(rng)
    model = KernelNovelty(contamination=contamination, random_state=0)
    labels = model.fit_predict(X)
    assert roc_auc_score(is_out, -model.score_samples(X)) > 0.99
    if contamination == "auto":
        assert (labels[is_out] == -1).all()
        assert (labels[~is_out] == -1).mean() < 0.05
    else:
        assert (labels == -1).sum() == round(contamination * len(X))
    assert_array_equal(labels, model.predict(X))
    if contamination == 0.02:  # fewer than there are: the others are in the yardstick
        return
    new = rng.standard_normal((500, 4))
    assert (model.p_values(5 + 0.3 * rng.standard_normal((20, 4))) < 0.02).all()
    # Rows that were called outliers by mistake are missing from the yardstick: the bound is wider.
    assert (model.p_values(new) <= 0.1).mean() < 0.1 + 0.1


def test_taken_for_normal_they_hide_each_other(rng):
    """Why the parameter exists."""
    X, is_out = with_cluster(rng)
    plain = KernelNovelty(random_state=0).fit(X)
    assert roc_auc_score(is_out, -plain.score_samples(X)) < 0.6


def test_clean_rows_lose_little(rng):
    X = rng.standard_normal((400, 3))
    model = KernelNovelty(contamination="auto", random_state=0).fit(X)
    assert (model.predict(X) == -1).mean() < 0.08
    assert (model.predict(rng.standard_normal((1000, 3))) == -1).mean() < 0.1
    assert_array_equal(model.predict([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]]), [1, -1])


def test_saved_and_loaded(rng, tmp_path):
    X, _ = with_cluster(rng)
    model = KernelNovelty(contamination=0.1, random_state=0).fit(X)
    again = load(model.save(tmp_path / "m.mercer"))
    assert_array_equal(again.predict(X), model.predict(X))
    assert again.contamination == 0.1


@pytest.mark.parametrize("calibration", ["cross", "split"])
def test_calibration_rows_are_ordered_and_unseen(calibration, rng):
    X, _ = with_cluster(rng)
    model = KernelNovelty(contamination=0.1, calibration=calibration, random_state=0).fit(X)
    rows = model.calibration_rows_
    assert (np.diff(rows) > 0).all()
    assert len(rows) == len(model.calibration_p_values_) == len(model.conformal_.scores)
    assert not (model.predict(X[rows]) == -1).any()


@pytest.mark.parametrize("share", [0, -0.1, 0.6, np.nan, "some", True])
def test_shares_that_make_no_sense(share, rng):
    with pytest.raises(DataError, match=r"\(0, 0.5\], 'auto', or None"):
        KernelNovelty(contamination=share).fit(rng.standard_normal((30, 2)))


def test_the_first_look_is_the_distance_from_the_mean(rng):
    X = rng.standard_normal((20, 3))
    k = naive.gaussian(0.3)
    K = naive.gram(k, X, X)
    expected = [1 - 2 * np.mean([K[i][j] for j in range(20)]) for i in range(20)]
    np.testing.assert_allclose(_from_mean(Gaussian(gamma=0.3), Vectors(X)), expected, rtol=1e-12)


def test_half_of_the_rows_is_kept_at_least(rng):
    X = rng.standard_normal((100, 2))
    seen = []

    def learn(rows):
        seen.append(len(rows))
        return lambda Y: np.abs(Y[:, 0])

    assert len(calm_rows(learn, None, X, "auto")) == seen[-1] == 80
    assert len(calm_rows(learn, None, X, 0.05)) == 80
    assert len(calm_rows(learn, None, X, 0.4)) == 50


def test_thresholds(rng):
    X = rng.standard_normal((60, 2))
    model = KernelPCA(2, kernel="linear").fit(X)
    score = novelty_score("hotelling", model.subspace_, model.explained_variance_)
    assert outlier_threshold(score, np.arange(1.0, 101.0), 0.05) == 95.0
    waiting = rng.exponential(size=20_000)
    assert abs((waiting > outlier_threshold(score, waiting, "auto")).mean() - TAIL) < 0.003


def test_a_saturated_score_still_has_a_threshold(rng):
    model = KernelPCA(2, kernel=Gaussian(sigma=0.5)).fit(rng.standard_normal((50, 2)))
    score = novelty_score("reconstruction", model.subspace_, model.explained_variance_)
    (limit,) = score(np.array([[1e6, 1e6]]))
    assert outlier_threshold(score, rng.uniform(0.5, 0.99, 100) * limit, "auto") < limit


def test_objects(rng):
    def common(x, y):
        return float(sum(min(x.count(c), y.count(c)) for c in set(x)))

    words = ["".join(rng.choice(list("aeiou"), 6)) for _ in range(57)] + ["zzzzzz", "zzyzzz", "xxz"]
    model = KernelNovelty(3, kernel=FunctionKernel(common), contamination=0.05, random_state=0)
    assert set(np.flatnonzero(model.fit_predict(words) == -1)) <= {57, 58, 59}
