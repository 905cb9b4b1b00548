"""
6. Only noisy rows
==================

Usually there are no clean examples: the table, the spectra or the images that you have are noisy
themselves. How can width and components be chosen if nobody knows the right answer?
"""

# %%
# Why noisy rows are not examples
# -------------------------------
#
# In the last chapter we chose with held-out rows: add noise to a clean row, and see what comes
# back. If you do the same with rows that are already noisy, the model is asked to bring back
# *their* noise, and the model that does this best is one that keeps everything. Here are 400 rows
# of digits, all of them noisy:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.kernels import Gaussian

truth = load_digits().data[:400] / 16
sigma = 0.3
noisy = truth + np.random.default_rng(0).normal(scale=sigma, size=truth.shape)


def error(rows):
    """True squared error of a row; in practice nobody can compute it."""
    return float(((rows - truth) ** 2).sum(axis=1).mean())


as_if_clean = KernelPCA(random_state=0).tune(noisy, noise=sigma, rows="clean")
as_noisy = KernelPCA(random_state=0).tune(noisy, noise=sigma)
for name, model in {"taken for clean": as_if_clean, "taken for noisy": as_noisy}.items():
    print(f"{name}: {model.n_components_:3d} components, error {error(model.denoise(noisy)):.2f}")
print(f"nothing done: error {error(noisy):.2f}")

# %%
# Treated as clean examples, the rows teach the model their noise. Treated as what they are, which
# is the default of ``tune``, they lose most of it. How can ``tune`` know?
#
# Stein's estimate
# ----------------
#
# Let f(X) be the result of fitting a model to X and denoising X with it. We want the distance from
# f(X) to the truth, but we can see only the distance to the noisy rows. The two differ by the noise
# itself, :math:`d\sigma^2` per row, and by how much f *follows* the noise: a model that keeps
# everything is at distance zero from the noisy rows, and has removed nothing. Charles Stein showed
# in 1981 that nothing else is needed. To see how much f follows the noise, add a small random probe
# to the rows, fit *again*, and measure how much of the probe comes through.

probe = np.random.default_rng(1).choice([-1.0, 1.0], size=noisy.shape)
step = 0.3 * sigma


def stein(f):
    """Estimated squared error of a row of f(noisy); no clean row is used."""
    here, there = f(noisy), f(noisy + step * probe)
    follows = (probe * (there - here)).sum() / step
    return (((noisy - here) ** 2).sum() + 2 * sigma**2 * follows) / len(noisy) - 64 * sigma**2


# %%
# That is all. Note that the fit has to be *inside* f: with one model for both calls, we could not
# see how much of the noise it has learnt. The picture compares the two ways as the number of
# components grows:

width = Gaussian("median").resolve(noisy).length
counts = (2, 4, 8, 16, 32, 64, 128, 256)
curves = {"true error": [], "estimate, fitted again": [], "estimate, model held fixed": []}
for q in counts:
    model = KernelPCA(q, kernel=Gaussian(width=width), random_state=0)
    held = KernelPCA(q, kernel=Gaussian(width=width), random_state=0).fit(noisy)
    curves["true error"].append(error(held.denoise(noisy)))
    curves["estimate, fitted again"].append(stein(lambda X, m=model: m.fit(X).denoise(X)))
    curves["estimate, model held fixed"].append(stein(held.denoise))

fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for (name, values), style in zip(curves.items(), ("k-", "o", "x--"), strict=True):
    ax.plot(counts, values, style, label=name)
ax.axhline(0, color="0.85", zorder=0)
ax.set_xscale("log", base=2)
ax.set_xticks(counts, [str(q) for q in counts])
ax.set(xlabel="number of components", ylabel="squared error of a row")
ax.legend(frameon=False)
plt.show()

# %%
# The circles lie on the line of the true error, and their minimum is where it should be. With the
# model held fixed, the estimate is too low, increasingly so with every component, and it would
# choose far too many.
#
# ``tune`` does this for several kernel widths, numbers of components and ways back, with a second
# probe for those that are not clearly worse. It also tries linear PCA, and chooses it if nothing is
# better. Before the way back the scores may be shrunk, by one of two powers; this mainly affects
# weak components, which carry more noise than signal (:class:`mercer.preimage.Shrunk`). The error
# of the chosen model is then estimated again with two fresh probes, because the best of many
# candidates was also a lucky one.
#
# What ``risk_`` says
# -------------------

print(as_noisy.risk_)

# %%
# These are squared errors of a whole row (here the sum over 64 pixels): for the rows as they are;
# for the rows after ``denoise``, with a standard error; and for linear PCA with its own best number
# of components. They are followed by the noise level and how it was obtained. In code, the same
# numbers are available as ``risk_.error``, ``risk_.deviation``, ``risk_.noise``, ``risk_.linear``
# and ``risk_.level``. If ``noise`` is not given, it is estimated from the rows, and the uncertainty
# of that estimate is part of the standard error:

estimated = KernelPCA(random_state=0).tune(noisy)
print(estimated.risk_)
print(f"in truth {error(noisy):.2f} before and {error(estimated.denoise(noisy)):.2f} after")

# %%
# When to trust it
# ----------------
#
# Stein's estimate assumes noise of the stated level that is independent between entries. Here we
# break these assumptions one at a time, and compare what ``risk_`` says with the truth.

import warnings

from scipy.ndimage import uniform_filter

rng = np.random.default_rng(2)
smooth = uniform_filter(rng.normal(size=(400, 8, 8)), size=(0, 2, 2), mode="wrap").reshape(400, 64)
cases = {
    "as assumed": (noisy, sigma),
    "level 1.5 times too small": (noisy, sigma / 1.5),
    "level 1.5 times too large": (noisy, sigma * 1.5),
    "neighbours share noise": (truth + sigma * smooth / smooth.std(), sigma),
    "heavy tails, t(3)": (truth + sigma * rng.standard_t(3, truth.shape) / 3**0.5, sigma),
}
for name, (rows, level) in cases.items():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = KernelPCA(random_state=0).tune(rows, noise=level)
    said, true = model.risk_.error, error(model.denoise(rows))
    print(f"{name:26s} said {said:5.2f}, true {true:.2f}{', with a warning' if caught else ''}")

# %%
# A level that is too large gives itself away, since an error cannot be below zero, and ``tune``
# warns. A level that is too small does not: too many components are kept, and the stated error is
# too small. Noise that neighbours share looks like structure; it is kept, and the estimate does not
# count it. With heavy tails, too, more noise is left than the estimate says, because the model
# follows an outlier in a single pixel more than it would follow Gaussian noise. So:
#
# - know where the noise comes from, and give its level if you have measured it (with a repeated
#   measurement, a blank sample or a dark image);
# - a different noise level in each column is not a problem: give one number per column. Use
#   ``noise="poisson"`` for counts, and ``"speckle"`` for noise that grows with the signal;
# - if neighbours share their noise, measure at fewer places, or do not trust the estimate.
#
# **Remember.** Noisy rows are not examples. How much noise a denoiser leaves can be estimated
# without clean rows, as long as the level is right and the noise is independent.
#
# **Try it.** What do ``stein(lambda X: X)`` and ``stein(lambda X: 0 * X)`` give, and why?
#
# :doc:`/howto/noisy_rows` does the same for spectra and for a table of sensor readings, in Python
# and on the command line. Next: :doc:`when not to use kernel PCA </learn/7_when_not>`.
