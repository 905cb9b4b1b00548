"""
New digits from kernel PCA
==========================

Kernel PCA can generate new rows: draw a hidden unit, and find its point (Schreurs & Suykens 2018).
The paper draws from one normal distribution and averages images; drawing around the existing hidden
units, and going back by regression, keeps far more of the digits' variety.
"""

# %%
# The models learn from half of the images; the other half is used to evaluate the samples.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from mercer import GenerativeKernelPCA
from mercer.generative import KernelSmoother, judge, largest_step, scaled_similarities

X, y = load_digits(return_X_y=True)
X = X / 16
order = np.random.default_rng(0).permutation(len(X))
train, labels, test = X[order[:900]], y[order[:900]], X[order[900:]]

ours = GenerativeKernelPCA(40, random_state=0).fit(train, labels)
paper = GenerativeKernelPCA(40, density="normal", preimage=KernelSmoother(100), random_state=0).fit(
    train, labels
)


def sheet(images, titles, columns=12):
    """Rows of images, one title for each row."""
    fig, axes = plt.subplots(
        len(images),
        columns,
        figsize=(0.72 * columns + 1.4, 0.8 * len(images)),
        layout="constrained",
    )
    for line, row, title in zip(axes, images, titles, strict=True):
        for ax, image in zip(line, row, strict=True):
            ax.imshow(np.reshape(image, (8, 8)), cmap="gray_r", vmin=0, vmax=1)
            ax.set(xticks=[], yticks=[])
        line[0].set_ylabel(title, rotation=0, ha="right", va="center")
    return fig


nearest = train[((ours.sample(12)[:, None] - train[None]) ** 2).sum(axis=2).argmin(axis=1)]
sheet(
    [test[:12], paper.sample(12), ours.sample(12), nearest],
    ["real", "the paper's", "default", "its nearest\ntraining image"],
)
plt.show()

# %%
# The table evaluates the samples. Coverage and recall measure how much of the variety of unseen
# images they capture; the mean discrepancy compares the two distributions; and the distance to the
# training images, compared with that of real images, reveals copies.

print(f"{'':<14}{'coverage':>10}{'recall':>8}{'MMD²':>8}{'nearest training image':>25}")
for name, model in (("the paper's", paper), ("default", ours)):
    report = judge(model.sample(len(test)), test, train=train)
    print(
        f"{name:<14}{report.coverage:>10.2f}{report.recall:>8.2f}{report.mmd2:>8.3f}"
        f"{report.nearest_train:>15.2f} (real: {report.nearest_real:.2f})"
    )

# %%
# Hidden units can also be drawn from the density of one class.

sheet([ours.sample(12, label=k, random_state=1) for k in range(10)], range(10))
plt.show()

# %%
# Here is the path between two images, straight in score space. With the regression, the steps are
# even; the smoother stays at one average for a while and then jumps to the next.

start, end = train[labels == 3][0], train[labels == 8][0]
ridge = ours.interpolate(start, end, steps=12)
smoother = GenerativeKernelPCA(40, preimage=KernelSmoother(10)).fit(train)
jumps = smoother.interpolate(start, end, steps=12)
sheet([ridge, jumps], ["ridge", "smoother"])
print(f"largest step / mean step: {largest_step(ridge):.2f} and {largest_step(jumps):.2f}")
plt.show()

# %%
# The next walks go along single components, starting from the first image of a three.

walks = [ours.traverse(start, k, span=2.0, steps=12) for k in range(5)]
sheet(walks, [f"component {k}" for k in range(5)])
plt.show()

# %%
# This shows why the paper's sample is a mixture: its similarities to the training images (scaled
# from 0 to 1) hardly distinguish the digits, and the hundred largest belong to several of them.

H = paper.sample_hidden(1, random_state=3)
similarity = scaled_similarities(paper.similarities(H))[0]
fig, (left, right) = plt.subplots(1, 2, figsize=(7, 2.6), width_ratios=[1, 3], layout="constrained")
left.imshow(paper.generate(H).reshape(8, 8), cmap="gray_r", vmin=0, vmax=1)
left.set(xticks=[], yticks=[], title="a sample")
right.bar(range(10), [similarity[labels == k].mean() for k in range(10)], color="0.4")
right.set(xticks=range(10), xlabel="digit", ylabel="average similarity", ylim=(0, 1))
plt.show()
