"""Pre-images from the papers, in loops over single points: slow, short, and plainly right."""

from math import exp, sqrt

import numpy as np


def expansion(subspace, z):
    """gamma = c + B z."""
    return np.array(
        [
            subspace.mean[i] + sum(subspace.coef[i, k] * z[k] for k in range(len(z)))
            for i in range(len(subspace.mean))
        ]
    )


def fixed_point(kernel, S, gamma, start, tol=1e-12, max_iter=5000, hold=0.0):
    """Mika eq. (9)-(10): z = Σ δ_i s_i / Σ δ_i with δ_i = γ_i k'(|z - s_i|²)."""
    z = np.array(start, dtype=float)
    weight = None
    for _ in range(max_iter):
        top, bottom = np.zeros_like(z), 0.0
        for s, g in zip(S, gamma, strict=True):
            delta = -g * profile_slope(kernel, ((z - s) ** 2).sum())
            top, bottom = top + delta * s, bottom + delta
        weight = hold * bottom if weight is None else weight
        new = (top + weight * np.asarray(start)) / (bottom + weight)
        if np.linalg.norm(new - z) <= tol * (1 + np.linalg.norm(new)):
            return new
        z = new
    return z


def profile_slope(kernel, r2):
    """dk/d(r²), written out for each radial kernel."""
    w = kernel.length**2
    name = type(kernel).__name__
    if name == "Gaussian":
        return -exp(-r2 / w) / w
    if name == "Cauchy":
        return -1 / w / (1 + r2 / w) ** 2
    if name == "RationalQuadratic":
        return -0.5 / w * (1 + r2 / (2 * kernel.alpha * w)) ** (-kernel.alpha - 1)
    a = sqrt(2 * kernel.nu * r2 / w)
    return {1.5: -1.5 * exp(-a), 2.5: -5 / 6 * (1 + a) * exp(-a)}[kernel.nu] / w


def objective(kernel, S, gamma, z):
    """k(z,z) - 2 Σ γ_i k(z, s_i)."""
    z = np.atleast_2d(z)
    return float(kernel(z, z)[0, 0] - 2 * gamma @ kernel(z, S)[0])


def difference_gradient(kernel, S, gamma, z, h=1e-5):
    """The gradient of the objective by central differences."""
    steps = h * np.eye(len(z))
    return np.array(
        [
            (objective(kernel, S, gamma, z + e) - objective(kernel, S, gamma, z - e)) / (2 * h)
            for e in steps
        ]
    )


def similarities(kernel, S, gamma):
    """<phi(s_j), P> = Σ γ_i k(s_i, s_j)."""
    return kernel(S) @ gamma


def nearest(kernel, S, gamma):
    K = kernel(S)
    return int(np.argmin(np.diag(K) - 2 * K @ gamma))


def smoother(similarity, apart, S, count):
    """Schreurs & Suykens eq. (8), of the ``count`` least far apart."""
    k = (similarity - similarity.min()) / (similarity.max() - similarity.min())
    chosen = np.argsort(apart)[:count]
    return sum(k[j] * S[j] for j in chosen) / sum(k[j] for j in chosen)


def kwok_tsang(gamma_of_gaussian, kernel, S, gamma, count):
    """Distances to the nearest in feature space, inverted, then least squares around their mean."""
    K = kernel(S)
    apart = np.diag(K) - 2 * K @ gamma + gamma @ K @ gamma
    near = np.argsort(apart)[:count]
    squared = [-np.log(1 - apart[j] / 2) / gamma_of_gaussian for j in near]
    centre = S[near].mean(axis=0)
    A = S[near] - centre
    right = np.array([(a @ a - d2) / 2 for a, d2 in zip(A, squared, strict=True)])
    return centre + np.linalg.lstsq(A, right - right.mean(), rcond=1e-5)[0]


def ridge(kernel, Z_train, S, alpha, z):
    mean = S.mean(axis=0)
    weights = np.linalg.solve(kernel(Z_train) + alpha * np.eye(len(S)), S - mean)
    return mean + kernel(np.atleast_2d(z), Z_train)[0] @ weights


def ridge_leave_one_out(kernel, Z, S, alpha):
    """Refit without each point; the mean of the points is taken from all of them."""
    mean = S.mean(axis=0)
    errors = []
    for i in range(len(S)):
        rest = np.delete(np.arange(len(S)), i)
        K = kernel(Z[rest]) + alpha * np.eye(len(rest))
        guess = mean + kernel(Z[i : i + 1], Z[rest])[0] @ np.linalg.solve(K, S[rest] - mean)
        errors.append(((guess - S[i]) ** 2).mean())
    return np.mean(errors)


def match_noise(kernel, S, X, k_row):
    """The factor that a noisy kernel row is multiplied by."""
    K = kernel(S)
    np.fill_diagonal(K, -np.inf)
    return np.median(K.max(axis=1)) / k_row.max()
