"""
Images without flattening
=========================

:class:`~mercer.alternatives.MultilinearPCA` has one small factor for the rows of an image and one
for its columns, whereas PCA has an image for every component. For the same error it needs fewer
numbers.
"""

# %%
# The data are 400 pictures of 32 × 32 pixels, each with two soft blobs at random places.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from mercer.alternatives import MultilinearPCA

rng = np.random.default_rng(0)
grid = np.linspace(-1, 1, 32)


def blob():
    (row, column), width = rng.uniform(-0.6, 0.6, 2), rng.uniform(0.15, 0.4)
    across = [np.exp(-((grid - place) ** 2) / (2 * width**2)) for place in (row, column)]
    return np.outer(*across)


images = np.array([blob() + blob() for _ in range(400)])
flat = images.reshape(400, -1)

# %%
# For cores of several sizes, we compute the variance that is lost, and how many components PCA
# needs to lose no more. The numbers to be stored are counted for the model and the codes together.

share = np.cumsum(PCA().fit(flat).explained_variance_ratio_)
lost, ours, theirs = [], [], []
for p in range(2, 14):
    model = MultilinearPCA(ranks=p).fit(images)
    kept = model.explained_variance_ratio_.sum()
    q = int(np.argmax(share >= kept)) + 1
    lost.append(1 - kept)
    ours.append(400 * p * p + 2 * 32 * p + 32 * 32)
    theirs.append(q * (400 + 32 * 32) + 32 * 32)
    if p in (4, 7, 10):
        print(f"core {p} × {p}: {1 - kept:.4f} lost, {ours[-1]:,} numbers; PCA {q}, {theirs[-1]:,}")

# %%
# New images are encoded just as well as old ones, because the factors have few parameters to learn.

new = np.array([blob() + blob() for _ in range(100)])
small, pca = MultilinearPCA(ranks=7).fit(images[:40]), PCA(30).fit(flat[:40])
by_pca = pca.inverse_transform(pca.transform(new.reshape(100, -1))).reshape(new.shape)
error = ((by_pca - new) ** 2).sum(axis=(1, 2)).mean()
print(f"learnt from 40: error {-small.score(new):.2f} with 49 numbers, PCA {error:.2f} with 30")

fig = plt.figure(figsize=(9, 3.6), layout="constrained")
left, right = fig.subfigures(1, 2, width_ratios=[1, 1.25])
ax = left.subplots()
ax.loglog(lost, theirs, "o-", color="0.5", label="PCA")
ax.loglog(lost, ours, "o-", color="C0", label="multilinear PCA")
ax.set(xlabel="share of the variance that is lost", ylabel="numbers, model and codes")
ax.legend(frameon=False)
shown = {
    "new image": new,
    "multilinear, 49 numbers": small.denoise(new),
    "PCA, 30 numbers": by_pca,
}
axes = right.subplots(3, 5)
for line, (name, pictures) in zip(axes, shown.items(), strict=True):
    for i, ax in enumerate(line):
        ax.imshow(pictures[i], cmap="gray", vmin=0, vmax=1.2)
        ax.set(xticks=[], yticks=[])
    line[2].set_title(name, fontsize=9)
plt.show()
