"""
How exact is the answer?
========================

Every fit reports an estimate of its own error, and compares a few rows with the kernel's definition
before it returns. With the exact answer at hand, we can see whether the estimates can be trusted.
"""

# %%
# Four solvers fit the same 1,200 rows; the truth is LAPACK's answer in double precision.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import mercer
from mercer import KernelPCA
from mercer.exceptions import ConvergenceError
from mercer.kernels import Gaussian
from mercer.solvers import Davidson, Dense, Lanczos, Landmarks

X = load_digits().data[:1200] / 16
kernel = Gaussian("median").resolve(X)
truth = KernelPCA(20, kernel=kernel, solver=Dense()).fit(X).eigenvalues_
solvers = {
    "Lanczos()": Lanczos(),
    "Davidson(tol=1e-9)": Davidson(tol=1e-9),
    "Davidson(tol=1e-4)": Davidson(tol=1e-4),
    "Landmarks(600)": Landmarks(600),
    "Landmarks(100)": Landmarks(100),
}
real, claimed = {}, {}
for name, solver in solvers.items():
    model = KernelPCA(20, kernel=kernel, solver=solver, random_state=0).fit(X)
    real[name] = np.abs(model.eigenvalues_ / truth - 1).max()
    claimed[name] = model.report_.estimated_error
    print(f"{name:20} error {real[name]:.0e}, estimate {claimed[name]:.0e}", end="")
    print(f", audit {model.report_.audited:.0e}")

# %%
# Blue is the largest relative error of an eigenvalue, and orange is what the model reports about
# itself. An estimate may be too large, but it must not be too small.

fig, ax = plt.subplots(figsize=(8, 3.6), layout="constrained")
for i, name in enumerate(solvers):
    ax.plot([real[name], claimed[name]], [i, i], color="0.8", linewidth=5, zorder=0)
ax.plot(list(real.values()), range(len(real)), "o", color="#0072B2", markersize=9, label="error")
ax.plot(list(claimed.values()), range(len(real)), "D", color="#E69F00", label="estimate")
ax.set_yticks(range(len(solvers)), list(solvers))
ax.set(xscale="log", xlabel="relative error of an eigenvalue")
ax.invert_yaxis()
ax.legend(frameon=False, loc="lower left")
plt.show()

# %%
# Inside ``mercer.strict()``, an answer that does not converge, or fails its audit, raises an error
# instead of a warning.

try:
    with mercer.strict():
        KernelPCA(20, kernel=kernel, solver=Davidson(tol=1e-9, max_passes=2)).fit(X)
except ConvergenceError as error:
    print(error)
