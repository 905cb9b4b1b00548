"""Baran & Pylieva 2018, "Kernel principal component analysis and its applications": Figures 1 to 7.

The report shows pictures without numbers or settings. The data here show the same things, and the
numbers say in how far they are true.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import FastICA
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from mercer import KernelPCA
from mercer._base.linalg import fix_signs
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, Axes
from mercer.kernels import Gaussian, Precomputed
from mercer.papers.item import INK, PALE, Check, Result, Setting, blank, cloud, plane, sheet
from mercer.plots._base import PALETTE
from mercer.preimage import FixedPoint

#: Wide enough for one cloud to see its neighbour, so that the first component is the radius.
RINGS_KERNEL = Gaussian(sigma=1.5)


def linear_pca(X: Array) -> tuple[Array, Array]:
    """Directions as rows, and their shares of the variance."""
    _, s, axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return axes * fix_signs(axes.T)[:, None], s**2 / (s**2).sum()


def angle_between(a: Array, b: Array) -> float:
    """Angle of two lines, in degrees.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.papers.baran2018 import angle_between
    >>> round(angle_between(np.array([1.0, 0.0]), np.array([-1.0, -1.0])))
    45
    """
    cosine = abs(float(a @ b)) / float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.degrees(np.arccos(min(1.0, cosine))))


def tilted_cloud(rng: np.random.Generator, n: int = 300, degrees: float = 35) -> Array:
    """Figure 1: normal points, three times as long as wide, turned by so many degrees."""
    turn = np.radians(degrees)
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    return np.asarray((rng.standard_normal((n, 2)) * [3, 1]) @ axes)


def parabola(rng: np.random.Generator, n: int = 300, noise: float = 0.1) -> tuple[Array, Array]:
    """Figure 2: noisy points on y = x², and the points without noise."""
    x = rng.uniform(-1.5, 1.5, n)
    clean = np.column_stack([x, x**2])
    return clean + noise * rng.standard_normal(clean.shape), clean


def pancakes(rng: np.random.Generator, n: int = 200) -> tuple[Array, Array]:
    """Figure 3: three round pancakes on top of each other, and the number of each point's."""
    labels = np.repeat(np.arange(3), n)
    radius, angle = np.sqrt(rng.random(3 * n)) * 4, rng.uniform(0, 2 * np.pi, 3 * n)
    height = labels - 1.0 + 0.1 * rng.standard_normal(3 * n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height]), labels


def crossing_clouds(
    rng: np.random.Generator, n: int = 300, degrees: float = 50
) -> tuple[Array, Array]:
    """Figure 4: two long clouds that cross at an angle which is not right, and their directions."""
    turns = np.radians([15, 15 + degrees])
    directions = np.column_stack([np.cos(turns), np.sin(turns)])
    long, wide = 2 * rng.standard_normal((2, n)), 0.12 * rng.standard_normal((2, n))
    across = np.column_stack([-directions[:, 1], directions[:, 0]])
    clouds = [
        np.outer(a, d) + np.outer(b, c)
        for a, b, d, c in zip(long, wide, directions, across, strict=True)
    ]
    return np.concatenate(clouds), directions


def ellipse(rng: np.random.Generator, n: int = 200, noise: float = 0.05) -> Array:
    """Figure 5: points on x²/4 + y² = 1. With φ(x, y) = (x², y²) it is a straight line."""
    angle = rng.uniform(0, 2 * np.pi, n)
    clean = np.column_stack([2 * np.cos(angle), np.sin(angle)])
    return clean + noise * rng.standard_normal((n, 2))


def squares_kernel_pca(X: Array, n_components: int = 2) -> Array:
    """Scores by the kernel k(x, y) = Σ x_i² y_i² alone, (n, q): φ is never used."""
    K = X**2 @ (X**2).T
    return np.asarray(KernelPCA(n_components, kernel=Precomputed()).fit_transform(K))


