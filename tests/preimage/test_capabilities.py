"""Kernels declare what they can do, and pre-image solvers what they need."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mercer import KernelPCA
from mercer.exceptions import KernelError
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    FunctionKernel,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Precomputed,
    RationalQuadratic,
    Sigmoid,
)
from mercer.preimage import Distances, FixedPoint, Gradient, InverseDot, Nearest, Ridge, Status

RADIAL = [Gaussian(gamma=0.3), Cauchy(1.0), RationalQuadratic(1.0), Matern(1.0)]
OTHERS = [Linear(), Polynomial(3), Polynomial(2), Sigmoid(0.1), Cosine(), Laplacian(1.0), Chi2()]
CLOSED = [Precomputed(), FunctionKernel(lambda _a, _b: 1.0)]
X = np.random.default_rng(0).gamma(2.0, size=(30, 3))


@pytest.mark.parametrize("kernel", [*RADIAL, *OTHERS, 2.0 * Chi2() + Linear()], ids=repr)
def test_declarations_are_true(kernel):
    kernel.diag_gradient(X)
    assert kernel.has_gradient
    if kernel.is_nonnegative:
        with pytest.raises(ValueError, match="0 or more"):
            kernel(X, -X)
    else:
        kernel(X, -X)
    if kernel.is_invertible:
        values = np.array([0.3, 0.5])
        assert_allclose(kernel.profile(kernel.invert(values.copy())), values)


@pytest.mark.parametrize("kernel", CLOSED, ids=lambda kernel: type(kernel).__name__)
def test_no_gradient_is_declared(kernel):
    assert not kernel.has_gradient
    assert not (0.5 * kernel).has_gradient
    assert not (kernel + Gaussian()).has_gradient
    with pytest.raises(KernelError, match="no gradient"):
        kernel.diag_gradient(X)


def test_a_multiple_of_a_radial_kernel_is_radial():
    for kernel in RADIAL:
        assert (2.0 * (0.5 * kernel)).radial is kernel
    for kernel in (*OTHERS, *CLOSED, Gaussian() + Linear(), Gaussian() * Linear()):
        assert kernel.radial is None
        assert (2.0 * kernel).radial is None


@pytest.mark.parametrize("kernel", RADIAL, ids=repr)
def test_a_factor_changes_no_fixed_point(kernel):
    """Scores grow by its root, and the points stay where they are."""
    plain = KernelPCA(4, kernel=kernel, preimage=FixedPoint()).fit(X)
    scaled = KernelPCA(4, kernel=2.0 * kernel, preimage=FixedPoint()).fit(X)
    assert_allclose(scaled.transform(X), np.sqrt(2) * plain.transform(X), atol=1e-9)
    noisy = X + 0.1 * np.random.default_rng(1).standard_normal(X.shape)
    ours, theirs = scaled.preimages(noisy), plain.preimages(noisy)
    assert_array_equal(ours.status, theirs.status)
    assert_allclose(ours.points, theirs.points, atol=1e-6)
    assert_allclose(ours.objective, 2 * theirs.objective, atol=1e-6)
    automatic = KernelPCA(4, kernel=2.0 * kernel).fit(X)
    assert_array_equal(automatic.denoise(noisy), ours.points)
    holes = np.where(np.eye(30, 3, dtype=bool), np.nan, X)
    assert_allclose(automatic.impute(holes), plain.impute(holes), atol=1e-3)


@pytest.mark.parametrize(
    ("solver", "kernel", "words"),
    [
        (FixedPoint(), Linear(), "needs a function of the distance alone.*use preimage='auto'"),
        (FixedPoint(), Gaussian() + Linear(), "needs a function of the distance alone"),
        (
            InverseDot(),
            Gaussian(),
            "needs values from which the dot product follows.*use an odd degree",
        ),
        (
            InverseDot(),
            Polynomial(2),
            "needs values from which the dot product follows.*use an odd degree",
        ),
        (
            Distances(),
            Polynomial(2),
            "needs values from which the distance or the dot product follows",
        ),
        (
            Distances(),
            Laplacian(),
            "needs values from which the distance or the dot product follows",
        ),
        (Gradient(), FunctionKernel(lambda a, b: float(a[0] * b[0])), "needs points with coord"),
        (Ridge(), FunctionKernel(lambda a, b: float(a[0] * b[0])), "use preimage='nearest'"),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_a_mismatch_names_what_is_needed(solver, kernel, words):
    model = KernelPCA(1, kernel=kernel).fit(X if kernel.takes_vectors else X.tolist())
    with pytest.raises(KernelError, match=words):
        solver.init(model.subspace_)
    Nearest().init(model.subspace_)


def test_statuses_are_texts_with_remedies():
    assert Status.LIMIT == "iteration limit"
    assert np.array([Status.FAILED, "failed"]).dtype.kind == "U"
    reached = {Status.CONVERGED, Status.RESTARTED, Status.DIRECT}
    on_purpose = {Status.EARLY, Status.NOT_A_MINIMUM}
    assert {status for status in Status if not status.remedy} == reached | on_purpose


def test_the_page_names_every_status():
    page = Path(__file__).parents[2] / "docs" / "explanation" / "preimages.md"
    listed = re.findall(r"^\| `([a-z ]+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(Status)


def test_missed_points_are_counted_by_status():
    model = KernelPCA(4, kernel=Gaussian(gamma=0.3), preimage=FixedPoint(max_iter=1)).fit(X)
    found = model.preimages(X + 1.0)
    assert found.missed == {Status.LIMIT: int((found.status == "iteration limit").sum())}
    assert sum(found.missed.values()) > 0
    with pytest.warns(UserWarning, match="iteration limit: raise max_iter"):
        model.denoise(X + 1.0)
