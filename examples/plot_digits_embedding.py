"""
Handwritten digits in two dimensions
====================================

Linear PCA looks for directions in pixel space. Kernel PCA with a Gaussian kernel looks for them in
a space where only near images count as similar, and groups of images come apart.
"""

# %%
# Fit both to scikit-learn's 1,797 digits. The width of the kernel is the median distance between
# images, so there is nothing to tune.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mercer import KernelPCA
from mercer.kernels import Gaussian

X, y = load_digits(return_X_y=True)
X = X / 16

kpca = KernelPCA(n_components=64, kernel=Gaussian(gamma="median"), random_state=0).fit(X)
pca = PCA(n_components=64, random_state=0).fit(X)
print(kpca.kernel_)
print(kpca.report_.solver, "-", kpca.report_.reason)

# %%
# The first two components of each, side by side.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, model, title in zip(axes, (pca, kpca), ("linear PCA", "kernel PCA"), strict=True):
    Z = model.transform(X)
    points = ax.scatter(Z[:, 0], Z[:, 1], c=y, cmap="tab10", vmin=-0.5, vmax=9.5, s=9, alpha=0.8)
    share = model.explained_variance_ratio_
    ax.set(
        title=title, xlabel=f"component 1 ({share[0]:.0%})", ylabel=f"component 2 ({share[1]:.0%})"
    )
    ax.set_aspect("equal")
fig.colorbar(points, ax=axes, ticks=range(10), label="digit")
plt.show()

# %%
# The shares are of the true variance. In feature space it is spread over many more directions than
# in pixel space, so a smaller share of the first components is no sign of a worse picture.

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(range(1, 65), pca.explained_variance_ratio_.cumsum(), label="linear PCA")
ax.plot(range(1, 65), kpca.explained_variance_ratio_.cumsum(), label="kernel PCA")
ax.set(xlabel="number of components", ylabel="share of the true variance", ylim=(0, 1.02))
ax.legend(frameon=False)
plt.show()
