"""How many components: counts, shares and parallel analysis."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import KernelPCA, ParallelAnalysis
from mercer.exceptions import RankWarning
from mercer.model import All, Count, Share, as_rule


@pytest.mark.parametrize(
    ("given_", "kind"), [(None, All), (3, Count), (np.int64(3), Count), (0.5, Share)]
)
def test_rules(given_, kind):
    assert type(as_rule(given_)) is kind


@pytest.mark.parametrize("wrong", [0, -1, 1.0, 1.5, 0.0, -0.1, True, "mle", np.nan, [2]])
def test_what_is_no_rule_says_what_is(wrong):
    with pytest.raises(ValueError, match="ParallelAnalysis"):
        as_rule(wrong)


values = st.lists(st.floats(1e-6, 1), min_size=1, max_size=30).map(
    lambda v: np.array(sorted(v, reverse=True))
)


@given(values=values, share=st.floats(0.01, 0.99))
def test_a_share_takes_the_fewest_that_reach_it(values, share):
    trace = values.sum() * 1.25  # a part of the variance lies in components not computed
    q = Share(share).count(values, trace)
    reached = np.cumsum(values) / trace
    if q is None:
        assert reached[-1] < share
    else:
        assert reached[q - 1] >= share * (1 - 1e-9)
        assert q == 1 or reached[q - 2] < share


@given(values=values, k=st.integers(1, 40))
def test_a_count_is_at_most_what_there_is(values, k):
    assert Count(k).count(values, values.sum()) == min(k, len(values))


@pytest.mark.parametrize("solver", ["dense", "lanczos", "davidson"])
def test_a_share_of_the_true_variance(solver, rng):
    """More than the 32 values that are asked for first are needed here."""
    X = rng.standard_normal((300, 40))
    model = KernelPCA(0.9, kernel="linear", solver=solver, random_state=0).fit(X)
    full = np.linalg.eigvalsh(np.cov(X.T) * 299)[::-1]
    shares = np.cumsum(full) / full.sum()
    assert model.n_components_ == int((shares >= 0.9).argmax()) + 1 > 16
    assert model.explained_variance_ratio_.sum() >= 0.9


def test_parallel_analysis_finds_the_planted_rank(rng):
    """Two strong directions across all columns, the rest independent noise."""
    factors = rng.standard_normal((250, 2)) @ rng.standard_normal((2, 12))
    X = 2 * factors + rng.standard_normal((250, 12))
    rule = ParallelAnalysis(max_components=8, n_permutations=5)
    model = KernelPCA(rule, kernel="linear", random_state=0).fit(X)
    assert model.n_components_ == 2


def test_all_components_are_those_above_rounding(rng):
    X = rng.standard_normal((30, 4))
    assert KernelPCA(kernel="linear").fit(X).n_components_ == 4
    assert KernelPCA(kernel="linear", center=False).fit(X).n_components_ == 4


def test_too_many_asked_for(rng):
    X = rng.standard_normal((30, 4))
    with pytest.warns(RankWarning, match="10 components were asked for, but only 4"):
        model = KernelPCA(10, kernel="linear").fit(X)
    assert model.n_components_ == model.transform(X).shape[1] == 4
    with pytest.warns(RankWarning, match="50 components were asked for, but only 29"):
        KernelPCA(50).fit(X)
