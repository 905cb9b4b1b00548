"""
What a kernel sees
==================

A kernel decides what "similar" means. Here are the radial kernels as functions of the distance, and
what the leading components of three kernels look like on three clusters, the toy data of Tipping
(2001, Figure 1).
"""

# %%
# Profiles
# --------
# All have the same length, so they differ only in how fast similarity fades.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.kernels import Cauchy, Gaussian, Laplacian, Matern, Polynomial

r = np.linspace(0, 4, 200)[:, None]
origin = np.zeros((1, 1))
kernels = {
    "Gaussian(width=1)": Gaussian(width=1.0),
    "Matern(nu=1.5)": Matern(nu=1.5, length_scale=1.0),
    "Laplacian(gamma=1)": Laplacian(gamma=1.0),
    "Cauchy()": Cauchy(length_scale=1.0),
}
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, kernel in kernels.items():
    ax.plot(r, kernel(r, origin), label=name)
ax.set(xlabel="distance", ylabel="k")
ax.legend(frameon=False)
plt.show()

# %%
# Components
# ----------
# The panels show contours of the first three scores over the plane. Narrow kernels pick out the
# clusters one by one; a polynomial can only bend the whole plane.

rng = np.random.default_rng(0)
centres = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])
X = np.vstack([centre + 0.1 * rng.standard_normal((30, 2)) for centre in centres])
grid = np.stack(np.meshgrid(np.linspace(-1, 1, 90), np.linspace(-0.7, 1.1, 80)), axis=-1)

rows = {
    "Gaussian(width=0.25)": Gaussian(width=0.25),
    "Gaussian(width=1)": Gaussian(width=1.0),
    "Gaussian + Polynomial": 0.5 * Gaussian(width=0.25) + 0.5 * Polynomial(2),
}
fig, axes = plt.subplots(3, 3, figsize=(9, 8), layout="constrained", sharex=True, sharey=True)
for line, (name, kernel) in zip(axes, rows.items(), strict=True):
    kpca = KernelPCA(n_components=3, kernel=kernel).fit(X)
    scores = kpca.transform(grid.reshape(-1, 2)).reshape(*grid.shape[:2], 3)
    for k, ax in enumerate(line):
        ax.contourf(grid[..., 0], grid[..., 1], scores[..., k], levels=14, cmap="RdBu_r")
        ax.plot(*X.T, "k.", markersize=3)
        share = kpca.explained_variance_ratio_[k]
        ax.set_title(f"component {k}: {share:.0%} of the variance", fontsize=9)
        ax.set_aspect("equal")
    line[0].set_ylabel(name)
plt.show()

# sphinx_gallery_thumbnail_number = 2
