"""
A stream that changes
=====================

:class:`~mercer.IncrementalKernelPCA` takes rows in chunks and keeps only sums, so the stream may be
endless. ``forget`` lets the past fade, and ``growth`` adds rows that its landmarks do not cover.
"""

# %%
# The data form a ring whose upper half wanders away. Three models see the same forty chunks.

import matplotlib.pyplot as plt
import numpy as np

from mercer import IncrementalKernelPCA
from mercer.kernels import Gaussian

rng = np.random.default_rng(0)


def chunk(t, n=60):
    angle = rng.uniform(0, 2 * np.pi, n)
    ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.06 * rng.standard_normal((n, 2))
    return ring + np.array([2.5 * max(t - 15, 0) / 25, 0]) * (angle < np.pi)[:, None]


options = {
    "first landmarks only": {},
    "growth=0.1": {"growth": 0.1},
    "growth=0.1, forget=0.8": {"growth": 0.1, "forget": 0.8},
}
models = {
    name: IncrementalKernelPCA(
        12, kernel=Gaussian(width=0.6), n_landmarks=60, random_state=0, **option
    )
    for name, option in options.items()
}
errors = {name: [] for name in models}
for t in range(40):
    rows = chunk(t)
    for name, model in models.items():
        if t:  # judged by rows before it has seen them
            errors[name].append(model.reconstruction_error(rows).mean())
        model.partial_fit(rows)

# %%
# The curves show the squared distance of the next chunk from what each model knows; the wandering
# begins at chunk 15. The maps on the right show how well each model knows the plane at the end,
# with the last chunk.

x, y = np.meshgrid(np.linspace(-1.6, 4.2, 110), np.linspace(-1.6, 1.6, 70))
plane = np.column_stack([x.ravel(), y.ravel()])
fig = plt.figure(figsize=(10, 5.6), layout="constrained")
axes = fig.subplot_mosaic([["error", name] for name in models], width_ratios=[1, 1.25])
colours = ["0.5", "#0072B2", "#D55E00"]
for (name, model), colour in zip(models.items(), colours, strict=True):
    axes["error"].plot(range(1, 40), errors[name], color=colour, label=name)
    ax = axes[name]
    ax.contourf(x, y, model.reconstruction_error(plane).reshape(x.shape), levels=12, cmap="Blues")
    ax.plot(*rows.T, ".", color="#E69F00", markersize=3)
    ax.plot(*model.landmarks_.T, "+", color="k", markersize=4)
    ax.set_title(f"{name}: {len(model.landmarks_)} landmarks", fontsize=9, color=colour)
    ax.set(xticks=[], yticks=[], aspect="equal")
axes["error"].axvline(15, color="0.8", linestyle=":")
axes["error"].set(xlabel="chunk", ylabel="squared distance of the next chunk", ylim=(0, None))
axes["error"].legend(frameon=False, loc="upper left")
plt.show()
