"""
Words, by the letters that they share
=====================================

Kernel PCA never looks at the rows themselves, only at the kernel between them; so rows may be
objects of any kind that can be compared in pairs. :class:`~mercer.kernels.FunctionKernel` makes a
kernel from a function, here of two words.
"""

# %%
# The rows are twelve everyday words in each of five languages. Two words are alike if they have
# pairs of letters in common; ``^`` and ``$`` mark the beginning and the end, so that endings count.

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelPCA
from mercer.kernels import FunctionKernel

words = {
    "English": "water house night mother brother white bread thousand friend earth finger light",
    "German": "wasser haus nacht mutter bruder weiss brot tausend freund erde finger licht",
    "Italian": "acqua casa notte madre fratello bianco pane mille amico terra dito luce",
    "Spanish": "agua casa noche madre hermano blanco pan mil amigo tierra dedo luz",
    "Finnish": "vesi talo yö äiti veli valkoinen leipä tuhat ystävä maa sormi valo",
}
rows = [word for line in words.values() for word in line.split()]
language = np.repeat(list(words), 12)


def pairs(word):
    marked = f"^{word}$"
    return Counter(marked[i : i + 2] for i in range(len(marked) - 1))


def alike(a, b):
    """The cosine between two words' counts of letter pairs."""
    left, right = pairs(a), pairs(b)
    common = sum(count * right[pair] for pair, count in left.items())
    sizes = (sum(v * v for v in side.values()) for side in (left, right))
    return common / np.sqrt(np.prod(list(sizes)))


model = KernelPCA(4, kernel=FunctionKernel(alike)).fit(rows)
Z = model.transform(rows)

# %%
# The colour shows the language, which the model does not know.

fig, ax = plt.subplots(figsize=(8, 5.4), layout="constrained")
colours = dict(zip(words, ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "0.35"), strict=True))
taken = []
ax.scatter(*Z[:, :2].T, s=0)  # texts alone would not set the limits
for i in np.argsort(-np.hypot(*Z[:, :2].T)):  # from the outside in; where it is full, only a dot
    place = Z[i, :2]
    free = all(abs(place[0] - a) > 0.1 or abs(place[1] - b) > 0.035 for a, b in taken)
    colour = colours[language[i]]
    if free:
        ax.text(*place, rows[i], color=colour, ha="center", va="center", fontsize=11)
        taken.append(place)
    else:
        ax.plot(*place, "o", markersize=3, color=colour, alpha=0.6)
for name, colour in colours.items():
    ax.plot([], [], "s", color=colour, label=name)
ax.set(xlabel="component 0", ylabel="component 1")
ax.margins(0.08)
ax.legend(loc="best", frameon=False)
plt.show()

# %%
# A word that the model has never seen is placed among them. Its "pre-image" is the training word
# nearest to the projection, because there is nothing between two words.

for word in ("bruderherz", "terracotta", "amistad"):
    print(f"{word}: {model.inverse_transform(model.transform([word]))[0]}")
