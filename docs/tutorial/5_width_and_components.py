"""
5. Width and number of components
=================================

Two numbers decide what a model keeps: the width of the kernel and the number of components. This
chapter shows what they do, how to choose them, and a trap to avoid.
"""

# %%
# The same noise, sixteen models
# ------------------------------
#
# The points lie on two moons, with noise added; each panel shows them after ``denoise``. The kernel
# gets wider from top to bottom, and the number of components grows from left to right.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import KernelPCA
from mercer.kernels import Gaussian

curve, _ = make_moons(300, noise=0.0, random_state=0)
X = curve + np.random.default_rng(0).normal(scale=0.12, size=curve.shape)


def distance(points):
    """Mean distance to the true moons."""
    return np.sqrt(((points[:, None] - curve) ** 2).sum(axis=-1).min(axis=1)).mean()


widths, counts = (0.15, 0.5, 1.5, 5.0), (2, 5, 10, 25)
fig, axes = plt.subplots(4, 4, figsize=(10, 7), layout="constrained", sharex=True, sharey=True)
for line, width in zip(axes, widths, strict=True):
    for ax, q in zip(line, counts, strict=True):
        points = KernelPCA(q, kernel=Gaussian(width=width)).fit(X).denoise(X)
        ax.plot(*curve.T, ".", color="0.85", markersize=6, zorder=0)
        ax.plot(*points.T, ".", markersize=3)
        ax.text(2.5, 1.5, f"{distance(points):.3f}", ha="right", va="top")
        ax.set(xticks=[], yticks=[], xlim=(-1.6, 2.6), ylim=(-1.1, 1.6))
    line[0].set_ylabel(f"width {width}")
for ax, q in zip(axes[0], counts, strict=True):
    ax.set_title(f"{q} components")
plt.show()
print(f"mean distance to the moons with nothing done: {distance(X):.3f}")

# %%
# The number in each panel is the mean distance to the true moons. At the top left, a narrow kernel
# gathers the points into spots. These are close to the moons, but most of each moon is gone, so a
# small number alone proves nothing. In the second row, two components are too few, ten are right,
# and with 25 the noise is back. Further down, the kernel is so wide that two components are nearly
# the two columns themselves, as in linear PCA: everything is kept, and nothing is removed.
#
# A trap: clean reconstruction
# ----------------------------
#
# It is tempting to choose the model that best reconstructs rows to which no noise was added. But a
# model that keeps everything brings everything back, noise included. The picture shows both errors
# for held-out images of digits and 32 components:

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

train, test = train_test_split(load_digits().data / 16, test_size=300, random_state=0)
train = train[:800]
noisy = test + np.random.default_rng(1).normal(scale=0.3, size=test.shape)

median = KernelPCA(1).fit(train).kernel_.length  # the default width: the median distance
factors = (0.35, 0.5, 0.7, 1, 1.4, 2, 4)
errors = {"clean rows come back": [], "noise is removed": []}
for factor in factors:
    model = KernelPCA(32, kernel=Gaussian(width=factor * median)).fit(train)
    back = model.inverse_transform(model.transform(test))
    errors["clean rows come back"].append(np.mean((back - test) ** 2))
    errors["noise is removed"].append(np.mean((model.denoise(noisy) - test) ** 2))

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, values in errors.items():
    ax.plot(factors, values, "o-", label=name)
    least = ax.plot(factors[np.argmin(values)], min(values), "k*", markersize=12)
    print(f"{name}: best at {factors[np.argmin(values)]} median distances")
ax.set(xlabel="width, in median distances", ylabel="mean squared error", xscale="log", yscale="log")
ax.set_xticks(factors, [str(f) for f in factors])
ax.set_yticks([0.003, 0.005, 0.01, 0.02, 0.03], ["0.003", "0.005", "0.01", "0.02", "0.03"])
ax.minorticks_off()
least[0].set_label("least")
ax.legend(frameon=False)
plt.show()

# %%
# The two disagree. So decide what the model is *for*, and measure that:
#
# ================================== ==========================================================
# you want                           choose by
# ================================== ==========================================================
# noise removed, clean examples      ``tune(X, noise=..., rows="clean")``: error on held-out rows
# noise removed, noisy rows only     ``tune(X)``: the estimated error, see the next chapter
# a false-alarm rate that holds      :class:`~mercer.KernelNovelty`, which has its own threshold
# features for a classifier          cross-validated accuracy of the whole pipeline
# a picture                          your eyes, beginning with the default width
# components beyond chance           :class:`~mercer.ParallelAnalysis`
# ================================== ==========================================================
#
# Let it choose
# -------------
#
# These rows are clean, so state the level of noise that you expect. Noise of that level is added to
# held-out rows, and the error is measured in the units of your columns, so that all kernels can be
# compared.

tuned = KernelPCA(random_state=0).tune(train[:400], noise=0.3, rows="clean")
print(f"{tuned.n_components_} components, {tuned.kernel_.length / median:.2f} median distances")

default = KernelPCA(64, random_state=0).fit(train[:400])
for name, model in {"64 components, median width": default, "tuned": tuned}.items():
    print(f"{name}: error {np.mean((model.denoise(noisy) - test) ** 2):.4f}")
print(f"nothing done: error {np.mean((noisy - test) ** 2):.4f}")

# %%
# **Remember.** Choose the width and the number of components together, for the job at hand, on
# held-out rows.
#
# **Try it.** ``KernelPCA(n_components=0.95)`` keeps 95 % of the variance. Is that a good denoiser?
#
# Next: :doc:`only noisy rows </learn/6_only_noisy_rows>`.
