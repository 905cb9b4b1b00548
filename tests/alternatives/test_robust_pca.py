"""Robust PCA: exact recovery, a direct convex solve, missing values, and new rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from mercer.alternatives import RobustPCA, principal_component_pursuit
from mercer.alternatives.robust_pca import shrink, shrink_singular_values, split_rows
from mercer.exceptions import ConvergenceWarning, DataError, RankWarning


def corrupted(n, rank_share, share, seed=0, d=None):
    """Candès et al. 2011, Table 1: Gaussian factors of variance 1/n, signs at random entries."""
    rng = np.random.default_rng(seed)
    r, d = round(rank_share * n), d or n
    L = rng.standard_normal((n, r)) @ rng.standard_normal((r, d)) / n
    wrong = rng.random((n, d)) < share
    return L, np.where(wrong, rng.choice([-1.0, 1.0], (n, d)), 0.0)


def relative(found, truth):
    return np.linalg.norm(found - truth) / np.linalg.norm(truth)


@pytest.mark.parametrize("share", [0.05, 0.1])
@pytest.mark.parametrize("n", [200, pytest.param(500, marks=pytest.mark.slow)])
def test_exact_recovery(n, share):
    L, S = corrupted(n, 0.05, share)
    model = RobustPCA().fit(L + S)
    assert relative(model.low_rank_, L) < 1e-6
    assert relative(model.sparse_, S) < 1e-6
    assert model.n_components_ == n // 20
    assert ((np.abs(model.sparse_) > 1e-3) == (S != 0)).all()
    # What linear PCA of the right rank makes of it is far off.
    U, s, Vt = np.linalg.svd(L + S)
    r = n // 20
    assert relative((U[:, :r] * s[:r]) @ Vt[:r], L) > 0.1


@pytest.mark.parametrize("shape", [(150, 60), (60, 150)])
def test_exact_recovery_of_oblong_matrices(shape):
    L, S = corrupted(shape[0], 3 / shape[0], 0.05, d=shape[1])
    model = RobustPCA().fit(L + S)
    assert model.n_components_ == 3
    assert relative(model.low_rank_, L) < 1e-6


@pytest.mark.parametrize("holes", [0.0, 0.15])
def test_against_a_direct_convex_solve(holes, rng):
    """No exact recovery here: the minimum itself has to be met."""
    cp = pytest.importorskip("cvxpy")
    M = rng.standard_normal((14, 2)) @ rng.standard_normal((2, 10))
    M += 0.3 * rng.standard_normal(M.shape) + 4 * (rng.random(M.shape) < 0.1)
    observed = rng.random(M.shape) >= holes
    model = RobustPCA(penalty=0.3).fit(np.where(observed, M, np.nan))

    L, S = cp.Variable(M.shape), cp.Variable(M.shape)
    cost = cp.normNuc(L) + 0.3 * cp.norm1(cp.multiply(observed, S))
    equal = cp.multiply(observed, L + S) == np.where(observed, M, 0)
    least = cp.Problem(cp.Minimize(cost), [equal]).solve(solver=cp.CLARABEL)

    ours = np.linalg.norm(model.low_rank_, "nuc") + 0.3 * np.abs(model.sparse_).sum()
    assert ours == pytest.approx(least, rel=1e-6)
    assert_allclose(model.low_rank_, L.value, atol=1e-3)
    assert_allclose((model.low_rank_ + model.sparse_)[observed], M[observed], atol=1e-6)


def test_missing_values_are_filled_in(rng):
    L, S = corrupted(200, 0.03, 0.05)
    missing = rng.random(L.shape) < 0.2
    model = RobustPCA().fit(np.where(missing, np.nan, L + S))
    assert relative(model.low_rank_, L) < 1e-6
    assert relative(model.low_rank_[missing], L[missing]) < 1e-6
    assert (model.sparse_[missing] == 0).all()
    assert relative(model.sparse_[~missing], S[~missing]) < 1e-6


def test_new_rows_are_projected_without_their_sparse_part(rng):
    L, S = corrupted(200, 0.05, 0.05)
    model = RobustPCA().fit((L + S)[:150])
    new, wrong = L[150:], S[150:]
    low_rank, sparse = model.split(new + wrong)
    assert relative(low_rank, new) < 1e-5
    assert relative(sparse, wrong) < 1e-5
    assert relative(model.transform(new + wrong), new @ model.components_.T) < 1e-5
    # Least squares smears the errors over the scores.
    assert relative((new + wrong) @ model.components_.T, new @ model.components_.T) > 0.3

    holes = rng.random(new.shape) < 0.1
    low_rank, sparse = model.split(np.where(holes, np.nan, new + wrong))
    assert relative(low_rank, new) < 1e-5
    assert (sparse[holes] == 0).all()


def test_training_rows_have_the_scores_of_their_low_rank_part():
    L, S = corrupted(120, 0.05, 0.05)
    model = RobustPCA()
    Z = model.fit_transform(L + S)
    assert_allclose(Z, model.low_rank_ @ model.components_.T, atol=1e-6)
    assert_allclose(model.inverse_transform(Z), model.low_rank_, atol=1e-6)


@pytest.mark.parametrize("kind", ["errors", "noise", "holes"])
def test_split_against_linear_programming(kind, rng):
    d, q = 40, 4
    V = np.linalg.qr(rng.standard_normal((d, q)))[0].T
    X = rng.standard_normal((5, q)) @ V + 5 * (rng.random((5, d)) < 0.1)
    if kind == "noise":
        X += 0.1 * rng.standard_normal(X.shape)
    if kind == "holes":
        X[rng.random(X.shape) < 0.2] = np.nan
    low_rank, sparse = split_rows(X, lambda A: (A @ V.T) @ V)
    for x, low, rest in zip(X, low_rank, sparse, strict=True):
        assert np.nansum(np.abs(x - low)) == pytest.approx(least_magnitude(x, V), rel=1e-4)
        seen = ~np.isnan(x)
        assert_allclose((low + rest)[seen], x[seen], atol=1e-3)


def least_magnitude(x, V):
    """min_z Σ |x - V'z| as a linear programme: bounds b with -b <= x - V'z <= b."""
    seen = ~np.isnan(x)
    A, k = V[:, seen].T, seen.sum()
    q = A.shape[1]
    upper = np.block([[A, -np.eye(k)], [-A, -np.eye(k)]])
    bounds = [(None, None)] * q + [(0, None)] * k
    cost = np.concatenate([np.zeros(q), np.ones(k)])
    return linprog(cost, upper, np.concatenate([x[seen], -x[seen]]), bounds=bounds).fun


@given(
    shape=st.tuples(st.integers(2, 30), st.integers(2, 30)),
    tau=st.floats(0.05, 4),
    seed=st.integers(0, 99),
)
def test_partial_shrinkage_is_the_complete_one(shape, tau, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal(shape) * rng.uniform(0, 1, shape[1]) ** 3
    U, s, Vt = shrink_singular_values(A, tau, rng.standard_normal((shape[1], 2)))
    u, full, vt = np.linalg.svd(A, full_matrices=False)
    assert_allclose((U * s) @ Vt, (u * np.maximum(full - tau, 0)) @ vt, atol=1e-7)
    assert (s > 0).all()


def test_the_partial_decomposition_is_used(rng, monkeypatch):
    A = rng.standard_normal((300, 3)) @ rng.standard_normal((3, 200))
    A += 0.01 * rng.standard_normal(A.shape)
    sizes = []
    svd = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda B, **k: sizes.append(B.shape[1]) or svd(B, **k))
    U, s, Vt = shrink_singular_values(A, 1.0, rng.standard_normal((200, 8)))
    assert len(s) == 3
    assert max(sizes) <= 32
    assert_allclose((U * s) @ Vt, A, atol=0.2)


def test_shrink():
    assert_allclose(shrink(np.array([-3.0, -0.5, 0.0, 0.5, 3.0]), 1.0), [-2, 0, 0, 0, 2])


def test_fewer_components_are_the_leading_ones():
    L, S = corrupted(100, 0.05, 0.05)
    whole, part = RobustPCA().fit(L + S), RobustPCA(2).fit(L + S)
    assert_allclose(part.components_, whole.components_[:2])
    assert part.transform(L[:3]).shape == (3, 2)
    with pytest.warns(RankWarning, match="rank 5"):
        RobustPCA(9).fit(L + S)


def test_too_few_steps_are_reported():
    L, S = corrupted(50, 0.05, 0.05)
    with pytest.warns(ConvergenceWarning, match="3 steps"):
        RobustPCA(max_iter=3).fit(L + S)
    found = principal_component_pursuit(
        L + S, 1 / np.sqrt(50), max_iter=3, rng=np.random.default_rng(0)
    )
    assert not found.converged


def test_nothing_observed_is_refused(rng):
    X = rng.standard_normal((10, 4))
    X[3] = np.nan
    with pytest.raises(DataError, match="row 3"):
        RobustPCA().fit(X)
    with pytest.raises(DataError, match="column 1"):
        RobustPCA().fit(np.where(np.arange(4) == 1, np.nan, rng.standard_normal((10, 4))))
    with pytest.raises(DataError, match="zero"):
        RobustPCA().fit(np.zeros((10, 4)))
    with pytest.raises(DataError, match="infinity"):
        RobustPCA().fit(np.full((10, 4), np.inf))
