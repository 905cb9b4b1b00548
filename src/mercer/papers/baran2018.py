"""Baran & Pylieva 2018, "Kernel principal component analysis and its applications": Figures 1 to 7.

The report shows pictures without numbers or settings. The data here show the same things, and the
numbers say in how far they are true.
"""

from typing import Any

import numpy as np
from sklearn.decomposition import PCA, FastICA
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from mercer import KernelPCA
from mercer._base.numbers import fixed_rng
from mercer._base.types import Array, Axes
from mercer.kernels import Gaussian, Precomputed
from mercer.papers import item
from mercer.papers.item import INK, PALE, Result, Setting, drawing, on_circle, result
from mercer.papers.mika1999 import Curve, linear_denoise
from mercer.plots._base import PALETTE
from mercer.preimage import FixedPoint

#: Wide enough for one cloud to see its neighbour, so that the first component is the radius.
RINGS_KERNEL = Gaussian(sigma=1.5)


def linear_pca(X: Array) -> tuple[Array, Array, Array]:
    """Directions as rows, their shares of the variance, and the scores, (n, d)."""
    pca = PCA().fit(X)
    return pca.components_, pca.explained_variance_ratio_, pca.transform(X)


def angle_between(a: Array, b: Array) -> float:
    """Angle of two lines, in degrees."""
    cosine = abs(float(a @ b)) / float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(np.degrees(np.arccos(min(1.0, cosine))))


def _across(directions: Array) -> Array:
    """Directions of the plane, turned by a right angle."""
    return np.asarray(directions[:, ::-1] * [-1, 1])


def tilted_cloud(rng: np.random.Generator) -> Array:
    """Figure 1: 300 normal points, three times as long as wide, turned by 35 degrees."""
    along = on_circle(np.radians([35]))
    axes = np.vstack([along, _across(along)])
    return np.asarray((rng.standard_normal((300, 2)) * [3, 1]) @ axes)


def parabola(rng: np.random.Generator) -> Array:
    """Figure 2: 300 noisy points on y = x²."""
    x = rng.uniform(-1.5, 1.5, 300)
    return np.column_stack([x, x**2]) + 0.1 * rng.standard_normal((300, 2))


def pancakes(rng: np.random.Generator) -> tuple[Array, Array]:
    """Figure 3: three round pancakes on top of each other, and the number of each point's."""
    labels = np.repeat(np.arange(3), 200)
    radius, angle = np.sqrt(rng.random(600)) * 4, rng.uniform(0, 2 * np.pi, 600)
    height = labels - 1.0 + 0.1 * rng.standard_normal(600)
    return np.column_stack([radius[:, None] * on_circle(angle), height]), labels


def crossing_clouds(rng: np.random.Generator) -> tuple[Array, Array]:
    """Figure 4: two long clouds that cross at 50 degrees, not at a right angle, and their axes."""
    directions = on_circle(np.radians([15, 15 + 50]))
    long, wide = 2 * rng.standard_normal((2, 300)), 0.12 * rng.standard_normal((2, 300))
    clouds = long[..., None] * directions[:, None] + wide[..., None] * _across(directions)[:, None]
    return clouds.reshape(-1, 2), directions


def ellipse(rng: np.random.Generator) -> Array:
    """Figure 5: 200 points on x²/4 + y² = 1. With φ(x, y) = (x², y²) it is a straight line."""
    clean = on_circle(rng.uniform(0, 2 * np.pi, 200)) * [2, 1]
    return np.asarray(clean + 0.05 * rng.standard_normal((200, 2)))


def squares_kernel_pca(X: Array, n_components: int = 2) -> Array:
    """Scores by the kernel k(x, y) = Σ x_i² y_i² alone, (n, q): φ is never used."""
    K = X**2 @ (X**2).T
    return np.asarray(KernelPCA(n_components, kernel=Precomputed()).fit_transform(K))


def rings(rng: np.random.Generator) -> tuple[Array, Array]:
    """Figures 6 and 7: concentric clouds of radius 0, 2 and 4, and the number of each point's."""
    labels = np.repeat(np.arange(3), 150)
    clean = 2.0 * labels[:, None] * on_circle(rng.uniform(0, 2 * np.pi, len(labels)))
    return clean + 0.2 * rng.standard_normal(clean.shape), labels


def separated(values: Array, labels: Array) -> float:
    """Share of points that the best cuts of one axis, one fewer than the groups, put right."""
    groups = len(np.unique(labels))
    tree = DecisionTreeClassifier(max_leaf_nodes=groups, random_state=0)
    return float(tree.fit(values[:, None], labels).score(values[:, None], labels))


