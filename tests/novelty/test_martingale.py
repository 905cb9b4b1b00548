"""Conformal test martingales: the ranks, the bets, and the promise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import ndtri
from scipy.stats import binom, kstest

from mercer.novelty import martingale
from mercer.novelty.martingale import LATER, OFTEN, SHIFTS, Martingale


def naive(known, values, ties):
    """Ranks of one statistic among all rows before, and the capital of its bettor, by loops."""
    known, p = list(known), []
    for value, tie in zip(values, ties, strict=True):
        above, equal = sum(k > value for k in known), sum(k == value for k in known)
        p.append((above + tie * (equal + 1)) / (len(known) + 1))
        known.append(value)
    capitals = []
    for t in range(len(p)):
        aside, total = 1.0, 0.0
        for start in range(t + 1):
            share = OFTEN / (LATER + start)
            for shift in SHIFTS:
                z = -ndtri(p[start : t + 1])
                total += aside * share / len(SHIFTS) * np.exp(shift * z - shift**2 / 2).prod()
            aside *= 1 - share
        capitals.append(np.log(total + aside))
    return np.array(p), np.array(capitals)


@pytest.mark.parametrize("ties", [False, True], ids=["continuous", "ties"])
def test_ranks_and_capitals_are_the_textbooks(ties, rng):
    known, values = rng.standard_normal((30, 5)), rng.standard_normal((40, 5)) + 0.5
    if ties:
        known, values = known.round(), values.round()
    _, p, capitals = Martingale.start(known, seed=3).play(values)
    drawn = np.random.Generator(np.random.Philox(key=3)).random((40, 8))
    for k in range(5):
        wanted = naive(known[:, k], values[:, k], 1 - drawn[:, k])
        assert_allclose(p[:, k], wanted[0])
        assert_allclose(capitals[:, k], wanted[1], atol=1e-9)


def test_the_stream_may_be_cut_anywhere(rng, monkeypatch):
    monkeypatch.setattr(martingale, "RECENT", 16)  # several times full
    values = np.r_[rng.standard_normal((60, 3)), rng.standard_normal((40, 3)) + 1].round(1)
    start = Martingale.start(rng.standard_normal((20, 3)).round(1), seed=0)
    whole, p, capitals = start.play(values)
    state, parts = start, []
    for rows in (values[:1], values[1:40], values[40:40], values[40:77], values[77:]):
        state, *found = state.play(rows)
        parts.append(found)
    assert_array_equal(np.concatenate([part[0] for part in parts]), p)
    assert_allclose(np.concatenate([part[1] for part in parts]), capitals, atol=1e-9)
    assert_allclose(state.run, whole.run, atol=1e-9)
    assert_array_equal(state.since, whole.since)
    assert_allclose(state.capital, capitals[-1])


def test_no_bet_wins_on_the_average():
    for shift in SHIFTS:
        bet = quad(lambda p, s=shift: np.exp(-s * ndtri(p) - s**2 / 2), 0, 1)[0]
        assert bet == pytest.approx(1, abs=1e-6)


def test_p_values_of_a_calm_stream_are_uniform_and_independent(rng):
    """From a few rows before, and with many ties: a fixed set to compare with would not do."""
    found = [
        Martingale.start(rng.poisson(2, (5, 1)).astype(float), seed=i).play(
            rng.poisson(2, (30, 1)).astype(float)
        )[1][:, 0]
        for i in range(300)
    ]
    p = np.array(found)
    assert kstest(p.ravel(), "uniform").pvalue > 0.01
    correlation = np.corrcoef(p[:, :-1].ravel(), p[:, 1:].ravel())[0, 1]
    assert abs(correlation) < 4 / np.sqrt(p.size)


def test_calm_streams_keep_the_level(rng):
    level, streams = 0.1, 300
    alarms = 0
    for seed in range(streams):
        values = rng.standard_normal((400, 4))
        _, _, capitals = Martingale.start(values[:20], seed).play(values[20:])
        alarms += capitals.max() >= np.log(4 / level)
    assert alarms <= binom.ppf(0.999, streams, level)


def test_a_shift_is_found_and_dated(rng):
    values = rng.standard_normal((900, 2))
    values[500:, 1] += 1
    state, _, capitals = Martingale.start(values[:200], seed=0).play(values[200:])
    assert (capitals[:300] < np.log(200)).all()
    assert 300 < (capitals[:, 1] > np.log(200)).argmax() < 350
    assert abs(state.since[1, state.run[1].argmax()] - 300) < 10


def test_a_new_start_knows_the_rows_but_has_won_nothing(rng):
    values = rng.standard_normal((300, 2))
    state = Martingale.start(values[:100], seed=0).play(values[100:] + 2)[0].restart()
    assert_array_equal(state.capital, 0)
    assert state.ordered.shape == (2, 300)
    assert (state.rows, state.since.min()) == (200, 200)
