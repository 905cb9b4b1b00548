"""
7. When not to use kernel PCA
=============================

This chapter compares linear PCA, t-SNE, an autoencoder and kernel PCA in numbers, on the same data.
Each of them wins somewhere.
"""

# %%
# A straight world: use PCA
# -------------------------
#
# These rows lie on a flat plane in 20 dimensions, with noise. There is nothing curved to follow, so
# the flexibility of a Gaussian kernel only costs accuracy, even at the width and the number of
# components that are best according to the estimate of the last chapter.

from time import process_time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from mercer import KernelPCA
from mercer.kernels import Gaussian

rng = np.random.default_rng(0)
plane = rng.normal(size=(600, 2)) @ rng.normal(size=(2, 20))
seen = plane + rng.normal(scale=0.5, size=plane.shape)


def report(name, clean, restored, start):
    error = np.mean((restored - clean) ** 2)
    print(f"{name:24s} error {error:.4f}   {process_time() - start:5.1f} s of processor time")


report("nothing done", plane[400:], seen[400:], process_time())
start = process_time()
pca = PCA(2).fit(seen[:400])
report("PCA, 2", plane[400:], pca.inverse_transform(pca.transform(seen[400:])), start)
start = process_time()
kpca = KernelPCA(random_state=0).tune(seen[:400])
report(f"tuned, {kpca.kernel_}, {kpca.n_components_}", plane[400:], kpca.denoise(seen[400:]), start)
bent = [cell for cell in kpca.tuning_.table if isinstance(cell[0], Gaussian)]
kernel, q, _ = min(bent, key=lambda cell: cell[2])
start = process_time()
kpca = KernelPCA(q, kernel=kernel, random_state=0).fit(seen[:400])
report(f"Gaussian kernel, {q}", plane[400:], kpca.denoise(seen[400:]), start)
# sphinx_gallery_thumbnail_number = 2

# %%
# PCA is better and much faster. ``tune`` noticed this: the linear kernel was among its candidates,
# and with it kernel PCA *is* PCA, at a higher price. Try PCA first; if its error is small enough,
# stop there.
#
# A curved world: denoising
# -------------------------
#
# Now take noisy digits and three tools, each used as a sensible user would use it. PCA gets the
# number of components that is best on held-out rows. Kernel PCA is tuned by ``tune``, with
# ``match_noise`` because the model has seen only clean images. The autoencoder (scikit-learn's
# ``MLPRegressor``, 64–32–64, trained to turn noisy images into clean ones) gets four noisy copies
# of the training images.

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPRegressor

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, test_size=400, random_state=0)


def disturb(X):
    return X + rng.normal(scale=0.3, size=X.shape)


noisy = disturb(X_test)
results = {"clean": X_test, "noisy": noisy}
report("nothing done", X_test, noisy, process_time())

start = process_time()
learnt, held = X_train[:1000], X_train[1000:]
held_noisy = disturb(held)


def loss(q):
    model = PCA(q).fit(learnt)
    return np.mean((model.inverse_transform(model.transform(held_noisy)) - held) ** 2)


pca = PCA(min((4, 8, 12, 16, 24, 32), key=loss)).fit(X_train)
results["PCA"] = pca.inverse_transform(pca.transform(noisy))
report(f"PCA, {pca.n_components_}", X_test, results["PCA"], start)

start = process_time()
kpca = KernelPCA(random_state=0).tune(X_train[:500], noise=0.3, rows="clean", match_noise=True)
kpca.fit(X_train)
results["kernel PCA"] = kpca.denoise(noisy, match_noise=True)
report(f"kernel PCA, {kpca.n_components_}", X_test, results["kernel PCA"], start)

start = process_time()
copies = np.tile(X_train, (4, 1))
layers = (64, 32, 64)
network = MLPRegressor(hidden_layer_sizes=layers, max_iter=300, early_stopping=True, random_state=0)
network.fit(disturb(copies), copies)
results["autoencoder"] = network.predict(noisy)
report("autoencoder", X_test, results["autoencoder"], start)

fig, axes = plt.subplots(5, 12, figsize=(10, 5), layout="constrained")
for line, (name, images) in zip(axes, results.items(), strict=True):
    for ax, image in zip(line, images, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
        ax.set_axis_off()
    title = name if name == "clean" else f"{name}: error {np.mean((images - X_test) ** 2):.4f}"
    line[0].text(0, 1.1, title, transform=line[0].transAxes, fontsize=9).set_in_layout(False)
fig.get_layout_engine().set(hspace=0.25, rect=(0, 0, 1, 0.96))
plt.show()

# %%
# A picture: use t-SNE or UMAP
# ----------------------------
#
# The last task is a picture in two dimensions. The number in each title says how often the nearest
# neighbour *in the picture* is the same digit.

from sklearn.manifold import TSNE
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

few, labels = X_train[:800], y_train[:800]
maps = {
    "PCA": PCA(2).fit_transform(few),
    "kernel PCA": KernelPCA(2, random_state=0).fit_transform(few),
    "t-SNE": TSNE(random_state=0).fit_transform(few),
}


def agree(Z):
    return cross_val_score(KNeighborsClassifier(1), Z, labels, cv=5).mean()


fig, axes = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained")
for ax, (name, Z) in zip(axes, maps.items(), strict=True):
    drawn = ax.scatter(*Z.T, c=labels, cmap="tab10", s=6)
    ax.set(title=f"{name}: {agree(Z):.0%} of the neighbours agree", xticks=[], yticks=[])
fig.legend(*drawn.legend_elements(), title="digit", loc="outside right center", frameon=False)
plt.show()

# %%
# t-SNE wins by far: it was made to keep neighbours together in two dimensions. (UMAP is not part of
# scikit-learn; :doc:`the benchmarks </explanation/benchmarks>` include it, on the same digits.) The
# price is that distances between groups mean little, that there is no way back to images, and that
# scikit-learn's t-SNE has no ``transform`` for new rows. Kernel PCA in *more* dimensions has none
# of these drawbacks, and it keeps the neighbours, too:

for q in (2, 10, 50):
    scores = KernelPCA(q, random_state=0).fit_transform(few)
    print(f"kernel PCA, {q:2d} components: neighbours agree in {agree(scores):.1%}")

# %%
# In one table
# ------------
#
# ================================== =========== ============ ============ ============
# you have, or need                  linear PCA  kernel PCA   t-SNE, UMAP  autoencoder
# ================================== =========== ============ ============ ============
# a straight structure               **best**    pays for it  no           pays for it
# a curved one, hundreds of rows     no          **yes**      picture      needs more
# millions of rows                   **yes**     landmarks    UMAP         **yes**
# the same answer for each seed      **yes**     **yes** (a)  no           no
# scores for new rows                **yes**     **yes**      UMAP         **yes**
# the way back to rows               exact       pre-image    no (b)       **yes**
# which variables                    loadings    derivatives  no           derivatives
# a picture in two dimensions        poor        poor         **best**     fair
# large images, sound, text          no          no           of features  **best**
# ================================== =========== ============ ============ ============
#
# (a) With exact solvers; landmarks are drawn at random, and their results differ with the seed by
# about their stated error.
# (b) UMAP has an approximate ``inverse_transform``.
#
# What mercer itself does not do well is listed in :doc:`/explanation/limits`. Next is the last
# chapter: :doc:`from a raw table to a saved model </learn/8_table_to_model>`.
