"""Tipping 2001 as it is printed, and from first principles: slow, short, and plainly right.

Speed is forbidden here; so is sharing code with the library. ``literal_*`` are the paper's formulas
(8), (11)–(14) with their W⁻¹, kept to show where they fail; ``explicit_*`` work in a feature space
that has coordinates.
"""

import numpy as np


def gaussian_gram(X, width):
    n = len(X)
    K = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            K[i, j] = np.exp(-sum((a - b) ** 2 for a, b in zip(X[i], X[j], strict=True)) / width**2)
    return K


def explicit_log_likelihood(Phi, w, variance):
    """Eq. (5) with coordinates Phi (n, D), minus the constant -N D log(σ²)/2."""
    n, D = Phi.shape
    C = variance * np.eye(D)
    for weight, phi in zip(w, Phi, strict=True):
        C += weight * np.outer(phi, phi)
    data = sum(phi @ np.linalg.solve(C, phi) for phi in Phi)
    return -0.5 * (n * (np.linalg.slogdet(C)[1] - D * np.log(variance)) + data)


def literal_posterior(K, w, variance):
    """Σ and the rows μ_n of eqs. (11) and (12)."""
    Sigma = np.linalg.inv(np.diag(1 / w) + K / variance)
    return Sigma, (Sigma @ K / variance).T


def literal_log_likelihood(K, w, variance):
    """Eqs. (5)–(8), minus the constant."""
    n = len(K)
    inner = np.diag(1 / w) + K / variance
    log_det = np.linalg.slogdet(inner)[1] + np.log(w).sum()
    inverse = np.linalg.inv(inner)
    data = sum(K[i, i] / variance - K[i] @ inverse @ K[i] / variance**2 for i in range(n))
    return -0.5 * (n * log_det + data)


def literal_em(K, w, variance):
    """Eq. (13)."""
    Sigma, mu = literal_posterior(K, w, variance)
    return (mu**2).mean(axis=0) + np.diagonal(Sigma)


def literal_fast(K, w, variance):
    """Eq. (14)."""
    Sigma, mu = literal_posterior(K, w, variance)
    return (mu**2).sum(axis=0) / (len(K) * (1 - np.diagonal(Sigma) / w))


def explicit_components(Phi, w):
    """Eigenvalues and eigenvectors of Φᵀ W Φ, largest first."""
    C = np.zeros((Phi.shape[1], Phi.shape[1]))
    for weight, phi in zip(w, Phi, strict=True):
        C += weight * np.outer(phi, phi)
    values, vectors = np.linalg.eigh(C)
    return values[::-1], vectors[:, ::-1]


def distance_to_span(k_xx, k_x, K):
    """Eq. (18)."""
    return k_xx - k_x @ np.linalg.solve(K, k_x)
