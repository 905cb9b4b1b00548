"""
A few rows that represent the rest
==================================

Sparse kernel PCA (Tipping 2001) chooses, by maximum likelihood, a handful of rows whose kernels are
enough to express the leading components. On the paper's toy data, three clusters of thirty points,
seven or eight of ninety remain.
"""

# %%
# The components of all rows, and of the chosen few
# -------------------------------------------------
# These are Figures 1 and 2 of the paper: contours of the first projections, with all 90 kernels and
# with the representing ones. The model chooses how many there are; ``noise`` is the paper's σ.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA, SparseKernelPCA
from mercer.kernels import Gaussian
from mercer.papers.tipping2001 import three_clusters

X, labels = three_clusters(seed=1)
kernel = Gaussian(width=0.25)
full = KernelPCA(n_components=3, kernel=kernel, center=False).fit(X)
sparse = SparseKernelPCA(noise=0.25, kernel=kernel).fit(X)
m = len(sparse.support_indices_)

plane = np.stack(np.meshgrid(np.linspace(-0.9, 0.9, 120), np.linspace(-0.6, 1.0, 110)), axis=-1)
points = plane.reshape(-1, 2)


def contours(ax, values, **style):
    ax.contourf(*np.moveaxis(plane, -1, 0), values.reshape(plane.shape[:2]), levels=12, **style)
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[])


fig, axes = plt.subplots(2, 3, figsize=(9, 5.6), layout="constrained")
for line, (model, kernels) in zip(axes, [(full, 90), (sparse, m)], strict=True):
    Z = model.transform(points)
    for k, ax in enumerate(line):
        contours(ax, np.abs(Z[:, k]), cmap="Blues")
        ax.plot(*X.T, ".", color="0.25", markersize=2.5)
        ax.set_title(f"variance {model.explained_variance_[k]:.3f}", fontsize=9)
    line[0].set_ylabel(f"{kernels} kernels")
for ax in axes[1]:
    ax.plot(*X[sparse.support_indices_].T, "o", mfc="none", mec="tab:red", markersize=9)
plt.show()

# %%
# What the kernels can express
# ----------------------------
# This is Figure 3: the distance in feature space from the span of the chosen kernels, eq. (18), is
# small exactly where the data are. The size of a circle shows the weight.

fig, ax = plt.subplots(figsize=(6, 4.6), layout="constrained")
contours(ax, sparse.span_error(points), cmap="Purples", vmin=0, vmax=1.5)
ax.plot(*X.T, ".", color="0.2", markersize=4, label="rows")
ax.scatter(
    *X[sparse.support_indices_].T,
    s=400 * np.sqrt(sparse.weights_ / sparse.weights_.max()),
    facecolors="none",
    edgecolors="tab:red",
    linewidths=1.8,
    label=f"the {m} that represent them",
)
ax.legend(loc="upper left", frameon=True, fontsize=8)
ax.set_title("reconstruction error: dark is far from the model")
plt.show()

# %%
# How many?
# ---------
# The paper shows nine. The number depends on the draw of the data and, with the paper's iterations,
# on when they are stopped; the optimum has fewer, and ``kkt_`` confirms that it is an optimum.

draws = [
    SparseKernelPCA(noise=0.25, kernel=kernel).fit(three_clusters(seed)[0]) for seed in range(20)
]
sizes = [len(model.support_indices_) for model in draws]
print(f"{min(sizes)} to {max(sizes)} kernels in 20 draws, {np.mean(sizes):.1f} on average")
print(f"largest violation of the optimality conditions: {max(m.kkt_ for m in draws):.0e}")
