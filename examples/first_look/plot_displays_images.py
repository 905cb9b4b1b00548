"""
A model of images, seen from all sides
======================================

These are the displays of :mod:`mercer.plots` for images. Each takes one call on a fitted model.
"""

# %%
# The model learns from 900 digits of 8 × 8 pixels; the others are shown in the pictures.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from mercer import GenerativeKernelPCA, KernelPCA, SparseKernelPCA
from mercer.plots import (
    DenoisingDisplay,
    EmbeddingDisplay,
    PreImageGalleryDisplay,
    RepresentingVectorsDisplay,
    SampleSheetDisplay,
    ScreeDisplay,
    TraversalDisplay,
)

X, y = load_digits(return_X_y=True)
X = X / 16
train, test, label = X[:900], X[900:], y[900:]
model = KernelPCA(128, solver="dense").fit(train)

# %%
# How much of the variance is explained? The shares are of the *true* variance, so the curve does
# not reach 100 % if components were left out. They are also shown for rows that the model has not
# seen.

ScreeDisplay.from_estimator(model, test)
plt.show()

# %%
# The next picture shows four classes in every pair of the first three components, with a few new
# rows of all classes.

few = label < 4
EmbeddingDisplay.from_estimator(model, test[few], y=label[few], components=3, X_new=test[:12])
plt.show()

# %%
# This is what 1, 4, 16, … scores keep of an image that the model has not seen: reconstructions from
# the scores alone.

PreImageGalleryDisplay.from_estimator(model, test, y=label)
plt.show()

# %%
# Next, noise is added and removed. Linear PCA is given the number of components that is best for
# these very images.

strip = DenoisingDisplay.from_estimator(model, test, y=label, noise=0.4, match_noise=True)
print({name: round(error, 2) for name, error in strip.errors.items()})
plt.show()

# %%
# A generative model draws new images. Given the training rows, the display shows each sample beside
# the row that is nearest to it: similar, but not the same.

generator = GenerativeKernelPCA(24, random_state=0).fit(train, y[:900])
SampleSheetDisplay.from_estimator(generator, train, y=y, n_samples=80)
plt.show()

# %%
# These are walks from a digit along each of five components, three standard deviations to either
# side.

TraversalDisplay.from_estimator(generator, test[label == 0][:1], span=3)
plt.show()

# %%
# These are the images that a sparse model keeps: forty represent nine hundred.

RepresentingVectorsDisplay.from_estimator(SparseKernelPCA(n_kernels=40).fit(train))
plt.show()

# sphinx_gallery_thumbnail_number = 3
