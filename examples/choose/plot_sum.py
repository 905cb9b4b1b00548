"""
A kernel for each kind of variable
==================================

Sums and products of kernels are kernels. A product requires similarity in *all* parts, a sum in
*any* of them; each part keeps its own kernel and its own weight.
"""

# %%
# The rows are times of day and temperatures. Hours are cyclic: 23:30 is close to 0:30, and a kernel
# of their own can take that into account. There are two routines, one of them around midnight.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.kernels import FunctionKernel, Gaussian

rng = np.random.default_rng(0)
night = rng.random(160) < 0.5
hour = np.where(night, rng.normal(0, 1.5, 160), rng.normal(13, 2.0, 160)) % 24
warm = np.where(night, 8, 20) + 2.5 * rng.standard_normal(160)
rows = np.column_stack([hour * np.pi / 12, (warm - warm.mean()) / warm.std()])


def around(a, b):
    """Likeness of two angles on the clock."""
    return np.exp((np.cos(a[0] - b[0]) - 1) / 0.5)


def heat(a, b):
    return np.exp(-((a[1] - b[1]) ** 2))


kernels = {
    "Gaussian on both columns": Gaussian("median"),
    "hour + heat": 0.5 * FunctionKernel(around) + 0.5 * FunctionKernel(heat),
    "hour × heat": FunctionKernel(around) * FunctionKernel(heat),
}

# %%
# The maps show the first component over hours and temperatures, with the shares of the first three
# above them. The plain Gaussian cuts the night in two at midnight; the sum has ridges that run
# through all temperatures or all hours; the product has islands.

x, y = np.meshgrid(np.linspace(0, 2 * np.pi, 37), np.linspace(-3, 2.2, 27))
plane = np.column_stack([x.ravel(), y.ravel()])
fig, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained", sharey=True)
for ax, (name, kernel) in zip(axes, kernels.items(), strict=True):
    model = KernelPCA(3, kernel=kernel).fit(rows)
    score = model.transform(plane)[:, 0].reshape(x.shape)
    top = np.abs(score).max()
    ax.contourf(x, y, score, levels=np.linspace(-top, top, 15), cmap="PRGn")
    ax.scatter(*rows.T, s=6, c=np.where(night, "#0072B2", "#D55E00"), linewidths=0)
    shares = ", ".join(f"{share:.0%}" for share in model.explained_variance_ratio_)
    ax.set_title(f"{name}\n{shares}", fontsize=9)
    ax.set_xticks(np.linspace(0, 2 * np.pi, 5), range(0, 25, 6))
    ax.set_xlabel("hour")
axes[0].set_ylabel("temperature, standardised")
plt.show()
