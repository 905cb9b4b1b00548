"""Generators of rows to compare with: a Gaussian copula, SMOTE, and the rows drawn again."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.stats import norm, rankdata

Generator = Callable[[pd.DataFrame, int, int], pd.DataFrame]


def copula(train: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """A Gaussian copula: normal scores of all columns, their correlation, and back by quantiles.

    Categories take a number at random within their share of the unit interval, the most frequent
    first, as the Synthetic Data Vault has it (Patki, Wedge & Veeramachaneni 2016); quantiles of
    numbers are those of the data.
    """
    rng = np.random.default_rng(seed)
    scores = np.column_stack([norm.ppf(_uniform(train[name], rng)) for name in train])
    spread = np.linalg.cholesky(np.corrcoef(scores.T) + 1e-6 * np.eye(scores.shape[1]))
    drawn = norm.cdf(rng.standard_normal((n, scores.shape[1])) @ spread.T)
    return pd.DataFrame(
        {name: _value(train[name], u) for name, u in zip(train, drawn.T, strict=True)}
    )


def smote(train: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """SMOTE-NC (Chawla et al. 2002): between a row and one of 5 neighbours, categories by vote."""
    rng = np.random.default_rng(seed)
    near = nearest(coordinates(train, train), 5)
    i = rng.integers(len(train), size=n)
    k = near[i, rng.integers(5, size=n)]
    t = rng.random(n)
    made = {}
    for name, column in train.items():
        if pd.api.types.is_numeric_dtype(column):
            x = column.to_numpy(dtype=float)
            whole = (x == np.rint(x)).all()
            between = x[i] + t * (x[k] - x[i])
            made[name] = np.rint(between) if whole else between
        else:
            codes, values = pd.factorize(column)
            votes = np.zeros((n, len(values)))
            for step in near[i].T:
                votes[np.arange(n), codes[step]] += 1
            made[name] = np.asarray(values)[votes.argmax(axis=1)]
    return pd.DataFrame(made)


def again(train: pd.DataFrame, n: int, seed: int) -> pd.DataFrame:
    """Rows of the training table, drawn again: what copying is worth by each measure."""
    return train.sample(n, replace=True, random_state=seed).reset_index(drop=True)


RIVALS: Mapping[str, Generator] = {"copula": copula, "SMOTE": smote, "copies": again}


def coordinates(frame: pd.DataFrame, train: pd.DataFrame) -> np.ndarray:
    """What distances are measured in: normal scores of numbers, one-hot categories.

    Neither ours nor theirs: the numbers are those of the copula, and a heavy column does not rule.
    """
    blocks = []
    for name, column in train.items():
        if pd.api.types.is_numeric_dtype(column):
            known = np.sort(column.to_numpy(dtype=float))
            x = frame[name].to_numpy(dtype=float)
            place = (np.searchsorted(known, x, "left") + np.searchsorted(known, x, "right")) / 2
            blocks.append(norm.ppf((place + 0.5) / (len(known) + 1))[:, None])
        else:
            values = np.unique(column.astype(str))
            blocks.append((frame[name].astype(str).to_numpy()[:, None] == values) / np.sqrt(2))
    return np.hstack(blocks)


def nearest(points: np.ndarray, count: int) -> np.ndarray:
    """(n, count) numbers of the nearest other rows."""
    from sklearn.neighbors import NearestNeighbors

    search = NearestNeighbors(n_neighbors=count).fit(points)
    return np.asarray(search.kneighbors(return_distance=False))


def _uniform(column: pd.Series, rng: np.random.Generator) -> np.ndarray:
    n = len(column)
    if pd.api.types.is_numeric_dtype(column):
        return np.asarray(rankdata(column) / (n + 1))
    shares = column.value_counts(normalize=True)
    ends = shares.cumsum()
    low, high = (column.map(edge).to_numpy(dtype=float) for edge in (ends - shares, ends))
    return np.clip(low + rng.random(n) * (high - low), 1e-6, 1 - 1e-6)


def _value(column: pd.Series, u: np.ndarray) -> np.ndarray:
    if pd.api.types.is_numeric_dtype(column):
        x = column.to_numpy(dtype=float)
        # Whole numbers and levels are among those of the data; others lie between them.
        steps = "inverted_cdf" if (x == np.rint(x)).all() or len(np.unique(x)) <= 12 else "hazen"
        return np.quantile(x, u, method=steps)
    ends = column.value_counts(normalize=True).cumsum()
    return ends.index.to_numpy()[np.minimum(np.searchsorted(ends, u), len(ends) - 1)]
