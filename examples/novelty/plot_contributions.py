"""
Why there was an alarm
======================

An alarm is the beginning of a search. Contributions divide the novelty of a row among its
variables, so that you know where to look.
"""

# %%
# The rows come from eight sensors of a process that is driven non-linearly by two hidden
# quantities. In the new rows, sensor 3 sticks at one value from row 60 on, and sensor 6 drifts away
# from row 120 on.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelNovelty

rng = np.random.default_rng(0)
mixing = rng.standard_normal((2, 8))
bend = rng.standard_normal((2, 8))


def process(n, rng):
    hidden = rng.uniform(-1.5, 1.5, (n, 2))
    return np.sin(hidden @ mixing) + 0.5 * hidden**2 @ bend + 0.08 * rng.standard_normal((n, 8))


normal = process(500, rng)
new = process(180, rng)
new[60:, 2] = new[60, 2]
new[120:, 5] += np.linspace(0, 2.5, 60)

centre, spread = normal.mean(axis=0), normal.std(axis=0)
model = KernelNovelty(false_alarm_rate=0.02, random_state=0).fit((normal - centre) / spread)
rows = (new - centre) / spread
alarm = model.predict(rows) == -1
parts = model.contributions(rows)

# %%
# The upper picture shows the novelty of each row, with the alarms; the lower one shows which
# sensors it comes from. A stuck value is not new in itself: the sensor stands out because it no
# longer fits the others.

fig, (above, below) = plt.subplots(
    2, 1, figsize=(9, 5), layout="constrained", sharex=True, height_ratios=[1, 1.6]
)
score = -model.score_samples(rows)
above.bar(range(180), score, width=1, color=np.where(alarm, "#D55E00", "0.7"))
above.axhline(-model.offset_, color="k", linestyle="--", linewidth=1)
above.set(ylabel="novelty")
top = np.quantile(parts, 0.995)
image = below.imshow(
    parts.T, aspect="auto", cmap="RdBu_r", vmin=-top, vmax=top, interpolation="nearest"
)
below.set_yticks(range(8), [f"sensor {j + 1}" for j in range(8)])
below.set(xlabel="row", xlim=(-0.5, 179.5))
fig.colorbar(image, ax=below, label="contribution")
for ax in (above, below):
    ax.axvline(59.5, color="k", linestyle=":")
    ax.axvline(119.5, color="k", linestyle=":")
plt.show()

# %%
# How often does the faulty sensor have the largest contribution?

largest = parts.argmax(axis=1)
stuck, both = np.flatnonzero(alarm[60:120]) + 60, np.flatnonzero(alarm[150:]) + 150
print(f"rows  60 to 119: {len(stuck)} alarms, sensor 3 leads in {(largest[stuck] == 2).mean():.0%}")
lead = np.isin(largest[both], [2, 5]).mean()
print(f"rows 150 to 179: {len(both)} alarms, sensor 3 or 6 leads in {lead:.0%}")