def rings(
    rng: np.random.Generator, n: int = 150, radii: tuple[float, ...] = (0, 2, 4), noise: float = 0.2
) -> tuple[Array, Array]:
    """Figures 6 and 7: concentric clouds, and the number of each point's."""
    labels = np.repeat(np.arange(len(radii)), n)
    angle = rng.uniform(0, 2 * np.pi, len(labels))
    clean = np.array(radii)[labels][:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return clean + noise * rng.standard_normal(clean.shape), labels


def separated(values: Array, labels: Array) -> float:
    """Share of points that the best cuts of one axis, one fewer than the groups, put right."""
    groups = len(np.unique(labels))
    tree = DecisionTreeClassifier(max_leaf_nodes=groups, random_state=0)
    return float(tree.fit(values[:, None], labels).score(values[:, None], labels))


PICTURES_ONLY = "The report prints pictures alone, without data or numbers; both are ours."


def run_figure1(setting: Setting) -> Result:
    """Principal components are orthogonal, the first along the largest variance."""
    X = tilted_cloud(fixed_rng(setting.seed))
    axes, share = linear_pca(X)
    truth = np.array([np.cos(np.radians(35)), np.sin(np.radians(35))])
    checks = [
        Check("angle of the first component to the true axis, degrees",
              angle_between(axes[0], truth), high=3),
        Check("angle between the components", angle_between(*axes), 90 - 1e-6, 90),
        Check("share of the first component (true: 0.9)", share[0], 0.87, 0.93),
    ]  # fmt: skip
    numbers = [
        {"component": k, "x": axes[k, 0], "y": axes[k, 1], "share": share[k]} for k in (0, 1)
    ]

    def draw() -> Any:
        figure, panels = sheet(1, 1, (5, 4))
        cloud(panels[0, 0], X, PALE, 9)
        _arrows(panels[0, 0], X, axes, share)
        plane(panels[0, 0], "principal components")
        return figure

    return Result(numbers, checks, draw, {"points": len(X)}, (PICTURES_ONLY,))


def _arrows(ax: Axes, X: Array, axes: Array, share: Array) -> None:
    """The components at the mean, as long as two standard deviations."""
    spread = np.sqrt(share * X.var(axis=0).sum())
    for k, color in ((0, PALETTE[2]), (1, PALETTE[0])):
        end = X.mean(axis=0) + 2 * spread[k] * axes[k]
        ax.annotate("", end, X.mean(axis=0),
                    arrowprops={"arrowstyle": "-|>", "color": color, "lw": 2})  # fmt: skip
        ax.annotate(f"u{k + 1}", end, (4, 4), textcoords="offset points", color=color)


def run_figure2(setting: Setting) -> Result:
    """A parabola: one linear component misses it, kernel PCA follows."""
    X, _ = parabola(fixed_rng(setting.seed))
    fine = np.linspace(-1.8, 1.8, 3000)
    truth = np.column_stack([fine, fine**2])
    axes, share = linear_pca(X)
    straight = X.mean(axis=0) + np.outer((X - X.mean(axis=0)) @ axes[0], axes[0])
    kernel = Gaussian(width=1.0)
    bent = KernelPCA(6, kernel=kernel, preimage=FixedPoint()).fit(X).denoise(X)
    found = {"noisy": X, "linear PCA, n = 1": straight, "kernel PCA, n = 6": bent}
    distance = {name: _to_curve(points, truth) for name, points in found.items()}
    checks = [
        Check("linear PCA / noisy, squared distance to the curve",
              distance["linear PCA, n = 1"] / distance["noisy"], low=10),
        Check("kernel PCA / noisy, squared distance to the curve",
              distance["kernel PCA, n = 6"] / distance["noisy"], high=0.5),
    ]  # fmt: skip

    def draw() -> Any:
        figure, panels = sheet(1, 2, (8, 3.6))
        for ax, name in zip(panels[0], list(found)[1:], strict=True):
            cloud(ax, X, PALE, 7)
            cloud(ax, found[name], PALETTE[0], 10)
            plane(ax, f"{name}: {distance[name]:.4f}")
        return figure

    numbers = [{"method": name, "squared distance": value} for name, value in distance.items()]
    setting_ = {"points": len(X), "noise": 0.1, "kernel": "exp(-r²)"}
    setting_["share of the first linear component"] = f"{share[0]:.3f}"
    return Result(numbers, checks, draw, setting_, (PICTURES_ONLY,))


def _to_curve(points: Array, curve: Array) -> float:
    return float(((points[:, None] - curve) ** 2).sum(axis=2).min(axis=1).mean())


def run_figure3(setting: Setting) -> Result:
    """Pancakes: what counts lies along the axis of least variance."""
    X, labels = pancakes(fixed_rng(setting.seed))
    axes, share = linear_pca(X)
    Z = (X - X.mean(axis=0)) @ axes.T
    told = [separated(Z[:, k], labels) for k in range(3)]
    numbers = [
        {"component": k, "share": share[k], "pancakes told apart": told[k]} for k in range(3)
    ]
    checks = [
        Check("first component: points whose pancake it tells", told[0], high=0.5),
        Check("third component: points whose pancake it tells", told[2], low=0.99),
        Check("share of the variance of the third component", share[2], high=0.15),
        Check("angle of the third component to the vertical, degrees",
              angle_between(axes[2], np.array([0, 0, 1.0])), high=3),
    ]  # fmt: skip

    def draw() -> Any:
        figure = blank((9, 3.8))
        ax = figure.add_subplot(1, 2, 1, projection="3d")
        _groups(ax, X, labels)
        ax.set_box_aspect((4, 4, 2.2))
        ax.set_title("three pancakes", fontsize=10)
        ax = figure.add_subplot(1, 2, 2)
        for k in range(3):
            _strip(ax, Z[:, k], labels, 2 - k)
        ax.set_yticks([2, 1, 0], [f"component {k}: {told[k]:.0%} told" for k in range(3)])
        ax.spines[:].set_visible(False)
        return figure

    return Result(numbers, checks, draw, {"points": len(X)}, (PICTURES_ONLY,))


def _groups(ax: Axes, points: Array, labels: Array) -> None:
    for c in np.unique(labels):
        ax.scatter(*points[labels == c].T, s=7, color=PALETTE[c], linewidths=0)


def _strip(ax: Axes, values: Array, labels: Array, height: float) -> None:
    """Values of one axis, spread a little so that they can be seen."""
    jitter = fixed_rng(2018).uniform(-0.28, 0.28, len(values))
    for c in np.unique(labels):
        own = labels == c
        ax.scatter(values[own], height + jitter[own], s=6, color=PALETTE[c], linewidths=0)


def run_figure4(setting: Setting) -> Result:
    """Two clouds that cross: orthogonal components meet neither; independent ones do."""
    X, truth = crossing_clouds(fixed_rng(setting.seed))
    axes, _ = linear_pca(X)
    model = FastICA(
        2, fun="cube", algorithm="deflation", max_iter=1000, random_state=0, whiten="unit-variance"
    ).fit(X)
    free = model.mixing_.T / np.linalg.norm(model.mixing_, axis=0)[:, None]
    numbers: list[dict[str, Any]] = []
    for name, found in (("PCA", axes), ("independent components", free)):
        angles = [min(angle_between(t, a) for a in found) for t in truth]
        numbers += [
            {"method": name, "cloud": i + 1, "angle to nearest, degrees": angle}
            for i, angle in enumerate(angles)
        ]
    pca, ica = ([row["angle to nearest, degrees"] for row in numbers[i : i + 2]] for i in (0, 2))
    checks = [
        Check("PCA: angle of the nearer cloud to a component, degrees", min(pca), low=15),
        Check("independent components: angle of the further cloud", max(ica), high=6),
        Check("angle between the clouds", angle_between(*truth), 49.9, 50.1),
    ]

    def draw() -> Any:
        figure, panels = sheet(1, 2, (8, 3.8))
        for ax, found, title in zip(panels[0], (axes, free), ("PCA", "independent components"),
                                    strict=True):  # fmt: skip
            cloud(ax, X, PALE, 6)
            for a in found:
                ax.plot(*np.outer(a, [-5, 5]), color=PALETTE[2], lw=1.8)
            plane(ax, title)
        return figure

    return Result(numbers, checks, draw, {"points": len(X), "angle": 50}, (
        PICTURES_ONLY,
        "Independent component analysis (scikit-learn's FastICA) is added for comparison.",
    ))  # fmt: skip


def run_figure5(setting: Setting) -> Result:
    """An ellipse becomes a line in feature space; the kernel alone finds its direction."""
    X = ellipse(fixed_rng(setting.seed))
    F = X**2
    axes, share = linear_pca(F)
    explicit = (F - F.mean(axis=0)) @ axes.T
    Z = squares_kernel_pca(X)
    same = np.abs(np.abs(Z) - np.abs(explicit)).max() / np.abs(explicit).max()
    checks = [
        Check("scores by the kernel against scores by φ, relative difference", same, high=1e-10),
        Check("share of the first component in feature space", share[0], low=0.98),
        Check("share of the first component in input space", linear_pca(X)[1][0], high=0.9),
    ]
    numbers = [
        {"space": "input", "share of the first component": linear_pca(X)[1][0]},
        {"space": "feature", "share of the first component": share[0]},
    ]
    return Result(numbers, checks, lambda: _draw_figure5(X, F, axes[0], explicit[:, 0]),
                  {"points": len(X), "kernel": "x₁²y₁² + x₂²y₂², so that φ = (x₁², x₂²)"},
                  (PICTURES_ONLY,))  # fmt: skip


def _draw_figure5(X: Array, F: Array, axis: Array, scores: Array) -> Any:
    figure, panels = sheet(1, 2, (9, 3.8))
    side = np.linspace(-2.6, 2.6, 120)
    grid = np.stack(np.meshgrid(side, side / 1.6), axis=-1)
    heights = (grid**2 - F.mean(axis=0)) @ axis
    left, right = panels[0]
    left.contour(grid[..., 0], grid[..., 1], heights, 10, colors="#4f9d69", linewidths=0.8)
    cloud(left, X, PALETTE[2], 9)
    plane(left, "input space: lines of equal score on v₁")
    foot = F.mean(axis=0) + np.outer(scores, axis)
    for point, end in zip(F[::8], foot[::8], strict=True):
        right.plot(*zip(point, end, strict=True), color="#4f9d69", lw=0.9)
    ends = F.mean(axis=0) + np.outer([scores.min() - 0.5, scores.max() + 0.5], axis)
    right.plot(*ends.T, color=INK, lw=1.4)
    cloud(right, F, PALETTE[2], 9)
    right.set_xlabel("x₁²")
    right.set_ylabel("x₂²")
    plane(right, "feature space, and v₁", ticks=True)
    return figure


def run_figure6(setting: Setting) -> Result:
    """Concentric clouds: no plane tells them apart in 2-D; in three kernel components one does."""
    X, labels = rings(fixed_rng(setting.seed))
    Z = KernelPCA(3, kernel=RINGS_KERNEL).fit_transform(X)
    flat, deep = (_linear_score(points, labels) for points in (X, Z / Z.std(axis=0)))
    checks = [
        Check("2-D: points that linear cuts put right", flat, high=0.75),
        Check("3-D: points that linear cuts put right", deep, low=0.99, paper="all"),
    ]
    numbers = [{"space": "2-D", "put right": flat}, {"space": "3-D", "put right": deep}]

    def draw() -> Any:
        figure = blank((9, 4))
        ax = figure.add_subplot(1, 2, 1)
        _groups(ax, X, labels)
        plane(ax, "in the plane")
        ax = figure.add_subplot(1, 2, 2, projection="3d")
        _groups(ax, Z, labels)
        ax.set_title("three kernel components", fontsize=10)
        return figure

    return Result(numbers, checks, draw, {"points": len(X), "kernel": "exp(-r²/(2·1.5²))"}, (
        PICTURES_ONLY,
    ))  # fmt: skip


def _linear_score(points: Array, labels: Array) -> float:
    """Share of the points themselves that a linear classifier puts right."""
    model = LogisticRegression(C=1e4, max_iter=5000).fit(points, labels)
    return float(model.score(points, labels))


def run_figure7(setting: Setting) -> Result:
    """The first kernel component alone tells the clouds apart; no linear one does."""
    X, labels = rings(fixed_rng(setting.seed))
    axes, _ = linear_pca(X)
    found = {
        "kernel PCA": KernelPCA(2, kernel=RINGS_KERNEL).fit_transform(X),
        "linear PCA": (X - X.mean(axis=0)) @ axes.T,
    }
    told = {name: separated(Z[:, 0], labels) for name, Z in found.items()}
    checks = [
        Check("kernel PCA, first component: points that two cuts put right", told["kernel PCA"],
              low=0.99, paper="three groups"),
        Check("linear PCA, first component: points that two cuts put right", told["linear PCA"],
              high=0.75, paper="not separable"),
    ]  # fmt: skip

    def draw() -> Any:
        figure, panels = sheet(1, 2, (9, 4))
        for ax, (name, Z) in zip(panels[0], found.items(), strict=True):
            _groups(ax, Z, labels)
            ax.set_xlabel("component 0")
            ax.set_ylabel("component 1")
            ax.set_title(f"{name}: {told[name]:.0%} told by the first component", fontsize=10)
            ax.spines[["top", "right"]].set_visible(False)
        return figure

    numbers = [
        {"method": name, "told by the first component": value} for name, value in told.items()
    ]
    return Result(numbers, checks, draw, {"points": len(X), "kernel": "exp(-r²/(2·1.5²))"}, (
        PICTURES_ONLY, "The width matters: with σ = 3 the radius becomes the third component.",
    ))  # fmt: skip
