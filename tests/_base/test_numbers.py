"""Random numbers from whatever users give, and the same ones again."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mercer import KernelPCA, compress
from mercer._base.numbers import fixed_rng, make_rng


def draws(rng):
    return rng.integers(2**31, size=3).tolist()


@pytest.mark.parametrize("make", [lambda: 7, lambda: np.random.RandomState(7), lambda: np.int64(7)])
def test_the_same_state_gives_the_same_numbers(make):
    assert draws(make_rng(make())) == draws(make_rng(make())) == [1652424230, 1437443862, 304201890]


def test_a_generator_is_used_as_it_is():
    rng = np.random.default_rng(0)
    assert make_rng(rng) is rng
    assert fixed_rng(rng) is rng


def test_none_gives_new_numbers():
    assert draws(make_rng(None)) != draws(make_rng(None))
    assert draws(fixed_rng(0)) == draws(fixed_rng(0))


def test_compress_takes_a_generator():
    """As its documentation says, and as every estimator does."""
    model = KernelPCA(3).fit(load_iris().data)
    small = [compress(model, 9, random_state=np.random.default_rng(0)) for _ in range(2)]
    assert (small[0].subspace_.support == small[1].subspace_.support).all()
