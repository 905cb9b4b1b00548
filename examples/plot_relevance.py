"""
Which variables matter, and how sure are we
===========================================

The derivative of a score by a variable says what the variable does to the component, here and
there. Its mean square over the rows is the variable's relevance, and resampling tells how much of
it would survive another sample.
"""

# %%
# A circle hidden in two of twelve variables: the components find it, and relevance says where.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_circles
from sklearn.preprocessing import StandardScaler

from mercer import KernelPCA
from mercer.plots import BiplotDisplay, RelevanceDisplay, ScreeDisplay

rng = np.random.default_rng(0)
circle = make_circles(300, noise=0.05, factor=0.4, random_state=0)[0]
X = np.column_stack([0.2 * rng.standard_normal((300, 10)), circle])
model = KernelPCA(4).fit(X)
RelevanceDisplay.from_estimator(model, X, kind="heatmap")
plt.show()

# %%
# The map of three kinds of wine. An arrow is what one standard deviation of a variable does *near
# its foot*; one arrow for the whole map would lie, because kernel components bend.

data = load_wine(as_frame=True)
wine = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
wine = wine.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})
model = KernelPCA(6).fit(wine)
BiplotDisplay.from_estimator(model, wine, y=data.target_names[data.target])
plt.show()

# %%
# What another sample of 178 bottles would give: two components are stable, the others mix.

sure = model.uncertainty(wine)
print(sure)
ScreeDisplay.from_estimator(model, uncertainty=sure)
plt.show()

# %%
# Which variables, with intervals: those of the third component say that it is not to be read.

RelevanceDisplay.from_estimator(model, wine, uncertainty=sure, limit=8)
plt.show()

# %%
# Thirty measurements of cell nuclei. The fourth component is texture and nothing else.

data = load_breast_cancer(as_frame=True)
cells = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
RelevanceDisplay.from_estimator(KernelPCA(6).fit(cells), cells, kind="heatmap", limit=30)
plt.show()

# %%
# Digits: the relevance of each pixel, for nine components and for all of them.

digits = load_digits().data / 16
RelevanceDisplay.from_estimator(KernelPCA(9).fit(digits), digits, kind="images")
plt.show()
