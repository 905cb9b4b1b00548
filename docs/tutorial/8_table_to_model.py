"""
8. From a raw table to a saved model
====================================

Real tables have units, categories and missing values. This chapter goes all the way with one
table: read it, fit a model, look at it, fill in what is missing, find what is strange, save the
model, and use it again.
"""

# %%
# The table
# ---------
#
# The table contains the 442 patients of scikit-learn's diabetes study, in the original units:
# years, kg/m², mmHg, and several blood values. We turn sex into a category, and remove some values,
# as happens in practice. (For a file of your own, use ``pandas.read_csv``, or
# ``mercer fit people.csv`` on the command line.)

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

complete = load_diabetes(as_frame=True, scaled=False).data
complete["sex"] = complete["sex"].map({1.0: "A", 2.0: "B"})  # the data do not say which is which

hidden = np.random.default_rng(0).random(len(complete)) < 0.1
table = complete.copy()
table.loc[hidden, "s2"] = np.nan
print(table.head(4).to_string())
print(f"{hidden.sum()} values of s2 are missing")

# %%
# Fit
# ---
#
# A kernel needs vectors in which all columns carry equal weight. :class:`~mercer.TableModel` wraps
# any estimator with a :class:`~mercer.TableEncoder`, which reports what it does with each column.

from mercer import KernelPCA, TableModel

whole = table[~hidden]
model = TableModel(KernelPCA(8, random_state=0)).fit(whole)
print("\n".join(model.encoder_.describe()))

inner = model.model_
print(f"{inner.explained_variance_ratio_.sum():.0%} of the variance in 8 components")

# %%
# Look
# ----
#
# The pictures show two components of every patient, and the columns that matter most for the first
# four components.

Z = np.asarray(model.transform(whole))
relevance = model.relevance(whole)
strength = relevance.components[:4] / relevance.components[:4].sum(axis=1, keepdims=True)

fig, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained", width_ratios=[2, 3])
for sex in ("A", "B"):
    axes[0].scatter(*Z[whole["sex"] == sex, :2].T, s=12, label=f"sex {sex}")
axes[0].set(xlabel="component 0", ylabel="component 1")
axes[0].legend(frameon=False)
shading = axes[1].imshow(strength, cmap="Blues", aspect="auto", vmin=0)
axes[1].set_xticks(range(len(relevance.names)), relevance.names)
axes[1].set_yticks(range(4), [f"component {k}" for k in range(4)])
fig.colorbar(shading, label="share of the relevance")
plt.show()

# %%
# Fill in missing values
# ----------------------
#
# The imputed values could have come from the table itself: numbers are in their original units, and
# categories are among those that occur. Here we know the true values, so we can measure the error.
# The baseline to beat is the mean of the column.

filled = model.impute(table)
truth = complete.loc[hidden, "s2"].to_numpy()


def error(guess):
    return np.sqrt(np.mean((truth - guess) ** 2))


print(f"error of s2 (LDL): mean of the column {error(whole['s2'].mean()):.1f}, "
      f"imputed {error(np.asarray(filled['s2'])[hidden]):.1f} mg/dl")  # fmt: skip

# %%
# Find what is strange
# --------------------
#
# Next, we give the same table to a detector. It guarantees a false-alarm rate on rows like those it
# has seen, whatever the kernel.

from mercer import KernelNovelty

guard = TableModel(KernelNovelty(false_alarm_rate=0.05, random_state=0)).fit(whole[:300])
fresh = whole[300:]
wrong = fresh.assign(bp=fresh["bp"] * 2)  # a blood pressure, typed twice
for name, rows in {"fresh patients": fresh, "doubled pressures": wrong}.items():
    print(f"alarms on {name}: {np.mean(np.asarray(guard.predict(rows)) == -1):.1%}")

# %%
# Save, and use again
# -------------------
#
# A model file is not a pickle: opening it runs no code.

import mercer

path = Path(tempfile.mkdtemp()) / "patients.mercer"
model.save(path)
again = mercer.load(path)
same = np.array_equal(np.asarray(again.transform(whole)), Z)
print(f"{path.stat().st_size / 1000:.0f} kB; the same scores to the last bit: {same}")

# %%
# On the command line, the same file works with ``mercer info``, ``mercer transform``,
# ``mercer impute`` and the other commands: see :doc:`/howto/command_line`.
#
# You have finished the course. From here you can go on to:
#
# - one job: :doc:`/howto/index`
# - a model that you can drag around: :doc:`/howto/live`
# - what mercer does not do well: :doc:`/explanation/limits`
# - terms that you have met: :doc:`/explanation/glossary`
