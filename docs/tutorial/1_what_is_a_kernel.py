"""
1. What a kernel is
===================

A kernel is a measure of similarity. Kernel PCA never asks where a point lies, only how similar it
is to other points, and from that alone it finds shapes that no straight line can follow.
"""

# %%
# Two rings that PCA cannot separate
# ----------------------------------
#
# Linear PCA looks for the direction in which the points spread most. For two rings all directions
# are alike, so its first component mixes them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles
from sklearn.decomposition import PCA

X, ring = make_circles(300, factor=0.35, noise=0.06, random_state=0)
colours = np.array(["tab:blue", "tab:orange"])[ring]

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
axes[0].scatter(*X.T, s=10, c=colours)
axes[0].set(title="two rings", aspect="equal")
scores = PCA(1).fit_transform(X)[:, 0]
axes[1].hist([scores[ring == 0], scores[ring == 1]], 30, stacked=True)
axes[1].set(title="first component of linear PCA", xlabel="score", ylabel="points")
plt.show()
# sphinx_gallery_thumbnail_number = 4

# %%
# More columns would help
# -----------------------
#
# The rings differ in their distance from the middle, :math:`x^2 + y^2`. Give PCA the columns
# :math:`x^2`, :math:`y^2` and :math:`\sqrt2\,xy`, and the sum of the first two separates the rings.
# Such a change of columns is called a *feature map* :math:`\varphi`.


def features(X):
    x, y = X.T
    return np.column_stack([x**2, y**2, np.sqrt(2) * x * y])


mapped = features(X)
print(mapped.shape)

# %%
# Now comes the trick on which everything rests. PCA needs only the dot products between rows, and
# the dot product of two mapped rows can be computed *without* mapping them: here it is the square
# of the dot product of the rows themselves,
#
# .. math:: \varphi(x)\cdot\varphi(y) = (x \cdot y)^2 = k(x, y).

print("largest difference:", np.abs(mapped @ mapped.T - (X @ X.T) ** 2).max())

# %%
# Such a function :math:`k` is a **kernel**. There may be many columns behind it, even infinitely
# many, but we never write them down. The table of its values, one for each pair of rows, is the
# *Gram matrix* :math:`K`, and it is all that kernel PCA knows about the data.
#
# The kernel that you will use most
# ---------------------------------
#
# The Gaussian kernel :math:`k(x, y) = \exp(-\gamma\|x-y\|^2)` is 1 for equal points, and falls to
# 0 as they move apart. Its *width* determines how fast. The pictures show how similar every point
# of the plane is to the black point, for three widths:

from mercer.kernels import Gaussian

widths = (0.2, 0.6, 2.0)
side = np.linspace(-1.5, 1.5, 120)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)

fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for ax, width in zip(axes, widths, strict=True):
    similar = Gaussian(width=width)(grid, X[:1]).reshape(120, 120)
    shading = ax.contourf(side, side, similar, levels=np.linspace(0, 1, 11), cmap="Blues")
    ax.scatter(*X.T, s=4, c=colours)
    ax.plot(*X[0], "ko")
    ax.set(title=f"width {width}", aspect="equal", xticks=[], yticks=[])
fig.colorbar(shading, ax=axes, label="similarity to the black point", shrink=0.9)
plt.show()

# %%
# A narrow kernel sees only the nearest neighbours. To a wide one, everything looks alike. What we
# want lies in between, and the Gram matrix shows it: with the rows sorted by ring, the inner ring
# is a bright block of its own.

order = np.lexsort((np.arctan2(*X.T), ring))
fig, axes = plt.subplots(1, 3, figsize=(10, 3.3), layout="constrained")
for ax, width in zip(axes, widths, strict=True):
    shading = ax.imshow(Gaussian(width=width)(X[order], X[order]), cmap="Blues", vmin=0, vmax=1)
    ax.set(title=f"Gram matrix, width {width}", xticks=[], yticks=[])
fig.colorbar(shading, ax=axes, shrink=0.9)
plt.show()

# %%
# Kernel PCA of the rings
# -----------------------
#
# Kernel PCA is simply PCA of the Gram matrix instead of the columns.

from mercer import KernelPCA

kpca = KernelPCA(2, kernel=Gaussian(width=0.6)).fit(X)
Z = kpca.transform(X)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
axes[0].scatter(*Z.T, s=10, c=colours)
axes[0].set(title="two components of kernel PCA", xlabel="component 0", ylabel="component 1")
axes[1].hist([Z[ring == 0, 0], Z[ring == 1, 0]], 30, stacked=True)
axes[1].set(title="first component of kernel PCA", xlabel="score", ylabel="points")
plt.show()

cuts = np.sort(Z[:, 0])
parted = max(max(np.mean(side == ring), np.mean(side != ring)) for side in Z[:, 0] > cuts[:, None])
print(f"one cut of the first component separates {parted:.0%} of the points")

# %%
# No labels were used: the rings are the largest difference that this kernel sees.
#
# **Remember.** A kernel is a similarity that is a dot product in some space. You choose what counts
# as similar; kernel PCA does the rest.
#
# **Try it.** Set ``width=0.2`` and ``width=2``. When does the first component stop separating the
# rings?
#
# Next: :doc:`why the features are centred </learn/2_why_centring>`.
