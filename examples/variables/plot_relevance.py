"""
Which variables matter
======================

The derivative of a score with respect to a variable says what the variable does to the component at
a given place. Its mean square over the rows is the variable's relevance.
"""

# %%
# A circle is hidden in two of twelve variables. The components find it, and relevance says where.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_circles
from sklearn.preprocessing import StandardScaler

from mercer import KernelPCA
from mercer.plots import RelevanceDisplay

rng = np.random.default_rng(0)
circle = make_circles(300, noise=0.05, factor=0.4, random_state=0)[0]
X = np.column_stack([0.2 * rng.standard_normal((300, 10)), circle])
model = KernelPCA(4).fit(X)
RelevanceDisplay.from_estimator(model, X, kind="heatmap")
plt.show()

# %%
# The next data are thirty measurements of cell nuclei. Component 3 is texture and nothing else.

data = load_breast_cancer(as_frame=True)
cells = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
RelevanceDisplay.from_estimator(KernelPCA(6).fit(cells), cells, kind="heatmap", limit=30)
plt.show()

# %%
# For digits, the images show the relevance of each pixel, for nine components and for all of them.

digits = load_digits().data / 16
RelevanceDisplay.from_estimator(KernelPCA(9).fit(digits), digits, kind="images")
plt.show()
