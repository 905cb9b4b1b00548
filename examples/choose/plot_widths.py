"""
From a narrow kernel to a wide one
==================================

The width decides how far a point can see. If it is too narrow, every point is alone; if it is too
wide, kernel PCA becomes linear PCA. The useful widths lie in between.
"""

# %%
# The pictures show the first component of two rings at five widths, and below it the scores on the
# first two components.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from mercer import KernelPCA
from mercer.kernels import Gaussian

X, ring = make_circles(300, noise=0.06, factor=0.4, random_state=0)
x, y = np.meshgrid(np.linspace(-1.4, 1.4, 90), np.linspace(-1.4, 1.4, 90))
plane = np.column_stack([x.ravel(), y.ravel()])
colours = np.array(["#0072B2", "#E69F00"])[ring]
widths = [0.05, 0.25, 0.8, 2.0, 20.0]

fig, axes = plt.subplots(2, 5, figsize=(10, 4.5), layout="constrained")
for (above, below), width in zip(axes.T, widths, strict=True):
    model = KernelPCA(4, kernel=Gaussian(width=width)).fit(X)
    score = model.transform(plane)[:, 0].reshape(x.shape)
    top = np.abs(score).max()
    above.contourf(x, y, score, levels=np.linspace(-top, top, 15), cmap="RdBu_r")
    above.scatter(*X.T, s=3, c=colours, linewidths=0)
    above.set_title(f"width {width}", fontsize=10)
    Z = model.transform(X)
    below.scatter(*Z[:, :2].T, s=7, c=colours)
    below.set_title(f"{model.explained_variance_ratio_[:2].sum():.0%} of the variance", fontsize=9)
    for ax in (above, below):
        ax.set(xticks=[], yticks=[])
    above.set_aspect("equal")
axes[0, 0].set_ylabel("component 0")
axes[1, 0].set_ylabel("scores 1 and 2")
plt.show()

# %%
# Which is right? It depends on the purpose. The default, ``Gaussian("median")``, takes the median
# distance between rows, which is seldom far off:

print(KernelPCA(4).fit(X).kernel_)

# %%
# :doc:`/auto_examples/choose/plot_tune` chooses the width for a purpose.
