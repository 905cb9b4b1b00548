"""Figure 1 of Mika et al. 1999: a half circle and a square in the plane, denoised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mercer import KernelPCA
from mercer._linalg import Array
from mercer.alternatives import BottleneckAutoencoder, PrincipalCurve
from mercer.kernels import Gaussian
from mercer.papers.mika1999.methods import linear_denoise
from mercer.preimage import FixedPoint


@dataclass(frozen=True)
class Curve:
    """Noisy points on a curve in the plane, and the curve itself as a fine polygon."""

    points: Array
    curve: Array

    def squared_distance(self, points: Array) -> float:
        """Mean squared distance of points to the curve."""
        return float(self._to_curve(points).min(axis=1).mean())

    def coverage(self, points: Array, bins: int = 40) -> float:
        """Share of the curve's pieces that a point lies nearest to: collapse is not denoising."""
        nearest = self._to_curve(points).argmin(axis=1)
        return len(np.unique(nearest * bins // len(self.curve))) / bins

    def _to_curve(self, points: Array) -> Array:
        return np.asarray(((points[:, None] - self.curve) ** 2).sum(axis=2))


def half_circle(rng: np.random.Generator, n: int = 200, noise: float = 0.1) -> Curve:
    """Points on the upper half of the unit circle."""
    fine = np.linspace(0, np.pi, 2000)
    return _curve(np.column_stack([np.cos(fine), np.sin(fine)]), rng, n, noise)


def square(rng: np.random.Generator, n: int = 200, noise: float = 0.1) -> Curve:
    """Points on the sides of the square [-1, 1]²."""
    side, one = np.linspace(-1, 1, 500), np.ones(500)
    sides = [(side, -one), (one, side), (-side, one), (-one, -side)]
    return _curve(np.concatenate([np.column_stack(s) for s in sides]), rng, n, noise)


def figure1(curve: Curve, q: int, *, c: float = 0.5) -> dict[str, Array]:
    """Figure 1: the points denoised by linear PCA (one component) and kernel PCA (q components)."""
    kernel = Gaussian(width=np.sqrt(2 * c))  # exp(-r²/(d c)), d = 2
    model = KernelPCA(q, kernel=kernel, preimage=FixedPoint()).fit(curve.points)
    return {
        "noisy": curve.points,
        "linear": linear_denoise(curve.points, curve.points, 1),
        "kernel": model.denoise(curve.points),
    }


def alternatives(curve: Curve, *, closed: bool, seed: int = 0) -> dict[str, Array]:
    """Figure 1: the points on a principal curve, and as a bottleneck autoencoder returns them.

    Parameters
    ----------
    curve : Curve
    closed : bool
        Whether to add a principal curve that ends where it begins, which 1989's could not.
    seed : int
        For the network.
    """
    points = curve.points
    network = BottleneckAutoencoder(random_state=seed).fit(points)
    found = {
        "autoencoder": network.denoise(points),
        "principal curve": PrincipalCurve().fit(points).denoise(points),
    }
    if closed:
        found["closed curve"] = PrincipalCurve(closed=True).fit(points).denoise(points)
    return found


def _curve(fine: Array, rng: np.random.Generator, n: int, noise: float) -> Curve:
    points = fine[rng.integers(len(fine), size=n)]
    return Curve(points + noise * rng.standard_normal(points.shape), fine)
