"""
Denoising digits
================

Project a noisy image onto the leading directions of feature space, then look for the image whose
feature vector lies nearest to the projection (Mika et al. 1999). Linear PCA with the same number of
components is beside it.
"""

# %%
# Fit on clean images, keep some for the test, and add noise to those.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split

from mercer import KernelPCA
from mercer.kernels import Gaussian

X, y = load_digits(return_X_y=True)
X_train, X_test, _, y_test = train_test_split(X / 16, y, random_state=0)
noisy = X_test + np.random.default_rng(0).normal(scale=0.3, size=X_test.shape)


def mean_squared_error(images):
    return float(((images - X_test) ** 2).mean())


# %%
# Kernel PCA can use many more components than linear PCA has, so the two are compared over the
# number of components.

numbers = [2, 4, 8, 16, 32, 64, 128, 256]
linear, kernel, restored = [], [], {}
for q in numbers:
    kpca = KernelPCA(n_components=q, kernel=Gaussian(gamma="median"), random_state=0).fit(X_train)
    restored[q] = kpca.denoise(noisy)
    kernel.append(mean_squared_error(restored[q]))
    if q < X.shape[1]:
        pca = PCA(n_components=q).fit(X_train)
        linear.append(mean_squared_error(pca.inverse_transform(pca.transform(noisy))))

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.axhline(mean_squared_error(noisy), color="0.6", linestyle=":", label="noisy images")
ax.plot(numbers[: len(linear)], linear, "o-", label="linear PCA")
ax.plot(numbers, kernel, "o-", label="kernel PCA")
ax.set_xscale("log", base=2)
ax.set(xlabel="number of components", ylabel="mean squared error", ylim=(0, None))
ax.legend(frameon=False)
plt.show()

best = numbers[int(np.argmin(kernel))]
print(
    f"noisy {mean_squared_error(noisy):.4f}, best linear {min(linear):.4f}, "
    f"best kernel {min(kernel):.4f} with {best} components"
)

# %%
# The first example of each digit: clean, noisy, restored.

first = [int(np.flatnonzero(y_test == digit)[0]) for digit in range(10)]
fig, axes = plt.subplots(3, 10, figsize=(10, 3.2), layout="constrained")
for images, name, line in zip(
    (X_test, noisy, restored[best]), ("clean", "noisy", "restored"), axes, strict=True
):
    for i, ax in zip(first, line, strict=True):
        ax.imshow(images[i].reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    line[0].set_ylabel(name)
plt.show()
