"""
3. What a component looks like
==============================

A component of linear PCA is a direction: its contour lines are straight and parallel. A component
of kernel PCA is a *function* on the space of your data, as curved as the data require.
"""

# %%
# Straight lines, curved lines
# ----------------------------
#
# Take two half moons. Since there are two columns, linear PCA has two components and no more.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import KernelPCA
from mercer.kernels import Gaussian, Linear
from mercer.plots import ComponentsDisplay, ScreeDisplay, TraversalDisplay

X, moon = make_moons(300, noise=0.08, random_state=0)
linear = KernelPCA(2, kernel=Linear()).fit(X)
ComponentsDisplay.from_estimator(linear, X)
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# Kernel PCA has as many components as there are rows. These are the first six:

kpca = KernelPCA(20, kernel=Gaussian(width=0.6)).fit(X)
ComponentsDisplay.from_estimator(kpca, X, components=range(6))
plt.show()

# %%
# Read them like maps. The first ones say *which moon* a point is on, and *where along it*; later
# ones oscillate faster and faster, like the overtones of a string. Where there are no data, the
# scores return to one constant value: a point far away is equally unlike everything.
#
# How many matter
# ---------------
#
# The scree plot shows each component's share of the true variance, and the running total.

ScreeDisplay.from_estimator(kpca)
plt.show()
print("shares of the first six:", np.round(kpca.explained_variance_ratio_[:6], 3))
print(f"all twenty together: {kpca.explained_variance_ratio_.sum():.1%}")

# %%
# Ask for a share, and the model finds the number of components for you:

for share in (0.5, 0.9, 0.99):
    print(f"{share:.0%} needs", KernelPCA(share, kernel=Gaussian(width=0.6)).fit(X).n_components_)

# %%
# Components of images
# --------------------
#
# Pictures of digits have 64 columns, so their components cannot be drawn as contours. But we can
# walk along a component and look at the picture for each step: its pre-image, the subject of the
# next chapter.

from sklearn.datasets import load_digits

images = KernelPCA(30, random_state=0).fit(load_digits().data / 16)
TraversalDisplay.from_estimator(images, components=range(4), image_shape=(8, 8))
plt.show()

# %%
# Which variables make up a component? There are no loadings, but there are derivatives, which
# :meth:`~mercer.KernelPCA.relevance` measures; see :doc:`/howto/relevance`.
#
# Below is a live model of the two moons. Change the width, and watch the map bend.
#
# .. live: moons#tab=knobs
#
# **Remember.** A component is a function. Scores are its values at your rows.
#
# **Try it.** Fit ``KernelPCA(6, kernel=Gaussian(width=0.1))`` and draw the components. What does
# each of them see now?
#
# Next: :doc:`why the way back is hard </learn/4_the_way_back>`.
