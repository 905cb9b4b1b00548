"""
The way back from a t-SNE map
=============================

t-SNE draws a map of the digits and stops there: it gives no place for a new digit, and no digit for
a place. :class:`~mercer.MapModel` learns both directions from the rows and their places.
"""

# %%
# Here t-SNE maps 1,000 digits in random order; the model sees 800 of them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE

from mercer import MapModel

X, y = load_digits(return_X_y=True)
some = np.random.default_rng(0).permutation(len(X))[:1000]  # writers come one after the other
X, y = X[some] / 16, y[some]
Z = TSNE(random_state=0).fit_transform(X)
model = MapModel().fit(X[:800], Z[:800])
model

# %%
# The picture on the right shows the digit at each place of a grid where there are data; elsewhere
# it would be made up, so it is left out.

low, high = Z.min(axis=0), Z.max(axis=0)
u, v = np.meshgrid(*(np.linspace(low[k], high[k], 26) for k in range(2)))
grid = np.column_stack([u.ravel(), v.ravel()])
grid = grid[model.place_p_values(grid) > 0.05]
images = model.inverse_transform(grid).reshape(-1, 8, 8)

fig, axes = plt.subplots(1, 2, figsize=(10, 5), sharex=True, sharey=True, layout="constrained")
axes[0].scatter(*Z[:800].T, c=y[:800], cmap="tab10", s=8)
axes[0].set_title("t-SNE's map of the rows")
step = (high - low) / 25
for place, image in zip(grid, images, strict=True):
    extent = np.ravel([place - 0.46 * step, place + 0.46 * step], order="F")
    axes[1].imshow(image, cmap="gray_r", vmin=0, vmax=1, extent=extent, aspect="auto")
axes[1].set(title="the digit at each place", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
plt.show()

# %%
# Next, the 200 digits that the model has not seen are recovered from their places. Two numbers per
# digit remove most of the error of the mean digit; with so few rows, about nine tenths lie inside
# the promised balls.

back = model.inverse_transform(Z[800:])
error = np.linalg.norm(back - X[800:], axis=1)
alone = np.linalg.norm(X[:800].mean(axis=0) - X[800:], axis=1)
print(f"squared error {np.mean(error**2):.2f}, of the mean {np.mean(alone**2):.2f}")
print(f"inside the 90 % balls: {np.mean(error <= model.row_radius(Z[800:])):.0%}")

# %%
# New rows also go to the right place. We measure the distance to where t-SNE, which saw them, put
# them.

placed = model.transform(X[800:])
apart = np.linalg.norm(placed - Z[800:], axis=1)
print(f"median distance {np.median(apart):.2f}, the map is {np.ptp(Z[:, 0]):.0f} wide")
