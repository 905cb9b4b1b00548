"""
Outliers that would claim a component
=====================================

In feature space a gross outlier is at right angles to everything else, and a few of them are enough
to claim a component for themselves. :class:`~mercer.ReweightedKernelPCA` finds them during the fit,
and removes their weight.
"""

# %%
# The data are a half circle, with every tenth row replaced by a point far away.

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import subspace_angles

from mercer import KernelPCA, ReweightedKernelPCA
from mercer.kernels import Gaussian
from mercer.papers.mika1999 import half_circle

rng = np.random.default_rng(0)
clean = half_circle(rng, n=200, noise=0.05).points
outliers = np.array([0.5, 2.2]) + 0.25 * rng.standard_normal((22, 2))
X = np.vstack([clean, outliers])

wrapped = KernelPCA(4, kernel=Gaussian(width=1.0))
models = {
    "without the outliers": KernelPCA(4, kernel=Gaussian(width=1.0)).fit(clean),
    "plain": KernelPCA(4, kernel=Gaussian(width=1.0)).fit(X),
    "reweighted": ReweightedKernelPCA(wrapped, random_state=0).fit(X),
}
weights = models["reweighted"].weights_
good, bad = weights[:200].mean(), weights[200:].mean()
print(f"mean weight of the good rows {good:.2f}, of the others {bad:.2f}")

# %%
# These are the first three components of each model. With outliers among the rows, component 2 says
# "outlier or not"; after reweighting, it runs along the half circle again.

x, y = np.meshgrid(np.linspace(-1.6, 1.6, 90), np.linspace(-0.6, 3.0, 90))
plane = np.column_stack([x.ravel(), y.ravel()])
fig, axes = plt.subplots(3, 3, figsize=(8.4, 8.2), layout="constrained")
for line, (name, model) in zip(axes, models.items(), strict=True):
    scores = model.transform(plane)
    for k, ax in enumerate(line):
        score = scores[:, k].reshape(x.shape)
        top = np.abs(score).max()
        ax.contourf(x, y, score, levels=np.linspace(-top, top, 15), cmap="RdBu_r")
        ax.scatter(*clean.T, s=4, color="k", linewidths=0)
        if model is not models["without the outliers"]:
            ax.scatter(*outliers.T, s=14, color="#E69F00", edgecolors="k", linewidths=0.4)
        ax.set(xticks=[], yticks=[], aspect="equal")
        if line is axes[0]:
            ax.set_title(f"component {k}")
    line[0].set_ylabel(name)
plt.show()

# %%
# In numbers, this is the largest angle between each model's components and those of the clean rows,
# measured on the scores of the clean rows.

truth = models["without the outliers"].transform(clean)
for name in ("plain", "reweighted"):
    angle = np.degrees(subspace_angles(models[name].transform(clean), truth)[0])
    print(f"{name}: {angle:.1f} degrees")
