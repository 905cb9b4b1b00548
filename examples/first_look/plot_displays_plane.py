"""
A model in the plane, seen from all sides
=========================================

These are the displays of :mod:`mercer.plots` for two variables, where everything that a model does
can be drawn: its components, its spectrum as the kernel gets wider, the rows that a sparse version
keeps, and what it considers new.
"""

# %%
# The data are three clusters of thirty points, the toy data of Tipping (2001). The first two
# components separate the clusters, and the next ones divide each of them.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelNovelty, KernelPCA, SparseKernelPCA
from mercer.kernels import Gaussian
from mercer.papers.tipping2001 import three_clusters
from mercer.plots import (
    ComponentsDisplay,
    NoveltyDisplay,
    NoveltyRocDisplay,
    RepresentingVectorsDisplay,
    WidthSpectrumDisplay,
)

X, label = three_clusters(seed=1)
kernel = Gaussian(width=0.25)
model = KernelPCA(6, kernel=kernel).fit(X)
ComponentsDisplay.from_estimator(model, y=label, components=6)
plt.show()

# %%
# Is the width right? A narrow kernel makes all points equally far from each other, and each
# component explains as little as any other; a wide one is almost linear, and two components explain
# everything.

WidthSpectrumDisplay.from_estimator(model)
plt.show()

# %%
# A sparse model keeps the circled points. The shading shows the squared distance in feature space
# from everything that they can express together.

sparse = SparseKernelPCA(n_kernels=8, kernel=kernel).fit(X)
RepresentingVectorsDisplay.from_estimator(sparse, X)
plt.show()

# %%
# What is new? On average, one in twenty fresh normal points lies outside the line.

rng = np.random.default_rng(0)
detector = KernelNovelty(12, kernel=kernel, random_state=0).fit(X)
fresh, strange = three_clusters(seed=2)[0], rng.uniform([-1, -0.6], [1, 1], (60, 2))
NoveltyDisplay.from_estimator(detector, np.vstack([fresh, strange]))
plt.show()

# %%
# Where the truth is known, all thresholds can be shown at once; the dot marks the one that the
# detector chose. (Some of the strange points fell into a cluster, where no detector can find them.)
# Other detectors with scikit-learn's interface can be drawn in the same picture.

from sklearn.ensemble import IsolationForest

rows, truth = np.vstack([fresh, strange]), np.repeat([1, -1], [len(fresh), len(strange)])
display = NoveltyRocDisplay.from_estimator(detector, rows, y=truth)
forest = IsolationForest(random_state=0).fit(X)
NoveltyRocDisplay.from_estimator(forest, rows, y=truth, ax=display.ax_)
plt.show()
