"""
Noise that the model has not seen
=================================

A model is fitted to clean digits and applied to noisy ones. Noise moves an image away from *all*
training images, so its kernel row shrinks as a whole; centring then pulls its projection towards
the mean. ``match_noise=True`` rescales the row and removes this effect.
"""

# %%
# The model learns from half of the digits. The others are corrupted in two ways: by Gaussian noise,
# and by speckle that turns a third of the pixels black or white.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mercer import KernelPCA
from mercer.kernels import Gaussian

X, y = load_digits(return_X_y=True)
X = X / 16
order = np.random.default_rng(0).permutation(len(X))
train, test, label = X[order[:900]], X[order[900:1200]], y[order[900:1200]]

rng = np.random.default_rng(1)
speckled = rng.random(test.shape) < 0.33
noisy = {
    "Gaussian noise": test + 0.4 * rng.standard_normal(test.shape),
    "speckle": np.where(speckled, rng.integers(0, 2, test.shape), test),
}

# %%
# The plot shows the error against the number of components.

numbers = [4, 8, 16, 32, 64, 128, 256]
kernel = Gaussian("median").resolve(train)


def error(images):
    return float(((images - test) ** 2).sum(axis=1).mean())


fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained", sharey=True)
for ax, (name, images) in zip(axes, noisy.items(), strict=True):
    curves = {"linear PCA": [], "kernel PCA": [], "kernel PCA, match_noise": []}
    for q in numbers:
        kpca = KernelPCA(q, kernel=kernel, solver="dense").fit(train)
        curves["kernel PCA"].append(error(kpca.denoise(images, match_noise=False)))
        curves["kernel PCA, match_noise"].append(error(kpca.denoise(images, match_noise=True)))
        if q <= 64:
            pca = PCA(q).fit(train)
            curves["linear PCA"].append(error(pca.inverse_transform(pca.transform(images))))
    for (label_, values), style in zip(curves.items(), ("s:", "o--", "o-"), strict=True):
        ax.plot(numbers[: len(values)], values, style, markersize=4, label=label_)
    ax.set_xscale("log", base=2)
    ax.set(title=name, xlabel="number of components", ylim=(0, 14))
axes[0].set_ylabel("squared error per image")
axes[0].legend(frameon=False, fontsize=8)
plt.show()

# %%
# The images show the first example of each digit, with 64 components.

kpca = KernelPCA(64, kernel=kernel, solver="dense").fit(train)
images = noisy["speckle"]
rows = {
    "clean": test,
    "speckle": images,
    "plain": kpca.denoise(images, match_noise=False),
    "matched": kpca.denoise(images, match_noise=True),
}
first = [int(np.flatnonzero(label == digit)[0]) for digit in range(10)]
fig, axes = plt.subplots(len(rows), 10, figsize=(9, 3.8), layout="constrained")
for line, (name, pictures) in zip(axes, rows.items(), strict=True):
    for i, ax in zip(first, line, strict=True):
        ax.imshow(pictures[i].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name)
plt.show()

# %%
# What do the components look like? Pre-images of the directions themselves show their two ends.

ends = kpca.component_preimages()
fig, axes = plt.subplots(2, 8, figsize=(9, 2.6), layout="constrained")
for line, side, sign in zip(axes, ends, "+−", strict=True):
    for k, ax in enumerate(line):
        ax.imshow(side[k].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
        if sign == "+":
            ax.set_title(f"component {k}", fontsize=8)
    line[0].set_ylabel(sign, rotation=0, labelpad=10)
plt.show()

# sphinx_gallery_thumbnail_number = 2
