"""Kernel PCA from the textbook, in loops: slow, short, and plainly right.

Everything fast in mercer is compared with this. Speed is forbidden here; so is sharing code.
"""

from math import exp, sqrt, tanh

import numpy as np


def dot(x, y):
    return sum(float(a) * float(b) for a, b in zip(x, y, strict=True))


def squared_distance(x, y):
    return sum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=True))


def gaussian(gamma):
    return lambda x, y: exp(-gamma * squared_distance(x, y))


def laplacian(gamma):
    return lambda x, y: exp(
        -gamma * sum(abs(float(a) - float(b)) for a, b in zip(x, y, strict=True))
    )


def matern(length, nu):
    def k(x, y):
        a = sqrt(2 * nu) * sqrt(squared_distance(x, y)) / length
        polynomial = {0.5: 1, 1.5: 1 + a, 2.5: 1 + a + a * a / 3}[nu]
        return polynomial * exp(-a)

    return k


def rational_quadratic(length, alpha):
    return lambda x, y: (1 + squared_distance(x, y) / (2 * alpha * length**2)) ** -alpha


def cauchy(length):
    return lambda x, y: 1 / (1 + squared_distance(x, y) / length**2)


def polynomial(degree, gamma, coef0):
    return lambda x, y: (gamma * dot(x, y) + coef0) ** degree


def sigmoid(gamma, coef0):
    return lambda x, y: tanh(gamma * dot(x, y) + coef0)


def unit(x):
    return [float(a) / sqrt(dot(x, x)) for a in x]


def cosine(x, y):
    return dot(x, y) / sqrt(dot(x, x) * dot(y, y))


def chi2(gamma):
    def k(x, y):
        pairs = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
        return exp(-gamma * sum((a - b) ** 2 / (a + b) for a, b in pairs if a + b > 0))

    return k


def gram(k, X, Y):
    K = np.empty((len(X), len(Y)))
    for i in range(len(X)):
        for j in range(len(Y)):
            K[i, j] = k(X[i], Y[j])
    return K


class KernelPCA:
    """Schölkopf, Smola & Müller 1998, with sample weights.

    The weighted mean is sum_a p_a phi(x_a) with p = w / sum(w); the scatter is
    sum_i w_i phi~(x_i) phi~(x_i)', so that an integer weight is a number of copies.
    """

    def __init__(self, k, X, q, weight=None, center=True):
        n = len(X)
        w = [1.0] * n if weight is None else [float(a) for a in weight]
        self.k, self.X = k, X
        self.p = [a / sum(w) if center else 0.0 for a in w]
        self.K = gram(k, X, X)
        M = np.empty((n, n))
        for i in range(n):
            for j in range(n):
                M[i, j] = sqrt(w[i]) * self.centred(self.K[i], j) * sqrt(w[j])
        values, vectors = np.linalg.eigh(M)
        self.eigenvalues = values[::-1][:q]
        self.trace = sum(M[i, i] for i in range(n))
        # w_k = sum_i alpha_ik phi~(x_i) must have length 1 in feature space.
        self.alpha = np.empty((n, q))
        for c in range(q):
            for i in range(n):
                self.alpha[i, c] = sqrt(w[i]) * vectors[i, n - 1 - c] / sqrt(self.eigenvalues[c])

    def centred(self, k_row, j):
        """<phi(x) - mu, phi(x_j) - mu> from the kernel values of x with the training points."""
        n = len(self.X)
        to_mean = sum(self.p[a] * k_row[a] for a in range(n))
        mean_to_j = sum(self.p[a] * self.K[a, j] for a in range(n))
        mean = sum(self.p[a] * self.p[b] * self.K[a, b] for a in range(n) for b in range(n))
        return k_row[j] - to_mean - mean_to_j + mean

    def scores(self, Y):
        Z = np.empty((len(Y), self.alpha.shape[1]))
        for r, y in enumerate(Y):
            k_row = [self.k(y, x) for x in self.X]
            centred = [self.centred(k_row, j) for j in range(len(self.X))]
            for c in range(self.alpha.shape[1]):
                Z[r, c] = sum(self.alpha[j, c] * centred[j] for j in range(len(self.X)))
        return Z

    def residual(self, Y):
        """|phi(y) - mu|² minus what the components explain."""
        n = len(self.X)
        mean = sum(self.p[a] * self.p[b] * self.K[a, b] for a in range(n) for b in range(n))
        errors = []
        for y, z in zip(Y, self.scores(Y), strict=True):
            to_mean = sum(self.p[a] * self.k(y, self.X[a]) for a in range(n))
            errors.append(self.k(y, y) - 2 * to_mean + mean - sum(v * v for v in z))
        return np.array(errors)


def conditional_means(mean, covariance, X):
    """Missing values by the textbook: mu_m + S_mo S_oo^-1 (x_o - mu_o), row by row."""
    filled = np.array(X, dtype=float)
    for row in filled:
        m = np.isnan(row)
        if m.any() and not m.all():
            to_seen = covariance[m][:, ~m]
            seen = covariance[~m][:, ~m]
            row[m] = mean[m] + to_seen @ np.linalg.solve(seen, row[~m] - mean[~m])
    return filled


def growing_trust(X, neighbour, edge, reach):
    """Half with the nearest median row, then all within reach, one round after the other."""
    n = len(X)
    D = np.array([[np.sqrt(((x - y) ** 2).sum()) for y in X] for x in X])
    trusted = set(np.argsort([np.median(row) for row in D], kind="stable")[: n // 2 + 1].tolist())
    while True:
        far = np.empty(n)
        for i in range(n):
            nearest = sorted(D[i, j] for j in trusted if j != i)
            far[i] = np.log(nearest[(neighbour if i in trusted else edge) - 1])
        inside = far[sorted(trusted)]
        middle = np.median(inside)
        above = inside[inside >= middle] - middle
        spread = max(min(np.median(above) / 0.6745, np.percentile(above, 90) / 1.645), 0.1)
        entering = {i for i in range(n) if far[i] <= middle + reach * spread} - trusted
        if not entering:
            return np.isin(np.arange(n), sorted(trusted)), (far - middle) / spread
        trusted |= entering
