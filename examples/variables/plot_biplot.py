"""
A map with its variables
========================

In a biplot of linear PCA, one arrow shows what a variable does everywhere. Kernel components bend,
so the answer depends on the place: :class:`~mercer.plots.BiplotDisplay` draws small arrows where
they are valid.
"""

# %%
# This is a map of three kinds of wine. Each arrow shows what one standard deviation of a variable
# does *near the foot of the arrow*.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from mercer import KernelPCA
from mercer.plots import BiplotDisplay

data = load_wine(as_frame=True)
wine = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
wine = wine.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})
model = KernelPCA(6).fit(wine)
BiplotDisplay.from_estimator(model, wine, y=data.target_names[data.target])
plt.show()

# %%
# How much do the components bend? For each variable, the length of its mean arrow is divided by the
# mean length of its arrows; the result is 1 if they point the same way everywhere, as in linear
# PCA.

slopes = model.sensitivity(wine)[:, :2]  # rows × components × variables
straight = np.linalg.norm(slopes.mean(axis=0), axis=0) / np.linalg.norm(slopes, axis=1).mean(axis=0)
for j in np.argsort(straight)[[0, 1, -2, -1]]:
    print(f"{wine.columns[j]}: {straight[j]:.2f}")
