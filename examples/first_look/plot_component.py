"""
What a component looks like
===========================

A component of linear PCA is a direction: its score grows evenly along it. A component of kernel PCA
is a *function* of the point, and can follow the shape of the data. In the plane, it can be drawn.
"""

# %%
# The data are two half moons. The lines are contours of equal score, and the thick line is zero.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import KernelPCA
from mercer.kernels import Gaussian, Linear

X, moon = make_moons(300, noise=0.06, random_state=0)
models = {
    "linear PCA": KernelPCA(2, kernel=Linear()).fit(X),
    "kernel PCA": KernelPCA(6, kernel=Gaussian(width=0.6)).fit(X),
}

x, y = np.meshgrid(np.linspace(-1.5, 2.5, 120), np.linspace(-1.0, 1.5, 90))
plane = np.column_stack([x.ravel(), y.ravel()])

fig, axes = plt.subplots(2, 4, figsize=(10, 4.2), layout="constrained")
panels = [("linear PCA", 0), *(("kernel PCA", k) for k in range(3))]
panels += [("linear PCA", 1), *(("kernel PCA", k) for k in range(3, 6))]
for ax, (name, k) in zip(axes.flat, panels, strict=True):
    score = models[name].transform(plane)[:, k].reshape(x.shape)
    top = np.abs(score).max()
    ax.contourf(x, y, score, levels=np.linspace(-top, top, 15), cmap="RdBu_r")
    ax.contour(x, y, score, levels=[0], colors="k", linewidths=1.5)
    ax.scatter(*X.T, s=4, c=np.where(moon == 0, "k", "#555"), linewidths=0)
    share = models[name].explained_variance_ratio_[k]
    ax.set_title(f"{name} {k}: {share:.0%}", fontsize=9)
    ax.set(xticks=[], yticks=[], aspect="equal")
plt.show()

# %%
# The first components of the kernel run along the moons and from one to the other; later ones
# divide each moon into ever shorter pieces, like the harmonics of a string. Far from all points,
# every score of a Gaussian kernel approaches a constant: there the model knows nothing.

far = models["kernel PCA"].transform([[50.0, 50.0], [-80.0, 10.0]])
print(np.allclose(far[0], far[1]))
