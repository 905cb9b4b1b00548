"""
Principal curves and kernel PCA
===============================

Both find the middle of a curved cloud. A principal curve assumes that there is *one curve*, and
gives every point its place on it; kernel PCA assumes nothing of the kind, follows any shape, and
needs a width and a number of components.
"""

# %%
# There are four shapes with noise of 0.1. The true curve is drawn in grey; each title gives the
# mean squared distance to it, and the share of it that the points cover.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.alternatives import BottleneckAutoencoder, PrincipalCurve
from mercer.kernels import Gaussian
from mercer.papers.mika1999 import Curve, half_circle, square


def noisy(fine, rng):
    points = fine[rng.integers(len(fine), size=200)]
    return Curve(points + 0.1 * rng.standard_normal(points.shape), fine)


rng = np.random.default_rng(0)
turn, bend = np.linspace(0, 2 * np.pi, 2000), np.linspace(-1.5 * np.pi, 1.5 * np.pi, 2000)
letter = np.column_stack([np.sin(bend), np.sign(bend) * (np.cos(bend) - 1)])
shapes = {
    "half circle": (half_circle(rng), False, 4),
    "square": (square(rng), True, 8),
    "circle": (noisy(np.column_stack([np.cos(turn), np.sin(turn)]), rng), True, 8),
    "S": (noisy(letter, rng), False, 8),
}

fig, axes = plt.subplots(4, 4, figsize=(9, 9.5), layout="constrained", sharex="row", sharey="row")
for line, (name, (data, closed, q)) in zip(axes, shapes.items(), strict=True):
    X = data.points
    curve = PrincipalCurve(closed=closed).fit(X)
    kernel = KernelPCA(q, kernel=Gaussian(width=1.0)).fit(X)
    network = BottleneckAutoencoder(random_state=0).fit(X)
    found = {
        "noisy": X,
        f"kernel PCA, {q} comp.": kernel.denoise(X),
        f"principal curve, df {curve.df_:.2g}": curve.denoise(X),
        "autoencoder, 1 code": network.denoise(X),
    }
    for ax, (method, points) in zip(line, found.items(), strict=True):
        ax.plot(*data.curve.T, color="0.85", linewidth=4, zorder=0)
        ax.plot(*points.T, "o", markersize=2.5, color="0.35" if points is X else "C0")
        if method.startswith("principal"):
            ax.plot(*curve.nodes_.T, color="C1", linewidth=1)
        distance, covered = data.squared_distance(points), data.coverage(points)
        ax.set_title(f"{method}\n{distance:.4f}, covers {covered:.0%}", fontsize=9)
        ax.set(aspect="equal", xticks=[], yticks=[])
    line[0].set_ylabel(name)
plt.show()

# %%
# A principal curve encodes a point as an arc length: its distance along the curve, in the units of
# the data. Kernel PCA scores are waves along the half circle, shorter for later components; only
# together do they determine the place.

data = shapes["half circle"][0]
angle = np.arctan2(data.points[:, 1], data.points[:, 0])
angle = np.where(angle < -np.pi / 2, angle + 2 * np.pi, angle)  # noise below the left end
t = PrincipalCurve().fit_transform(data.points)[:, 0]
Z = KernelPCA(3, kernel=Gaussian(width=1.0)).fit_transform(data.points)

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained", sharex=True)
left.plot(angle, t, ".", color="C1")
left.set(xlabel="angle on the half circle", ylabel="arc length", title="principal curve")
for k in range(3):
    right.plot(angle, Z[:, k], ".", color=f"C{k}", label=f"component {k}", markersize=4)
right.set(xlabel="angle on the half circle", ylabel="score", title="kernel PCA")
right.legend(frameon=False, fontsize=8)
plt.show()
