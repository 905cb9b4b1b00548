"""The audit must see what no residual shows: each fix is taken out, and the fit must say so."""

import warnings

import numpy as np
import pytest

import mercer
from mercer import KernelPCA
from mercer.exceptions import ConvergenceError, NumericalWarning
from mercer.gram import CenteredGram, GramOperator, StreamedGram
from mercer.kernels import Gaussian, Linear, Polynomial
from mercer.kernels.composite import _Pair
from mercer.kernels.dot_product import DotProductKernel
from mercer.model import model as result
from mercer.solvers import Davidson, Dense, Lanczos, davidson, policy
from mercer.solvers.audit import Finding, audited

pytestmark = pytest.mark.filterwarnings("ignore::mercer.exceptions.RankWarning")


def share_the_origin(monkeypatch):
    """Shift the rows for both parts of a sum, as operators once did."""
    monkeypatch.setattr(_Pair, "origin", lambda self, X: (self.k1.origin(X),) * 2)

    def pack(self, X, origin=None, dtype=None):
        return (X if origin is None else X - origin).astype(dtype or X.dtype)

    monkeypatch.setattr(DotProductKernel, "pack", pack)


@pytest.mark.parametrize("solver", [Davidson(), Lanczos(), Dense()], ids=repr)
@pytest.mark.parametrize(
    "kernel", [0.7 * Gaussian(sigma=2) + Polynomial(3), Gaussian(sigma=2) * Linear()], ids=repr
)
def test_rows_shifted_for_a_kernel_that_notices(monkeypatch, rng, kernel, solver):
    X = rng.standard_normal((300, 5)) + 2
    model = KernelPCA(5, kernel=kernel, solver=solver, random_state=0)
    report = model.fit(X).report_
    assert report.audited < 8e-3  # residuals that a tolerance of 1e-6 leaves
    share_the_origin(monkeypatch)
    with pytest.warns(NumericalWarning, match="by the kernel's definition"):
        assert model.fit(X).report_.audited > 1e-2


def test_coarse_entries_claimed_as_fine(monkeypatch, rng):
    X = 10 * rng.integers(2, size=(30, 3)) + rng.standard_normal((30, 3))
    model = KernelPCA(4, kernel=Gaussian(gamma=1.6), solver=Davidson())
    model.fit(X)
    monkeypatch.setattr(GramOperator, "can_refine", False)
    monkeypatch.setattr(StreamedGram, "entry_errors", lambda _, V, scale=None: np.zeros(V.shape[1]))
    with pytest.warns(NumericalWarning):
        model.fit(X)


def test_components_dropped_below_the_floor_of_float32(monkeypatch, rng):
    X, weight = rng.standard_normal((268, 3)), 10 ** rng.uniform(0, 7, 268)
    model = KernelPCA(16, kernel=Gaussian(sigma=30.0), solver=Davidson())
    assert model.fit(X, sample_weight=weight).n_components_ == 16
    monkeypatch.setattr(policy, "hides_components", lambda *_: False)
    monkeypatch.setattr(davidson, "_is_hidden", lambda *_: False)
    monkeypatch.setattr(davidson, "_is_crowded", lambda *_: False)
    monkeypatch.setattr(Davidson, "_is_coarse", lambda *_: False)
    with pytest.warns(NumericalWarning):
        assert model.fit(X, sample_weight=weight).n_components_ < 16


def test_scores_divided_by_tiny_weights(monkeypatch, rng):
    """By LAPACK, whose vectors are right to eps of the largest entry; Krylov's are better."""
    X, weight = rng.standard_normal((300, 3)), 10 ** rng.uniform(-12, 12, 300)
    model = KernelPCA(3, kernel=Gaussian(sigma=2.0), solver=Dense())
    Z = model.fit_transform(X, sample_weight=weight)
    np.testing.assert_allclose(Z, model.transform(X), atol=1e-9)

    def scores(fit, weight):
        B = fit.subspace.coef
        return B * fit.eigenvalues / (1 if weight is None else weight[:, None])

    monkeypatch.setattr(result.Model, "scores", scores)
    with pytest.warns(NumericalWarning, match="scores"):
        model.fit_transform(X, sample_weight=weight)


def test_a_mean_that_is_none(monkeypatch, rng):
    X = rng.standard_normal((100, 3)) + 1
    true = CenteredGram.mean_product.func
    wrong = property(lambda self: true(self) * (1 + 1e-4))
    monkeypatch.setattr(CenteredGram, "mean_product", wrong)
    with pytest.warns(NumericalWarning):
        KernelPCA(3, kernel=Gaussian(sigma=2.0), solver=Dense()).fit(X)


def test_strict_raises(monkeypatch, rng):
    X = rng.standard_normal((300, 5)) + 2
    share_the_origin(monkeypatch)
    with mercer.strict(), pytest.raises(ConvergenceError, match="definition"):
        KernelPCA(5, kernel=Gaussian(sigma=2) + Polynomial(3), solver="dense").fit(X)


@pytest.mark.parametrize("size", [np.nan, np.inf])
@pytest.mark.parametrize("converged", [True, False])
def test_what_could_not_be_measured_is_not_passed_over(size, converged):
    """A fit that was not audited says so, wherever among the findings the number is missing."""
    report = result.Report("Dense", "asked for", 1, 0.0, 1e-15, 1, converged=converged)
    good, bad = Finding("scores", 0.0, 1e-9), Finding("eigenvalues", size, np.inf)
    for findings in ([good, bad], [bad, good]):
        with pytest.warns(NumericalWarning, match="eigenvalues"):
            assert not np.isfinite(audited(report, findings).audited)
        with mercer.strict(), pytest.raises(ConvergenceError, match="eigenvalues"):
            audited(report, findings)


@pytest.mark.parametrize("solver", ["dense", "lanczos", Davidson(tol=1e-12), "landmarks"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_claim_is_finer_than_the_eigenvalues_themselves(rng, solver, dtype):
    X = rng.standard_normal((300, 2)).astype(dtype)
    model = KernelPCA(2, kernel=Linear(), solver=solver, random_state=0).fit(X)
    assert model.eigenvalues_.dtype == dtype
    assert model.report_.estimated_error >= np.finfo(dtype).eps / 2


def test_a_good_fit_is_silent(rng, recwarn):
    for dtype in (np.float32, np.float64):
        X = rng.standard_normal((400, 6)).astype(dtype)
        for solver in ("dense", "lanczos", "davidson", "landmarks"):
            report = KernelPCA(5, solver=solver, random_state=0).fit(X).report_
            assert report.audited < (1e-3 if dtype == np.float32 else 1e-5)
    assert not [w for w in recwarn if issubclass(w.category, NumericalWarning)]


@pytest.mark.parametrize("noise", [1e-6, 1e-2])
def test_a_search_space_that_does_not_look_out(monkeypatch, rng, noise):
    """Residuals are zero, and so is everything that a few random rows show."""
    X = 50 * rng.standard_normal((480, 10))[rng.choice(480, 2400)]
    X += noise * rng.standard_normal(X.shape)
    model = KernelPCA(
        20, kernel=Gaussian(sigma=1.0), center=False, solver=Davidson(), random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error", NumericalWarning)
        model.fit(X)
    monkeypatch.setattr(davidson, "_from_outside", lambda operator, *_: np.empty((operator.n, 0)))
    with pytest.warns(NumericalWarning, match="outside of the components"):
        model.fit(X)
