"""
The background of a film
========================

A camera that does not move sees the same scene in every frame, except where something passes.
Flattened to rows, the scene is a matrix of low rank, and what passes is sparse:
:class:`~mercer.alternatives.RobustPCA` separates the two, however bright the passing objects are.
"""

# %%
# The film has 60 frames: a textured wall under slowly changing light, and three squares that move
# across it. Ten more frames are kept for later.

import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import gaussian_filter

from mercer.alternatives import RobustPCA

rng = np.random.default_rng(0)
height, width, frames = 36, 48, 70
texture, shade = gaussian_filter(rng.standard_normal((2, height, width)), (0, 1.5, 1.5))
time = np.arange(frames)
light = 0.5 + 0.1 * np.sin(2 * np.pi * time / 35)
sun = 0.5 * np.cos(2 * np.pi * time / 70)
wall = light[:, None, None] * (1 + 2 * texture) + sun[:, None, None] * shade

film = wall.copy()
passing = np.zeros(film.shape, dtype=bool)
for size, brightness, row, speed, start in [
    (6, 1.2, 4, 0.9, 0),
    (5, -0.3, 17, -1.1, 60),
    (8, 0.9, 25, 0.6, 5),
]:
    for t in time:
        column = int(start + speed * t) % width
        film[t, row : row + size, column : column + size] = brightness
        passing[t, row : row + size, column : column + size] = True

rows = film.reshape(frames, -1)
model = RobustPCA().fit(rows[:60])
print(f"rank {model.n_components_}, {model.n_iter_} steps")

# %%
# Linear PCA of the same rank spreads the squares over its components: ghosts remain where they
# passed. Frames that the model has not seen are separated with the background held fixed.


def linear(rows, q):
    mean = rows[:60].mean(axis=0)
    axes = np.linalg.svd(rows[:60] - mean, full_matrices=False)[2][:q]
    return (rows - mean) @ axes.T @ axes + mean


background, moving = model.split(rows)
plain = linear(rows, model.n_components_)
truth = wall.reshape(frames, -1)
for name, part in {"60 frames of the fit": slice(0, 60), "10 new frames": slice(60, None)}.items():
    ours, theirs = (np.sqrt(((found - truth)[part] ** 2).mean()) for found in (background, plain))
    print(f"{name}: RMSE of the background {ours:.4f}, linear PCA {theirs:.4f}")

# %%
# From left to right: the frame, the background, what moves, and the background of linear PCA.

fig, axes = plt.subplots(3, 4, figsize=(9, 5.4), layout="constrained")
titles = ["frame", "background", "what moves", "linear PCA"]
for line, t in zip(axes, (10, 40, 65), strict=True):
    for ax, image in zip(line, (rows, background, moving, plain), strict=True):
        scale = {"vmin": -0.8, "vmax": 0.8, "cmap": "RdBu_r"}
        if image is not moving:
            scale = {"vmin": -0.3, "vmax": 1.2, "cmap": "gray"}
        ax.imshow(image[t].reshape(height, width), **scale)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(f"frame {t}" + (" (new)" if t >= 60 else ""))
for ax, title in zip(axes[0], titles, strict=True):
    ax.set_title(title)
plt.show()
