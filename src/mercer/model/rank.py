"""How many components: a count, a share of the variance, or parallel analysis."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY
from numbers import Integral, Real
from typing import Any

import numpy as np

from mercer._base.config import Config, with_parameters
from mercer._base.numbers import check_count
from mercer._base.types import Array
from mercer.exceptions import DataError, RankWarning, argument, warn

#: Given a number of components, eigenvalues of resamples in which the columns are independent.
NullSpectra = Callable[[int, int], Array]


class ComponentRule(Config, ABC):
    """Decides from the leading eigenvalues how many of them to keep."""

    #: Does it fail to be met when fewer components exist? Then the user is told.
    is_request = False
    #: Does it look at the rows themselves? Then they have to be in memory.
    needs_all_rows = False

    def bind(self, null_spectra: NullSpectra) -> "ComponentRule":  # noqa: ARG002
        """The rule with everything that it has to know about the data beforehand."""
        return self

    @abstractmethod
    def describe(self) -> str:
        """What is asked for, in a few words."""

    @abstractmethod
    def guess(self, n: int) -> int:
        """How many eigenvalues to compute first, of at most n."""

    @abstractmethod
    def count(self, values: Array, trace: float) -> int | None:
        """How many of the decreasing ``values`` to keep; None if more are needed to tell."""

    def warn_if_fewer(self, rank: int, but: str, remedy: str) -> None:
        """Say so if there are fewer components than were asked for."""
        request = self.guess(sys.maxsize)  # what the user wrote, whatever n is
        if self.is_request and rank < request:
            fewer = f"{request} components were asked for, but {but}; kept {rank}. {remedy}"
            warn(fewer, RankWarning)


class All(ComponentRule):
    """Every component with a positive eigenvalue."""

    def describe(self) -> str:
        return "all components"

    def guess(self, n: int) -> int:
        return n

    def count(self, values: Array, trace: float) -> int:  # noqa: ARG002
        return len(values)


class Above(All):
    """Every component whose eigenvalue is above this share of the largest."""

    def __init__(self, share: float) -> None:
        self.share = share

    def describe(self) -> str:
        return f"all components above {self.share:g} of the largest"

    def count(self, values: Array, trace: float) -> int:  # noqa: ARG002
        return int((values > self.share * values[0]).sum())


class Count(ComponentRule):
    """A fixed number."""

    is_request = True

    def __init__(self, n_components: int) -> None:
        self.n_components = n_components

    def describe(self) -> str:
        return f"{self.n_components} components"

    def guess(self, n: int) -> int:
        return min(self.n_components, n)

    def count(self, values: Array, trace: float) -> int:  # noqa: ARG002
        return min(self.n_components, len(values))


class Share(ComponentRule):
    """The fewest components that carry this share of the true total variance."""

    def __init__(self, share: float) -> None:
        self.share = share

    def describe(self) -> str:
        return f"{self.share:.4g} of the variance"

    def guess(self, n: int) -> int:
        return min(n, 32)

    def count(self, values: Array, trace: float) -> int | None:
        reached = np.cumsum(values) >= self.share * trace * (1 - 1e-12)
        return int(reached.argmax()) + 1 if reached.any() else None


class ShareUpTo(ComponentRule):
    """The fewest components that carry a share of the variance, at most ``limit`` and n/4.

    Parameters
    ----------
    share : float, default=0.95
    limit : int, default=40
    rows : int, default=4
        Rows for each component.
    """

    def __init__(self, share: float = 0.95, limit: int = 40, rows: int = 4) -> None:
        self.share = share
        self.limit = limit
        self.rows = rows

    def describe(self) -> str:
        rows = {2: "two", 3: "three", 4: "four"}.get(self.rows, str(self.rows))
        most = f"at most {self.limit} components, one per {rows} rows"
        return f"{self.share:.4g} of the variance in {most}"

    def guess(self, n: int) -> int:
        return min(self.limit, max(1, n // self.rows))

    def count(self, values: Array, trace: float) -> int:
        needed = 1 + int(np.searchsorted(np.cumsum(values), self.share * trace))
        return min(needed, self.limit, len(values))


def usual_rule() -> ShareUpTo:
    """What is taken where nobody says how many: by commands, the page and models of tables."""
    return ShareUpTo(0.95, 64)


@with_parameters
class ParallelAnalysis(ComponentRule):
    """The components whose variance exceeds that of data with independent columns.

    The columns are permuted independently of each other and kernel PCA is done again; a component
    counts while its eigenvalue is above the given quantile of the permuted ones (Horn 1965; with
    kernels: Jorgensen & Hansen 2011, IEEE Trans. Neural Networks and Learning Systems 23).

    Parameters
    ----------
    max_components : int, default=50
        Number of components to test.
    n_permutations : int, default=10
        Number of permutations, each of which costs a fit.
    quantile : float, default=0.95

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPCA, ParallelAnalysis
    >>> model = KernelPCA(ParallelAnalysis(), random_state=0).fit(load_iris().data)
    >>> int(model.n_components_)
    2
    """

    needs_all_rows = True

    max_components: int = 50
    _: KW_ONLY
    n_permutations: int = 10
    quantile: float = 0.95

    def bind(self, null_spectra: NullSpectra) -> ComponentRule:
        if not 0 <= self.quantile <= 1:
            raise DataError(f"quantile={self.quantile!r}: give a number from 0 to 1.")
        k = check_count("max_components", self.max_components)
        null = null_spectra(k, check_count("n_permutations", self.n_permutations))
        return _Above(np.quantile(null, self.quantile, axis=0))

    def describe(self) -> str:
        return "the components above chance"

    def guess(self, n: int) -> int:
        return min(self.max_components, n)

    def count(self, values: Array, trace: float) -> int:
        raise NotImplementedError("bind the rule to the data first")


class _Above(ComponentRule):
    """Components above a bar of their own, up to the first that is not."""

    def __init__(self, bars: Array) -> None:
        self.bars = bars

    def describe(self) -> str:
        return "the components above chance"

    def guess(self, n: int) -> int:
        return min(len(self.bars), n)

    def count(self, values: Array, trace: float) -> int:  # noqa: ARG002
        q = min(len(values), len(self.bars))
        above = values[:q] > self.bars[:q]
        return max(1, q if above.all() else int(above.argmin()))


def as_rule(n_components: Any) -> ComponentRule:
    """The rule for an int, a share between 0 and 1, None (all), or a rule itself."""
    if n_components is None:
        return All()
    if isinstance(n_components, ComponentRule):
        return n_components
    if isinstance(n_components, Integral) and not isinstance(n_components, bool):
        if int(n_components) >= 1:
            return Count(int(n_components))
    elif isinstance(n_components, Real) and 0 < float(n_components) < 1:
        return Share(float(n_components))
    numbers = ": give a whole number of at least 1, a share of the variance between 0 and 1, "
    others = "a rule such as ParallelAnalysis(), or None for all."
    raise DataError(argument("n_components", n_components) + numbers + others)
