"""Maps of the digits in two and more dimensions: PCA, kernel PCA, t-SNE and UMAP.

``python -m benchmarks embeddings`` prints the table beside the tutorial's sixth chapter, over three
draws; UMAP only where ``umap-learn`` is installed (it is no dependency of this project).
"""

from importlib.util import find_spec
from time import process_time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE, trustworthiness
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier

from mercer import KernelPCA

ROWS, SPLITS = 800, 3


def contenders(seed):
    found = {
        "PCA, 2": PCA(2),
        "kernel PCA, 2": KernelPCA(2, random_state=seed),
        "kernel PCA, 10": KernelPCA(10, random_state=seed),
        "kernel PCA, 50": KernelPCA(50, random_state=seed),
        "t-SNE, 2": TSNE(random_state=seed),
    }
    if find_spec("umap"):
        from umap import UMAP

        found["UMAP, 2"] = UMAP(n_jobs=1, random_state=seed)
    return found


def measure(model, X, y):
    """Agreement of nearest neighbours, trustworthiness (12 neighbours) and processor time."""
    start = process_time()
    Z = model.fit_transform(X)
    seconds = process_time() - start
    agree = cross_val_score(KNeighborsClassifier(1), Z, y, cv=5).mean()
    return agree, trustworthiness(X, Z, n_neighbors=12), seconds


def main():
    X, y = load_digits(return_X_y=True)
    results = {}
    for seed in range(SPLITS):
        rows, _, labels, _ = train_test_split(X / 16, y, train_size=ROWS, random_state=seed)
        for name, model in contenders(seed).items():
            results.setdefault(name, []).append(measure(model, rows, labels))
    print(
        f"| {ROWS} digits, means of {SPLITS} draws | neighbours agree | trustworthiness | CPU s |"
    )
    print("|---|---:|---:|---:|")
    for name, values in results.items():
        agree, trust, seconds = np.mean(values, axis=0)
        print(f"| {name} | {agree:.3f} | {trust:.3f} | {seconds:.1f} |")
