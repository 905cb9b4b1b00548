"""The promise of conformal p-values, as a property."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.exceptions import DataError
from mercer.novelty import Conformal

# Whole numbers bring ties.
SCORES = st.lists(st.integers(-5, 20), min_size=1, max_size=60).map(lambda s: np.array(s, float))
RATES = st.one_of(st.floats(0.001, 0.999), st.sampled_from([0.01, 0.05, 0.1, 0.2, 0.5]))


@given(SCORES, RATES)
def test_threshold_and_p_value_say_the_same(scores, rate):
    fair = Conformal.of(scores)
    points = np.concatenate([scores, scores + 0.5, [scores.max() + 1]])
    if rate >= fair.finest_rate:
        above = points > fair.threshold(rate)
        assert (above == (fair.p_values(points) <= rate + 1e-9)).all()


@given(SCORES, RATES)
def test_false_alarms_never_exceed_the_request(scores, rate):
    """Exactly, over all the ways to single out one of n + 1 exchangeable scores."""
    alarms = 0
    for i in range(len(scores)):
        others = np.delete(scores, i)
        if len(others) and rate >= Conformal.of(others).finest_rate:
            alarms += scores[i] > Conformal.of(others).threshold(rate)
    assert alarms <= rate * len(scores) + 1e-9


@given(SCORES)
def test_p_values_fall_with_the_score(scores):
    p = Conformal.of(scores).p_values(np.sort(np.concatenate([scores, [-9.0, 99.0]])))
    assert (np.diff(p) <= 0).all()
    assert p[0] == 1
    assert_allclose(p[-1], 1 / (len(scores) + 1))


def test_no_scores():
    with pytest.raises(DataError, match="at least one"):
        Conformal.of(np.empty(0))
