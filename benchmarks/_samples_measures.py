"""What generated rows of a table are worth: range, spread, correlations, likeness, use, copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from benchmarks._samples_data import Task
from benchmarks._samples_rivals import Generator, coordinates, nearest
from mercer.generative.metrics import coverage, density, nearest_distances, precision

#: Draws for range, spread and correlations, which are those of the generator, not of a few rows.
MANY = 40_000


@dataclass(frozen=True)
class Worth:
    """One generator on one half of one table.

    Attributes
    ----------
    outside : share of rows outside the range of the training rows in some column of numbers
    spread : largest relative error of a standard deviation
    correlation : mean absolute error of all correlations, categories as one-hot columns
    precision, density, coverage : as in ``mercer.generative.metrics``, of held-out rows, k = 5
    accuracy : of a forest trained on as many generated rows as there were, on held-out rows
    copies : share of rows that are no farther from a training row than 1 % of the training rows are
        from their own nearest; training rows that occur more than once do not count, since whoever
        is equal to one of them is equal to several
    natural : the same of the held-out rows: what is not copied is as near as this by chance
    equal, equal_natural : as copies and natural, with the training rows that occur more than once
    distance : median distance to the nearest training row, over that of held-out rows
    """

    outside: float
    spread: float
    correlation: float
    precision: float
    density: float
    coverage: float
    accuracy: float
    copies: float
    natural: float
    equal: float
    equal_natural: float
    distance: float


def judge(task: Task, generate: Generator, seed: int) -> Worth:
    """Learn from one half of the table, and compare with both."""
    train, held_out = task.halves(seed)
    many = generate(train, MANY, seed)
    some = generate(train, len(train), seed)
    S, T, R = (coordinates(frame, train) for frame in (some, train, held_out))
    near = np.quantile(_own_nearest(T), 0.01)
    to_train, natural = nearest_distances(S, T), nearest_distances(R, T)
    different, counts = np.unique(T, axis=0, return_counts=True)
    once = different[counts == 1]
    return Worth(
        outside=_outside(many[task.numbers], train[task.numbers]),
        spread=float((many[task.numbers].std() / train[task.numbers].std() - 1).abs().max()),
        correlation=_correlation_error(many, train, task.numbers),
        precision=precision(S, R),
        density=density(S, R),
        coverage=coverage(S, R),
        accuracy=_accuracy(task, some, train, held_out),
        copies=float((nearest_distances(S, once) <= near).mean()),
        natural=float((nearest_distances(R, once) <= near).mean()),
        equal=float((to_train <= near).mean()),
        equal_natural=float((natural <= near).mean()),
        distance=float(np.median(to_train) / max(np.median(natural), 1e-9)),
    )


def _own_nearest(points: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.norm(points - points[nearest(points, 1)[:, 0]], axis=1))


def _outside(made: pd.DataFrame, train: pd.DataFrame) -> float:
    slack = 1e-9 * (train.max() - train.min())
    beyond = (made < train.min() - slack) | (made > train.max() + slack)
    return float(beyond.any(axis=1).mean())


def _correlation_error(made: pd.DataFrame, train: pd.DataFrame, numbers: list[str]) -> float:
    theirs = _columns(made, train, numbers).corr().to_numpy()
    ours = _columns(train, train, numbers).corr().to_numpy()
    pairs = np.triu_indices(len(ours), 1)
    # A category that is never drawn correlates with nothing.
    return float(np.abs(np.nan_to_num(theirs[pairs]) - np.nan_to_num(ours[pairs])).mean())


def _columns(frame: pd.DataFrame, train: pd.DataFrame, numbers: list[str]) -> pd.DataFrame:
    columns = {name: frame[name].astype(float) for name in numbers}
    for name in train.columns.difference(numbers):
        for value in train[name].unique():
            columns[f"{name}={value}"] = (frame[name] == value).astype(float)
    return pd.DataFrame(columns)


def _accuracy(task: Task, made: pd.DataFrame, train: pd.DataFrame, held_out: pd.DataFrame) -> float:
    known = train.drop(columns=task.label)
    forest = RandomForestClassifier(100, random_state=0)
    forest.fit(coordinates(made.drop(columns=task.label), known), made[task.label].astype(str))
    predicted = forest.predict(coordinates(held_out.drop(columns=task.label), known))
    return float((predicted == held_out[task.label].astype(str)).mean())
