"""
A table with categories and missing values
==========================================

:class:`~mercer.TableModel` applies an estimator to a table as it is: data frames in, data frames
out.
"""

# %%
# The rows are flats in a fictitious town. The price depends on size, quarter and age in a
# non-linear way; the id means nothing, and some cells are empty.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from mercer import KernelPCA, TableModel

rng = np.random.default_rng(0)
n = 400
quarter = rng.choice(["harbour", "hill", "old town", "station"], n, p=[0.3, 0.2, 0.2, 0.3])
level = pd.Series(quarter).map({"harbour": 1.4, "hill": 1.9, "old town": 1.6, "station": 1.0})
built = np.where(quarter == "old town", rng.integers(1850, 1930, n), rng.integers(1950, 2020, n))
size = np.round(np.where(quarter == "hill", 110, 65) * np.exp(0.25 * rng.standard_normal(n)))
price = level.to_numpy() * size * (2.2 + 0.004 * np.abs(built - 1950))
flats = pd.DataFrame(
    {
        "id": np.arange(1000, 1000 + n),
        "quarter": quarter,
        "built": built,
        "size": size.astype(int),
        "price": np.round(price * np.exp(0.05 * rng.standard_normal(n)), 1),
        "lift": (built > 1960) & (rng.random(n) < 0.8),
    }
)
known, new = flats[:300], flats[300:]
model = TableModel(KernelPCA(10)).fit(known)
print("\n".join(model.encoder_.describe()))

# %%
# A hundred flats that the model has not seen have empty cells. These are filled in, numbers and
# categories alike, with values that could occur in the table.

given = new.copy()
hidden = rng.random((len(new), 2)) < 0.3
given["quarter"] = given["quarter"].mask(hidden[:, 0])
given["price"] = given["price"].mask(hidden[:, 1])
filled = model.impute(given)
right = (filled["quarter"] == new["quarter"])[hidden[:, 0]].mean()
common = (new["quarter"] == known["quarter"].mode()[0])[hidden[:, 0]].mean()
print(f"quarter: {right:.0%} right (the most frequent one: {common:.0%})")
print(pd.concat([given, filled], axis=1, keys=["given", "filled in"]).iloc[:5, [1, 4, 7, 10]])

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
Z = model.transform(flats)
for name, colour in zip(
    ["harbour", "hill", "old town", "station"],
    ["#0072B2", "#E69F00", "#009E73", "#CC79A7"],
    strict=True,
):
    here = quarter == name
    left.plot(*Z[here, :2].T, ".", color=colour, label=name)
    lost = here[300:] & hidden[:, 1]
    right.plot(new["price"][lost], filled["price"][lost], "o", color=colour, markersize=4)
left.set(xlabel="component 0", ylabel="component 1", title="the flats")
left.legend(frameon=False, fontsize=8)
limits = [60, 700]
right.plot(limits, limits, color="0.7", zorder=0)
right.set(xscale="log", yscale="log", xlim=limits, ylim=limits)
for axis in (right.xaxis, right.yaxis):
    axis.set_ticks([100, 200, 400], ["100", "200", "400"])
    axis.set_ticks([], minor=True)
right.set(xlabel="true price", ylabel="filled in", title="prices that were missing")
plt.show()
