"""The promise of conformal p-values, as a property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from mercer.exceptions import DataError
from mercer.novelty import Conformal
from mercer.novelty.calibration import rows_needed

# Whole numbers bring ties.
SCORES = st.lists(st.integers(-5, 20), min_size=1, max_size=60).map(lambda s: np.array(s, float))
RATES = st.one_of(st.floats(0.001, 0.999), st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.5]))


SLACKS = st.sampled_from([0.0, 1e-12, 0.3, 1.0])


@given(SCORES, RATES, SLACKS, st.sampled_from([np.float64, np.float32]))
def test_threshold_and_p_value_say_the_same(scores, rate, slack, dtype):
    """For every number of scores and every rate, also one too fine for them, bit for bit."""
    fair = Conformal.of((scores / 7).astype(dtype), slack)
    near = np.concatenate([fair.bounds, fair.scores, [fair.scores[-1] + 9]]).astype(dtype)
    points = np.concatenate([near, np.nextafter(near, dtype(99)), np.nextafter(near, dtype(-99))])
    assert_array_equal(points > fair.threshold(rate), fair.p_values(points) <= rate)


@pytest.mark.parametrize("n", [1, 4, 8, 18])
def test_a_rate_too_fine_for_the_scores_lets_nothing_through(n):
    fair = Conformal.of(np.arange(float(n)))
    assert fair.threshold(np.nextafter(1 / (n + 1), 0)) == np.inf
    assert fair.threshold(1 / (n + 1)) == n - 1
    assert fair.threshold(1.0) == -np.inf


@given(SCORES, RATES, SLACKS)
def test_false_alarms_never_exceed_the_request(scores, rate, slack):
    """Exactly, over all the ways to single out one of n + 1 exchangeable scores."""
    alarms = 0
    for i in range(len(scores)):
        others = np.delete(scores, i)
        if len(others):
            alarms += scores[i] > Conformal.of(others, slack).threshold(rate)
    assert alarms <= rate * len(scores) + 1e-9


@given(st.one_of(st.floats(1e-9, 0.999), st.integers(2, 200).map(lambda n: 1 / n)))
def test_rows_needed_are_the_fewest_that_will_do(rate):
    n = rows_needed(rate)
    assert 1 / (n + 1) <= rate
    assert n == 1 or 1 / n > rate


@given(SCORES)
def test_p_values_fall_with_the_score(scores):
    p = Conformal.of(scores).p_values(np.sort(np.concatenate([scores, [-9.0, 99.0]])))
    assert (np.diff(p) <= 0).all()
    assert p[0] == 1
    assert_allclose(p[-1], 1 / (len(scores) + 1))


def test_no_scores():
    with pytest.raises(DataError, match="at least one"):
        Conformal.of(np.empty(0))
