"""Random numbers: the one place where a Generator is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["RandomState", "fixed_rng", "make_rng"]

#: Whatever scikit-learn accepts as ``random_state``, and a Generator.
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def make_rng(random_state: RandomState) -> np.random.Generator:
    """The random numbers of one fit, from what the user gave as ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def fixed_rng(seed: int | Sequence[int] = 0) -> np.random.Generator:
    """The same numbers at every call: for samples, starts and demonstrations that are no choice.

    Also for a stream that is split off another one, whose draw is then the seed.
    """
    return np.random.default_rng(seed)
