"""The tables and figures of the papers: something to run, and what comes of it.

A verdict is computed and never written by hand: each :class:`Check` says where a number has to lie,
and a :class:`Result` is *reproduced* if all of them hold on the data that the paper used.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from mercer._base import catalogue, optional
from mercer._base.files import packaged
from mercer._base.types import Array, Axes, Figure
from mercer.exceptions import MercerError
from mercer.papers.sources import Sources

#: Returns a matplotlib figure.
Drawing = Callable[[], Figure]
INK, PALE = "#1c2733", "#a9b4c0"


def need_matplotlib() -> Any:
    """matplotlib's ``Figure``, or an error that says how to get it."""
    return optional.require("matplotlib.figure", "plot").Figure


def drawing(size: tuple[float, float], mosaic: Any = "A", **options: Any) -> Callable[..., Drawing]:
    """Make a function that draws into axes, one for each letter, one that returns a new figure.

    ``options`` are those of matplotlib's ``subplot_mosaic``.
    """

    def with_axes(draw: Callable[..., None]) -> Drawing:
        def figure() -> Figure:
            made = need_matplotlib()(figsize=size, layout="constrained")
            draw(*made.subplot_mosaic(mosaic, **options).values())
            return made

        return figure

    return with_axes


def cloud(ax: Axes, points: Array, color: str = PALE, size: float = 6, **options: Any) -> None:
    """Points in the plane."""
    ax.scatter(points[:, 0], points[:, 1], s=size, color=color, linewidths=0, **options)


def plane(ax: Axes, title: str = "", *, ticks: bool = False) -> None:
    """Equal scales, and no frame."""
    ax.set_aspect("equal")
    ax.set_title(title, fontsize=10)
    ax.spines[:].set_visible(False)
    if not ticks:
        ax.set(xticks=[], yticks=[])


def panel(ax: Axes, title: str = "", **labels: Any) -> None:
    """Two axis lines that carry numbers, and what ``ax.set`` takes."""
    from mercer.plots._base import tidy

    ax.set(**labels)
    ax.set_title(title, fontsize=10)
    tidy(ax)


def on_circle(angle: Array) -> Array:
    """The points of the unit circle at so many angles, (n, 2)."""
    return np.column_stack([np.cos(angle), np.sin(angle)])


def denoised(
    pairs: Mapping[str, tuple[Array, Array]], width: float = 8, columns: int = 2
) -> Drawing:
    """A figure with a panel for each title: noisy points below, and what became of them above."""
    from mercer.plots._base import PALETTE

    rows = len(pairs) // columns

    @drawing((width, width * rows / columns), np.arange(len(pairs)).reshape(rows, columns).tolist())
    def draw(*panels: Axes) -> None:
        for ax, (title, (noisy, clean)) in zip(panels, pairs.items(), strict=True):
            cloud(ax, noisy)
            cloud(ax, clean, PALETTE[0], 10)
            plane(ax, title)

    return draw


#: Failed checks that a verdict names before it counts the rest.
NAMED = 3


@dataclass(frozen=True)
class Setting:
    """How to run an item."""

    #: As many draws and seeds as the documentation shows; otherwise as few as the bars need
    full: bool = False
    sources: Sources = field(default_factory=Sources)  #: where the data come from
    seed: int = 0

    def choose(self, fast: Any, full: Any) -> Any:
        """One of two values by the size of the run."""
        return full if self.full else fast


@dataclass(frozen=True)
class Check:
    """A number of ours, the paper's beside it, and where ours has to lie.

    Examples
    --------
    >>> from mercer.papers import Check
    >>> check = Check("ratio", 1.4, low=1.5, paper=1.6)
    >>> check.holds, check.fault
    (False, 'ratio is 1.4, below 1.5')
    """

    what: str
    found: float
    low: float = -np.inf  #: a bar, included
    high: float = np.inf  #: the other bar, included
    paper: float | str | None = None  #: what the paper prints, if it prints anything

    @property
    def holds(self) -> bool:
        """Whether the number lies within its bars; NaN does not."""
        return bool(self.low <= self.found <= self.high)

    @property
    def bar(self) -> str:
        """The bars in words."""
        if self.low == self.high:
            return f"= {self.low:.4g}"
        bars = {"≥": self.low, "≤": self.high}
        return ", ".join(f"{sign} {bar:.4g}" for sign, bar in bars.items() if np.isfinite(bar))

    @property
    def row(self) -> dict[str, Any]:
        """The number and the paper's beside it, for tables."""
        return {
            "what": self.what,
            "paper": "" if self.paper is None else self.paper,
            "mercer": float(f"{self.found:.4g}"),
            "bar": self.bar,
            "holds": "yes" if self.holds else "no",
        }

    @property
    def fault(self) -> str:
        """What is wrong, in words; empty if nothing is."""
        if self.holds:
            return ""
        side = f"below {self.low:.4g}" if self.found < self.low else f"above {self.high:.4g}"
        return f"{self.what} is {self.found:.4g}, {side}"


