"""
Novelty, with a false-alarm rate that holds
===========================================

Kernel PCA learns what is normal; a point far from its subspace in feature space is new (Hoffmann
2007). The threshold comes from rows that the model has not seen, so that you get the false-alarm
rate that you asked for. Contributions show which variables are responsible.
"""

# %%
# We start with two variables, so that the score can be drawn. The normal rows form a spiral.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from mercer import KernelNovelty, KernelPCA
from mercer.kernels import Gaussian
from mercer.plots import ContributionsDisplay, NoveltyDisplay


def spiral(n, rng):
    angle = rng.uniform(1.5, 9.5, n)
    curve = angle[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return curve + 0.35 * rng.standard_normal((n, 2))


rng = np.random.default_rng(0)
normal = spiral(400, rng)
model = KernelNovelty(60, kernel=Gaussian(width=3.0), false_alarm_rate=0.05, random_state=0)
model.fit(normal)

shown = np.vstack([spiral(150, rng), rng.uniform(-11, 11, (25, 2))])
NoveltyDisplay.from_estimator(model, shown)
plt.show()

# %%
# The plot compares the requested rate with the rate on fresh normal rows, for each number of
# components. A threshold on training errors promises the same rate, but does not deliver it.

fresh = spiral(3000, rng)
numbers = [5, 20, 60, 120, 200]
held, training = [], []
for q in numbers:
    detector = KernelNovelty(q, kernel=Gaussian(width=1.5), random_state=0).fit(normal)
    held.append((detector.predict(fresh) == -1).mean())
    pca = KernelPCA(q, kernel=Gaussian(width=1.5)).fit(normal)
    limit = np.quantile(pca.reconstruction_error(normal), 0.95)
    training.append((pca.reconstruction_error(fresh) > limit).mean())

fig, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.axhline(0.05, color="0.5", linestyle=":", label="asked for")
ax.plot(numbers, training, "o-", label="threshold on training errors")
ax.plot(numbers, held, "o-", color="C3", label="KernelNovelty")
ax.set(xlabel="number of components", ylabel="false alarms on fresh rows", ylim=(0, None))
ax.legend(frameon=False)
plt.show()

# %%
# The next data are thirty measurements of cell nuclei. The model learns from benign cases, and we
# ask what is strange about the malignant case with the largest score.

cancer = load_breast_cancer(as_frame=True)
table = (cancer.data - cancer.data.mean()) / cancer.data.std()
benign, malignant = table[cancer.target == 1], table[cancer.target == 0]
detector = KernelNovelty(random_state=0).fit(benign.iloc[:250])
alarms = (detector.predict(malignant) == -1).mean()
false = (detector.predict(benign.iloc[250:]) == -1).mean()
print(f"alarms: {alarms:.0%} of the malignant, {false:.0%} of the other benign cases")

strangest = malignant.iloc[[int(np.argmin(detector.score_samples(malignant)))]]
ContributionsDisplay.from_estimator(detector, strangest)
plt.show()
