"""Generative kernel PCA: the paper's figures in numbers, and generators side by side.

``python -m benchmarks generative``: three minutes or so on one core, a third of it for the network
that judges. Needs ``mnist.npz`` in the folder that MERCER_DATA names.
"""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks._data import folder
from benchmarks._generators import GENERATORS, Network, compare_generators
from benchmarks._measure import table
from mercer import DeepGenerativeKernelPCA, GenerativeKernelPCA, RKMClassifier
from mercer.generative import KernelSmoother, judge, largest_step
from mercer.kernels import Gaussian
from mercer.papers import schreurs2018 as paper
from mercer.preimage import FixedPoint

SEEDS = (0, 1, 2)
FRESH = (10, 11, 12, 13, 14)


def main() -> None:
    """Print every number, with the bar that it is held to."""
    warnings.simplefilter("ignore")
    circle()
    lines()
    network = Network(paper.digit_network(folder()))
    print(f"Network that judges digits: {accuracy(network):.1%} of the test images right.\n")
    zeros_and_ones(network)
    mixing()
    generators(network)
    degenerate(network)
    smoothness()
    experimental(network)


def circle() -> None:
    """Figure 1 (a)."""
    smoothers = {
        "paper (S=150)": None,
        "S=100": KernelSmoother(100),
        "S by hold-out": KernelSmoother(),
    }
    found = paper.distances(paper.circle, smoothers)
    print("Circle, noise 0.3, 2 components, sigma²=1: mean distance to the circle, 20 seeds.")
    rows = [
        [name, f"{d.mean():.3f}", f"{d.std():.3f}", f"{d.max():.3f}"] for name, d in found.items()
    ]
    table(["smoother", "mean", "std", "max"], rows)
    bar("paper's setting", found["paper (S=150)"].mean(), "<=", 0.09)
    print()


def lines() -> None:
    """Figure 1 (b)."""
    smoothers = {
        "paper (S=100)": None,
        "S=20": KernelSmoother(20),
        "by distance, S=30": KernelSmoother(30, by="distance"),
        "S by hold-out": KernelSmoother(),
    }
    print("Circle and two lines, noise 0.2, 8 components, sigma²=0.2: mean distance, 20 seeds.")
    rows, worst, failing = [], 0.0, []
    for layout in paper.LAYOUTS:
        found = paper.distances(lambda rng, at=layout: paper.circle_and_lines(at, rng), smoothers)
        rows.append([layout, *(f"{values.mean():.3f}" for values in found.values())])
        worst = max(worst, found["by distance, S=30"].mean())
        if found["paper (S=100)"].mean() >= found["noisy"].mean():
            failing.append(layout)
    table(["layout", "noisy", *smoothers], rows)
    bar("by distance, worst layout", worst, "<=", 0.10)
    print(f"The paper's S=100 makes it worse than the noise on: {', '.join(failing) or 'none'}.\n")


def zeros_and_ones(network: Network) -> None:
    """Figure 2 (a)."""
    print("MNIST 0 and 1 (50 each), 20 components, S=10, 1,000 samples per seed.")
    rows, shares = [], []
    for seed in SEEDS:
        found = paper.figure2a(folder(), seed=seed)
        shares.append(np.isin(network.predict(found.samples), [0, 1]).mean())
        pure = (found.neighbours.max(axis=1) == 10).mean()
        rows.append([str(seed), f"{shares[-1]:.3f}", f"{pure:.3f}"])
    table(["seed", "classified 0 or 1", "all ten neighbours of one class"], rows)
    bar("classified 0 or 1, worst seed", min(shares), ">=", 0.88)
    print()


def mixing() -> None:
    """Figure 2 (b) and (c)."""
    found = paper.figure2b(folder())
    print("All digits (50 each), 50 components, S=100: average scaled similarity to each digit.")
    shown = int(np.argmax(found.similarity[:, 0] + found.similarity[:, 8]))
    rows = [
        ["sample like the paper's", *(f"{value:.2f}" for value in found.similarity[shown])],
        ["  its 100 images", *(str(value) for value in found.neighbours[shown])],
        ["mean of 1,000 samples", *(f"{value:.2f}" for value in found.similarity.mean(axis=0))],
    ]
    table(["digit", *map(str, range(10))], rows)
    used = (found.neighbours > 0).sum(axis=1).mean()
    print(f"A sample averages images of {used:.1f} digits on the mean.\n")


