"""
Four maps of the same digits
============================

For a picture in two dimensions, kernel PCA is not the first choice: t-SNE and Isomap are made for
that. What they lack is the rest: scores of new rows, a way back, and shares of variance.
"""

# %%
# Six hundred digits are mapped by four methods, with their default settings.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, Isomap, trustworthiness
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from mercer import KernelPCA

X, y = load_digits(return_X_y=True)
X, y = X[:600] / 16, y[:600]
methods = {
    "PCA": PCA(2),
    "kernel PCA": KernelPCA(2),
    "Isomap": Isomap(n_components=2),
    "t-SNE": TSNE(2, random_state=0, max_iter=500),
}

fig, axes = plt.subplots(1, 4, figsize=(11, 3.3), layout="constrained")
for ax, (name, method) in zip(axes, methods.items(), strict=True):
    Z = method.fit_transform(X)
    right = cross_val_score(KNeighborsClassifier(5), Z, y, cv=5).mean()
    trust = trustworthiness(X, Z, n_neighbors=10)
    for digit in range(10):
        place = Z[y == digit]
        ax.scatter(*place.T, s=12, color=plt.cm.tab10(digit), marker=f"${digit}$", linewidths=0.3)
    ax.set_title(f"{name}\ntrust {trust:.2f}, neighbours right {right:.0%}", fontsize=9)
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# *Trust* measures whether neighbours on the map are neighbours among the images; the second number
# says how often the nearest five on the map give the right digit. t-SNE wins both.
#
# Kernel PCA does not stop at two components. The others carry the classes, and they can be computed
# for new rows:

Z = KernelPCA(32).fit_transform(X)
for name, rows in {"kernel PCA, 32 components": Z, "the images themselves": X}.items():
    print(f"{name}: {cross_val_score(KNeighborsClassifier(5), rows, y, cv=5).mean():.0%} right")
for name, method in methods.items():
    new, back = (hasattr(method, word) for word in ("transform", "inverse_transform"))
    print(f"{name}: new rows {new}, a way back {back}")
