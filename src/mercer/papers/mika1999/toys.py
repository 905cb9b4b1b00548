"""Table 1 of Mika et al. 1999: eleven Gaussians in ten dimensions, denoised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mercer import KernelPCA
from mercer._base.linalg import square_sums
from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.alternatives import BottleneckAutoencoder, PrincipalCurve
from mercer.kernels import Gaussian
from mercer.model import Subspace
from mercer.preimage import FixedPoint, PreImageSolver

# The two methods that Mika et al. 1999 compare, and the error that they compare by.


#: Denoised points from a subspace and noisy points.
Denoiser = Callable[[Subspace, Array], Array]


def denoise_with(solver: PreImageSolver) -> Denoiser:
    """Project, and go back by the given method, starting at the noisy points."""

    def denoise(subspace: Subspace, X: Array) -> Array:
        return np.asarray(solver.init(subspace).solve(subspace.scores(X), X).points)

    return denoise


def linear_denoise(train: Array, X: Array, q: int) -> Array:
    """Centred linear PCA with q components."""
    mean = train.mean(axis=0)
    axes = np.linalg.svd(train - mean, full_matrices=False)[2][:q]
    return np.asarray((X - mean) @ axes.T @ axes + mean)


def mean_error(found: Array, truth: Array) -> float:
    """Mean squared distance of points to the truth."""
    return float(square_sums(found - truth).mean())


#: σ → the nine ratios printed in Table 1.
PAPER_TABLE1: Mapping[float, tuple[float, ...]] = {
    0.05: (2058.42, 1238.36, 846.14, 565.41, 309.64, 170.36, 125.97, 104.40, 92.23),
    0.1: (10.22, 31.32, 21.51, 29.24, 27.66, 23.53, 29.64, 40.07, 63.41),
    0.2: (0.99, 1.12, 1.18, 1.50, 2.11, 2.73, 3.72, 5.09, 6.32),
    0.4: (1.07, 1.26, 1.44, 1.64, 1.91, 2.08, 2.22, 2.34, 2.47),
    0.8: (1.23, 1.39, 1.54, 1.70, 1.80, 1.96, 2.10, 2.25, 2.39),
}


@dataclass(frozen=True)
class Draw:
    """One draw of the eleven Gaussians: training rows, test rows, and the centres of the latter."""

    train: Array
    test: Array
    centres: Array


def gaussians(sigma: float, rng: np.random.Generator, *, half_side: float = 0.5) -> Draw:
    """Eleven Gaussians in ten dimensions, 100 training and 33 test points each.

    The text says that the centres lie in [-1, 1]^10; [-0.5, 0.5]^10, the default here, gives the
    printed numbers, and the printed box gives each row of half the σ.
    """
    centres = rng.uniform(-half_side, half_side, (11, 10))
    train = np.repeat(centres, 100, axis=0)
    test = np.repeat(centres, 33, axis=0)
    return Draw(
        train + sigma * rng.standard_normal(train.shape),
        test + sigma * rng.standard_normal(test.shape),
        test,
    )


def table1(
    draws: int = 10,
    *,
    denoisers: Mapping[str, Denoiser] | None = None,
    sigmas: Sequence[float] = tuple(PAPER_TABLE1),
    center: bool = True,
    seed: int = 0,
) -> dict[str, dict[float, Array]]:
    """Table 1: the error ratios linear / kernel for 1 to 9 components.

    Parameters
    ----------
    draws : int
    denoisers : mapping of name to function, optional
        By default the paper's: eq. (10) from the noisy point.
    sigmas : sequence of float
    center : bool
        Centre in feature space.
    seed : int

    Returns
    -------
    dict
        name → σ → (draws, 9) array of ratios; take medians over the draws.
    """
    methods = denoisers if denoisers is not None else {"fixed point": denoise_with(FixedPoint())}
    result = {name: {sigma: np.empty((draws, 9)) for sigma in sigmas} for name in methods}
    for number, sigma in enumerate(sigmas):
        for i in range(draws):
            announce("table 1", number * draws + i, draws * len(sigmas))
            data = gaussians(sigma, fixed_rng([seed, i, int(1000 * sigma)]))
            # c = 2σ² in exp(-r²/(d c)), d = 10
            model = KernelPCA(9, kernel=Gaussian(width=np.sqrt(20) * sigma), center=center)
            subspace = model.fit(data.train).subspace_
            for q in range(1, 10):
                straight = mean_error(linear_denoise(data.train, data.test, q), data.centres)
                for name, method in methods.items():
                    bent = mean_error(method(subspace.leading(q), data.test), data.centres)
                    result[name][sigma][i, q - 1] = straight / bent
    return result


# Figure 1 of Mika et al. 1999: a half circle and a square in the plane, denoised.


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
