"""
Digits with missing pixels
==========================

Missing pixels are filled in by going back and forth between an image and its projection in feature
space, with the known pixels held fixed.
"""

# %%
# The model learns from complete images; pixels of other images are hidden, at random or in a block.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.impute import KNNImputer

from mercer import KernelPCA

X = load_digits().data / 16
order = np.random.default_rng(0).permutation(len(X))
train, new = X[order[:1200]], X[order[1200:1400]]
rng = np.random.default_rng(1)
block = np.zeros((8, 8), dtype=bool)
block[2:6, 2:6] = True
hidden = {
    "30 % missing": rng.random(new.shape) < 0.3,
    "60 % missing": rng.random(new.shape) < 0.6,
    "block missing": np.broadcast_to(block.ravel(), new.shape),
}

model = KernelPCA(256).fit(train)
neighbours = KNNImputer(n_neighbors=5).fit(train)
filled, by_neighbours = {}, {}
for name, missing in hidden.items():
    given = np.where(missing, np.nan, new)
    report = model.imputations(given)
    filled[name], by_neighbours[name] = report.points, neighbours.transform(given)
    ours, theirs = (
        np.sqrt(((answer[name] - new)[missing] ** 2).mean()) for answer in (filled, by_neighbours)
    )
    print(
        f"{name}: RMSE {ours:.3f} (KNNImputer {theirs:.3f}), "
        f"{report.converged.mean():.0%} converged in at most {report.iterations.max()} rounds"
    )

# %%
# Each pair of rows shows what is given (with missing pixels in colour), and the filled-in image.

shown = range(12)
fig, axes = plt.subplots(7, len(shown), figsize=(10, 6.2), layout="constrained")
gray = plt.get_cmap("gray_r").with_extremes(bad="#f2b8a2")
lines = [("original", new)]
for name, missing in hidden.items():
    lines += [(name, np.where(missing, np.nan, new)), ("filled in", filled[name])]
for (name, images), line in zip(lines, axes, strict=True):
    for i, ax in zip(shown, line, strict=True):
        ax.imshow(images[i].reshape(8, 8), cmap=gray, vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()
