"""
Where denoising pulls
=====================

The projection of a point away from the data has no exact pre-image: almost no point of feature
space is the image of a row. Instead, the nearest row is found step by step. Arrows show where each
point of the plane would end up.
"""

# %%
# The data are a spiral, the model has 8 components, and the arrows show the answer of ``denoise``
# on a grid. Colour is the squared distance in feature space that remains: where it is dark, the
# model has no good answer.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.kernels import Gaussian

rng = np.random.default_rng(0)
t = rng.uniform(0.6, 2.1, 400) * np.pi
spiral = 0.3 * t[:, None] * np.column_stack([np.cos(t), np.sin(t)])
X = spiral + 0.07 * rng.standard_normal(spiral.shape)
model = KernelPCA(8, kernel=Gaussian(width=0.7)).fit(X)

x, y = np.meshgrid(np.linspace(-1.9, 2.5, 29), np.linspace(-2.1, 1.3, 23))
grid = np.column_stack([x.ravel(), y.ravel()])
move = model.denoise(grid) - grid
fine = np.stack(np.meshgrid(np.linspace(-1.9, 2.5, 110), np.linspace(-2.1, 1.3, 90)), axis=-1)
error = model.reconstruction_error(fine.reshape(-1, 2)).reshape(fine.shape[:2])

fig, ax = plt.subplots(figsize=(8, 5.4), layout="constrained")
image = ax.contourf(fine[..., 0], fine[..., 1], error, levels=16, cmap="Blues")
fig.colorbar(image, label="squared distance from the model")
ax.scatter(*X.T, s=6, color="#D55E00", linewidths=0, label="rows")
near = model.reconstruction_error(grid) < 0.6
ax.quiver(
    *grid[near].T, *move[near].T, angles="xy", scale_units="xy", scale=1, width=0.0022, color="0.15"
)
ax.set(xticks=[], yticks=[], aspect="equal")
ax.legend(loc="upper left")
plt.show()

# %%
# Finally, here are noisy points before and after denoising, with the squared distance to the true
# spiral.

fresh = spiral[:150] + 0.15 * rng.standard_normal((150, 2))
restored = model.denoise(fresh)
s = np.linspace(0.6, 2.1, 2000) * np.pi
curve = 0.3 * s[:, None] * np.column_stack([np.cos(s), np.sin(s)])


def off(points):
    return ((points[:, None] - curve) ** 2).sum(axis=2).min(axis=1).mean()


print(f"squared distance to the spiral: {off(fresh):.4f} before, {off(restored):.4f} after")
fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained", sharex=True, sharey=True)
for ax, points, title in zip(axes, (fresh, restored), ("noisy", "denoised"), strict=True):
    ax.plot(*curve.T, color="0.8", linewidth=4, zorder=0)
    ax.plot(*points.T, "o", markersize=3, color="0.35" if points is fresh else "C0")
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")
plt.show()
