"""
A small model of a large one
============================

Exact kernel PCA keeps all its rows. :func:`~mercer.compress` expresses the same components with
just a few of them: the file becomes small, ``transform`` becomes fast, and the model can be
exported as an ONNX graph that runs without Python.
"""

# %%
# A model of 300 digits is compressed, and compared with the original on other digits.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import KernelPCA, compress

digits = load_digits()
X = digits.data / 16
train, test, label = X[:300], X[300:], digits.target[300:]
model = KernelPCA(10).fit(train)
truth = model.transform(test)
folder = Path(tempfile.mkdtemp())


def kilobytes(model):
    model.save(folder / "model.mercer")
    return (folder / "model.mercer").stat().st_size / 1e3


counts = [10, 20, 40, 80]
small = {m: compress(model, m, random_state=0) for m in counts}
errors = [np.linalg.norm(small[m].transform(test) - truth) / np.linalg.norm(truth) for m in counts]
sizes = [kilobytes(small[m]) for m in counts]
print(f"the whole model: {kilobytes(model):.0f} kB")

fig, axes = plt.subplots(1, 3, figsize=(10, 3.5), layout="constrained")
axes[0].loglog(sizes, errors, "o-", color="#0072B2")
for m, size, error in zip(counts, sizes, errors, strict=True):
    axes[0].annotate(f" {m}", (size, error), va="bottom", fontsize=8)
axes[0].axvline(kilobytes(model), color="0.6", linestyle=":")
axes[0].set(xlabel="kilobytes (dotted: all rows)", ylabel="relative error of new scores")
axes[0].set_title("rows kept", fontsize=10)
for ax, (name, scores) in zip(
    axes[1:],
    {"all 300 rows": truth, "40 rows": small[40].transform(test)}.items(),
    strict=True,
):
    ax.scatter(*scores[:, :2].T, c=label, cmap="tab10", s=6)
    ax.set_title(name, fontsize=10)
    ax.set(xticks=[], yticks=[], aspect="equal")
plt.show()

# %%
# To run the graph of the small model, onnxruntime is enough (``pip install onnx onnxruntime``).

import onnxruntime

from mercer import export_onnx

export_onnx(small[40], folder / "digits.onnx")
session = onnxruntime.InferenceSession(folder / "digits.onnx")
(Z,) = session.run(["transform"], {"X": test.astype("float32")})
print(f"{(folder / 'digits.onnx').stat().st_size / 1e3:.0f} kB")
print(f"largest difference {np.abs(Z - small[40].transform(test)).max():.0e}")