def generators(network: Network) -> None:
    """The paper's generator, ours, and linear PCA."""
    print("50 per digit, 50 components, 1,000 samples against 1,000 test images; 3 seeds, means.")
    found = [compare_generators(folder(), network, seed=seed) for seed in SEEDS]
    names = ("coverage", "recall", "precision", "density", "mmd2", "nearest_train")
    for kind in ("raw", "clipped"):
        print("Samples as they are:" if kind == "raw" else "Samples clipped to [0, 1]:")
        rows = []
        for name in GENERATORS:
            means = [_values(found, name, kind, m).mean() for m in names]
            confidence = np.mean([one[name].confidence for one in found])
            rows.append([name, *(f"{mean:.3f}" for mean in means), f"{confidence:.3f}"])
        table(["generator", *names, "confidence"], rows)
    default = "default: local"
    real = _values(found, default, "raw", "nearest_real").mean()
    print(f"(Test images themselves lie {real:.2f} from the nearest training image.)")
    for kind in ("raw", "clipped"):
        at = f"default, {kind}, worst seed:"
        bar(f"{at} coverage", _values(found, default, kind, "coverage").min(), ">=", 0.80)
        bar(f"{at} recall", _values(found, default, kind, "recall").min(), ">=", 0.65)
        bar(f"{at} MMD²", _values(found, default, kind, "mmd2").max(), "<=", 0.02)
        nearest = _values(found, default, kind, "nearest_train").min()
        bar(f"{at} nearest training image", nearest, ">=", 3.0)
    fresh = [compare_generators(folder(), network, seed=seed, names=[default]) for seed in FRESH]
    print("On five other seeds:")
    for kind in ("raw", "clipped"):
        lowest = {m: _values(fresh, default, kind, m).min() for m in ("coverage", "recall")}
        highest = _values(fresh, default, kind, "mmd2").max()
        nearest = _values(fresh, default, kind, "nearest_train").min()
        print(
            f"  {kind}: coverage >= {lowest['coverage']:.3f}, recall >= {lowest['recall']:.3f}, "
            f"MMD² <= {highest:.3f}, nearest training image >= {nearest:.2f}"
        )
    print()


def _values(found: list, name: str, kind: str, measure: str) -> np.ndarray:
    return np.array([getattr(getattr(one[name], kind), measure) for one in found])


def degenerate(network: Network) -> None:
    """Why the network's confidence is no measure: sigma² = 0.01 as it is printed."""
    X, _ = paper.mnist_digits(folder(), np.random.default_rng(0), 50)
    with np.load(folder() / "mnist.npz") as data:
        real = data["X_test"][:1000].reshape(1000, -1) / 255.0
    model = GenerativeKernelPCA(
        50, kernel=Gaussian(sigma=0.1), density="normal", preimage=KernelSmoother(100)
    )
    samples = model.set_params(random_state=0).fit(X).sample(1000)
    report = judge(samples, real, train=X, features=network.features)
    print(
        "sigma²=0.01 taken literally, a diagonal kernel: "
        f"confidence {network.confidence(samples):.3f}, "
        f"coverage {report.coverage:.3f}, recall {report.recall:.3f}, MMD² {report.mmd2:.3f}.\n"
    )


def smoothness() -> None:
    """Largest step over mean step between two images."""
    X, y = paper.mnist_digits(folder(), np.random.default_rng(0), 50)
    rng = np.random.default_rng(0)
    pairs = [rng.choice(len(X), 2, replace=False) for _ in range(20)]
    methods = {
        "ridge (default)": "ridge",
        "fixed point": FixedPoint(),
        "smoother": KernelSmoother(10),
    }
    print("Largest step / mean step of 20 interpolations (20 steps) and of 20 traversals, ±2.")
    rows, worst = [], 0.0
    for name, preimage in methods.items():
        model = GenerativeKernelPCA(50, kernel=paper.MNIST_KERNEL, preimage=preimage).fit(X, y)
        between = [largest_step(model.interpolate(X[i], X[j], steps=20)) for i, j in pairs]
        along = [
            largest_step(model.traverse(X[i], k % 10, steps=21)) for k, (i, _) in enumerate(pairs)
        ]
        rows.append([name, *(f"{np.mean(v):.2f}, max {np.max(v):.2f}" for v in (between, along))])
        worst = max(worst, *between, *along) if name.startswith("ridge") else worst
    table(["pre-image", "between images", "along components"], rows)
    bar("default, worst path", worst, "<=", 1.5)


def experimental(network: Network) -> None:
    """Layers, and hidden units that predict."""
    X, y = paper.mnist_digits(folder(), np.random.default_rng(0), 50)
    with np.load(folder() / "mnist.npz") as data:
        real, truth = data["X_test"][:1000].reshape(1000, -1) / 255.0, data["y_test"][:1000]
    models = {
        "one layer (50)": GenerativeKernelPCA(50, random_state=0),
        "one layer (20)": GenerativeKernelPCA(20, random_state=0),
        "two layers (50, 20)": DeepGenerativeKernelPCA((50, 20), random_state=0),
        "RKMClassifier": RKMClassifier(random_state=0),
    }
    wanted = np.repeat(np.arange(10), 100)
    print("\nExperimental: 50 per digit, 100 samples of each digit by label, median width, seed 0.")
    rows = []
    for name, model in models.items():
        samples = model.fit(X, y).sample(1000, label=wanted)
        report = judge(samples, real, train=X, features=network.features)
        right = (network.predict(samples) == wanted).mean()
        values = [report.coverage, report.recall, report.mmd2, report.nearest_train, right]
        rows.append([name, *(f"{value:.3f}" for value in values)])
    heads = ["coverage", "recall", "mmd2", "nearest_train", "classified as asked"]
    table(["generator", *heads], rows)
    predicted = models["RKMClassifier"].predict(real)
    print(f"RKMClassifier: {(predicted == truth).mean():.1%} of 1,000 test images right.")


def accuracy(network: Network) -> float:
    with np.load(folder() / "mnist.npz") as data:
        X, y = data["X_test"].reshape(10_000, -1) / 255.0, data["y_test"]
    return float((network.predict(X) == y).mean())


def bar(what: str, value: float, sign: str, limit: float) -> None:
    """One line per bar, met or missed."""
    met = value <= limit if sign == "<=" else value >= limit
    print(f"{'met' if met else 'MISSED'}: {what} {value:.3f} {sign} {limit}")
