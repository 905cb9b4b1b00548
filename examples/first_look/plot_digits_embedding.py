"""
Handwritten digits: two dimensions, and many
============================================

In two dimensions kernel PCA and linear PCA draw much the same picture of the digits. The difference
lies in what comes after: linear PCA has only as many directions as there are pixels, while kernel
PCA goes on, and a linear classifier on its scores keeps getting better.
"""

# %%
# Fit both to scikit-learn's 1,797 digits. The width of the kernel is the median distance between
# images, so there is nothing to tune.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import cross_val_score

from mercer import KernelPCA
from mercer.kernels import Gaussian

X, y = load_digits(return_X_y=True)
X = X / 16

kpca = KernelPCA(n_components=256, kernel=Gaussian(gamma="median"), random_state=0).fit(X)
pca = PCA(random_state=0).fit(X)
print(kpca.kernel_)
print(kpca.report_.solver, "-", kpca.report_.reason)

# %%
# Here are the first two components of each, side by side. The shares are of the true variance: in
# feature space it is spread over many more directions than in pixel space.

scores = {"linear PCA": pca.transform(X), "kernel PCA": kpca.transform(X)}
fig, axes = plt.subplots(1, 2, figsize=(10, 4.8), layout="constrained")
for ax, (title, Z), model in zip(axes, scores.items(), (pca, kpca), strict=True):
    points = ax.scatter(Z[:, 0], Z[:, 1], c=y, cmap="tab10", vmin=-0.5, vmax=9.5, s=9, alpha=0.8)
    share = model.explained_variance_ratio_
    ax.set(
        title=title, xlabel=f"component 0 ({share[0]:.0%})", ylabel=f"component 1 ({share[1]:.0%})"
    )
    ax.set_aspect("equal")
fig.colorbar(points, ax=axes, ticks=range(10), label="digit", shrink=0.8)
plt.show()

# %%
# How well does a *linear* classifier do on the first q scores? (Five-fold cross-validation of the
# classifier; the components never see the labels.)

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for title, Z in scores.items():
    numbers = [q for q in (2, 4, 8, 16, 32, 64, 128, 256) if q <= Z.shape[1]]
    accuracy = [cross_val_score(RidgeClassifier(1e-3), Z[:, :q], y, cv=5).mean() for q in numbers]
    ax.plot(numbers, accuracy, "o-", label=title)
    print(f"{title}: {accuracy[-1]:.1%} with {numbers[-1]} components")
ax.set_xscale("log", base=2)
ax.set(xlabel="number of components", ylabel="accuracy of a linear classifier")
ax.legend(frameon=False)
plt.show()
