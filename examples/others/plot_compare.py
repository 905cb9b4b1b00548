"""
Are two models the same?
========================

Signs flip and neighbouring components swap, so scores cannot be compared one by one. The angles
between the *spans* can: they show how much of one model the other one contains.
"""

# %%
# A model of 800 digits is compared with five others: one fitted to other digits, one with
# landmarks, one with another width, one with another kernel, and a linear one.

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.kernels import Gaussian, Laplacian, Linear
from mercer.solvers import Landmarks

X = load_digits().data / 16
first, second, fresh = X[:800], X[800:1600], X[1600:]
q = 8
kernel = Gaussian("median").resolve(first)
model = KernelPCA(q, kernel=kernel).fit(first)
others = {
    "other digits": KernelPCA(q, kernel=kernel).fit(second),
    "landmarks": KernelPCA(q, kernel=kernel, solver=Landmarks(100), random_state=0).fit(first),
    "twice the width": KernelPCA(q, kernel=Gaussian(width=2 * kernel.length)).fit(first),
    "Laplacian": KernelPCA(q, kernel=Laplacian()).fit(first),
    "linear": KernelPCA(q, kernel=Linear()).fit(first),
}

# %%
# The scores of rows that no model has seen span subspaces of functions on these rows. The angles
# are sorted: they show how many directions the two have in common, and where they diverge.

Z = model.transform(fresh)
Z -= Z.mean(axis=0)
fig, axes = plt.subplots(2, 3, figsize=(10, 5.6), layout="constrained")
angle_ax = axes[0, 0]
for (name, other), ax in zip(others.items(), axes.flat[1:], strict=True):
    W = other.transform(fresh)
    W -= W.mean(axis=0)
    angles = np.sort(np.degrees(subspace_angles(Z, W)))
    angle_ax.plot(range(1, q + 1), angles, "o-", markersize=4, label=name)
    match = np.abs(np.corrcoef(Z.T, W.T)[:q, q:])
    image = ax.imshow(match, vmin=0, vmax=1, cmap="viridis")
    ax.set_title(f"{name}: at most {angles[-1]:.0f}°", fontsize=9)
    ax.set_xticks(range(q), range(1, q + 1), fontsize=7)
    ax.set_yticks(range(q), range(1, q + 1), fontsize=7)
angle_ax.set(xlabel="principal angle", ylabel="degrees", ylim=(0, 90))
angle_ax.legend(frameon=False, fontsize=7)
fig.colorbar(image, ax=axes[:, 2], label="|correlation| of components", shrink=0.7)
plt.show()

# %%
# :doc:`/howto/compare` covers the angles in feature space itself, and errors on held-out rows.
