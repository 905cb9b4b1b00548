"""Components with tiny eigenvalues are directions, too: orthonormal, and free of the mean."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

from mercer import KernelPCA
from mercer.kernels import Polynomial


def test_directions_stay_orthonormal_down_to_the_last_component():
    # Eigenvalues of this kernel span eleven decades, and the mean is large.
    X = load_iris().data
    kernel = Polynomial(3)
    B = KernelPCA(kernel=kernel, solver="dense").fit(X).subspace_.coef
    assert_allclose(B.T @ kernel(X) @ B, np.eye(B.shape[1]), atol=1e-5)
