"""KernelNovelty behind scikit-learn's door, and its promise on real data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binom
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from benchmarks._watch_data import sphere
from mercer import KernelNovelty, KernelPCA, SparseKernelPCA, load
from mercer.estimators import _validation
from mercer.exceptions import DataError, KernelError, MercerWarning, NotFittedError
from mercer.kernels import FunctionKernel, Gaussian, Precomputed
from mercer.model import model_of
from mercer.novelty import CrossFit, Split, neighbour_kernel
from mercer.solvers import Landmarks
from tests.sources import elsewhere

ESTIMATORS = [
    KernelNovelty(),
    KernelNovelty(5, measure="combined", random_state=0),
    KernelNovelty(solver=Landmarks(20), random_state=0),
    KernelNovelty(calibration="split", random_state=0),
]


# Tiny data in the checks rightly bring warnings about rank, width and the rate.
@parametrize_with_checks(ESTIMATORS)
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_check_estimator(estimator, check):
    check(estimator)


def ring(n, rng):
    angle = rng.uniform(0, 2 * np.pi, n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return circle + 0.05 * rng.standard_normal((n, 2))


@pytest.fixture
def X(rng):
    return ring(250, rng)


@pytest.mark.parametrize(
    ("measure", "calibration"),
    [
        ("reconstruction", "cross"),
        ("reconstruction", "split"),
        ("hotelling", "split"),
        ("combined", "split"),
    ],
)
@pytest.mark.parametrize("q", [2, 60])
def test_false_alarms_are_as_requested(measure, calibration, q, rng):
    model = KernelNovelty(
        q, false_alarm_rate=0.1, measure=measure, calibration=calibration, random_state=0
    )
    rates = []
    for _ in range(3):
        model.fit(ring(250, rng))
        rates.append((model.predict(ring(2000, rng)) == -1).mean())
    # The threshold is an order statistic of the calibration rows: its own error is binomial, too.
    error = np.sqrt(0.1 * 0.9 / (3 * len(model.calibration_rows_)))
    assert abs(np.mean(rates) - 0.1) < 4 * error


def test_training_errors_would_break_the_promise(X, rng):
    """The comparison that the calibration exists for."""
    fresh = ring(2000, rng)
    model = KernelPCA(120, kernel=Gaussian(width=0.2)).fit(X)
    naive = np.quantile(model.reconstruction_error(X), 0.9)
    assert (model.reconstruction_error(fresh) > naive).mean() > 0.3


def test_predict_and_p_values_agree(X, rng):
    model = KernelNovelty(false_alarm_rate=0.07, random_state=0).fit(X)
    Y = rng.uniform(-2, 2, (500, 2))
    assert_array_equal(model.predict(Y) == -1, model.p_values(Y) <= 0.07)
    assert_allclose(model.decision_function(Y), model.score_samples(Y) - model.offset_)


def test_held_out_training_rows_are_called_at_the_rate(X):
    model = KernelNovelty(false_alarm_rate=0.1, random_state=0).fit(X)
    assert_allclose((model.calibration_p_values_ <= 0.1).mean(), 0.1, atol=0.01)
    assert (model.predict(X) == -1).mean() < 0.1  # too kind to rows it has seen


def test_the_same_seed_gives_the_same_model(X):
    first, second = (KernelNovelty(random_state=3).fit(X).offset_ for _ in range(2))
    assert first == second


def test_float32_stays(X):
    model = KernelNovelty(random_state=0).fit(X.astype(np.float32))
    assert model.score_samples(X[:5].astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    "pca",
    [KernelPCA(20), KernelPCA(20, solver=Landmarks(60)), SparseKernelPCA(kernel=Gaussian())],
    ids=["exact", "landmarks", "sparse"],
)
def test_on_a_fitted_model(pca, X, rng):
    model = KernelNovelty.from_fitted(pca.fit(X), ring(300, rng), false_alarm_rate=0.1)
    assert_array_equal(model.predict([[1.0, 0.0], [0.0, 0.0]]), [1, -1])
    assert abs((model.predict(ring(3000, rng)) == -1).mean() - 0.1) < 0.06


def test_strings(rng):
    """Words of vowels are normal; the kernel counts common letters."""

    def common(x, y):
        return float(sum(min(x.count(c), y.count(c)) for c in set(x)))

    words = ["".join(rng.choice(list("aeiou"), 6)) for _ in range(40)]
    model = KernelNovelty(4, kernel=FunctionKernel(common), random_state=0).fit(words)
    assert_array_equal(model.predict(["aeioua", "zzzzzz"]), [1, -1])
    with pytest.raises(KernelError, match="no variables"):
        model.contributions(["aeioua"])


@pytest.mark.parametrize("rate", [0, 1, -0.1, np.nan])
def test_rates_outside_zero_to_one(rate, X):
    with pytest.raises(DataError, match="between 0 and 1"):
        KernelNovelty(false_alarm_rate=rate).fit(X)


@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
@pytest.mark.parametrize("calibration", ["cross", "split"])
@pytest.mark.parametrize("n", [4, 10, 19, 20, 21, 50])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_predict_is_the_p_value_for_few_rows_ties_and_duplicates(n, calibration, dtype, rng):
    fresh = np.concatenate([ring(100, rng), np.round(ring(100, rng)), [[9.0, 9.0]]]).astype(dtype)
    for rows in (ring(n, rng), np.round(ring(n, rng)), ring(4, rng)[rng.integers(4, size=n)]):
        X = rows.astype(dtype) + np.eye(n, 2, dtype=dtype)  # never all the same
        for rate in (0.01, 0.05, 1 / 11, 0.1, 0.2, 0.5):
            model = KernelNovelty(
                false_alarm_rate=rate, calibration=calibration, random_state=0
            ).fit(X)
            new = model.p_values(fresh) <= rate
            assert_array_equal(model.predict(fresh) == -1, new)
            assert_array_equal(model.decision_function(fresh) < 0, new)
            assert not np.isnan(model.decision_function(fresh)).any()
            assert_array_equal(-model.score_samples(fresh) > -model.offset_, new)


def test_a_rate_too_fine_for_the_rows_is_said_once_and_nothing_is_flagged(X, tmp_path):
    model = KernelNovelty(3, false_alarm_rate=0.1, calibration="split", random_state=0)
    with pytest.warns(MercerWarning) as said:
        model.fit(X[:20])
    (message,) = [str(w.message) for w in said]
    assert "5 calibration rows cannot promise a false-alarm rate of 0.1" in message
    assert "at least 9" in message
    assert "0.167" in message
    far = [[0.0, 0.0], [1e9, 1e9]]
    assert model.offset_ == -np.inf
    assert_array_equal(model.predict(far), [1, 1])
    assert_array_equal(model.decision_function(far), [np.inf, np.inf])
    assert (model.score_samples(far) < model.score_samples(X[:20]).max()).all()
    again = load(model.save(tmp_path / "few.mercer"))
    assert again.offset_ == -np.inf
    assert_array_equal(again.predict(far), [1, 1])
    pca = KernelPCA(3).fit(X[:100])
    with pytest.warns(MercerWarning, match="18 calibration rows.*at least 19"):
        detector = KernelNovelty.from_fitted(pca, X[100:118])
    assert_array_equal(detector.predict(far), [1, 1])


@pytest.mark.parametrize("measure", ["hotelling", "combined"])
def test_t_squared_is_not_cross_fitted(measure, rng):
    X = rng.standard_normal((200, 3))
    model = KernelNovelty(3, measure=measure, random_state=0)
    aside = [len(model.fit(X[:n]).calibration_rows_) for n in (38, 60, 200)]
    assert aside == [19, 19, 50]  # 19 can promise 5 %
    for cross in ("cross", CrossFit(5)):
        with pytest.raises(DataError, match=r"cross-fitting.*T².*calibration='split'"):
            model.set_params(calibration=cross).fit(X)
    # Where a share sets the threshold nothing is promised, and all calm rows are learnt.
    found = model.set_params(calibration="auto", contamination=0.1).fit(X)
    assert found.subspace_.n_support == 160


def test_folds_are_fitted_as_the_final_model_is(rng):
    """Scores depend on the number of components: each fold has that of the final model."""
    counts = []

    class Spy(CrossFit):
        def calibrate(self, learn, X, rng):
            def spied(rows, like=None):
                score = learn(rows, like)
                counts.append((score.subspace.n_components, score.subspace.kernel))
                return score

            return super().calibrate(spied, X, rng)

    KernelNovelty(calibration=Spy(), random_state=0).fit(rng.standard_normal((52, 3)))
    assert len(counts) == 11
    assert all(count == counts[0][0] and kernel is counts[0][1] for count, kernel in counts)


def test_rows_set_aside_do_not_even_choose_the_width(rng):
    X = rng.standard_normal((80, 2))
    model = KernelNovelty(3, calibration="split", false_alarm_rate=0.1, random_state=0).fit(X)
    others = np.setdiff1d(np.arange(80), model.calibration_rows_)
    assert_allclose(model.kernel_.length, neighbour_kernel(X[others]).length)


class Bare(BaseEstimator):
    """Of another library, with a subspace and nothing else."""

    def fit(self, X, y=None):
        return self


def test_mistakes_are_named(X):
    with pytest.raises(DataError, match="measure='error'"):
        KernelNovelty(measure="error").fit(X)
    with pytest.raises(KernelError, match="precomputed"):
        KernelNovelty(kernel=Precomputed()).fit(X @ X.T)
    with pytest.raises(NotFittedError):
        KernelNovelty().p_values(X)
    bare = Bare()
    bare.subspace_ = KernelPCA(2).fit(X).subspace_
    with pytest.raises(DataError, match="explained_variance_"):
        KernelNovelty.from_fitted(bare, X, measure="hotelling")


def test_digits_are_told_apart():
    digits = load_digits()
    X, normal = digits.data / 16, digits.target == 3
    threes = np.random.default_rng(0).permutation(X[normal])
    train, fresh = threes[:120], threes[120:]
    model = KernelNovelty(40, random_state=0).fit(train)
    scores = -model.score_samples(np.concatenate([fresh, X[~normal]]))
    is_new = np.repeat([0, 1], [len(fresh), (~normal).sum()])
    assert roc_auc_score(is_new, scores) > 0.99


@pytest.mark.slow
@pytest.mark.parametrize("q", [5, 50, 200])
@pytest.mark.parametrize("digit", [3, 8])
def test_calibration_on_real_digits(q, digit, data_dir):
    """Mean over splits within the binomial error of one test set, at three rates."""
    usps = np.load(data_dir / "usps.npz")
    X = np.concatenate([usps["X_train"], usps["X_test"]]) / 1000
    X = X[np.concatenate([usps["y_train"], usps["y_test"]]) == digit]
    rates, observed = (0.01, 0.05, 0.1), []
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(X))
        model = KernelNovelty(q, random_state=seed).fit(X[order[:400]])
        p = model.p_values(X[order[400:]])
        observed.append([(p <= rate).mean() for rate in rates])
    n_test = len(X) - 400
    for rate, mean in zip(rates, np.mean(observed, axis=0), strict=True):
        low, high = binom.interval(0.99, n_test, rate)
        assert low <= n_test * mean <= high


def test_strategies_are_parameters():
    model = KernelNovelty(calibration=CrossFit(5))
    assert model.set_params(calibration__folds=7).calibration.folds == 7
    assert clone(KernelNovelty(calibration=Split(0.5))).calibration.share == 0.5


@pytest.mark.parametrize("how", [{}, {"calibration": "split"}, {"contamination": "auto"}], ids=str)
def test_a_detector_keeps_what_was_learnt(how, X, tmp_path):
    """Spectrum, report and number of rows, as every estimator; in its file, too."""
    model = KernelNovelty(8, random_state=0, **how).fit(X)
    for one in (model, load(model.save(tmp_path / "m.mercer"))):
        kept = model_of(one)
        assert kept.subspace is one.subspace_
        assert one.subspace_.n_components == 8 == len(one.eigenvalues_)
        assert_allclose(one.eigenvalues_ / kept.n_rows, one.explained_variance_)
        assert 0 < one.explained_variance_ratio_.sum() <= 1
        assert one.report_.converged
        assert one.report_.audited is not None
        learnt = len(X) if not how else one.subspace_.n_support
        assert kept.n_rows == learnt


def test_a_detector_on_a_foreign_model_tells_what_that_one_tells(X, rng):
    class Bare(BaseEstimator):
        def fit(self, X):
            self.subspace_ = KernelPCA(5).fit(X).subspace_
            return self

    model = KernelNovelty.from_fitted(Bare().fit(X), ring(60, rng))
    assert not hasattr(model, "report_")
    assert not hasattr(model, "eigenvalues_")
    assert model_of(model).n_rows == 0
    assert model.relevance(X).overall.shape == (2,)


@pytest.mark.parametrize("ask", ["relevance", "uncertainty"])
def test_a_detector_reads_rows_from_a_file(ask, X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    model = KernelNovelty(4, random_state=0).fit(X)
    found, expected = (getattr(model, ask)(rows) for rows in (tmp_path / "x.npy", X))
    of = (lambda one: one.overall) if ask == "relevance" else (lambda one: one.shares.low)
    assert_allclose(of(found), of(expected), rtol=1e-10)


def test_what_a_fitted_detector_can_do_rests_on_its_fit(X):
    """A parameter for the next fit takes nothing away from this one."""
    model = KernelNovelty(4, random_state=0).fit(X)
    words = FunctionKernel(lambda a, b: float(a == b))
    assert model.set_params(kernel=words).contributions(X[:2]).shape == (2, 2)
    assert not hasattr(clone(model), "contributions")


def rows_of_levels(rng, n, spread):
    """Most rows are nearly all ones, and one in eight has levels of its own, as in biopsies."""
    X = np.where(rng.random((n, 9)) < 0.2, 2.0, 1.0)
    own = rng.random(n) < 0.12
    X[own] = rng.integers(1, spread, (int(own.sum()), 9))
    return X


def test_the_default_width_sees_where_rows_are_far_apart():
    """Benign biopsies: 9 % of them were out of the kernel's reach, and nothing was ever new."""
    rng = np.random.default_rng(0)
    X, far = rows_of_levels(rng, 260, 6), np.full((1, 9), 10.0)
    assert KernelNovelty(random_state=0).fit(X).predict(far) == -1