@dataclass(frozen=True)
class Verdict:
    """*reproduced*, or *differs* with a reason."""

    reproduced: bool
    reason: str

    def __str__(self) -> str:
        return f"{'reproduced:' if self.reproduced else 'differs, because'} {self.reason}"


@dataclass(frozen=True)
class Result:
    """The numbers of an item, how they compare with the paper, and how to draw them."""

    numbers: Sequence[Mapping[str, Any]]  #: a table: equal keys in every row
    checks: Sequence[Check]
    draw: Drawing
    #: Everything that was chosen: sizes, kernel, draws, seed
    setting: Mapping[str, Any] = field(default_factory=dict)
    #: Where the paper was read in one of several ways, and what it does not print
    remarks: Sequence[str] = ()
    #: What was used in the place of the paper's data; empty if nothing was
    stands_in: str = ""

    @property
    def verdict(self) -> Verdict:
        """Computed from the checks and from the data.

        Examples
        --------
        >>> from mercer.papers import Check, Result
        >>> good, bad = Check("a", 2.0, low=1), Check("b", 2.0, high=1)
        >>> print(Result([], [good], lambda: None, {}).verdict)
        reproduced: the one check holds
        >>> print(Result([], [good, bad], lambda: None, {}).verdict)
        differs, because b is 2, above 1
        """
        faults = [check.fault for check in self.checks if not check.holds]
        count = len(self.checks)
        if self.stands_in:
            kept = f"{count - len(faults)} of {count} checks hold all the same"
            return Verdict(False, f"{self.stands_in}; {kept}")
        if faults or not count:
            rest = f", and {len(faults) - NAMED} more" if len(faults) > NAMED else ""
            return Verdict(False, "; ".join(faults[:NAMED]) + rest or "nothing was checked")
        return Verdict(True, "the one check holds" if count == 1 else f"all {count} checks hold")


@dataclass(frozen=True)
class Item:
    """A table or a figure of a paper."""

    paper: str  #: its key, such as ``"mika1999"``
    name: str  #: such as ``"table1"``
    title: str
    run: Callable[[Setting], Result]

    @property
    def key(self) -> str:
        """``paper/name``, as the command line takes it."""
        return f"{self.paper}/{self.name}"


FACTS: dict[str, dict[str, Any]] = tomllib.loads(packaged("mercer.papers", "items.toml"))
#: Key → authors, title and place.
PAPERS = {paper: facts.pop("reference") for paper, facts in FACTS.items()}


def _load_and_run(paper: str, name: str, setting: Setting) -> Result:
    module = FACTS[paper][name].get("module", paper)
    result: Result = catalogue.load(f"mercer.papers.{module}:run_{name}")(setting)
    return result


#: What can be reproduced. The code of an item is loaded when it is run: to list all takes no time.
ITEMS = tuple(
    Item(paper, name, facts["title"], partial(_load_and_run, paper, name))
    for paper, items in FACTS.items()
    for name, facts in items.items()
)


def result(
    item: str,
    numbers: Sequence[Mapping[str, Any]],
    draw: Drawing,
    found: Mapping[str, Any],
    *checks: Check,
    chosen: Mapping[str, Any] | None = None,
    remarks: Sequence[str] = (),
    stands_in: str = "",
) -> Result:
    """The result of an item: each number found within its bars, and what is said beside it.

    Bars and setting are in ``items.toml``, the remarks on all papers in ``remarks.toml``.
    """
    paper, name = item.split("/")
    facts = FACTS[paper][name]
    barred = (Check(found=float(value), **facts[key]) for key, value in found.items())
    said = tomllib.loads(packaged("mercer.papers", "remarks.toml"))["remark"]
    own = [remark["text"] for remark in said if {paper, item} & set(remark["of"])]
    setting = facts["setting"] | (chosen or {})
    return Result(numbers, [*checks, *barred], draw, setting, [*remarks, *own], stands_in)


def table(columns: Mapping[str, Iterable[Any]]) -> list[dict[str, Any]]:
    """Numbers of an item, row by row, from its columns."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def select(*names: str) -> list[Item]:
    """The items that names mean: ``"all"``, a paper, or ``paper/item``; each once, in order.

    Examples
    --------
    >>> from mercer.papers import select
    >>> [item.key for item in select("mika1999/table1")]
    ['mika1999/table1']
    >>> len(select("mika1999"))
    5
    """
    for name in names:
        paper = name.split("/")[0]
        if name != "all" and paper not in PAPERS:
            papers = ", ".join(PAPERS)
            raise MercerError(f"there is no paper '{paper}'; give 'all' or one of {papers}.")
        if "/" in name and name not in [item.key for item in ITEMS]:
            raise MercerError(f"'{name}' is not there; {paper} has {', '.join(FACTS[paper])}.")
    return [item for item in ITEMS if {"all", item.paper, item.key} & set(names)]
