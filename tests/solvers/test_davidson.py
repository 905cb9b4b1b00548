"""Davidson: few passes, an estimate above the true error, no unconverged result in silence."""

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from mercer import KernelPCA
from mercer._base.linalg import orthonormalize
from mercer.exceptions import ConvergenceWarning
from mercer.gram import StreamedGram
from mercer.kernels import Gaussian, Linear, Matern, Polynomial
from mercer.model import Count
from mercer.solvers import Auto, Davidson, Dense, base

ROOT = Path(__file__).resolve().parents[2]


def grouped(rng, n, d=8):
    centres = 2 * rng.standard_normal((10, d))
    return centres[rng.integers(0, 10, n)] + rng.standard_normal((n, d))


@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(
    "kernel", [Gaussian(sigma=1.5), Gaussian(sigma=12.0), Matern(3.0)], ids=repr
)
def test_the_estimate_is_above_the_true_error(kernel, tol, rng):
    X = grouped(rng, 1200)
    exact = KernelPCA(10, kernel=kernel, solver=Dense()).fit(X)
    model = KernelPCA(10, kernel=kernel, solver=Davidson(tol), random_state=0).fit(X)
    error = np.abs(model.eigenvalues_ / exact.eigenvalues_ - 1).max()
    assert error <= model.report_.estimated_error <= tol
    assert model.report_.converged


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_scores_are_better_than_residuals(tol, rng):
    """The last products are in the place of the vectors: a power step that costs no pass."""
    X = grouped(rng, 1200)
    model = KernelPCA(10, solver=Davidson(tol), random_state=0)
    scores = model.fit_transform(X)
    off = np.linalg.norm(scores - model.transform(X), axis=0) / np.linalg.norm(scores, axis=0)
    assert (off < 0.5 * model.residuals_ / model.eigenvalues_).all()


def test_few_passes_suffice_on_real_digits(data_dir):
    X = np.load(data_dir / "usps.npz")["X_train"][:4500] / 1000.0
    models = [KernelPCA(20, solver=Davidson(), random_state=seed).fit(X) for seed in range(3)]
    # The last pass is luck: an estimate of 0.7e-6 or of 1.1e-6 after the third one.
    assert max(model.report_.passes for model in models) <= 5
    assert max(model.report_.estimated_error for model in models) <= 1e-6


def test_no_pass_is_spent_on_centring(rng, monkeypatch):
    """The mean rides along with the first product, and the checks wait for it."""
    calls = []
    matmat = StreamedGram.matmat

    def counted(self, V):
        calls.append(V.shape[1])
        return matmat(self, V)

    monkeypatch.setattr(StreamedGram, "matmat", counted)
    model = KernelPCA(10, solver=Davidson(1e-4), random_state=0).fit(grouped(rng, 1000))
    assert len(calls) == model.report_.passes


def test_an_unconverged_result_is_announced(rng):
    X = rng.standard_normal((1000, 10))  # isotropic: the hardest
    with pytest.warns(ConvergenceWarning, match="stopped after 1 passes"):
        model = KernelPCA(
            10, solver=Davidson(1e-9, max_passes=1, n_landmarks=20), random_state=0
        ).fit(X)
    assert not model.report_.converged
    assert model.report_.estimated_error > 1e-9
    exact = KernelPCA(10, solver=Dense()).fit(X)
    error = np.abs(model.eigenvalues_ / exact.eigenvalues_ - 1).max()
    assert error <= model.report_.estimated_error


def test_weights_and_no_centring(rng):
    X, weight = grouped(rng, 700), rng.uniform(0.5, 2, 700)
    for center in (True, False):
        near, exact = (
            KernelPCA(6, kernel=Gaussian(sigma=3.0), center=center, solver=solver, random_state=0)
            .fit(X, sample_weight=weight)
            .eigenvalues_
            for solver in (Davidson(1e-9), Dense())
        )
        np.testing.assert_allclose(near, exact, rtol=1e-8)


_FIT = """
import sys, numpy as np
from mercer import KernelPCA
from mercer._base.linalg import orthonormalize
from mercer.solvers import base
from mercer.kernels import Gaussian
from mercer.solvers import Davidson
from benchmarks._data import clusters, gamma_of
from benchmarks._measure import peak_mb
X = clusters(int(sys.argv[1]), 64, "float32")
before = peak_mb()
KernelPCA(20, kernel=Gaussian(gamma=gamma_of(64)), solver=Davidson(), random_state=0).fit(X)
print(peak_mb() - before)
"""


