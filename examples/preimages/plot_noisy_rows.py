"""
Only noisy rows
===============

Suppose that nobody has a clean version of these digits: the noise is in the very rows that the
model learns from. :meth:`~mercer.KernelPCA.tune` chooses the kernel's width, the number of
components and the way back by an estimate of the remaining error that needs no clean rows. Here the
clean rows are in fact known, so the estimate can be compared with the truth.
"""

# %%
# The whole job is two lines. The level of the noise is not given but estimated.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.kernels import Linear
from mercer.selection import kernels_around

digits = load_digits()
truth = digits.data[:500] / 16
noisy = truth + np.random.default_rng(0).normal(scale=0.3, size=truth.shape)

model = KernelPCA(random_state=0).tune(noisy)
restored = model.denoise(noisy)
print(model.risk_)

# %%
# We now compute what ``tune`` could not see: the true error. Linear PCA gets the number of
# components that is best *in truth*, which nobody could choose without the clean rows.


def error(rows):
    """Squared error of a row."""
    return float(((rows - truth) ** 2).sum(axis=1).mean())


centre = noisy.mean(axis=0)
axes_of_rows = np.linalg.svd(noisy - centre, full_matrices=False)[2]


def project(q):
    """Linear PCA of the noisy rows with q components."""
    return centre + (noisy - centre) @ axes_of_rows[:q].T @ axes_of_rows[:q]


linear = min((project(q) for q in range(1, 64)), key=error)

# %%
# ``tuning_.table`` contains the candidates that the search visited, each with its estimate. The
# search skips what is clearly bad, so for a whole grid we compute the estimate ourselves, with one
# random probe: every candidate is fitted to the rows, and again to the rows with the probe added.

level = model.risk_.level.size
probe = np.random.default_rng(1).choice([-1.0, 1.0], noisy.shape)
cells = []
for kernel in kernels_around("gaussian", noisy):
    for q in (4, 8, 16, 32, 64, 128):
        cell = KernelPCA(q, kernel=kernel, random_state=0)
        here = cell.fit(noisy).denoise(noisy)
        moved = noisy + 0.3 * level * probe
        there = cell.fit(moved).denoise(moved)
        slope = (probe * (there - here)).sum() / (0.3 * level)
        left = ((noisy - here) ** 2).sum() + 2 * level**2 * slope
        cells.append((left / len(noisy) - noisy.shape[1] * level**2, error(here)))
lines = [
    (said, error(project(q)))
    for kernel, q, said in model.tuning_.table
    if isinstance(kernel, Linear) and 4 <= q <= 40
]

shown = [int(np.flatnonzero(digits.target[:500] == digit)[1]) for digit in range(8)]
pictures = {
    f"noisy\n{error(noisy):.2f}": noisy,
    f"linear PCA\nat its best\n{error(linear):.2f}": linear,
    f"mercer\n{error(restored):.2f}": restored,
    "truth": truth,
}
fig = plt.figure(figsize=(11, 3.6), layout="constrained")
left, right = fig.subfigures(1, 2, width_ratios=(1.45, 1))
for line, (name, rows) in zip(left.subplots(4, 8), pictures.items(), strict=True):
    for ax, i in zip(line, shown, strict=True):
        ax.imshow(rows[i].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name, rotation=0, ha="right", va="center", labelpad=8)

ax = right.subplots()
for name, pairs, style in (("linear PCA", lines, "s"), ("Gaussian kernels", cells, "o")):
    ax.plot(*np.array(pairs).T[::-1], style, markersize=5, alpha=0.7, label=name)
ax.axline((0, 0), slope=1, color="0.7", zorder=0)
ax.plot(error(restored), model.risk_.error, "k*", markersize=13, label="chosen")
ax.set(xlabel="true squared error of a row", ylabel="estimate, without a clean row")
ax.legend(frameon=False)
plt.show()

# %%
# On the line, the estimate equals the truth. The few candidates above it have the narrowest kernel,
# whose pre-images jump between the rows: there the estimate errs on the side of caution. The chosen
# candidate may lie below all others, because other ways back were tried, too.

best = min(true for _, true in cells + lines)
print(f"{len(cells) + len(lines)} cells; chosen {error(restored):.2f}, best of them {best:.2f}")
print(f"correlation of estimate and truth {np.corrcoef(np.transpose(cells + lines))[0, 1]:.3f}")

# %%
# :doc:`/learn/6_only_noisy_rows` and :doc:`/explanation/limits` explain when the estimate cannot be
# trusted.
