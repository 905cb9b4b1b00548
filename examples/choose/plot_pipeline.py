"""
In a pipeline, searched with a classifier
=========================================

With labels there is a clear purpose: to predict them. Kernel PCA is then a step like any other, and
``GridSearchCV`` reaches its width and its number of components by name.
"""

# %%
# The pipeline scales the columns, applies kernel PCA, and ends with a linear classifier. It learns
# from three hundred digits.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from mercer import KernelPCA
from mercer.kernels import Gaussian

X, y = load_digits(return_X_y=True)
train, test, y_train, y_test = train_test_split(X, y, train_size=300, random_state=0, stratify=y)

pipeline = make_pipeline(
    MinMaxScaler(), KernelPCA(kernel=Gaussian(width=1.0)), RidgeClassifier(1e-3)
)
widths = [0.8, 1, 1.5, 2.5, 4, 6, 10]
counts = [4, 8, 16, 32, 64, 128]
grid = {"kernelpca__kernel__width": widths, "kernelpca__n_components": counts}
search = GridSearchCV(pipeline, grid, cv=3).fit(train, y_train)
print(search.best_params_)
print(f"accuracy on {len(test)} other digits: {search.score(test, y_test):.1%}")

# %%
# The test digits played no part in the choice. The map shows the cross-validated accuracy.

table = search.cv_results_
accuracy = np.zeros((len(counts), len(widths)))
for params, value in zip(table["params"], table["mean_test_score"], strict=True):
    i = counts.index(params["kernelpca__n_components"])
    accuracy[i, widths.index(params["kernelpca__kernel__width"])] = value

fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
image = ax.imshow(accuracy, origin="lower", aspect="auto", cmap="magma")
for (i, j), value in np.ndenumerate(accuracy):
    colour = "k" if value > 0.6 else "w"
    ax.text(j, i, f"{value:.0%}", ha="center", va="center", fontsize=8, color=colour)
i, j = np.unravel_index(accuracy.argmax(), accuracy.shape)
ax.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#009E73", linewidth=3))
ax.set_xticks(range(len(widths)), widths)
ax.set_yticks(range(len(counts)), counts)
ax.set(xlabel="width of the Gaussian", ylabel="number of components")
fig.colorbar(image, label="accuracy, three folds")
plt.show()
