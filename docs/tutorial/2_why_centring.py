"""
2. Why the features are centred
===============================

PCA looks at differences from the mean. In feature space the mean is never computed, so it is
removed by arithmetic on the Gram matrix. If it is left in, the first component merely points to it.
"""

# %%
# All images lie on one side
# --------------------------
#
# A Gaussian kernel is never negative, and :math:`k(x, x) = 1`. So every mapped point has length
# one, and no two of them are more than a right angle apart: the whole cloud lies in one corner of
# feature space, away from the origin.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from mercer import KernelPCA
from mercer.kernels import Gaussian

X, group = make_blobs(150, centers=[(-1, 0), (1, 0), (0, 1.4)], cluster_std=0.25, random_state=0)
kernel = Gaussian(width=1.0)
K = kernel(X, X)

print(f"smallest entry of K: {K.min():.4f}")
print(f"length of the mean in feature space: {np.sqrt(K.mean()):.2f} (each point has 1)")

# %%
# With and without
# ----------------
#
# These maps of the plane show the first two components, without and with centring. Colours
# represent scores.

side = np.linspace(-2.2, 2.6, 100)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
fig, axes = plt.subplots(2, 2, figsize=(8, 7), layout="constrained", sharex=True, sharey=True)
for line, center in zip(axes, (False, True), strict=True):
    model = KernelPCA(2, kernel=kernel, center=center).fit(X)
    Z = model.transform(grid).reshape(100, 100, 2)
    for k, ax in enumerate(line):
        ax.contourf(side, side, Z[..., k], levels=15, cmap="PuOr")
        ax.scatter(*X.T, s=6, c="k")
        ax.set_title(f"{'centred' if center else 'not centred'}: component {k}")
        ax.set_aspect("equal")
plt.show()

# %%
# Without centring, component 0 has the same sign wherever there are data: it points to the mean.
# With centring, both components tell the groups apart.
#
# The arithmetic
# --------------
#
# The mean of the mapped rows is :math:`\mu = \frac1n\sum_i\varphi(x_i)`. Dot products of the
# differences need only :math:`K`:
#
# .. math:: (\varphi(x_i)-\mu)\cdot(\varphi(x_j)-\mu) = (HKH)_{ij}, \qquad
#           H = I - \tfrac1n 11^\top.
#
# Kernel PCA takes five lines of NumPy, and mercer gives the same result up to rounding (and up to
# the sign, which is arbitrary).

n = len(X)
H = np.eye(n) - 1 / n
lam, U = np.linalg.eigh(H @ K @ H)
lam, U = lam[::-1][:2], U[:, ::-1][:, :2]
by_hand = U * np.sqrt(lam)

model = KernelPCA(2, kernel=kernel).fit(X)
ours = model.transform(X)
signs = np.sign((by_hand * ours).sum(axis=0))
print(f"largest difference of the scores: {np.abs(by_hand * signs - ours).max():.1e}")
print("eigenvalues:", lam, model.eigenvalues_)

# %%
# Shares of the true variance
# ---------------------------
#
# How much variance is there in total? It is the trace of :math:`HKH`, which can be computed without
# any eigenvalues, and mercer divides by it. Dividing by the sum over the requested components
# alone, as is often done, gives shares that always add up to 100 %.

total = np.trace(H @ K @ H)
print("true shares:              ", model.eigenvalues_ / total)
print("explained_variance_ratio_:", model.explained_variance_ratio_)
print("shares of the two kept:   ", model.eigenvalues_ / model.eigenvalues_.sum())

# %%
# **Remember.** Centre, unless you have a reason not to (``center=True`` is the default). The mean
# comes back into play in :doc:`chapter 4 </learn/4_the_way_back>`: if it is forgotten there,
# pre-images explode.
#
# **Try it.** Add 1,000 to ``X``. Nothing changes; why? (What does the kernel depend on?)
#
# Next: :doc:`what a component looks like </learn/3_components>`.
