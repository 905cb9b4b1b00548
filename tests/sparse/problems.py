"""Small random problems for the sparse optimisers."""

import numpy as np

from mercer.sparse import Likelihood, Pool


def features(rng, n, D):
    """Coordinates of n points in D dimensions, so that K has rank min(n, D)."""
    return rng.standard_normal((n, D)) * rng.uniform(0.1, 2, D)


def everywhere(K, w, variance):
    """The model with a weight on every row."""
    return Likelihood(
        Pool(K, K, len(K), float(np.trace(K)) / len(K)), np.arange(len(K)), w, variance
    )


def random_problem(rng):
    """A Gram matrix, weights over several decades, and a noise."""
    n = int(rng.integers(4, 25))
    Phi = features(rng, n, int(rng.integers(2, 30)))
    w = 10.0 ** rng.uniform(-4, 1, n) / n
    return Phi, Phi @ Phi.T, w, float(10.0 ** rng.uniform(-3, 0.5))


def stiff_gram(n, condition, rng):
    """A kernel matrix whose eigenvalues fall from 1 to 1/condition."""
    U, _ = np.linalg.qr(rng.standard_normal((n, n)))
    K = (U * np.geomspace(1, 1 / condition, n)) @ U.T
    return (K + K.T) / 2
