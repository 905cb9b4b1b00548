"""The alternatives beside PCA, kernel PCA and TensorLy, ``python -m benchmarks alternatives``."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.decomposition import PCA
from tensorly.decomposition import partial_tucker

from benchmarks._data import folder
from benchmarks._measure import table
from mercer import KernelPCA
from mercer.alternatives import (
    BottleneckAutoencoder,
    MultilinearPCA,
    NonNegativeMultilinearPCA,
    PrincipalCurve,
    RobustPCA,
    UncorrelatedMultilinearPCA,
)
from mercer.kernels import Gaussian
from mercer.papers.mika1999 import Curve, half_circle, linear_denoise, square
from mercer.preimage import FixedPoint

DRAWS = 5


def main() -> None:
    """Print all tables."""
    warnings.simplefilter("ignore")
    recovery()
    faces()
    tucker()
    curves()


def recovery() -> None:
    print("RobustPCA: n × n of rank 5 % of n, entries wrong by ±1 at random places")
    rows = []
    for n in (200, 500):
        for share in (0.05, 0.1):
            rng = np.random.default_rng(0)
            r = n // 20
            L = rng.standard_normal((n, r)) @ rng.standard_normal((r, n)) / n
            wrong = rng.random((n, n)) < share
            S = np.where(wrong, rng.choice([-1.0, 1.0], (n, n)), 0.0)
            started = time.perf_counter()
            model = RobustPCA().fit(L + S)
            seconds = time.perf_counter() - started
            straight = PCA(r).fit(L + S)
            plain = straight.inverse_transform(straight.transform(L + S))
            rows.append(
                [
                    f"n = {n}, {share:.0%} wrong",
                    f"{relative(model.low_rank_, L):.1e}",
                    f"{relative(model.sparse_, S):.1e}",
                    f"{model.n_components_} of {r}",
                    f"{model.n_iter_}",
                    f"{seconds:.2f}",
                    f"{relative(plain, L):.2f}",
                ]
            )
    table(["", "error of L", "error of S", "rank", "steps", "seconds", "PCA's error"], rows)


def faces() -> None:
    print("\nOlivetti faces, 64 × 64: numbers kept (model and codes of 400 faces) at equal error")
    X = olivetti()
    flat = X.reshape(len(X), -1)
    values = np.linalg.svd(flat - flat.mean(axis=0), compute_uv=False) ** 2
    rows = []
    for p in (8, 12, 16, 20, 24, 28, 32):
        model = MultilinearPCA((p, p)).fit(X)
        share = float(model.explained_variance_ratio_.sum())
        q = int(np.argmax(np.cumsum(values) >= share * values.sum())) + 1
        ours = 400 * p * p + 2 * 64 * p + 4096
        theirs = q * (400 + 4096) + 4096
        rows.append(
            [
                f"{p} × {p}",
                f"{1 - share:.4f}",
                f"{ours:,}",
                f"{q}",
                f"{theirs:,}",
                f"{ours / theirs:.2f}",
            ]
        )
    table(["cores", "variance lost", "numbers", "PCA needs", "numbers", "ratio"], rows)

    print("\n100 faces of ten persons, learnt from 300 faces of the other thirty: equal error")
    train, test = X[:300], X[300:]
    rows = []
    for p in (12, 16, 20, 24):
        model = MultilinearPCA((p, p)).fit(train)
        error = -model.score(test)
        pca = PCA().fit(train.reshape(300, -1))
        left = test.reshape(100, -1) - pca.mean_
        total = (left**2).sum(axis=1).mean()
        lost = total - np.cumsum(((left @ pca.components_.T) ** 2).mean(axis=0))
        q = int(np.argmax(lost <= error)) + 1 if (lost <= error).any() else 0
        rows.append(
            [
                f"{p} × {p}",
                f"{error / total:.4f}",
                f"{2 * 64 * p + 4096:,}",
                f"{q}" if q else f"more than {len(lost)} ({lost[-1] / total:.4f})",
                f"{q * 4096 + 4096:,}" if q else "-",
            ]
        )
    table(["cores", "variance lost", "numbers of the model", "PCA needs", "numbers"], rows)


def tucker() -> None:
    print(
        "\nMultilinearPCA and TensorLy's partial_tucker (both to 1e-8): variance captured, seconds"
    )
    X = olivetti()
    centred = X - X.mean(axis=0)
    total = (centred**2).sum()
    rows = []
    for ranks in ((8, 8), (16, 16), (24, 12)):
        started = time.perf_counter()
        model = MultilinearPCA(ranks, tol=1e-8).fit(X)
        middle = time.perf_counter()
        (core, _), _ = partial_tucker(centred, rank=ranks, modes=[1, 2], tol=1e-8)
        ended = time.perf_counter()
        rows.append(
            [
                f"{ranks}",
                f"{model.explained_variance_ratio_.sum():.10f}",
                f"{(core**2).sum() / total:.10f}",
                f"{middle - started:.2f}",
                f"{ended - middle:.2f}",
            ]
        )
    table(["ranks", "ours", "TensorLy", "s", "s"], rows)
    plain = MultilinearPCA((12, 12)).fit(X)
    parts = NonNegativeMultilinearPCA((12, 12), max_iter=30).fit(X)
    Z = UncorrelatedMultilinearPCA(20).fit_transform(X)
    off = np.abs(np.corrcoef(Z.T) - np.eye(Z.shape[1])).max()
    print(f"(12, 12), error ‖X − X̂‖/‖X‖: free {relative(plain.denoise(X), X):.4f}, ", end="")
    print(f"non-negative {relative(parts.denoise(X), X):.4f}")
    print(f"uncorrelated: {Z.shape[1]} components, largest correlation {off:.0e}")


def curves() -> None:
    print(
        f"\nMean squared distance to the true curve, 200 points, noise 0.1 ({DRAWS} draws, means);"
    )
    print("in brackets the share of the curve that the points cover")
    rows = []
    for name, (make, closed) in shapes().items():
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(DRAWS):
            data = make(seed)
            for method, points in denoised(data, seed, closed).items():
                pair = data.squared_distance(points), data.coverage(points)
                found.setdefault(method, []).append(pair)
        means = {method: np.mean(pairs, axis=0) for method, pairs in found.items()}
        rows.append([name, *(f"{d:.5f} ({c:.0%})" for d, c in means.values())])
    table(["", *means], rows)


def denoised(data: Curve, seed: int, closed: bool) -> dict[str, np.ndarray]:
    X = data.points
    q = 8 if closed else 4
    kernel = KernelPCA(q, kernel=Gaussian(width=1.0), preimage=FixedPoint())  # c = 0.5, d = 2
    return {
        "noisy": X,
        "linear PCA": linear_denoise(X, X, 1),
        "kernel PCA, c = 0.5": kernel.fit(X).denoise(X),
        "PrincipalCurve": PrincipalCurve(closed=closed).fit(X).denoise(X),
        "autoencoder": BottleneckAutoencoder(random_state=seed).fit(X).denoise(X),
    }


def shapes() -> dict[str, tuple[Callable[[int], Curve], bool]]:
    """Curves by name, and whether they are closed."""
    turn = np.linspace(0, 2 * np.pi, 2000)
    bend = np.linspace(-1.5 * np.pi, 1.5 * np.pi, 2000)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    letter = np.column_stack([np.sin(bend), np.sign(bend) * (np.cos(bend) - 1)])
    return {
        "half circle": (lambda seed: half_circle(np.random.default_rng(seed)), False),
        "square": (lambda seed: square(np.random.default_rng(seed)), True),
        "circle": (lambda seed: noisy(circle, seed), True),
        "S": (lambda seed: noisy(letter, seed), False),
    }


def noisy(fine: np.ndarray, seed: int) -> Curve:
    rng = np.random.default_rng(seed)
    points = fine[rng.integers(len(fine), size=200)]
    return Curve(points + 0.1 * rng.standard_normal(points.shape), fine)


def olivetti() -> np.ndarray:
    with np.load(folder() / "olivetti_faces.npz") as data:
        return data["X"].reshape(-1, 64, 64) / 255.0


def relative(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.linalg.norm(found - truth) / np.linalg.norm(truth))