def _groups(ax: Axes, points: Array, labels: Array, size: float = 7) -> None:
    for c in np.unique(labels):
        ax.scatter(*points[labels == c].T, s=size, color=PALETTE[c], linewidths=0)


def run_figure1(setting: Setting) -> Result:
    """Principal components are orthogonal, the first along the largest variance."""
    X = tilted_cloud(fixed_rng(setting.seed))
    axes, share, _ = linear_pca(X)
    numbers = item.table({"component": (0, 1), "x": axes[:, 0], "y": axes[:, 1], "share": share})

    @drawing((5, 4))
    def draw(ax: Axes) -> None:
        item.cloud(ax, X, PALE, 9)
        # The components at the mean, as long as two standard deviations.
        mean = X.mean(axis=0)
        ends = mean + 2 * np.sqrt(share * X.var(axis=0).sum())[:, None] * axes
        for k, color in ((0, PALETTE[2]), (1, PALETTE[0])):
            arrow = {"arrowstyle": "-|>", "color": color, "lw": 2}
            ax.annotate("", ends[k], mean, arrowprops=arrow)
            ax.annotate(f"u{k + 1}", ends[k], (4, 4), textcoords="offset points", color=color)
        item.plane(ax, "principal components")

    (truth,) = on_circle(np.radians([35]))
    angles = {"axis": angle_between(axes[0], truth), "between": angle_between(*axes)}
    return result("baran2018/figure1", numbers, draw, {**angles, "share": share[0]})


def run_figure2(setting: Setting) -> Result:
    """A parabola: one linear component misses it, kernel PCA follows."""
    X, fine = parabola(fixed_rng(setting.seed)), np.linspace(-1.8, 1.8, 3000)
    truth = Curve(X, np.column_stack([fine, fine**2]))
    model = KernelPCA(6, kernel=Gaussian(width=1.0), preimage=FixedPoint()).fit(X)
    ways = {"linear PCA, n = 1": linear_denoise(X, X, 1), "kernel PCA, n = 6": model.denoise(X)}
    distance = {name: truth.squared_distance(Y) for name, Y in {"noisy": X, **ways}.items()}
    noisy, straight, bent = distance.values()
    numbers = item.table({"method": distance, "squared distance": distance.values()})
    pairs = {f"{name}: {distance[name]:.4f}": (X, points) for name, points in ways.items()}
    found = {"linear": straight / noisy, "kernel": bent / noisy}
    chosen = {"share of the first linear component": f"{linear_pca(X)[1][0]:.3f}"}
    return result("baran2018/figure2", numbers, item.denoised(pairs), found, chosen=chosen)


def run_figure3(setting: Setting) -> Result:
    """Pancakes: what counts lies along the axis of least variance."""
    X, labels = pancakes(fixed_rng(setting.seed))
    axes, share, Z = linear_pca(X)
    parted = [separated(Z[:, k], labels) for k in range(3)]
    numbers = item.table({"component": range(3), "share": share, "pancakes told apart": parted})

    @drawing((9, 3.8), "AB", per_subplot_kw={"A": {"projection": "3d"}})
    def draw(deep: Axes, ax: Axes) -> None:
        _groups(deep, X, labels)
        deep.set_box_aspect((4, 4, 2.2))
        deep.set_title("three pancakes", fontsize=10)
        # The values of one axis are spread a little across it, so that they can be seen.
        jitter = fixed_rng(2018).uniform(-0.28, 0.28, len(X))
        for k in range(3):
            _groups(ax, np.column_stack([Z[:, k], 2 - k + jitter]), labels, 6)
        names = [f"component {k}: {share:.0%} told apart" for k, share in enumerate(parted)]
        ax.set_yticks([2, 1, 0], names)
        ax.spines[:].set_visible(False)

    upright = {"share": share[2], "angle": angle_between(axes[2], np.array([0, 0, 1.0]))}
    found = {"first": parted[0], "third": parted[2], **upright}
    return result("baran2018/figure3", numbers, draw, found)


