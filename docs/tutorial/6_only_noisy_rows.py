"""
6. Only noisy rows
==================

Usually there is no clean example: the table, the spectra or the images that you have are noisy
themselves. How can width and components be chosen if nobody knows the right answer?
"""

# %%
# Why noisy rows are not examples
# -------------------------------
#
# The last chapter chose by held-out rows: add noise to a clean row, and see what comes back. Do the
# same with rows that are noisy already, and the model is asked to bring back *their* noise. The
# best answer to that question is a model that keeps everything. Digits, 400 rows, noise in all of
# them:

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.kernels import Gaussian

truth = load_digits().data[:400] / 16
sigma = 0.3
noisy = truth + np.random.default_rng(0).normal(scale=sigma, size=truth.shape)


def error(rows):
    """True squared error of a row; in life nobody can compute it."""
    return float(((rows - truth) ** 2).sum(axis=1).mean())


as_if_clean = KernelPCA(random_state=0).tune(noisy, noise=sigma, rows="clean")
as_noisy = KernelPCA(random_state=0).tune(noisy, noise=sigma)
for name, model in {"taken for clean": as_if_clean, "taken for noisy": as_noisy}.items():
    print(f"{name}: {model.n_components_:3d} components, error {error(model.denoise(noisy)):.2f}")
print(f"nothing done: error {error(noisy):.2f}")

# %%
# Taken for clean examples, they teach the model their noise. Taken for what they are, which is the
# default of ``tune``, most of it is gone. How can ``tune`` know?
#
# Stein's estimate
# ----------------
#
# Call f(X) what comes out when a model is fitted to X and denoises X. We want the distance from
# f(X) to the truth, and can see only the distance to the noisy rows. The two differ by the noise
# itself, :math:`d\sigma^2` a row, and by how much f *follows* the noise: a model that keeps
# everything is at distance zero from the noisy rows, and has removed nothing. Charles Stein showed
# in 1981 that nothing else is needed. How much f follows the noise is seen by a push: add a small
# random probe to the rows, fit *again*, and measure how much of the probe comes through.

probe = np.random.default_rng(1).choice([-1.0, 1.0], size=noisy.shape)
step = 0.3 * sigma


def stein(f):
    """Estimated squared error of a row of f(noisy); no clean row is looked at."""
    here, there = f(noisy), f(noisy + step * probe)
    follows = (probe * (there - here)).sum() / step
    return (((noisy - here) ** 2).sum() + 2 * sigma**2 * follows) / len(noisy) - 64 * sigma**2


# %%
# That is all of it. The fit has to be *inside* f. With one model for both, nobody would see how
# much of the noise it has learnt. Both ways, for more and more components:

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
# The circles lie on the line of the true error, and their least value is where it should be. With
# the model held fixed the estimate is too low, more so with every component, and it would choose
# far too many.
#
# ``tune`` does this for kernels of several widths, numbers of components and ways back, with a
# second probe for those that are not clearly worse, and for linear PCA, which it takes if nothing
# is better. One of the ways back shrinks the scores first, those of weak components most, which
# carry more noise than signal (:class:`mercer.preimage.Shrunk`). What is chosen gets two more
# probes: the best of many was also the luckiest.
#
# What ``risk_`` says
# -------------------

print(as_noisy.risk_)

# %%
# These are squared errors of a whole row (here the sum over 64 pixels): of the rows as they are, of
# the rows after ``denoise`` with a standard error, and what linear PCA with its own best number of
# components would leave. Then comes the level of the noise and where it is from. ``risk_.error``,
# ``risk_.deviation``, ``risk_.noise``, ``risk_.linear`` and ``risk_.level`` are the same for
# programs. If ``noise`` is not given, it is estimated from the rows, and how uncertain it is counts
# in the standard error:

estimated = KernelPCA(random_state=0).tune(noisy)
print(estimated.risk_)
print(f"in truth {error(noisy):.2f} before and {error(estimated.denoise(noisy)):.2f} after")

# %%
# When to trust it
# ----------------
#
# Stein's estimate assumes noise of the stated level that is independent between entries. Break
# these assumptions one at a time, and compare what ``risk_`` says with the truth.

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
# too small.
# Noise that neighbours share looks like structure, is kept, and is not in the estimate. With heavy
# tails, too, more is left than is said: an outlier of one pixel is followed more than
# Gaussian noise would be. So:
#
# - know where the noise is from, and give its level if you have measured it (a repeated
#   measurement, a blank sample, a dark image);
# - noise of different size in each column is not a problem: give one number for each. For counts
#   there is ``noise="poisson"``, for noise that grows with the signal ``"speckle"``;
# - if neighbours share their noise, measure at fewer places, or do not trust the estimate.
#
# **Remember.** Noisy rows are not examples. What a denoiser leaves of the noise can be estimated
# without a clean row, as long as the level is right and the noise independent.
#
# **Try it.** What do ``stein(lambda X: X)`` and ``stein(lambda X: 0 * X)`` give, and why?
#
# :doc:`/howto/noisy_rows` has the same for spectra and for a table of sensors, in Python and at the
# command line. Next: :doc:`when not to use kernel PCA </learn/7_when_not>`.
