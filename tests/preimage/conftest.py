"""Small models that the tests of every solver share."""

import numpy as np
import pytest

from mercer import KernelPCA
from mercer.kernels import Cauchy, Gaussian, Matern, RationalQuadratic

RADIAL = {
    "gaussian": Gaussian(width=1.5),
    "cauchy": Cauchy(1.5),
    "rational quadratic": RationalQuadratic(1.2, alpha=0.7),
    "matern 3/2": Matern(1.5, nu=1.5),
    "matern 5/2": Matern(1.5, nu=2.5),
}


def ring(n, rng, d=3):
    """Noisy points on a ring in d dimensions."""
    angle = rng.uniform(0, 2 * np.pi, n)
    circle = np.column_stack([np.cos(angle), np.sin(angle), np.zeros((n, d - 2))])
    return circle + 0.1 * rng.standard_normal((n, d))


def fitted(kernel, q=6, n=60, dtype=np.float64, **options):
    """A subspace, and noisy points that were not fitted."""
    rng = np.random.default_rng(5)
    X = ring(n, rng).astype(dtype)
    model = KernelPCA(q, kernel=kernel, solver="dense", **options).fit(X)
    noisy = (ring(23, rng) + 0.2 * rng.standard_normal((23, 3))).astype(dtype)
    return model.subspace_, noisy


@pytest.fixture(params=RADIAL.values(), ids=RADIAL)
def radial(request):
    """Every smooth radial kernel in turn."""
    return request.param