def run_figure4(setting: Setting) -> Result:
    """Two clouds that cross: orthogonal components meet neither; independent ones do."""
    X, truth = crossing_clouds(fixed_rng(setting.seed))
    how: dict[str, Any] = {"fun": "cube", "algorithm": "deflation", "max_iter": 1000}
    model = FastICA(2, **how, random_state=0, whiten="unit-variance").fit(X)
    free = model.mixing_.T / np.linalg.norm(model.mixing_, axis=0)[:, None]
    directions = {"PCA": linear_pca(X)[0], "independent components": free}
    angles = {
        (name, i): min(angle_between(t, a) for a in axes)
        for name, axes in directions.items()
        for i, t in enumerate(truth, start=1)
    }
    methods, clouds = zip(*angles, strict=True)
    columns = {"method": methods, "cloud": clouds, "angle to nearest, degrees": angles.values()}

    @drawing((8, 3.8), "AB")
    def draw(*panels: Axes) -> None:
        for ax, (name, axes) in zip(panels, directions.items(), strict=True):
            item.cloud(ax, X, PALE, 6)
            for a in axes:
                ax.plot(*np.outer(a, [-5, 5]), color=PALETTE[2], lw=1.8)
            item.plane(ax, name)

    *pca, first, second = angles.values()
    found = {"pca": min(pca), "ica": max(first, second), "clouds": angle_between(*truth)}
    return result("baran2018/figure4", item.table(columns), draw, found)


def run_figure5(setting: Setting) -> Result:
    """An ellipse becomes a line in feature space; the kernel alone finds its direction."""
    X = ellipse(fixed_rng(setting.seed))
    F = X**2
    axes, share, explicit = linear_pca(F)
    shares = {"feature": share[0], "input": linear_pca(X)[1][0]}
    apart = np.abs(np.abs(squares_kernel_pca(X)) - np.abs(explicit)).max()
    found = {"apart": apart / np.abs(explicit).max(), **shares}
    numbers = item.table({"space": shares, "share of the first component": shares.values()})

    @drawing((9, 3.8), "AB")
    def draw(left: Axes, right: Axes) -> None:
        side, green, mean, axis = np.linspace(-2.6, 2.6, 120), "#4f9d69", F.mean(axis=0), axes[0]
        grid = np.stack(np.meshgrid(side, side / 1.6), axis=-1)
        heights = (grid**2 - mean) @ axis
        left.contour(grid[..., 0], grid[..., 1], heights, 10, colors=green, linewidths=0.8)
        item.cloud(left, X, PALETTE[2], 9)
        item.plane(left, "input space: lines of equal score on v₁")
        scores = explicit[:, 0]
        for point, score in zip(F[::8], scores[::8], strict=True):
            right.plot(*zip(point, mean + score * axis, strict=True), color=green, lw=0.9)
        ends = mean + np.outer([scores.min() - 0.5, scores.max() + 0.5], axis)
        right.plot(*ends.T, color=INK, lw=1.4)
        item.cloud(right, F, PALETTE[2], 9)
        right.set(xlabel="x₁²", ylabel="x₂²")
        item.plane(right, "feature space, and v₁", ticks=True)

    return result("baran2018/figure5", numbers, draw, found)


def run_figure6(setting: Setting) -> Result:
    """Concentric clouds: no plane tells them apart in 2-D; in three kernel components one does."""
    X, labels = rings(fixed_rng(setting.seed))
    Z = KernelPCA(3, kernel=RINGS_KERNEL).fit_transform(X)
    classifier = LogisticRegression(C=1e4, max_iter=5000)
    spaces = {"2-D": X, "3-D": Z / Z.std(axis=0)}
    right = {name: float(classifier.fit(P, labels).score(P, labels)) for name, P in spaces.items()}
    numbers = item.table({"space": right, "put right": right.values()})

    @drawing((9, 4), "AB", per_subplot_kw={"B": {"projection": "3d"}})
    def draw(flat: Axes, deep: Axes) -> None:
        _groups(flat, X, labels)
        item.plane(flat, "in the plane")
        _groups(deep, Z, labels)
        deep.set_title("three kernel components", fontsize=10)

    found = {"flat": right["2-D"], "deep": right["3-D"]}
    return result("baran2018/figure6", numbers, draw, found)


def run_figure7(setting: Setting) -> Result:
    """The first kernel component alone tells the clouds apart; no linear one does."""
    X, labels = rings(fixed_rng(setting.seed))
    kernel = KernelPCA(2, kernel=RINGS_KERNEL).fit_transform(X)
    embeddings = {"kernel PCA": kernel, "linear PCA": linear_pca(X)[2]}
    parted = {name: separated(Z[:, 0], labels) for name, Z in embeddings.items()}
    told = "told apart by the first component"

    @drawing((9, 4), "AB")
    def draw(*panels: Axes) -> None:
        for ax, (name, Z) in zip(panels, embeddings.items(), strict=True):
            _groups(ax, Z, labels)
            title = f"{name}: {parted[name]:.0%} {told}"
            item.panel(ax, title, xlabel="component 0", ylabel="component 1")

    numbers = item.table({"method": parted, told: parted.values()})
    found = {"kernel": parted["kernel PCA"], "linear": parted["linear PCA"]}
    return result("baran2018/figure7", numbers, draw, found)
