"""
How certain are the components?
===============================

Another sample of the same size would have given different components. Resampling shows which of
them would come back, and which merely mix with their neighbours: the latter should not be given
names.
"""

# %%
# If another 178 bottles of wine were drawn, two components would be stable, and the others would
# mix.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from mercer import KernelPCA
from mercer.plots import RelevanceDisplay, ScreeDisplay

data = load_wine(as_frame=True)
wine = StandardScaler().set_output(transform="pandas").fit_transform(data.data)
wine = wine.rename(columns={"od280/od315_of_diluted_wines": "od280/od315"})
model = KernelPCA(6).fit(wine)
sure = model.uncertainty(wine)
print(sure)

# %%
# The plots show by how many degrees each component turns, and the shares with their intervals.

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
ScreeDisplay.from_estimator(model, uncertainty=sure, ax=left)
colours = ["#0072B2" if angle < 30 else "#D55E00" for angle in sure.angle]
right.bar(range(1, 7), sure.angle, color=colours)
right.axhline(30, color="0.5", linestyle=":")
right.set(xlabel="component", ylabel="turns by, in degrees", ylim=(0, 90))
plt.show()

# %%
# Here are the relevant variables, with intervals. Those of component 2 are so wide that it should
# not be interpreted.

RelevanceDisplay.from_estimator(model, wine, uncertainty=sure, limit=8)
plt.show()
