"""Schreurs & Suykens 2018 and the sample measures as they are printed: slow, and plainly right.

Speed is forbidden here; so is sharing code with the library.
"""

import numpy as np


def centred_gram(X, gamma):
    n = len(X)
    K = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            K[i, j] = np.exp(-gamma * sum((a - b) ** 2 for a, b in zip(X[i], X[j], strict=True)))
    H = np.eye(n) - np.ones((n, n)) / n
    return H @ K @ H


def hidden_units(K, q, eta=1.0):
    """Rows of H as columns here: (1/η) K Hᵀ = Hᵀ Δ, of squared length η; and Δ."""
    values, vectors = np.linalg.eigh(K / eta)
    order = np.argsort(values)[::-1][:q]
    return np.sqrt(eta) * vectors[:, order], values[order]


def similarities(K, H, h_star, eta=1.0):
    """Eq. (6), for one new hidden unit."""
    n = len(K)
    found = np.zeros(n)
    for j in range(n):
        total = np.zeros(H.shape[1])
        for i in range(n):
            total += K[j, i] * H[i]
        found[j] = total @ h_star / eta
    return found


def smooth(similarity, X, S):
    """Eq. (8), for one new point: scale to [0, 1], keep the S largest, average."""
    low, high = min(similarity), max(similarity)
    scaled = [(s - low) / (high - low) for s in similarity]
    largest = sorted(range(len(X)), key=lambda j: -scaled[j])[:S]
    total = sum(scaled[j] * X[j] for j in largest)
    return total / sum(scaled[j] for j in largest)


def train_energy(V, H, W, lam, eta):
    energy = 0.0
    for v, h in zip(V, H, strict=True):
        energy -= v @ W @ h
        energy += 0.5 * sum(lam[k] * h[k] ** 2 for k in range(len(h)))
    return energy + eta / 2 * np.trace(W.T @ W)


def generation_energy(V, H, W):
    return sum(-(v @ W @ h) + 0.5 * (v @ v) for v, h in zip(V, H, strict=True))


def numerical_gradient(function, X, step=1e-5):
    gradient = np.zeros_like(X)
    for place in np.ndindex(X.shape):
        up, down = X.copy(), X.copy()
        up[place] += step
        down[place] -= step
        gradient[place] = (function(up) - function(down)) / (2 * step)
    return gradient


def distance(a, b):
    return np.sqrt(sum((s - t) ** 2 for s, t in zip(a, b, strict=True)))


def radius(X, i, k):
    """Distance from row i to its k-th neighbour among the other rows."""
    return sorted(distance(X[i], X[j]) for j in range(len(X)) if j != i)[k - 1]


def precision(samples, real, k):
    inside = [
        any(distance(a, real[i]) <= radius(real, i, k) for i in range(len(real))) for a in samples
    ]
    return np.mean(inside)


def density(samples, real, k):
    counts = [
        sum(distance(a, real[i]) <= radius(real, i, k) for i in range(len(real))) for a in samples
    ]
    return np.mean(counts) / k


def coverage(samples, real, k):
    reached = [
        any(distance(a, real[i]) <= radius(real, i, k) for a in samples) for i in range(len(real))
    ]
    return np.mean(reached)


def mmd2(A, B, gamma):
    def k(a, b):
        return np.exp(-gamma * distance(a, b) ** 2)

    n, m = len(A), len(B)
    within_a = sum(k(A[i], A[j]) for i in range(n) for j in range(n) if i != j) / (n * (n - 1))
    within_b = sum(k(B[i], B[j]) for i in range(m) for j in range(m) if i != j) / (m * (m - 1))
    return within_a + within_b - 2 * sum(k(a, b) for a in A for b in B) / (n * m)


def least_squares_machine(K, Y, lam, eta):
    """Hidden units and bias of Suykens 2017's least-squares machine, one column at a time."""
    n = len(K)
    A = np.zeros((n + 1, n + 1))
    A[:n, :n] = K / eta
    for i in range(n):
        A[i, i] += lam
        A[i, n] = A[n, i] = 1
    solution = np.linalg.solve(A, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return solution[:n], solution[n]
