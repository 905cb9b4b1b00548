"""
Width and components, chosen for a purpose
==========================================

An error in feature space cannot be compared between kernels: every width has a feature space of its
own. :meth:`~mercer.KernelPCA.tune` compares what models *do*: it adds noise of a level that you
state to held-out rows, and measures how much of it is removed. This is the map that it searches.
"""

# %%
# There are seven widths and seven numbers of components; one fit for each width and fold serves all
# numbers of components.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.selection import choose_by_noise

X = load_digits().data[:450] / 16
median = Gaussian("median").resolve(X).length
factors = [0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0]
kernels = [Gaussian(width=factor * median) for factor in factors]
counts = [4, 8, 16, 32, 64, 128, 256]

noise = 0.3
chosen = choose_by_noise(KernelPCA(), X, noise, kernels=kernels, counts=counts, exhaustive=True)
print(f"{chosen.n_components} components, {chosen.kernel}: error {chosen.value:.2f}")
print(f"noise alone: {noise**2 * X.shape[1]:.2f}")

# %%
# The map shows all candidates. Few components blur the images. A wide kernel, which is nearly
# linear, must stop early, or the noise comes through. A kernel narrower than the median distance
# may keep many components, because it knows only the neighbourhood of the rows; a still narrower
# one needs even more and gains nothing.

error = np.full((len(counts), len(kernels)), np.nan)
for kernel, q, value in chosen.table:
    column = int(np.argmin([abs(kernel.length - k.length) for k in kernels]))
    error[counts.index(q), column] = value

fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
image = ax.imshow(error, origin="lower", aspect="auto", cmap="viridis_r")
for (i, j), value in np.ndenumerate(error):
    if np.isfinite(value):
        colour = "w" if value > np.nanquantile(error, 0.6) else "k"
        ax.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=8, color=colour)
i, j = np.unravel_index(np.nanargmin(error), error.shape)
ax.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=3))
ax.set_xticks(range(len(factors)), factors)
ax.set_yticks(range(len(counts)), counts)
ax.set(xlabel="width / median distance", ylabel="number of components")
fig.colorbar(image, label="squared error of denoised rows")
plt.show()

# %%
# ``tune`` does all of this in one call, with six widths around the kernel's own, and finally fits
# the best model to all rows:

model = KernelPCA().tune(X[:150], noise=noise, rows="clean")
print(model.n_components_, model.kernel_)
