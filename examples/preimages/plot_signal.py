"""
A signal without its noise
==========================

Windows of a signal are rows, too. A model of clean beats removes the noise from new ones, whatever
their phase, while a moving average would also round off the peaks.
"""

# %%
# The signal is a made-up heartbeat whose rate and height vary. The windows have 40 samples, about
# one beat, and may begin anywhere.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA

from mercer import KernelPCA

rng = np.random.default_rng(0)


def beats(n, rng):
    """n samples: a sharp peak and a soft wave in every beat."""
    rate = 1 + 0.08 * np.sin(np.arange(n) / 190) + 0.002 * rng.standard_normal(n).cumsum()
    phase = np.cumsum(rate) / 40 % 1
    height = 1 + 0.15 * np.sin(np.arange(n) / 130)
    peak = np.exp(-(((phase - 0.3) / 0.03) ** 2)) - 0.3 * np.exp(-(((phase - 0.38) / 0.03) ** 2))
    return height * (peak + 0.35 * np.exp(-(((phase - 0.7) / 0.09) ** 2)))


def windows(signal, length=40, step=1):
    return np.lib.stride_tricks.sliding_window_view(signal, length)[::step]


def joined(rows):
    """The mean of all windows that overlap at a sample."""
    n = len(rows) + rows.shape[1] - 1
    total, count = np.zeros(n), np.zeros(n)
    for j in range(rows.shape[1]):
        total[j : j + len(rows)] += rows[:, j]
        count[j : j + len(rows)] += 1
    return total / count


clean, fresh = beats(4000, rng), beats(600, rng)
noisy = fresh + 0.2 * rng.standard_normal(len(fresh))
train = windows(clean, step=2)

# %%
# Each noisy window is projected and brought back; the overlapping answers are averaged. Linear PCA
# gets the number of components that is best for this very signal; kernel PCA has the default width,
# and 96 components.


def linear(q):
    pca = PCA(q).fit(train)
    return joined(pca.inverse_transform(pca.transform(windows(noisy))))


def error(signal):
    return float(np.sqrt(((signal - fresh) ** 2).mean()))


model = KernelPCA(96).fit(train)
answers = {
    "moving average of 5": np.convolve(noisy, np.ones(5) / 5, mode="same"),
    "linear PCA": min((linear(q) for q in (2, 4, 8, 12, 16, 24, 32)), key=error),
    "kernel PCA": joined(model.denoise(windows(noisy))),
}
print(f"noise: RMSE {error(noisy):.3f}")

shown = slice(100, 340)
fig, axes = plt.subplots(3, 1, figsize=(9, 5.6), layout="constrained", sharex=True, sharey=True)
for ax, (name, signal) in zip(axes, answers.items(), strict=True):
    print(f"{name}: RMSE {error(signal):.3f}")
    ax.plot(noisy[shown], color="0.75", linewidth=1)
    ax.plot(fresh[shown], color="k", linewidth=1, linestyle="--", label="truth")
    ax.plot(signal[shown], color="C0", linewidth=1.8, label=f"{name}, RMSE {error(signal):.3f}")
    ax.legend(loc="upper right", ncols=2, frameon=False, fontsize=8)
    ax.set(yticks=[0, 1], ylim=(-0.7, 1.9))
axes[-1].set_xlabel("sample")
plt.show()
