"""Float32 first, float64 at the end: the same points, and the way back where float32 errs."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.kernels import Gaussian, Matern
from mercer.preimage import FixedPoint, fixed_point


@pytest.fixture(scope="module")
def data():
    X = load_digits().data / 16
    noisy = X[400:700] + np.random.default_rng(0).normal(scale=0.3, size=(300, 64))
    return X[:400], noisy


def in_double_only(monkeypatch):
    monkeypatch.setattr(fixed_point, "in_single", lambda *_: None)


@pytest.mark.parametrize("kernel", [Gaussian(), 3.0 * Gaussian(), Matern(nu=2.5)], ids=repr)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_same_points_as_in_float64_alone(data, kernel, offset, monkeypatch):
    X, noisy = (part + offset for part in data)
    subspace = KernelPCA(60, kernel=kernel, solver="dense").fit(X).subspace_
    Z = subspace.scores(noisy)
    mixed = FixedPoint().init(subspace)
    found = mixed.solve(Z, noisy)
    assert mixed.rough is not None
    in_double_only(monkeypatch)
    plain = FixedPoint().init(subspace).solve(Z, noisy)
    assert found.points.dtype == np.float64
    assert found.converged.all()
    apart = np.linalg.norm(found.points - plain.points, axis=1) / mixed.sweep.scale
    assert (apart < 1e-4).mean() >= 0.99
    assert np.median(apart) < 1e-6


def test_a_point_that_float32_leads_astray_starts_anew(data, monkeypatch):
    X, noisy = data
    subspace = KernelPCA(60, kernel=Gaussian(), solver="dense").fit(X).subspace_
    Z = subspace.scores(noisy)
    true = fixed_point.in_single

    def wrong(*of):
        single = true(*of)
        return replace(single, coef=single.coef[::-1].copy())  # the directions of other rows

    monkeypatch.setattr(fixed_point, "in_single", wrong)
    misled = FixedPoint().init(subspace).solve(Z, noisy)
    in_double_only(monkeypatch)
    plain = FixedPoint().init(subspace).solve(Z, noisy)
    assert_array_equal(misled.points, plain.points)
    assert_array_equal(misled.iterations, plain.iterations)


@pytest.mark.filterwarnings("ignore::mercer.exceptions.DegenerateKernelWarning")
@pytest.mark.parametrize(
    "change",
    [
        {"scale": 1e200},
        {"scale": 1e-200},
        {"kernel": Gaussian(width=0.01)},  # rows spread wide beside the kernel's length
        {"kernel": Matern(nu=0.5)},
        {"dtype": np.float32},
    ],
    ids=str,
)
def test_where_float32_would_not_hold_the_model_it_is_left_out(data, change):
    X = (data[0] * change.get("scale", 1)).astype(change.get("dtype", float))
    model = KernelPCA(10, kernel=change.get("kernel", Gaussian()), solver="dense").fit(X)
    assert FixedPoint().init(model.subspace_).rough is None


@pytest.mark.parametrize("solver", [FixedPoint(early_stop=2), FixedPoint(input_weight=0.1)])
def test_a_path_that_matters_is_in_float64(data, solver):
    model = KernelPCA(10, solver="dense").fit(data[0])
    assert solver.init(model.subspace_).rough is None


def test_what_float32_cannot_settle_leaves_it_soon(data):
    """A direction that has no pre-image must not come to the limit of sweeps twice."""
    X, _ = data
    subspace = KernelPCA(60, kernel=Gaussian(), solver="dense").fit(X).subspace_
    nowhere = replace(subspace, mean=0 * subspace.mean, offset=0 * subspace.offset)
    rough = FixedPoint(max_iter=300).init(nowhere).rough
    assert rough.config.max_iter == fixed_point.ROUGH_SWEEPS
    found = rough.solve(np.eye(60, dtype=np.float32), X[:60].astype(np.float32))
    assert (found.status == "iteration limit").any()
    assert not (found.status == "restarted").any()  # restarts are decided in float64