@pytest.mark.parametrize("seed", range(3))
def test_most_rows_have_another_one_within_reach_of_the_default_width(seed):
    rng = np.random.default_rng(seed)
    heavy = rng.standard_normal((200, 5)) / np.sqrt(rng.chisquare(2, (200, 1)) / 2)
    for X in (heavy, rows_of_levels(rng, 260, 6), rng.standard_normal((30, 40))):
        apart = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)) + np.diag(np.full(len(X), np.inf))
        assert (apart.min(axis=1) <= 1.500001 * neighbour_kernel(X).length).mean() >= 0.93


def test_a_width_that_sees_nothing_is_reported():
    rng = np.random.default_rng(0)
    X, far = rows_of_levels(rng, 260, 6), np.full((1, 9), 10.0)
    with pytest.warns(MercerWarning, match=r"call no row an outlier.* wider kernel"):
        blind = KernelNovelty(kernel=Gaussian(width=0.3), random_state=0).fit(X)
    assert blind.predict(far) == 1
    detector = KernelNovelty(kernel="gaussian", random_state=0).fit(X)
    assert detector.predict(far) == -1
    assert detector.score_.reach == pytest.approx(-detector.score_samples(far + 1e3)[0])


@pytest.mark.parametrize(
    ("rate", "aside"), [(0.05, 300), (0.002, 499), (0.0005, 1_200)], ids=["quarter", "more", "all"]
)
def test_many_rows_are_set_aside_as_far_as_the_rate_allows(rate, aside):
    X = np.random.default_rng(0).standard_normal((1_200, 3))
    model = KernelNovelty(5, false_alarm_rate=rate, random_state=0)
    if aside == len(X):  # more than half of the rows: cross-fitting calibrates on all
        with pytest.warns(MercerWarning, match="1200 calibration rows cannot promise"):
            model.fit(X)
    else:
        model.fit(X)
    assert len(model.calibration_rows_) == aside


