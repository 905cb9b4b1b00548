"""
4. Why the way back is hard
===========================

Removing noise, filling in missing values and generating new rows all need a way *back*: from a
point of feature space to a row of your table. Usually there is no such row. The closest one is
called a **pre-image**.
"""

# %%
# Almost nothing has a pre-image
# ------------------------------
#
# The plane is mapped to a curved sheet in a space of very many dimensions. A projection onto a few
# components leaves that sheet, just as a straight line through a globe leaves its surface. How far
# is the projection from the sheet, for noisy points on a half circle?

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.kernels import Gaussian

rng = np.random.default_rng(0)
angle = np.sort(rng.uniform(0, np.pi, 200))
curve = np.column_stack([np.cos(angle), np.sin(angle)])
X = curve + rng.normal(scale=0.1, size=curve.shape)

model = KernelPCA(4, kernel=Gaussian(width=0.7)).fit(X)
found = model.preimages(X)
far = found.objective
print(f"squared distance from the projection: {far.min():.4f} to {far.max():.4f}, never 0")

# %%
# So we look for the row :math:`\hat x` whose image comes nearest to the projection,
#
# .. math:: \hat x = \arg\min_x \|\varphi(x) - P\varphi(x_0)\|^2 ,
#
# where :math:`\varphi` maps a row into feature space and :math:`P` projects onto the components.
# Written out, this distance needs nothing but the kernel. The picture shows it for one row, over
# the whole plane:

row = 60
across, up = np.linspace(-1.6, 1.6, 120), np.linspace(-0.6, 1.6, 90)
grid = np.stack(np.meshgrid(across, up), axis=-1).reshape(-1, 2)
subspace = model.subspace_
# The projection is a weighted sum of the images of the training rows; these are its weights.
gamma = subspace.mean + subspace.coef @ model.transform(X)[row]
length = gamma @ model.kernel_(subspace.support, subspace.support) @ gamma
objective = 1 - 2 * model.kernel_(grid, subspace.support) @ gamma + length

fig, ax = plt.subplots(figsize=(8, 4.4), layout="constrained")
field = ax.contourf(across, up, objective.reshape(90, 120), levels=30, cmap="viridis_r")
fig.colorbar(field, label="squared distance to the projection")
ax.scatter(*X.T, s=5, c="w", alpha=0.6)
ax.plot(*X[row], "kx", markersize=10, label="the noisy row: the search starts here")
ax.plot(*found.points[row], "r*", markersize=12, label="its pre-image")
ax.set(aspect="equal", xlabel="first column", ylabel="second column")
ax.legend(loc="lower center")
plt.show()

# %%
# There is a valley. The fixed-point iteration of Mika et al. (1999, eq. 10) walks into it by
# repeatedly taking weighted means of training rows. Other data may have several valleys, and where
# a search ends depends on where it starts: :meth:`~mercer.KernelPCA.denoise` therefore starts at
# the noisy row itself.
#
# Here are all rows at once, compared with linear PCA:

from sklearn.decomposition import PCA

pca = PCA(1).fit(X)
restored = {
    "noisy": X,
    "linear PCA, 1 component": pca.inverse_transform(pca.transform(X)),
    "kernel PCA, 4 components": model.denoise(X),
}
fig, axes = plt.subplots(1, 3, figsize=(10, 2.7), layout="constrained", sharex=True, sharey=True)
for ax, (title, points) in zip(axes, restored.items(), strict=True):
    off = np.abs(np.hypot(*points.T) - 1).mean()
    ax.plot(*curve.T, color="0.8", linewidth=4, zorder=0)
    ax.plot(*points.T, "o", markersize=3)
    ax.set_title(f"{title}\nmean distance to the arc {off:.3f}")
    ax.set(aspect="equal", xticks=[], yticks=[], xlim=(-1.4, 1.4), ylim=(-0.3, 1.4))
plt.show()

# %%
# With the row, or with scores alone
# ----------------------------------
#
# ``inverse_transform`` has only the scores. It uses a regression learnt from the training rows,
# which is excellent for clean scores, but poor for noisy ones, whose noise it brings back. Digits
# show the difference.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

digits = load_digits().data / 16
train, test = train_test_split(digits, test_size=200, random_state=0)
noisy = test + rng.normal(scale=0.3, size=test.shape)

kpca = KernelPCA(64, random_state=0).fit(train)
back = {q: PCA(q).fit(train) for q in (4, 8, 16, 32)}
back = {q: pca.inverse_transform(pca.transform(noisy)) for q, pca in back.items()}
best = min(back, key=lambda q: np.mean((back[q] - test) ** 2))
answers = {
    "clean": test,
    "noisy": noisy,
    f"linear PCA, {best} components, the best of 4, 8, 16 and 32": back[best],
    "kernel PCA, 64: inverse_transform(transform)": kpca.inverse_transform(kpca.transform(noisy)),
    "kernel PCA, 64: denoise": kpca.denoise(noisy),
}
fig, axes = plt.subplots(5, 10, figsize=(9, 5.6), layout="constrained")
for line, (title, images) in zip(axes, answers.items(), strict=True):
    for ax, image in zip(line, images, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set_axis_off()
    error = np.mean((images - test) ** 2)
    title = f"{title}: error {error:.4f}" if error else title
    line[0].text(0, 1.1, title, transform=line[0].transAxes, fontsize=9).set_in_layout(False)
fig.get_layout_engine().set(hspace=0.25, rect=(0, 0, 1, 0.96))
plt.show()

# %%
# Note that linear PCA was given the best of four numbers of components, *judged by the clean test
# images*, while kernel PCA uses its default width and 64 components that nobody tuned. The next
# chapter tunes them.
#
# **Remember.** Use ``denoise`` when you have the row, ``inverse_transform`` when you have only
# scores. Do not expect an exact inverse: there is none. Values may fall outside the range of your
# columns (such as a pixel of −0.02), since mercer does not clip values whose meaning it does not
# know.
#
# **Try it.** ``KernelPCA(64, preimage="nearest")`` answers with real training images. When is that
# better?
#
# For more, see :doc:`/explanation/preimages`. Next: :doc:`width and number of components
# </learn/5_width_and_components>`.