@pytest.mark.slow
def test_memory_stays_far_below_the_matrix():
    """20,000 rows: the matrix alone would take 1,600 MB in float32."""
    done = subprocess.run(
        [sys.executable, "-c", _FIT, "20000"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 300


def test_no_warning_where_all_is_well(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelPCA(5, solver=Davidson(), random_state=0).fit(grouped(rng, 600))


@pytest.mark.parametrize("seed", range(4))
def test_small_groups_far_away_are_not_missed(seed):
    """Eight of five thousand rows make an eigenvalue of their own; most uniform draws of landmarks
    miss one of these groups, and the residuals of the other pairs would not show it."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([[50.0, 0.0], [-50.0, 0.0], [0.0, 50.0]], 8, axis=0)
    X = np.vstack([rng.standard_normal((5000, 2)), groups + 0.01 * rng.standard_normal((24, 2))])
    near, exact = (
        KernelPCA(20, kernel=Gaussian(sigma=2.0), solver=solver, random_state=seed).fit(X)
        for solver in ("davidson", "lanczos")
    )
    np.testing.assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=1e-6)


def test_kept_tiles_are_computed_once_and_change_no_bit(rng, monkeypatch):
    calls, fill = [], Gaussian.fill

    def counted(self, A, B, out):
        calls.append(out.shape)
        fill(self, A, B, out)

    monkeypatch.setattr(Gaussian, "fill", counted)
    X, found = grouped(rng, 1600), {}
    for keep in (False, True):
        calls.clear()
        solver = Davidson(1e-6, keep=keep)
        model = KernelPCA(10, kernel=Gaussian(sigma=1.5), solver=solver, random_state=0).fit(X)
        found[keep] = model, len(calls)
    (again, many), (kept, few) = found[False], found[True]
    assert kept.report_.passes > 1
    assert many - few == 6 * (kept.report_.passes - 1)  # of 3 × 3 tiles those above the diagonal
    np.testing.assert_array_equal(kept.eigenvalues_, again.eigenvalues_)
    np.testing.assert_array_equal(kept.transform(X[:9]), again.transform(X[:9]))


@pytest.mark.parametrize(("d", "keeps"), [(500, True), (499, False)])
def test_tiles_of_wide_rows_are_kept_and_counted(d, keeps):
    X = np.zeros((4000, d))
    asked, without = (
        KernelPCA(5, solver=Davidson(keep=keep)).plan(X).bytes for keep in (None, False)
    )
    assert asked - without == (4000**2 // 2 * 4 if keeps else 0)


def test_auto_keeps_no_tiles_where_memory_is_short():
    X = np.zeros((5000, 784))
    enough = KernelPCA(5, solver=Davidson(keep=False)).plan(X).bytes
    plan = KernelPCA(5, solver=Auto(memory=enough)).plan(X)
    assert isinstance(plan.solver, Davidson)
    assert plan.bytes == enough
    assert KernelPCA(5, solver=Auto(memory=4 * enough)).plan(X).bytes > enough


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("digits", [0, 3, 6, 9, 20, 100])
def test_dependent_columns_become_orthonormal(dtype, digits, rng):
    """Columns that agree to more and more digits with each other, or with what they shall leave."""
    known = np.linalg.qr(rng.standard_normal((300, 5))).Q.astype(dtype)
    noise = rng.standard_normal((300, 8))
    near = (known[:, :1] + 10.0**-digits * noise).astype(dtype)
    for V, against in ((near, None), (near, known), (np.hstack([near, 0 * near]), known)):
        Q = orthonormalize(V, against)
        both = Q if against is None else np.hstack([against, Q])
        off = np.abs(both.T @ both - np.eye(both.shape[1])).max()
        assert off < 500 * np.finfo(dtype).eps
        assert Q.dtype == dtype


def repeated(rng, noise, sizes="flat", n=1300, groups=260):
    """Rows that repeat, far apart beside the kernel: K is nearly block-diagonal."""
    share = rng.dirichlet(np.full(groups, 0.5)) if sizes == "uneven" else None
    X = 50 * rng.standard_normal((groups, 10))[rng.choice(groups, n, p=share)]
    return X + noise * rng.standard_normal(X.shape)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("noise", [0, 1e-6, 1e-2])
@pytest.mark.parametrize("sizes", ["flat", "uneven"])
def test_groups_that_the_search_space_does_not_know(rng, noise, sizes, center, weighted):
    """Its residuals are zero, and 10 to 70 % of an eigenvalue was missing."""
    X = repeated(rng, noise, sizes)
    weight = rng.uniform(0.1, 3, len(X)) if weighted else None
    near, exact = (
        KernelPCA(20, kernel=Gaussian(sigma=1.0), center=center, solver=solver, random_state=0).fit(
            X, sample_weight=weight
        )
        for solver in (Davidson(), Dense())
    )
    error = np.abs(near.eigenvalues_ / exact.eigenvalues_ - 1).max()
    assert error <= 3 * near.report_.estimated_error < 1e-5


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, gamma=1.0, coef0=0.0)], ids=repr)
def test_groups_whose_kernel_has_both_signs(rng, kernel):
    """Each on an axis of its own, on both sides of it: the sums over rows cancel."""
    axes = rng.choice(800, 1600)
    X = np.zeros((1600, 800))
    X[np.arange(1600), axes] = rng.choice([-1, 1], 1600) * rng.uniform(0.99, 1, 1600)
    near, exact = (
        KernelPCA(10, kernel=kernel, center=False, solver=solver, random_state=0).fit(X)
        for solver in (Davidson(n_landmarks=80), Dense())
    )
    error = np.abs(near.eigenvalues_ / exact.eigenvalues_ - 1).max()
    assert error <= 3 * near.report_.estimated_error < 1e-5


def test_copies_are_one_row_with_their_weight(rng):
    X = repeated(rng, 0.0)
    model = KernelPCA(20, kernel=Gaussian(sigma=30.0), random_state=0)
    Z = model.fit_transform(X)
    assert len(model.subspace_.support) == len(X)
    np.testing.assert_allclose(Z, model.transform(X), atol=1e-9)
    exact = KernelPCA(20, kernel=Gaussian(sigma=30.0), solver=Dense()).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-10)
    merged, group = base.Problem(Gaussian(sigma=30.0), X, Count(20), rng).merged()
    assert merged.n == len(np.unique(X, axis=0))
    np.testing.assert_array_equal(merged.X[group], X)
    assert merged.weight.sum() == len(X)
