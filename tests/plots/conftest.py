"""Small models to draw."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer import KernelPCA, SparseKernelPCA
from mercer.kernels import Gaussian
from mercer.papers.tipping2001 import three_clusters

pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="session")
def digits():
    """Rows to learn from with their classes, and others of each class."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    return X[:300], y[:300], X[300:420], y[300:420]


@pytest.fixture(scope="session")
def digits_model(digits):
    return KernelPCA(32, solver="dense").fit(digits[0])


@pytest.fixture(scope="session")
def clusters():
    return three_clusters(seed=1)


@pytest.fixture(scope="session")
def clusters_model(clusters):
    return KernelPCA(6, kernel=Gaussian(width=0.25), solver="dense").fit(clusters[0])


@pytest.fixture(scope="session")
def sparse_model(clusters):
    return SparseKernelPCA(n_kernels=8, kernel=Gaussian(width=0.25)).fit(clusters[0])


@pytest.fixture(scope="session")
def ring():
    rng = np.random.default_rng(3)
    angle = rng.uniform(0, 2 * np.pi, 150)
    return np.c_[np.cos(angle), np.sin(angle)] + 0.08 * rng.standard_normal((150, 2))
