"""Multilinear PCA and its variants against PCA, TensorLy, and loops."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mercer.alternatives import (
    MultilinearPCA,
    NonNegativeMultilinearPCA,
    RobustMultilinearPCA,
    UncorrelatedMultilinearPCA,
)
from mercer.alternatives.multilinear import expand, project, scatter
from mercer.exceptions import ConvergenceWarning, DataError, RankWarning

IMAGES = load_digits().images[:200]


@pytest.fixture
def tensors(rng):
    """Three modes of low rank, with noise."""
    cores = rng.standard_normal((60, 3, 2, 2))
    factors = [np.linalg.qr(rng.standard_normal((d, p)))[0] for d, p in ((9, 3), (7, 2), (5, 2))]
    return expand(cores, factors) + 0.05 * rng.standard_normal((60, 9, 7, 5)) + 1.0


def captured(model, X):
    return ((X - X.mean(axis=0)) ** 2).sum() * model.explained_variance_ratio_.sum()


@pytest.mark.parametrize("ranks", [(3, 2, 2), (2, 2, 1), (5, 4, 3)])
def test_objective_against_tensorly(tensors, ranks):
    tl = pytest.importorskip("tensorly.decomposition")
    X = tensors - tensors.mean(axis=0)
    (core, _), _ = tl.partial_tucker(X, rank=ranks, modes=[1, 2, 3], tol=1e-8)
    model = MultilinearPCA(ranks, tol=1e-8).fit(tensors)
    assert captured(model, tensors) >= (core**2).sum() * (1 - 1e-7)


def test_objective_against_tensorly_on_digits():
    tl = pytest.importorskip("tensorly.decomposition")
    for ranks in ((3, 3), (5, 4), (6, 2)):
        X = IMAGES - IMAGES.mean(axis=0)
        (core, _), _ = tl.partial_tucker(X, rank=ranks, modes=[1, 2], tol=1e-8)
        model = MultilinearPCA(ranks, tol=1e-8).fit(IMAGES)
        assert captured(model, IMAGES) >= (core**2).sum() * (1 - 1e-7)


def test_rows_give_pca():
    X = load_digits().data[:200]
    ours, theirs = MultilinearPCA(10).fit(X), PCA(10, svd_solver="full").fit(X)
    assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-8)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)
    assert MultilinearPCA(0.9).fit(X).ranks_ == (PCA(0.9).fit(X).n_components_,)


def test_all_components_lose_nothing(tensors):
    model = MultilinearPCA(1.0).fit(tensors)
    assert model.ranks_ == (9, 7, 5)
    assert_allclose(model.denoise(tensors), tensors, atol=1e-10)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1)


def test_projection_is_orthogonal(tensors):
    model = MultilinearPCA((3, 2, 2)).fit(tensors)
    for U in model.factors_:
        assert_allclose(U.T @ U, np.eye(U.shape[1]), atol=1e-12)
    again = model.denoise(model.denoise(tensors))
    assert_allclose(again, model.denoise(tensors), atol=1e-10)
    lost = ((tensors - model.denoise(tensors)) ** 2).sum()
    total = ((tensors - tensors.mean(axis=0)) ** 2).sum()
    assert 1 - lost / total == pytest.approx(model.explained_variance_ratio_.sum())
    assert -model.score(tensors) == pytest.approx(lost / len(tensors))


def test_alternation_improves_on_the_start(tensors):
    start = MultilinearPCA((2, 1, 1), max_iter=1, tol=0.9).fit(tensors)
    end = MultilinearPCA((2, 1, 1), tol=1e-10).fit(tensors)
    assert captured(end, tensors) >= captured(start, tensors)
    # At the end, no mode can be improved on alone.
    X = tensors - tensors.mean(axis=0)
    for k, U in enumerate(end.factors_):
        values = np.linalg.eigvalsh(scatter(project(X, end.factors_, skip=k), k))
        best = values[-U.shape[1] :].sum()
        assert captured(end, tensors) == pytest.approx(best, rel=1e-6)


def test_shares_of_the_variance(tensors):
    spectra = [
        np.linalg.eigvalsh(scatter(tensors - tensors.mean(axis=0), k))[::-1] for k in range(3)
    ]
    expected = tuple(int(np.argmax(np.cumsum(v) >= 0.9 * v.sum())) + 1 for v in spectra)
    assert MultilinearPCA(0.9).fit(tensors).ranks_ == expected
    assert MultilinearPCA((4, 0.9, 1)).fit(tensors).ranks_ == (4, expected[1], 1)


def test_mode_products_by_loops(rng):
    X, U, V = (rng.standard_normal(s) for s in ((2, 3, 4), (3, 2), (4, 3)))
    expected = np.zeros((2, 2, 3))
    for n in range(2):
        for a in range(2):
            for b in range(3):
                expected[n, a, b] = sum(
                    X[n, i, j] * U[i, a] * V[j, b] for i in range(3) for j in range(4)
                )
    assert_allclose(project(X, [U, V]), expected)
    assert_allclose(project(X, [U, V], skip=1), np.einsum("nij,ia->naj", X, U))
    assert_allclose(scatter(X, 1), sum(x.T @ x for x in X))


def test_fewer_numbers_than_pca_at_equal_error_on_faces(data_dir):
    """Model and codes of 400 faces; PCA gets the components that it needs for the same error."""
    with np.load(data_dir / "olivetti_faces.npz") as data:
        faces = data["X"].reshape(-1, 64, 64) / 255.0
    model = MultilinearPCA((20, 20)).fit(faces)
    share = model.explained_variance_ratio_.sum()
    flat = faces.reshape(400, -1)
    values = np.linalg.svd(flat - flat.mean(axis=0), compute_uv=False) ** 2
    q = int(np.argmax(np.cumsum(values) >= share * values.sum())) + 1
    ours = 400 * 20 * 20 + 64 * 20 * 2 + 4096
    theirs = q * (400 + 4096) + 4096
    assert ours < 0.6 * theirs


def test_shapes_are_checked(tensors):
    model = MultilinearPCA((3, 2, 2)).fit(tensors)
    assert model.transform(tensors).shape == (60, 12)
    cores = model.transform(tensors).reshape(-1, *model.ranks_)
    assert_allclose(model.inverse_transform(cores), model.denoise(tensors))
    with pytest.raises(DataError, match=r"\(n, 9, 7, 5\)"):
        model.transform(tensors[:, :5])
    with pytest.raises(DataError, match=r"\(n, 9, 7, 5\)"):
        model.transform(tensors.reshape(60, -1))
    with pytest.raises(DataError, match="as transform returns"):
        model.inverse_transform(np.zeros((2, 3, 2, 3)))
    with pytest.raises(DataError, match="equal shape"):
        MultilinearPCA().fit([np.ones((2, 3)), np.ones((2, 4))])
    with pytest.raises(DataError, match="0 feature"):
        MultilinearPCA().fit(np.ones((4, 0, 3)))
    with pytest.raises(DataError, match="NaN"):
        MultilinearPCA().fit(np.full((4, 2, 3), np.nan))
    assert_allclose(MultilinearPCA((3, 2, 2)).fit(tensors.tolist()).mean_, model.mean_)


@pytest.mark.parametrize("ranks", [0, -1, 1.5, 0.0, (2, 2), "all", (2, None, 2), True])
def test_senseless_ranks_are_refused(tensors, ranks):
    with pytest.raises((DataError, TypeError), match="ranks|as a rank"):
        MultilinearPCA(ranks).fit(tensors)


def test_equal_samples_are_refused():
    for model in (MultilinearPCA(), UncorrelatedMultilinearPCA()):
        with pytest.raises(DataError, match="differ"):
            model.fit(np.ones((5, 3, 3)))


def test_too_many_components_are_reported(tensors):
    with pytest.warns(RankWarning, match="length 5"):
        assert MultilinearPCA((3, 3, 8)).fit(tensors).ranks_ == (3, 3, 5)
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        MultilinearPCA((2, 1, 1), max_iter=1, tol=1e-14).fit(tensors)


def test_uncorrelated_scores(tensors):
    model = UncorrelatedMultilinearPCA().fit(tensors)
    Z = model.transform(tensors)
    assert Z.shape == (60, 5)
    assert_allclose(np.cov(Z.T, bias=True), np.diag(model.explained_variance_), atol=1e-8)
    for V in model.projections_:
        assert_allclose(np.linalg.norm(V, axis=0), 1)
    # Component by component, by loops.
    X = tensors - tensors.mean(axis=0)
    for p in range(5):
        u, v, w = (V[:, p] for V in model.projections_)
        assert_allclose(Z[:, p], np.einsum("nijk,i,j,k->n", X, u, v, w), atol=1e-10)


def test_plain_multilinear_scores_do_correlate(tensors):
    """Otherwise the test above would prove nothing."""
    Z = MultilinearPCA((2, 2, 1)).fit_transform(tensors)
    off = np.corrcoef(Z.T) - np.eye(4)
    assert np.abs(off).max() > 1e-3


def test_uncorrelated_first_component_is_the_best_of_rank_one(tensors):
    one = UncorrelatedMultilinearPCA(1, tol=1e-10, max_iter=500).fit(tensors)
    best = MultilinearPCA(1, tol=1e-10).fit(tensors)
    assert one.explained_variance_[0] == pytest.approx(captured(best, tensors) / 60, rel=1e-6)


def test_uncorrelated_rows_give_pca():
    X = load_digits().data[:200]
    ours = UncorrelatedMultilinearPCA(6).fit_transform(X)
    assert_allclose(np.abs(ours), np.abs(PCA(6).fit_transform(X)), atol=1e-6)


def test_uncorrelated_room():
    with pytest.warns(RankWarning, match="room for 8"):
        assert UncorrelatedMultilinearPCA(20).fit_transform(IMAGES).shape[1] <= 8


@pytest.mark.filterwarnings("ignore::mercer.exceptions.ConvergenceWarning")
def test_non_negative_parts():
    pytest.importorskip("tensorly")
    model = NonNegativeMultilinearPCA((5, 4), max_iter=50).fit(IMAGES)
    Z = model.transform(IMAGES)
    assert (Z >= 0).all()
    assert all((U >= 0).all() for U in model.factors_)
    error = np.linalg.norm(model.denoise(IMAGES) - IMAGES) / np.linalg.norm(IMAGES)
    assert error <= model.error_ + 1e-4  # codes are at their best for the factors
    # Not better than without the constraint, nor far from it.
    free = MultilinearPCA((5, 4)).fit(IMAGES)
    best = np.linalg.norm(free.denoise(IMAGES) - IMAGES) / np.linalg.norm(IMAGES)
    assert best <= error <= 1.5 * best


@pytest.mark.filterwarnings("ignore::mercer.exceptions.ConvergenceWarning")
def test_non_negative_codes_against_scipy():
    pytest.importorskip("tensorly")
    model = NonNegativeMultilinearPCA((4, 3), max_iter=20).fit(IMAGES)
    design = np.kron(*model.factors_)
    for image, code in zip(IMAGES[:5], model.transform(IMAGES[:5]), strict=True):
        expected, distance = nnls(design, image.ravel())
        assert np.linalg.norm(design @ code - image.ravel()) == pytest.approx(distance, rel=1e-5)
        assert_allclose(code, expected, atol=1e-2)


def test_negative_entries_are_refused():
    pytest.importorskip("tensorly")
    X = IMAGES[:10].copy()
    X[3, 2, 1] = -1
    with pytest.raises(DataError, match=r"\(3, 2, 1\) is the first"):
        NonNegativeMultilinearPCA(2).fit(X)


def test_robust_multilinear_recovers(rng):
    pytest.importorskip("tensorly")
    factors = [rng.standard_normal((d, 2)) for d in (12, 10)]
    clean = expand(rng.standard_normal((70, 2, 2)), factors)
    wrong = 10 * (rng.random(clean.shape) < 0.05)
    model = RobustMultilinearPCA((2, 2)).fit((clean + wrong)[:50])
    size = np.linalg.norm(clean[:50])
    assert np.linalg.norm(model.low_rank_ - clean[:50]) < 1e-4 * size
    low_rank, sparse = model.split((clean + wrong)[50:])
    assert np.linalg.norm(low_rank - clean[50:]) < 1e-4 * size
    assert_allclose(low_rank + sparse, (clean + wrong)[50:])
    assert_allclose(model.denoise((clean + wrong)[50:]), low_rank, atol=1e-6)
    plain = MultilinearPCA((2, 2)).fit((clean + wrong)[:50])
    assert np.linalg.norm(plain.denoise((clean + wrong)[50:]) - clean[50:]) > 0.1 * size


@pytest.mark.parametrize("variant", [NonNegativeMultilinearPCA, RobustMultilinearPCA])
def test_without_tensorly_the_remedy_is_named(variant, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorly", None)
    monkeypatch.setitem(sys.modules, "tensorly.decomposition", None)
    with pytest.raises(ImportError, match="pip install tensorly"):
        variant(2).fit(IMAGES)


@pytest.mark.parametrize("variant", [NonNegativeMultilinearPCA, UncorrelatedMultilinearPCA])
@pytest.mark.parametrize("limits", [{"max_iter": 0}, {"tol": 0.0}, {"tol": 2}])
def test_senseless_limits_are_refused(variant, limits):
    """No round at all used to give components that correlate, or an IndexError."""
    with pytest.raises(DataError, match="give tol between 0 and 1, and max_iter of 1 or more"):
        variant(2, **limits).fit(IMAGES[:20])


@pytest.mark.parametrize("variant", [NonNegativeMultilinearPCA, UncorrelatedMultilinearPCA])
def test_rounds_that_run_out_are_reported(variant):
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        variant(2, max_iter=2, tol=1e-12).fit(IMAGES[:50])
