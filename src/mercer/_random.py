"""Random numbers: the one place where a Generator is made."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state


def make_rng(
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> np.random.Generator:
    """The random numbers of one fit, from what the user gave as ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def fixed_rng(seed: int | Sequence[int] | np.random.Generator) -> np.random.Generator:
    """The same numbers at every call: for samples and starts that are no choice of the user.

    Also for a stream that is split off another one, whose draw is then the seed.
    """
    return np.random.default_rng(seed)
