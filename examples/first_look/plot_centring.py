"""
Why the rows are centred
========================

A Gaussian kernel is positive, so all points lie in one corner of feature space. Without centring,
the first component only says where that corner is.
"""

# %%
# The pictures show three clusters, with and without ``center=True``.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.papers.tipping2001 import three_clusters

X, label = three_clusters(seed=1)
kernel = Gaussian(width=0.5)
models = {
    "not centred": KernelPCA(3, kernel=kernel, center=False).fit(X),
    "centred": KernelPCA(3, kernel=kernel).fit(X),
}

x, y = np.meshgrid(np.linspace(-1.1, 1.1, 110), np.linspace(-0.8, 1.2, 100))
plane = np.column_stack([x.ravel(), y.ravel()])
colours = np.array(["#0072B2", "#E69F00", "#CC79A7"])[label]

fig, axes = plt.subplots(2, 4, figsize=(10, 4.8), layout="constrained")
for line, (name, model) in zip(axes, models.items(), strict=True):
    scores = model.transform(plane)
    for k, ax in enumerate(line[:3]):
        score = scores[:, k].reshape(x.shape)
        top = np.abs(score).max()
        ax.contourf(x, y, score, levels=np.linspace(-top, top, 15), cmap="PuOr_r")
        ax.contour(x, y, score, levels=[0], colors="k", linewidths=1)
        ax.scatter(*X.T, s=7, c=colours, edgecolors="k", linewidths=0.3)
        share = model.explained_variance_ratio_[k]
        ax.set_title(f"component {k}: {share:.0%}", fontsize=9)
        ax.set(xticks=[], yticks=[], aspect="equal")
    line[0].set_ylabel(name)
    Z = model.transform(X)
    line[3].axhline(0, color="0.8", zorder=0)
    line[3].axvline(0, color="0.8", zorder=0)
    line[3].scatter(*Z[:, :2].T, s=9, c=colours)
    line[3].set_title("scores 1 and 2", fontsize=9)
    line[3].set(xticks=[], yticks=[], aspect="equal")
plt.show()

# %%
# The first uncentred component has the same sign everywhere: it is little more than the mean of all
# points, which does not tell them apart.

Z = {name: model.transform(X) for name, model in models.items()}
for name, scores in Z.items():
    print(
        f"{name}: scores of component 0 from {scores[:, 0].min():.2f} to {scores[:, 0].max():.2f}"
    )
