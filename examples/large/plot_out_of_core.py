"""
Rows in a file
==============

Give ``fit`` a path, and the rows are read in blocks. Memory, which is needed for the landmarks and
a few blocks, levels off however long the file is; time grows in proportion to the file.
"""

# %%
# The files have up to 320,000 rows of forty numbers (100 MB). The memory that the fit uses is
# measured with Python's own ``tracemalloc``, to which NumPy reports its arrays.

import tempfile
import time
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.solvers import Landmarks

place = tempfile.TemporaryDirectory()
folder = Path(place.name)
rng = np.random.default_rng(0)
mixing = rng.standard_normal((6, 40))


def write(n):
    angle = rng.uniform(0, 2 * np.pi, (n, 3))
    waves = np.column_stack([np.cos(angle), np.sin(angle)]) @ mixing
    np.save(folder / f"{n}.npy", waves + 0.1 * rng.standard_normal(waves.shape))
    return folder / f"{n}.npy"


counts = [20_000, 40_000, 80_000, 160_000, 320_000]
files = [write(n) for n in counts]
model = KernelPCA(10, kernel=Gaussian("median"), solver=Landmarks(100), random_state=0)
model.fit(files[0])  # once for nothing: the first fit loads what it needs
seconds, peaks = [], []
for path in files:
    started = time.process_time()
    model.fit(path)
    seconds.append(time.process_time() - started)
for path in files:  # once more: tracing takes time of its own
    tracemalloc.start()
    model.fit(path)
    peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()

# %%
# For comparison, the plot shows the size of the file, and that of a Gram matrix of all rows.

sizes = [path.stat().st_size / 1e6 for path in files]
place.cleanup()
gram = [8 * n**2 / 1e6 for n in counts]
fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
left.loglog(counts, gram, "s:", color="0.6", label="the Gram matrix")
left.loglog(counts, sizes, "s--", color="0.35", label="the file")
left.loglog(counts, peaks, "o-", color="#0072B2", label="memory of the fit")
left.set(xlabel="rows", ylabel="megabytes")
left.legend(frameon=False)
right.plot(counts, seconds, "o-", color="#D55E00")
right.set(xlabel="rows", ylabel="seconds of one core", ylim=(0, None))
left.set_xticks(counts, [f"{n // 1000}k" for n in counts])
left.minorticks_off()
right.set_xticks(counts[2:], [f"{n // 1000}k" for n in counts[2:]])
plt.show()

# %%
# The report says what was done.

report = model.report_
print(report.solver, "-", report.reason)
print(f"share of the variance that the landmarks miss: {report.unexplained:.3f}")
