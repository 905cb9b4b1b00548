"""
How many landmarks?
===================

With landmarks, the cost of kernel PCA is linear in the number of rows. How many landmarks are
enough depends on the data; the report estimates the error, so that you can watch it fall.
"""

# %%
# A file contains twenty thousand rows near a curved surface; nothing as long as the file itself is
# kept in memory.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.solvers import Landmarks

rng = np.random.default_rng(0)
angles = rng.uniform(0, 2 * np.pi, (20_000, 3))
waves = np.column_stack([np.cos(angles), np.sin(angles)])
X = waves @ rng.standard_normal((6, 10)) + 0.1 * rng.standard_normal((20_000, 10))
path = Path(tempfile.mkdtemp()) / "rows.npy"
np.save(path, X)

# %%
# The estimate of the eigenvalues' relative error is on the high side. Cluster centres (the default)
# need fewer points than rows drawn at random.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
counts = [25, 50, 100, 200, 400]
kernel = Gaussian(gamma="median")
for select in ("uniform", "kmeans"):
    reports = [
        KernelPCA(10, kernel=kernel, solver=Landmarks(m, select=select), random_state=0)
        .fit(path)
        .report_
        for m in counts
    ]
    colour = "0.5" if select == "uniform" else "#0072B2"
    errors, missed = [r.estimated_error for r in reports], [r.unexplained for r in reports]
    ax.loglog(counts, errors, "o-", color=colour, label=f"{select}: error of the eigenvalues")
    ax.loglog(counts, missed, "s--", color=colour, label=f"{select}: share of the variance missed")
ax.set_xticks(counts, counts)
ax.minorticks_off()
ax.set(xlabel="landmarks", ylabel="as the report says")
ax.legend(frameon=False, fontsize=8)
plt.show()
