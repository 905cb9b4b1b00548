"""Ten mixed tables for generators of rows: six real ones, and four that are made here.

The parameters were chosen on the tables for development. What happened after the first look at the
others is said in ``docs/explanation/generative.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmarks._data import folder

#: Rows that a table has at most: half of them to learn from, the others to judge by.
MOST = 2000


@dataclass(frozen=True)
class Task:
    """A table, and the column that a classifier predicts."""

    name: str
    frame: pd.DataFrame
    label: str

    def halves(self, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Rows to learn from, and rows that no generator sees."""
        order = np.random.default_rng(seed).permutation(len(self.frame))
        middle = len(order) // 2
        first, second = (self.frame.iloc[rows] for rows in (order[:middle], order[middle:]))
        return first.reset_index(drop=True), second.reset_index(drop=True)

    @property
    def numbers(self) -> list[str]:
        """Columns of numbers."""
        return [c for c in self.frame if pd.api.types.is_numeric_dtype(self.frame[c])]


def development() -> list[Task]:
    """Tables that the setting was chosen on."""
    pima = pd.concat([_read("Pima.tr.csv"), _read("Pima.te.csv")])
    return [
        Task("cars", _words(_read("tables/Auto.csv").drop(columns="name"), "origin"), "origin"),
        Task("diabetes", pima, "type"),
        Task("juice", _read("tables/OJ.csv"), "Purchase"),
        _made("orders", _orders, "segment"),
        _made("machines", _machines, "state"),
    ]


def confirmation() -> list[Task]:
    """Tables that it was confirmed on."""
    bikes = _read("tables/Bikeshare.csv").astype({"hr": int})
    cells = _read("breast_cancer_biopsy.csv").drop(columns="ID").dropna()
    studies = _words(_read("tables/Publication.csv"), "status")
    return [
        Task("bikes", bikes.sample(MOST, random_state=0), "weathersit"),
        Task("cells", cells, "class"),
        Task("studies", studies, "status"),
        _made("claims", _claims, "cover"),
        _made("patients", _patients, "outcome"),
    ]


def _read(name: str) -> pd.DataFrame:
    return pd.read_csv(folder() / name)


def _words(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Codes of classes as texts."""
    return frame.assign(**{column: "c" + frame[column].astype(str)})


def _made(
    name: str, make: Callable[[np.random.Generator, int], dict[str, object]], label: str
) -> Task:
    rng = np.random.default_rng(sum(map(ord, name)))
    return Task(name, pd.DataFrame(make(rng, 1200)), label)


def _orders(rng: np.random.Generator, n: int) -> dict[str, object]:
    """Prices with a long tail, whose level and spread depend on the customer and the goods."""
    segment = rng.choice(["private", "trade", "public"], n, p=[0.6, 0.3, 0.1])
    goods = np.where(rng.random(n) < 0.7, _partner(segment), rng.choice(["tools", "paper"], n))
    level = pd.Series(segment).map({"private": 3.0, "trade": 5.5, "public": 7.0}).to_numpy()
    price = np.exp(level + np.where(goods == "tools", 0.8, 0.0) + rng.normal(0, 0.7, n))
    items = 1 + rng.poisson(np.where(segment == "private", 1.0, 6.0))
    late = rng.random(n) < np.where(segment == "public", 0.4, 0.08)
    delay = np.where(late, rng.gamma(2.0, 8.0, n), 0.0)
    return {
        "segment": segment,
        "goods": goods,
        "price": np.round(price, 2),
        "items": items,
        "delay": np.round(delay, 1),
        "discount": np.round(np.clip(0.02 * level + rng.normal(0, 0.03, n), 0, 0.5), 3),
        "rating": rng.choice([1, 2, 3, 4, 5], n, p=[0.05, 0.05, 0.2, 0.4, 0.3]) - (late & True),
    }


def _partner(segment: np.ndarray) -> np.ndarray:
    return np.where(segment == "trade", "tools", np.where(segment == "public", "paper", "toys"))


def _machines(rng: np.random.Generator, n: int) -> dict[str, object]:
    """Two sensors on a ring whose place depends on the state, and one that follows by a square."""
    state = rng.choice(["idle", "run", "fault"], n, p=[0.3, 0.6, 0.1])
    centre = pd.Series(state).map({"idle": 0.0, "run": 2.0, "fault": 4.0}).to_numpy()
    angle = centre + rng.uniform(-0.9, 0.9, n)
    radius = rng.normal(3.0, 0.15, n)
    x, y = radius * np.cos(angle), radius * np.sin(angle)
    return {
        "state": state,
        "site": rng.choice(["north", "south", "east"], n),
        "x": x,
        "y": y,
        "heat": 20 + x**2 + rng.normal(0, 0.4, n),
        "hours": np.round(rng.exponential(300.0, n)),
        "leak": np.exp(rng.normal(np.where(state == "fault", 2.0, -2.0), 1.0, n)),
        "alarm": np.where(rng.random(n) < np.where(state == "fault", 0.8, 0.03), "yes", "no"),
    }


def _claims(rng: np.random.Generator, n: int) -> dict[str, object]:
    """Mostly no claim; the others have sizes without a second moment to speak of."""
    cover = rng.choice(["basic", "full", "fleet"], n, p=[0.5, 0.35, 0.15])
    age = np.round(np.where(cover == "fleet", rng.normal(42, 6, n), 18 + rng.gamma(3.0, 9.0, n)))
    fleet = cover == "fleet"
    count = rng.poisson(np.where(fleet, 2.5, 0.3) + np.maximum(0, 30 - age) / 40)
    size = np.where(count > 0, 300 * (1 + rng.pareto(2.2, n)) * np.maximum(count, 1), 0.0)
    power = rng.normal(np.where(cover == "full", 120, 85), 18, n)
    return {
        "cover": cover,
        "age": np.clip(age, 18, 95),
        "claims": count,
        "size": np.round(size),
        "power": np.round(power),
        "premium": np.round(120 + 1.5 * power + 60 * count + 200 * fleet + rng.normal(0, 25, n), 2),
        "town": rng.choice(["large", "small"], n, p=[0.4, 0.6]),
    }


def _patients(rng: np.random.Generator, n: int) -> dict[str, object]:
    """Laboratory values of two groups that differ by products of columns, not by means."""
    sex, ward = rng.choice(["f", "m"], n), rng.choice(["a", "b", "c", "d"], n)
    age = np.round(rng.uniform(20, 90, n))
    salt, sugar = rng.normal(140, 4, n), np.exp(rng.normal(1.7, 0.35, n))
    risk = (salt - 140) / 4 * (np.log(sugar) - 1.7) / 0.35 + (age - 55) / 25
    protein = np.exp(rng.normal(0.5 + 0.8 * (risk > 0.5), 1.3, n))
    return {
        "sex": sex,
        "ward": ward,
        "age": age,
        "salt": np.round(salt, 1),
        "sugar": np.round(sugar, 2),
        "protein": protein,
        "pulse": np.round(75 + 6 * risk + rng.normal(0, 6, n)),
        "weight": np.round(np.where(sex == "m", 82, 68) + rng.normal(0, 11, n), 1),
        "outcome": np.where(risk + rng.normal(0, 0.4, n) > 0.5, "stay", "home"),
    }
