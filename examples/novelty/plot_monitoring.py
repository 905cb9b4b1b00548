"""
Watch a sensor
==============

A machine fault often leaves every single value in its usual range and changes only how values
follow one another. So each row is a *window* of the signal, and :class:`~mercer.KernelNovelty`
learns which windows are normal.
"""

# %%
# The signal comes from a pump that oscillates under a changing load. At sample 2,400 a bearing
# begins to slip: now and then an oscillation comes too early. Every value stays within the usual
# range.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelNovelty

rng = np.random.default_rng(0)
n, fault = 3600, 2400
slip = (np.arange(n) > fault) & (rng.random(n) < 0.02)
phase = 2 * np.pi * np.cumsum(1 + 0.05 * rng.standard_normal(n)) / 25 + 2.0 * np.cumsum(slip)
load = 1 + 0.3 * np.sin(2 * np.pi * np.arange(n) / 400)
signal = load * np.sin(phase) + 0.3 * np.sin(2 * phase) + 0.08 * rng.standard_normal(n)

length = 30
windows = np.lib.stride_tricks.sliding_window_view(signal, length)
time = np.arange(length - 1, n)  # when a window is complete

# %%
# The first 1,500 samples are known to be good. Overlapping windows are nearly copies of each other,
# which calibration rows must not be, so the model learns from every tenth window.

good = windows[:1500:10]
model = KernelNovelty(false_alarm_rate=0.01, random_state=0).fit(good)
p = model.p_values(windows)
alarm = p <= model.false_alarm_rate

quiet = (time >= 1500 + length) & (time <= fault)
print(f"alarms among good windows that it has not seen: {alarm[quiet].mean():.1%}")
print(f"alarms after the fault: {alarm[time > fault].mean():.0%}")
first, began = time[(time > fault) & alarm][0], np.flatnonzero(slip)[0]
print(f"first slip at sample {began}, first alarm {first - began} samples later")

fig, axes = plt.subplots(2, 1, figsize=(9, 4.6), layout="constrained", sharex=True)
axes[0].plot(signal, color="0.4", linewidth=0.6)
axes[0].plot(time[alarm], signal[time][alarm], ".", color="#D55E00", markersize=3, label="alarm")
axes[0].axvspan(0, 1500, color="#009E73", alpha=0.12, label="learnt from")
axes[0].set(ylabel="signal", ylim=(-2, 2.6))
axes[0].legend(loc="upper left", ncols=2, frameon=False)
score = -model.score_samples(windows)
axes[1].plot(time, score, color="#0072B2", linewidth=0.7)
axes[1].axhline(-model.offset_, color="k", linestyle="--", linewidth=1, label="threshold")
axes[1].set(ylabel="novelty", xlabel="sample", xlim=(900, n))
axes[1].legend(loc="upper left", frameon=False)
for ax in axes:
    ax.axvline(fault, color="#D55E00", linestyle=":")
plt.show()
