"""The rule when to scale columns, confirmed on tables that it was not chosen on.

All were named before one was looked at: every set of ``_novelty_data.keel``, whose rare (or first)
class is new; of the other sets of KEEL's balanced part, all that hold nothing but numbers and are
no copies of the former or of the twelve tables of the rule, with the most frequent class as normal;
Bikeshare, MNIST and beats. And, for themselves, because their rows were seen before: the twelve
tables of the rule with another class as the normal one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from benchmarks._data import folder
from benchmarks._novelty_data import beats, keel, keel_rows, numbers
from mercer import KernelNovelty
from mercer.tables import TableEncoder

#: Of normal rows, and of new ones, at most; half of the normal ones are learnt.
MOST = 400
SPLITS = 5
LEAST_NORMAL = 40
HEADS = ("raw", "scaled", "by the rule", "IsolationForest", "LOF", "OneClassSVM", "LOF*", "SVM*")
KEEL_NUMBERS = (
    *("australian", "banana", "bands", "bupa", "contraceptive", "heart", "magic", "mammographic"),
    *("marketing", "monk-2", "phoneme", "ring", "spambase", "titanic", "twonorm"),
)


def confirm() -> None:
    """Print both tables."""
    _print("tables that the rule was not chosen on", fresh())
    _print("the tables of the rule, the second most frequent class is normal", others())


def _print(title: str, cases: Iterator[tuple[str, Any, Any]]) -> None:
    print(f"novelty, area under the curve, {SPLITS} splits: {title}")
    print(f"{'table':18}" + "".join(f"{head:>16}" for head in HEADS) + "  the rule: raw in")
    found = []
    for name, X, is_new in cases:
        normal, new = np.flatnonzero(~is_new), np.flatnonzero(is_new)
        if len(normal) < LEAST_NORMAL:
            print(f"{name:18} left out: {len(normal)} normal rows")
            continue
        runs = [_areas(X, normal, new, seed) for seed in range(SPLITS)]
        line = np.mean([areas for areas, _ in runs], axis=0)
        found.append(line)
        raw = sum(scale == "none" for _, scale in runs)
        print(f"{name:18}" + "".join(f"{auc:16.3f}" for auc in line) + f"  {raw}", flush=True)
    scores = np.array(found)
    print(f"{'mean':18}" + "".join(f"{auc:16.3f}" for auc in scores.mean(axis=0)))
    best = (scores[:, 2:] >= scores[:, 2:].max(axis=1, keepdims=True) - 1e-9).sum(axis=0)
    print(f"{'best of the six':18}" + " " * 32 + "".join(f"{count:16}" for count in best))
    lost = scores[:, :2].max(axis=1) - scores[:, 2]
    error = lost.std(ddof=1) / len(lost) ** 0.5
    print(
        f"the rule loses {lost.mean():.4f} (standard error {error:.4f}) to the better of raw and "
        f"scaled, table by table (most {lost.max():.4f}, more than .01 in {(lost > 0.01).sum()} of "
        f"{len(lost)}); scaling all loses "
        f"{(scores[:, :2].max(axis=1) - scores[:, 1]).mean():.4f}, none "
        f"{(scores[:, :2].max(axis=1) - scores[:, 0]).mean():.4f}\n"
    )


def _areas(X: Any, normal: Any, new: Any, seed: int) -> tuple[list[float], str]:
    """Of mercer on raw and scaled columns and by the rule, of the others on standardised ones.

    With a star on columns by the rule: standardised pixels would be a handicap.
    """
    rng = np.random.default_rng(seed)
    normal, new = rng.permutation(normal)[:MOST], rng.permutation(new)[:MOST]
    half = len(normal) // 2
    old = X[normal[:half]].astype(float)
    rest = X[np.concatenate([normal[half:], new])].astype(float)
    is_new = np.repeat([0, 1], [len(normal) - half, len(new)])
    rule = TableEncoder(scale="auto")
    models = (
        KernelNovelty(random_state=0),
        make_pipeline(TableEncoder(scale="robust"), KernelNovelty(random_state=0)),
        make_pipeline(rule, KernelNovelty(random_state=0)),
        make_pipeline(StandardScaler(), IsolationForest(random_state=0)),
        make_pipeline(StandardScaler(), LocalOutlierFactor(novelty=True)),
        make_pipeline(StandardScaler(), OneClassSVM()),
        make_pipeline(TableEncoder(scale="auto"), LocalOutlierFactor(novelty=True)),
        make_pipeline(TableEncoder(scale="auto"), OneClassSVM()),
    )
    areas = [roc_auc_score(is_new, -model.fit(old).score_samples(rest)) for model in models]
    return [float(area) for area in areas], rule.scale_


def fresh() -> Iterator[tuple[str, Any, Any]]:
    """Name, rows, and which are new."""
    yield from keel()
    for name in KEEL_NUMBERS:
        for X, labels in keel_rows("balanced", name):
            yield name, X, labels != Counter(labels.tolist()).most_common(1)[0][0]
    yield "Bikeshare", *numbers("Bikeshare")
    mnist = np.load(folder() / "mnist.npz")
    yield "MNIST", mnist["X_train"][:5000] / 255.0, mnist["y_train"][:5000] != 1
    yield "ecg, early beats", *beats(slice(0, 108_000))


def others() -> Iterator[tuple[str, Any, Any]]:
    """The second most frequent class is normal; faces have only ten rows of each."""
    from benchmarks.tables import problems

    for name, (X, y) in problems().items():
        counts = Counter(y.tolist()).most_common()
        yield name, X, y != counts[1][0]
