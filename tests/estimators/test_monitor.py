"""A detector that watches a stream."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from mercer import KernelNovelty, load
from mercer.exceptions import DataError, ModelFileError, UnavailableError
from mercer.kernels import FunctionKernel, Gaussian


@pytest.fixture
def model(rng):
    return KernelNovelty(10, random_state=0).fit(rng.standard_normal((200, 3)))


def test_an_alarm_says_what_has_changed_and_when(model, rng):
    monitor = model.monitor(rng.standard_normal((300, 3)))
    calm = monitor.update(rng.standard_normal((200, 3)))
    assert not calm.alarm.any()
    assert monitor.alarm_at_ is None
    rows = rng.standard_normal((150, 3)) + np.array([0, 0, -0.8])
    found = monitor.update(rows)
    assert found.alarm[-1]
    assert monitor.alarm_at_ == 200 + found.alarm.argmax()
    assert (found.log_martingale[found.alarm.argmax()]) >= np.log(100)
    assert monitor.statistic_ == "x2"
    assert abs(monitor.since_ - 200) < 15
    columns, nearest = monitor.explain(rows[50:] * [1, 1, 3])
    assert columns.argmax() == 2
    assert nearest.shape == (100,)
    assert "alarm           at row" in repr(monitor)


def test_rows_that_come_one_by_one(model, rng):
    normal, stream = rng.standard_normal((50, 3)), rng.standard_normal((20, 3))
    whole = model.monitor(normal).update(stream)
    monitor = model.monitor(normal)
    single = [monitor.update(row[None]) for row in stream]
    assert_array_equal([one.p_values[0] for one in single], whole.p_values)
    np.testing.assert_allclose(
        [one.log_martingale[0] for one in single], whole.log_martingale, atol=1e-9
    )


@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")  # few distinct rows
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["yes or no", "two rows", "sparse"])
def test_rows_that_are_often_met_tie_when_they_come_one_by_one(kind, dtype):
    """BLAS rounds a row alone otherwise than among others, and six of six streams gave an alarm."""
    alarms = 0
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = (rng.random((1400, 4)) < 0.2) * dtype(1.1)
        if kind == "two rows":
            X = np.where(X[:, :1] > 0, [[0.1, 0.3, 0.7]], [[0.9, 0.2, 0.33]]).astype(dtype)
        X = csr_array(X) if kind == "sparse" else X
        model = KernelNovelty(10, kernel=Gaussian(0.5), random_state=0).fit(X[:600])
        monitor, whole = model.monitor(X[600:1000]), model.monitor(X[600:1000])
        p = np.concatenate([monitor.update(X[i : i + 1]).p_values for i in range(1000, 1400)])
        assert_array_equal(p, whole.update(X[1000:]).p_values)
        alarms += monitor.alarm_at_ is not None
    assert not alarms


def test_the_state_can_be_saved(model, rng, tmp_path):
    monitor = model.monitor(rng.standard_normal((50, 3)), level=0.05)
    monitor.update(rng.standard_normal((150, 3)))
    again = load(monitor.save(tmp_path / "monitor.mercer"))
    rows = rng.standard_normal((100, 3)) + 1
    for name in ("p_values", "log_martingale", "alarm"):
        parts = [getattr(each.update(rows), name) for each in (monitor, again)]
        assert_array_equal(*parts)
    assert again.alarm_at_ == monitor.alarm_at_
    assert repr(again) == repr(monitor)


def test_a_state_that_makes_no_sense_is_refused(model, rng, tmp_path):
    monitor = model.monitor(rng.standard_normal((50, 3)))
    monitor.state_.ordered[0] = monitor.state_.ordered[0, ::-1].copy()
    with pytest.raises(ModelFileError, match="not in order"):
        load(monitor.save(tmp_path / "monitor.mercer"))


def test_without_normal_rows_the_stream_itself_is_normal(model, rng):
    monitor = model.monitor()
    assert not monitor.update(rng.standard_normal((300, 3)) + 5).alarm.any()
    assert monitor.update(rng.standard_normal((100, 3)) + 7).alarm[-1]


def test_after_a_reset_there_is_a_new_chance(model, rng):
    monitor = model.monitor(rng.standard_normal((100, 3)))
    assert monitor.update(rng.standard_normal((100, 3)) + 2).alarm[-1]
    assert monitor.reset().alarm_at_ is None
    assert not monitor.update(rng.standard_normal((20, 3)) + 2).alarm.any()


def test_columns_are_called_by_their_names(rng):
    frame = pd.DataFrame(rng.standard_normal((200, 2)), columns=["flow", "heat"])
    monitor = KernelNovelty(10, random_state=0).fit(frame[:100]).monitor(frame[100:])
    monitor.update(frame[:60] + np.array([0, 2]))
    assert monitor.statistic_ in ("heat", "score", "T²")
    assert {"score", "T²", "flow", "heat", "axis 0", "axis 1"} == set(monitor.evidence_)


def test_a_sensor_that_drifts_alone_is_seen_beside_the_others_and_named(rng):
    def rows(n):
        return rng.standard_normal((n, 1)) + 0.5 * rng.standard_normal((n, 8))

    monitor = KernelNovelty(10, random_state=0).fit(rows(300)).monitor(rows(300))
    monitor.update(rows(200))
    drifted = rows(100)
    drifted[:, 2] += 0.5  # less than half a standard deviation, but that of the others is known
    monitor.update(drifted)
    assert 200 < monitor.alarm_at_ < 280
    assert monitor.statistic_ == "x2"


def test_sparse_rows_and_objects_have_components(rng):
    X = csr_array(rng.poisson(0.5, (150, 12)).astype(float))
    sparse = KernelNovelty(5, random_state=0).fit(X[:100]).monitor(X[100:])
    assert len(sparse.evidence_) == 1 + 5
    words = FunctionKernel(lambda a, b: len(set(a) & set(b)))
    texts = ["".join(rng.choice(list("abcdefgh"), 4)) for _ in range(80)]
    model = KernelNovelty(3, kernel=words, false_alarm_rate=0.1, random_state=0).fit(texts[:40])
    assert model.monitor(texts[40:60]).update(texts[60:]).p_values.shape == (20,)


def test_many_columns_are_watched_along_axes(rng):
    X = rng.standard_normal((120, 60))
    monitor = KernelNovelty(5, random_state=0).fit(X[:80]).monitor(X[80:])
    assert list(monitor.statistics_.names())[:3] == ["score", "T²", "axis 0"]
    assert len(monitor.evidence_) == 2 + 32


def test_what_is_refused(model, rng):
    X = rng.standard_normal((100, 3))
    with pytest.raises(DataError, match="was fitted to"):
        KernelNovelty(5, random_state=0).fit(X).monitor(X)
    with pytest.raises(DataError, match="level=2"):
        model.monitor(level=2)
    with pytest.raises(UnavailableError, match="made by a fitted detector"):
        model.monitor().fit(X)
