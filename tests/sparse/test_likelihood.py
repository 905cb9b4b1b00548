"""The model of eqs. (4)–(10) against first principles and finite differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer import SparseKernelPCA
from mercer.kernels import Gaussian
from mercer.sparse import KernelRows, Likelihood, Pool
from mercer.sparse.likelihood import gain, one_weight
from tests import naive_sparse
from tests.sparse.problems import everywhere, features, random_problem, stiff_gram


@pytest.mark.parametrize("seed", range(20))
def test_log_likelihood_is_that_of_the_gaussian(seed):
    Phi, K, w, variance = random_problem(np.random.default_rng(seed))
    at = everywhere(K, w, variance)
    assert_allclose(at.total, naive_sparse.explicit_log_likelihood(Phi, w, variance), rtol=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_S_and_q_are_quadratic_forms_of_the_inverse_covariance(seed):
    Phi, K, w, variance = random_problem(np.random.default_rng(seed))
    at = everywhere(K, w, variance)
    C = variance * np.eye(Phi.shape[1]) + (Phi.T * w) @ Phi
    Q = Phi @ np.linalg.solve(C, Phi.T)
    assert_allclose(at.S, np.diagonal(Q), rtol=1e-8)
    assert_allclose(at.q, (Q**2).mean(axis=1), rtol=1e-8)
    assert_allclose(at.slack, 1 - w * np.diagonal(Q), atol=1e-9)


def test_gradient_and_hessian_are_derivatives(rng):
    Phi = features(rng, 9, 7)
    K, w, variance = Phi @ Phi.T, rng.uniform(0.05, 0.5, 9), 0.3
    at = everywhere(K, w, variance)

    def numerically(f, h=1e-5):
        columns = []
        for i in range(9):
            up, down = w.copy(), w.copy()
            up[i] *= 1 + h
            down[i] *= 1 - h
            columns.append(
                (f(everywhere(K, up, variance)) - f(everywhere(K, down, variance))) / (2 * h)
            )
        return np.array(columns)

    assert_allclose(at.relative_gradient, 2 * numerically(lambda a: a.value), rtol=1e-5, atol=1e-7)
    assert_allclose(at.relative_gradient, w * (at.q - at.S), rtol=1e-9)
    # ∂/∂log w_j of (q_i − S_i), times w_i
    hessian = w * numerically(lambda a: a.q - a.S)
    assert_allclose(at.relative_hessian, hessian, rtol=1e-4, atol=1e-6)


def test_candidates_without_weight_have_the_same_formulas(rng):
    Phi = features(rng, 14, 10)
    K, variance, active = Phi @ Phi.T, 0.2, np.array([3, 8, 11])
    w = np.array([0.4, 0.02, 1.3])
    S, q = Likelihood(Pool(K, K, 14, np.trace(K) / 14), active, w, variance).candidates()
    C = variance * np.eye(10) + (Phi[active].T * w) @ Phi[active]
    Q = Phi @ np.linalg.solve(C, Phi.T)
    assert_allclose(S, np.diagonal(Q), rtol=1e-8)
    assert_allclose(q, (Q**2).mean(axis=1), rtol=1e-8)


def test_one_weight_is_the_maximum_along_its_axis(rng):
    Phi = features(rng, 12, 8)
    K, variance = Phi @ Phi.T, 0.1
    base = Likelihood(
        Pool(K, K, 12, np.trace(K) / 12), np.array([0, 5]), np.array([0.3, 0.2]), variance
    )
    S, q = base.candidates()
    best, promised = one_weight(S, q), gain(S, q)
    for i in (j for j in range(12) if j not in (0, 5)):
        if best[i] == 0:
            assert base.add(i, 1e-6).value < base.value
            continue
        top = base.add(i, best[i])
        assert_allclose(top.value - base.value, promised[i], rtol=1e-8, atol=1e-12)
        assert all(base.add(i, best[i] * f).value < top.value for f in (0.9, 1.1))


def test_leave_one_out_quantities_are_those_without_the_kernel(rng):
    Phi = features(rng, 10, 8)
    K, w, variance = Phi @ Phi.T, rng.uniform(0.1, 1, 10), 0.4
    at = everywhere(K, w, variance)
    for i in range(10):
        S, q = at.keep(np.arange(10) != i).candidates()
        assert_allclose(at.S[i] / at.slack[i], S[i], rtol=1e-7)
        assert_allclose(at.q[i] / at.slack[i] ** 2, q[i], rtol=1e-7)
        assert_allclose(at.worth[i], at.value - at.keep(np.arange(10) != i).value, atol=1e-10)


def test_a_triangular_factor_stands_for_all_rows(rng):
    """Columns of many rows and their QR factor give the same model."""
    X = rng.standard_normal((700, 3))
    rows = KernelRows(Gaussian(width=2.0), X, rng)
    index = np.array([5, 77, 301, 650])
    columns, w = rows.columns(index), np.array([0.3, 0.01, 0.2, 1.0])
    small = Pool.of_columns(columns, index, rows)
    assert small.H.shape == (4, 4)
    kept = Pool(small.K, columns.T, 700, small.mean_diag)
    a, b = (Likelihood(pool, np.arange(4), w, 0.05) for pool in (small, kept))
    assert_allclose(a.value, b.value, rtol=1e-12)
    assert_allclose(a.q, b.q, rtol=1e-10)


def test_the_empty_model_is_pure_noise(rng):
    K = (Phi := features(rng, 6, 4)) @ Phi.T
    at = Likelihood.empty(Pool(K, K, 6, np.trace(K) / 6), 0.5)
    assert_allclose(at.value, -0.5 * np.trace(K) / 6 / 0.5)
    S, q = at.candidates()
    assert_allclose(S, np.diagonal(K) / 0.5)
    assert_allclose(q, (K**2).mean(axis=1) / 0.25)


@pytest.mark.parametrize("condition", [1e6, 1e12, 1e18])
@pytest.mark.parametrize("variance", [1e-2, 1e-6])
def test_ill_conditioned_kernels_lose_no_digits(condition, variance, rng):
    """In the eigenbasis of K with equal weights everything is a scalar formula."""
    n, w = 40, 0.01
    K = stiff_gram(n, condition, rng)
    lam = np.geomspace(1, 1 / condition, n)
    at = everywhere(K, np.full(n, w), variance)
    value = -0.5 * (np.log1p(w * lam / variance) + lam / n / (variance + w * lam)).sum()
    assert_allclose(at.value, value, rtol=1e-9)
    assert_allclose((at.weights * at.S).sum(), (w * lam / (variance + w * lam)).sum(), rtol=1e-8)
    assert_allclose(at.q.sum(), (lam**2 / (variance + w * lam) ** 2).sum() / n, rtol=1e-7)


def test_small_weights_break_the_printed_formulas_but_not_ours(rng):
    """Regression: W⁻¹ in eqs. (7) and (11) overflows or is singular as the weights vanish."""
    X = rng.standard_normal((30, 2))
    K = naive_sparse.gaussian_gram(X, 5.0)
    w = np.full(30, 1 / 30)
    w[::2] = 1e-320
    with np.errstate(all="ignore"):
        try:
            literal = naive_sparse.literal_log_likelihood(K, w, 0.01)
        except np.linalg.LinAlgError:
            literal = np.nan
    assert not np.isfinite(literal)
    at = everywhere(K, w, 0.01)
    assert np.isfinite([at.value, *at.S, *at.relative_gradient]).all()
    some = everywhere(K, w, 0.01).keep(w > 1e-300)
    assert_allclose(at.value, some.value, rtol=1e-12)
    assert_allclose(at.S[::2], some.candidates()[0][::2], rtol=1e-6)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_a_row_of_zeros_whose_kernel_is_zero_everywhere(kernel):
    """The square of its share left the range of floats, and 0/0 was warned about."""
    X = np.random.default_rng(0).gamma(2.0, size=(60, 4))
    X[3] = 0
    model = SparseKernelPCA(n_kernels=4, kernel=kernel, solver="greedy", random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()
