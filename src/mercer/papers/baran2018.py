"""Baran & Pylieva 2018, "Kernel principal component analysis and its applications": Figures 1 to 7.

The report shows pictures without numbers or settings. The data here show the same things, and the
numbers say in how far they are true.
"""

from __future__ import annotations

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from mercer import KernelPCA
from mercer._base.linalg import fix_signs
from mercer._base.types import Array
from mercer.kernels import Gaussian, Precomputed

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
