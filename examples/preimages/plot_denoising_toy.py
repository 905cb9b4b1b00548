"""
Denoising a half circle and a square
====================================

These are the toy data of Mika et al. (1999), Figure 1: points on a curve, moved off it by noise,
are projected onto a few kernel principal components and brought back to the plane.
"""

# %%
# The closer the restored points lie to the curve, the better; but a method that collapses all
# points to a few spots would also come close. So each title gives the mean squared distance and the
# share of the curve that the points cover.

import matplotlib.pyplot as plt
import numpy as np

from mercer.papers.mika1999 import figure1, half_circle, square

rng = np.random.default_rng(0)
problems = {"half circle": (half_circle(rng), 4), "square": (square(rng), 8)}
titles = {"noisy": "noisy", "linear": "linear PCA, 1 component", "kernel": "kernel PCA"}

sizes = {"height_ratios": [0.62, 1]}
fig, axes = plt.subplots(
    2, 3, figsize=(9, 5.2), layout="constrained", sharex="row", sharey="row", gridspec_kw=sizes
)
for line, (name, (curve, q)) in zip(axes, problems.items(), strict=True):
    for ax, (method, points) in zip(line, figure1(curve, q).items(), strict=True):
        ax.plot(*curve.curve.T, color="0.8", linewidth=4, zorder=0)
        ax.plot(*points.T, "o", markersize=3, color="C0" if method == "kernel" else "0.35")
        title = titles[method] + (f", {q} components" if method == "kernel" else "")
        distance, covered = curve.squared_distance(points), curve.coverage(points)
        ax.set_title(f"{title}\nsquared distance {distance:.4f}, covers {covered:.0%}", fontsize=9)
        ax.set(aspect="equal", xticks=[], yticks=[])
    line[0].set_ylabel(name)
plt.show()

# %%
# Linear PCA can only flatten. Kernel PCA follows both shapes; the square needs a few more
# components, and its corners stay rounded.
#
# How many components, and which width? :meth:`mercer.KernelPCA.tune` tries them on held-out points
# with noise of a stated level.

from mercer import KernelPCA

curve = square(np.random.default_rng(1), noise=0.02)  # nearly clean points to learn from
model = KernelPCA().tune(curve.points, noise=0.1, rows="clean")
print(f"{model.n_components_} components, {model.kernel_}")

restored = model.denoise(square(np.random.default_rng(2)).points)
print(f"squared distance to the curve: {curve.squared_distance(restored):.4f}")
