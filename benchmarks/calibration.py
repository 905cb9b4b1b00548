"""False alarms of novelty detection: on few rows, with ties and duplicates, and on wide rows.

``python -m benchmarks calibration [fits]``: two hours or so with the 1,000 fits of the default.
Every cell draws rows anew for each fit, and then fresh rows from the same distribution. The promise
is ``P(flag) <= rate``; that ``predict`` and the p-values agree is checked row by row.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from mercer import KernelNovelty
from mercer.exceptions import DataError, MercerWarning
from mercer.novelty import KINDS

ROWS = (10, 20, 50, 200)
CALIBRATIONS = ("cross", "split")
#: The grid of every measure and calibration, and rows times fits of one of its cells at most.
WIDE_ROWS = (20, 60, 200, 1_000)
COLUMNS = (2, 10, 50, 100, 200)
WORK = 60_000
RATES = (0.05, 0.1, 0.2)
FRESH = 50

Draw = Callable[[int, np.random.Generator], np.ndarray]


def continuous(n: int, rng: np.random.Generator) -> np.ndarray:
    """Normal rows."""
    return rng.standard_normal((n, 3))


def tied(n: int, rng: np.random.Generator) -> np.ndarray:
    """Normal rows on a coarse grid: many entries, and some rows, are equal."""
    return np.round(2 * rng.standard_normal((n, 2))) / 2


def duplicate(n: int, rng: np.random.Generator) -> np.ndarray:
    """Twelve different rows, each drawn again and again."""
    population = np.random.default_rng(77).standard_normal((12, 3))
    return population[rng.integers(len(population), size=n)]


DATA: dict[str, Draw] = {"continuous": continuous, "tied": tied, "duplicate": duplicate}


def normal(d: int) -> Draw:
    """Normal rows of d columns."""
    return lambda n, rng: rng.standard_normal((n, d))


def heavy(d: int) -> Draw:
    """Rows of Student's t with two degrees of freedom: without a variance, some very far out."""
    return lambda n, rng: rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(2, (n, 1)) / 2)


WIDE: dict[str, Callable[[int], Draw]] = {"normal": normal, "heavy": heavy}


@dataclass(frozen=True)
class Cell:
    """Shares of fresh rows at one rate: flagged, and with p up to the rate; their standard error.

    ``agree`` says whether these were the same rows, every time.
    """

    flagged: float
    rare: float
    error: float
    agree: bool

    def verdict(self, rate: float) -> str:
        """``kept``, or what is wrong."""
        if not self.agree:
            return "DISAGREE"
        # Three: one in forty of the hundreds of cells would be beyond two by chance.
        return "kept" if self.flagged <= rate + 3 * self.error else "BROKEN"


def simulate(
    draw: Draw, n: int, calibration: str, fits: int, measure: str = "reconstruction"
) -> dict[float, Cell]:
    """A cell for each rate, from the same fits."""
    flagged, rare = np.empty((2, len(RATES), fits))
    agree = np.ones(len(RATES), dtype=bool)
    for i in range(fits):
        rng = np.random.default_rng([n, i])
        model = KernelNovelty(measure=measure, calibration=calibration, random_state=i)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MercerWarning)  # too few rows is the point here
            model.fit(draw(n, rng))
        fresh = draw(FRESH, rng)
        p = model.p_values(fresh)
        for j, rate in enumerate(RATES):
            model.offset_ = -model.conformal_.threshold(rate)  # all that the rate decides
            new = model.predict(fresh) == -1
            flagged[j, i], rare[j, i] = new.mean(), (p <= rate).mean()
            agree[j] &= bool((new == (p <= rate)).all())
    error = flagged.std(axis=1) / np.sqrt(fits)
    return {
        rate: Cell(float(flagged[j].mean()), float(rare[j].mean()), float(error[j]), bool(agree[j]))
        for j, rate in enumerate(RATES)
    }


def cells(fits: int) -> Iterator[tuple[str, dict[float, Cell] | None]]:
    """What was simulated, and a cell for each rate; None where the detector refuses."""
    for n in ROWS:
        for calibration in CALIBRATIONS:
            for name, draw in DATA.items():
                yield f"{n} rows, {calibration}, {name}", simulate(draw, n, calibration, fits)
    for n, d in product(WIDE_ROWS, COLUMNS):
        for measure, calibration, name in product(KINDS, ("auto", *CALIBRATIONS), WIDE):
            what = f"{n} x {d}, {measure}, {calibration}, {name}"
            try:
                yield what, simulate(WIDE[name](d), n, calibration, min(fits, WORK // n), measure)
            except DataError:
                yield what, None


def main() -> None:
    """All cells, one line for each rate, as they come."""
    fits = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000
    print(f"{'':44}  rate  P(flag)  P(p <= rate)    s.e.  promise")
    verdicts = []
    for what, found in cells(fits):
        if found is None:
            print(f"{what:44}  refused", flush=True)
            continue
        for rate, cell in found.items():
            verdicts.append(cell.verdict(rate))
            print(
                f"{what:44}  {rate:4g}  {cell.flagged:7.4f}  {cell.rare:12.4f}  {cell.error:.4f}"
                f"  {verdicts[-1]}",
                flush=True,
            )
    broken = len(verdicts) - verdicts.count("kept")
    print(
        f"up to {fits:,} fits and {FRESH} fresh rows each; "
        f"{broken} of {len(verdicts)} promises broken"
    )