def test_rows_with_many_columns_get_the_rate_that_was_asked_for():
    """Cross-fitted, 5 % were 2 % here: every further row still teaches the model."""
    flagged = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        model = KernelNovelty(random_state=seed).fit(sphere(1_200, rng))
        flagged.append((model.p_values(sphere(1_000, rng)) <= 0.05).mean())
    assert 0.03 < np.mean(flagged) < 0.07


@pytest.mark.parametrize("kind", ["npy", "dask"])
def test_many_rows_are_learnt_where_they_are(kind, tmp_path, rng, monkeypatch):
    X = rng.standard_normal((4000, 3))
    expected = KernelNovelty(random_state=0).fit(X)
    rows = elsewhere(kind, X, tmp_path)
    monkeypatch.setattr(
        _validation, "available_bytes", lambda: X.nbytes
    )  # of which half is allowed
    assert not KernelNovelty().plan(rows).loads
    found = KernelNovelty(random_state=0).fit(rows)
    assert_array_equal(found.calibration_rows_, expected.calibration_rows_)
    # Rows in memory are summed in float32.
    assert_allclose(found.conformal_.scores, expected.conformal_.scores, atol=2e-5)
    assert_allclose(found.score_samples(X), expected.score_samples(X), atol=2e-5)
    for options in ({"calibration": "cross"}, {"contamination": 0.1}, {"solver": "dense"}):
        assert KernelNovelty(**options).plan(rows).loads
        with pytest.raises(DataError, match="would take"):
            KernelNovelty(**options).fit(rows)


def test_a_row_that_is_refused_is_named_by_its_place_in_the_file(tmp_path, rng):
    X = rng.standard_normal((4000, 3))
    X[3990, 1] = np.nan
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(DataError, match="row 3990"):
        KernelNovelty(random_state=0).fit(tmp_path / "x.npy")
