"""Wrong parameters are named, with a remedy, when they are used."""

import numpy as np
import pytest

from mercer import (
    KernelPCA,
)
from mercer.exceptions import DataError, DegenerateKernelWarning, KernelError
from mercer.kernels import (
    Chi2,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Scaled,
    Sigmoid,
    Sum,
)

X = np.random.default_rng(0).standard_normal((10, 3))

WRONG = [
    (Gaussian(gamma=-1.0), "gamma=-1.0 is negative"),
    (Gaussian(gamma=np.nan), "gamma=nan is not finite"),
    (Gaussian(gamma=np.inf), "gamma=inf is not finite"),
    (Gaussian(gamma="meddian"), "'median', 'scale'"),
    (Gaussian(gamma=True), "must be a number"),
    (Gaussian(sigma=0.0), "sigma=0.0 must be above zero"),
    (Gaussian(width=-2), "width=-2"),
    (Gaussian(gamma=1.0, sigma=1.0), "one width, not 2"),
    (Laplacian(gamma=0.0), "gamma=0.0"),
    (Matern(nu=1.0), "nu=1.0"),
    (Matern(length_scale="mean"), "length_scale='mean'"),
    (RationalQuadratic(alpha=0), "alpha=0"),
    (Polynomial(0), "degree=0"),
    (Polynomial(2.5), "degree=2.5"),
    (Polynomial(2, coef0=-1), "coef0=-1"),
    (Polynomial(2, coef0=np.nan), "coef0=nan"),
    (Sigmoid(gamma="median"), "'scale'"),
    (Chi2(gamma=-1), "gamma=-1"),
    (Scaled(-1.0, Linear()), "factor=-1.0"),
    (Sum(Linear(), "gaussian"), "'gaussian' is not a kernel"),
    (Gaussian(gamma=-1.0) + Linear(), "gamma=-1.0"),
    (FunctionKernel(3), "cannot be called"),
]


@pytest.mark.parametrize(("kernel", "words"), WRONG, ids=lambda v: v if isinstance(v, str) else "")
def test_wrong_parameters(kernel, words):
    with pytest.raises(KernelError) as caught:
        kernel.resolve(X)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    assert any(verb in message for verb in ("give", "combine", "must be")), "no remedy"


def test_gamma_zero_is_allowed_but_said():
    with pytest.warns(DegenerateKernelWarning, match="constant"):
        assert Gaussian(gamma=0.0).resolve(X).gamma == 0


def test_negative_histogram_entries_are_located():
    H = np.abs(X)
    H[4, 2] = -0.5
    with pytest.raises(DataError, match=r"row 4, column 2 is -0.5"):
        Chi2().resolve(H)


def test_adapters_have_no_gradient():
    for kernel in (Precomputed(), FunctionKernel(len)):
        with pytest.raises(KernelError, match="nearest"):
            kernel.gradient(X, X, X)
        with pytest.raises(KernelError, match="nearest"):
            kernel.diag_gradient(X)


def test_only_numbers_scale_a_kernel():
    with pytest.raises(TypeError):
        Gaussian() * [1, 2]
    with pytest.raises(TypeError):
        Gaussian() + 1


def test_no_other_row_is_blamed_for_an_entry_below_zero():
    """Rows are packed in blocks, which count from 0 each."""
    rows = np.abs(np.random.default_rng(0).standard_normal((1500, 3)))
    model = KernelPCA(2, kernel="chi2").fit(rows[:100])
    rows[1000, 1] = -0.25
    with pytest.raises(DataError, match=r"but column 1 has -0\.25;"):
        model.transform(rows)
    with pytest.raises(DataError, match=r"row 1000, column 1 is -0\.25;"):
        model.fit(rows)
