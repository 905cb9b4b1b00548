"""Sparse rows give what the same rows give when they are dense, and never become dense."""

import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

import mercer
from mercer import (
    IncrementalKernelPCA,
    KernelNovelty,
    KernelPCA,
    ParallelAnalysis,
    ReweightedKernelPCA,
    SparseKernelPCA,
    compat,
    compress,
)
from mercer.exceptions import DataError, KernelError, MercerError, MercerWarning, ModelFileError
from mercer.kernels import (
    Basis,
    Cauchy,
    Chi2,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    RationalQuadratic,
    Sigmoid,
)
from mercer.landmarks import KMeans, RPCholesky, Uniform
from mercer.novelty import contributions
from mercer.points import Vectors
from mercer.points.packed import SparsePacked
from mercer.points.sparse import SparseRows
from mercer.preimage import Combination, Nearest, as_preimage
from mercer.selection import DenoisingScore
from mercer.solvers import Davidson, Dense, Lanczos, Landmarks

pytestmark = pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")

KERNELS = [
    Gaussian(),
    Gaussian("scale"),
    Matern(nu=0.5),
    Matern(nu=1.5),
    Matern(nu=2.5),
    Cauchy(),
    RationalQuadratic(alpha=0.7),
    Linear(),
    Polynomial(3, gamma="scale"),
    Polynomial(2, coef0=0.0),
    Sigmoid(gamma=1e-5),
    Cosine(),
    0.5 * Gaussian() + Linear() * Cosine(),
]
SOLVERS = [
    Dense(),
    Lanczos(),
    Davidson(1e-9),
    Landmarks(25),
    Landmarks(25, select="rpcholesky"),
    Landmarks(25, select="uniform"),
    mercer.solvers.Auto(),
]


def rows(n=240, d=40, seed=0, dtype=np.float64):
    """A full column, an empty column, columns of all densities, an empty row and equal rows."""
    rng = np.random.default_rng(seed)
    dense = rng.gamma(2.0, size=(n, d)) * (rng.random((n, d)) < np.linspace(0.02, 0.4, d))
    dense[:, 0], dense[:, 1] = 1 + rng.random(n), 0
    dense[3], dense[5] = 0, dense[4]
    return dense.astype(dtype)


X, NEW = rows(), rows(31, seed=1)


def close(found, wanted, tol=1e-10):
    size = np.abs(wanted).max()
    assert_allclose(found, wanted, rtol=0, atol=tol * size)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_tiles_are_those_of_dense_rows(kernel):
    S, T = SparseRows.of(sparse.csr_array(X)), SparseRows.of(sparse.csr_array(NEW))
    a, b = kernel.resolve(S), kernel.resolve(X)
    close(Basis(a, S).gram(), Basis(b, X).gram(), 1e-13)
    for query in (T, NEW):  # dense rows meet a sparse basis, too
        close(Basis(a, S).at(query), Basis(b, X).at(NEW), 1e-13)
    close(Basis(a, X).at(T), Basis(b, X).at(NEW), 1e-13)  # and the other way round
    close(a.exact(T, S), b.exact(NEW, X), 1e-13)
    close(a.diag(S), b.diag(X), 1e-13)
    close(Basis(a, S, np.float32).at(T), Basis(b, X).at(NEW), 2e-6)
    weight = np.random.default_rng(0).integers(0, 3, len(X)).astype(float)
    assert kernel.resolve(S, weight).get_params().keys() == a.get_params().keys()
    close(Basis(kernel.resolve(S, weight), S).gram(), Basis(kernel.resolve(X, weight), X).gram())


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_and_solver(kernel, solver):
    wanted = KernelPCA(3, kernel=kernel, solver=solver, random_state=0).fit(X)
    given = sparse.csr_matrix(X) if isinstance(kernel, Gaussian) else sparse.csr_array(X)
    found = KernelPCA(3, kernel=kernel, solver=solver, random_state=0).fit(given)
    assert isinstance(found.subspace_.support, SparseRows)
    close(found.eigenvalues_, wanted.eigenvalues_)
    close(found.transform(sparse.csc_array(NEW)), wanted.transform(NEW))
    close(found.transform(NEW), wanted.transform(NEW))
    close(wanted.transform(sparse.csr_array(NEW)), wanted.transform(NEW))
    close(found.reconstruction_error(sparse.csr_array(NEW)), wanted.reconstruction_error(NEW))
    assert found.report_.solver == wanted.report_.solver


ESTIMATORS = {
    "weights": lambda: KernelPCA(3),
    "incremental": lambda: IncrementalKernelPCA(3, n_landmarks=25, random_state=0),
    "growing": lambda: IncrementalKernelPCA(3, n_landmarks=25, growth=0.2, random_state=0),
    "novelty": lambda: KernelNovelty(4, random_state=0),
    "median": lambda: KernelNovelty(4, kernel="gaussian", random_state=0),
    "combined": lambda: KernelNovelty(4, measure="combined", random_state=0),
    "reweighted": lambda: ReweightedKernelPCA(KernelPCA(3), max_iter=2, random_state=0),
    "greedy": lambda: SparseKernelPCA(n_kernels=12, solver="greedy", random_state=0),
    "columns": lambda: SparseKernelPCA(n_kernels=12, solver="column_generation", random_state=0),
    "centres": lambda: SparseKernelPCA(n_kernels=12, solver="kmeans", random_state=0),
    "compat": lambda: compat.KernelPCA(3, kernel="rbf"),
    "compat poly": lambda: compat.KernelPCA(3, kernel="poly", eigen_solver="arpack"),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_and_its_file(name, tmp_path):
    more = {"sample_weight": np.arange(len(X)) % 3} if name == "weights" else {}
    wanted = ESTIMATORS[name]().fit(X, **more)
    found = ESTIMATORS[name]().fit(sparse.csr_array(X), **more)
    ask = "score_samples" if "KernelNovelty" in repr(found) else "transform"
    answer = getattr(found, ask)(sparse.csr_array(NEW))
    close(answer, getattr(wanted, ask)(NEW))
    loaded = mercer.load(found.save(tmp_path / "m.mercer"))
    assert_array_equal(getattr(loaded, ask)(sparse.csr_array(NEW)), answer)
    if name != "compat" and hasattr(loaded, "subspace_"):
        assert loaded.subspace_.support.equals(found.subspace_.support)


#: What takes a solver, or a way of choosing: each is crossed with every kernel below.
CROSSED = {
    "KernelNovelty": lambda kernel, solver: KernelNovelty(
        3, kernel=kernel, solver=solver, random_state=0
    ),
    "ReweightedKernelPCA": lambda kernel, solver: ReweightedKernelPCA(
        KernelPCA(3, kernel=kernel, solver=solver, random_state=0), max_iter=2, random_state=0
    ),
}
CHOSEN = {
    **{
        f"SparseKernelPCA {solver}": lambda kernel, solver=solver: SparseKernelPCA(
            n_kernels=12, n_components=3, kernel=kernel, solver=solver, random_state=0
        )
        for solver in ("greedy", "column_generation", "kmeans")
    },
    **{
        f"IncrementalKernelPCA {growth}": lambda kernel, growth=growth: IncrementalKernelPCA(
            3, kernel=kernel, n_landmarks=25, growth=growth, random_state=0
        )
        for growth in (0.0, 0.2)
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize("name", CROSSED)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_solver_and_estimator(kernel, name, solver):
    assert_as_dense(lambda: CROSSED[name](kernel, solver))


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_every_kernel_and_estimator_with_its_own_ways(kernel, name):
    assert_as_dense(lambda: CHOSEN[name](kernel))


def assert_as_dense(make):
    """The same answers from sparse and from dense rows, or the same refusal."""
    try:
        wanted = make().fit(X)
    except MercerError as error:
        with pytest.raises(type(error)):
            make().fit(sparse.csr_array(X))
        return
    found = make().fit(sparse.csr_array(X))
    ask = "score_samples" if isinstance(found, KernelNovelty) else "transform"
    right = getattr(wanted, ask)(NEW)
    close(getattr(found, ask)(sparse.csr_array(NEW)), right)
    close(getattr(found, ask)(NEW), right)


def test_partial_fit_takes_sparse_chunks_and_a_loaded_model_goes_on(tmp_path):
    wanted, found = (IncrementalKernelPCA(3, n_landmarks=25, random_state=0) for _ in range(2))
    for part in np.array_split(np.arange(len(X)), 4):
        wanted.partial_fit(X[part])
        found.partial_fit(sparse.csr_array(X[part]))
        found = mercer.load(found.save(tmp_path / "m.mercer"))
    close(found.transform(sparse.csr_array(NEW)), wanted.transform(NEW))
    assert sparse.issparse(found.landmarks_)


def test_float32_stays_and_is_as_good_as_that_of_dense_rows():
    given = sparse.csr_array(X.astype(np.float32))
    found = KernelPCA(3).fit(given)
    assert found.transform(given).dtype == np.float32
    close(found.transform(sparse.csr_array(NEW)), KernelPCA(3).fit(X).transform(NEW), 1e-5)


@pytest.mark.parametrize("size", [1e-160, 1e-6, 1e3, 1e9, 1e160])
def test_rows_far_from_the_origin_keep_their_digits(size):
    """Norms of up to 1e18 lengths: the formula with norms has no digits, the differences have."""
    rng = np.random.default_rng(0)
    base = (rng.random((6, 30)) < 0.3) * rng.random((6, 30)) * size
    D = np.repeat(base, 4, axis=0) * (1 + 1e-9 * rng.standard_normal((24, 30)))
    kernel = Gaussian(width=1e-9 * size)
    S = SparseRows.of(sparse.csr_array(D))
    exact = np.exp(-(((D[:, None] - D[None]) / (1e-9 * size)) ** 2).sum(axis=2))
    assert 0.1 < exact[0, 1] < 1
    # x / ℓ has nine digits after the point; so has that of dense rows.
    assert_allclose(Basis(kernel, S).gram(), exact, atol=1e-6)
    assert_allclose(kernel.exact(S, S), exact, atol=1e-9)


def test_the_audit_sees_wrong_tiles(monkeypatch):
    """Sparse entries are judged by differences, not by the formula that made them."""
    import mercer.points.packed as module

    right = module.products
    monkeypatch.setattr(module, "products", lambda A, B: 1.01 * right(A, B))
    with pytest.warns(MercerWarning, match="audit|definition|off"):
        KernelPCA(3, solver="dense").fit(sparse.csr_array(X))


def test_relevance_is_that_of_dense_rows():
    for kernel in (Gaussian(), Polynomial(2), Cosine(), Gaussian() * Linear()):
        wanted, found = KernelPCA(3, kernel=kernel).fit(X), None
        found = KernelPCA(3, kernel=kernel).fit(sparse.csr_array(X))
        for given in (None, sparse.csr_array(X)):
            dense = None if given is None else X
            close(found.relevance(given).table, wanted.relevance(dense).table)
        close(found.sensitivity(sparse.csr_array(NEW[:3])), wanted.sensitivity(NEW[:3]))


def test_pre_images_are_sparse_training_rows():
    given = sparse.csr_array(X)
    model = KernelPCA(6).fit(given)
    wanted = KernelPCA(6, preimage="nearest").fit(X)
    for points in (model.denoise(given[:5]), model.preimages(given[:5]).points):
        assert isinstance(points, sparse.csr_array)
        assert_array_equal(points.toarray(), wanted.denoise(X[:5]))
    Z = model.transform(given[:5])
    assert_array_equal(model.inverse_transform(Z).toarray(), wanted.inverse_transform(Z))
    close(model.component_images(), wanted.component_images())
    assert_array_equal(model.component_preimages(), wanted.component_preimages())
    dense = KernelPCA(6).fit(X)
    close(dense.denoise(sparse.csr_array(NEW)), dense.denoise(NEW))


@pytest.mark.parametrize("kernel", [Gaussian(), Cauchy(), 2.0 * Matern(nu=2.5)])
@pytest.mark.parametrize("rows", [4, len(X)])
def test_combinations_are_means_of_the_rows_that_pull_most(kernel, rows):
    given = sparse.csr_array(X)
    model = KernelPCA(6, kernel=kernel, preimage=Combination(rows, tol=0, max_iter=1)).fit(given)
    Z = model.transform(given[:5])
    found = model.preimages(given[:5], match_noise=False)
    assert isinstance(found.points, sparse.csr_array)
    radial = model.kernel_.radial
    for x, z, point in zip(X[:5], Z, found.points.toarray(), strict=True):
        gamma = model.subspace_.mean + model.subspace_.coef @ z
        t = -np.array([((x - s) ** 2).sum() for s in X]) / radial.length**2
        weight = np.maximum(gamma * radial.slope(t), 0)
        weight[np.argsort(weight)[: len(X) - rows]] = 0
        close(point, weight @ X / weight.sum())
    assert set(found.status) == {"iteration limit"}


def test_combinations_converge_and_are_nearer_than_the_nearest_row():
    given = sparse.csr_array(X)
    model = KernelPCA(6, preimage="combination").fit(given)
    found = model.preimages(given[:20])
    assert found.converged.all()
    again = KernelPCA(6, preimage=Combination(tol=1e-6)).fit(given).denoise(given[:20])
    assert_allclose(found.points.toarray(), again.toarray(), atol=0.05 * np.abs(X).max())
    wanted = KernelPCA(6, preimage="nearest").fit(given).denoise(given[:20]).toarray()
    error, nearest = (((points - X[:20]) ** 2).sum() for points in (again.toarray(), wanted))
    assert error < nearest
    assert np.isfinite(model.component_preimages()).all()
    with pytest.raises(KernelError, match="dense rows.*fixed_point"):
        KernelPCA(3, preimage="combination").fit(X).denoise(X)
    with pytest.raises(KernelError, match="function of the distance"):
        KernelPCA(3, kernel=Linear(), preimage="combination").fit(given).denoise(given)
    with pytest.raises(KernelError, match="rows and max_iter of at least 1"):
        KernelPCA(3, preimage=Combination(0)).fit(given).denoise(given)


def test_a_point_that_nothing_pulls_says_so():
    model = KernelPCA(2, preimage="combination").fit(sparse.csr_array(X))
    subspace = model.subspace_
    ones = np.ones_like(subspace.coef[:, :1])
    bad = replace(subspace, coef=ones * [1, 0], mean=0 * subspace.mean)  # γ = z₁ for all rows
    solver = Combination().init(bad)
    Z = np.array([[-1.0, 0.0], [1.0, 0.0]])
    found = solver.solve(Z, SparseRows.of(X[:2]))
    assert found.status.tolist() == ["failed", "converged"]
    assert_array_equal(found.converged, [False, True])
    lost = Nearest().init(bad).solve(Z[:1]).points.to_dense()
    assert_array_equal(found.points.to_dense()[:1], lost)


def test_score_and_tune_exchange_entries():
    given = sparse.csr_array(X)
    model = KernelPCA(6, preimage="combination").fit(given)
    assert model.score(given) == DenoisingScore()(model, given) < 0
    assert model.score(given) == model.score(X)  # rows follow the model
    tuned = KernelPCA(preimage="combination").tune(given, noise=0.2)
    assert tuned.tuning_.n_components == tuned.n_components
    assert isinstance(tuned.subspace_.support, SparseRows)
    assert np.isfinite([error for _, _, error in tuned.tuning_.table]).all()
    assert tuned.score(given) >= model.score(given)
    own = KernelPCA().tune(given, noise=lambda rows, rng: rows * rng.uniform(0.5, 1))
    assert own.tuning_.table
    with pytest.raises(DataError, match="between 0 and 1"):
        KernelPCA(3).tune(given, noise=1.5)
    cosine = KernelPCA(3, kernel=Cosine()).fit(given)  # by nearest rows
    assert cosine.score(given) < 0


def test_exchanged_entries_are_those_of_other_rows():
    rows = SparseRows.of(sparse.csr_array(X))
    rng = np.random.default_rng(0)
    found = rows.exchanged(0.3, rng)
    assert found.shape == rows.shape
    assert 0.9 < found.nnz / rows.nnz < 1.1
    same = ((found.to_dense() == X) & (X != 0)).sum() / rows.nnz
    assert 0.6 < same < 0.8
    assert_allclose(
        found.squared_differences(rows), ((found.to_dense() - X) ** 2).sum(axis=1), rtol=1e-12
    )


@pytest.mark.parametrize("preimage", ["fixed_point", "ridge", "gradient", "smoother"])
def test_what_would_fill_the_zeros_is_refused_with_its_size(preimage):
    model = KernelPCA(3, preimage=preimage).fit(sparse.csr_array(X))
    with pytest.raises(KernelError, match=r"toarray\(\) \(1 MB.*nearest"):
        model.denoise(sparse.csr_array(NEW))


def test_the_rest_that_moves_rows_is_refused(tmp_path):
    given = sparse.csr_array(X)
    model = KernelPCA(3).fit(given)
    assert not hasattr(model, "impute")
    assert hasattr(KernelPCA(3).fit(X), "impute")
    for kernel in (Laplacian(), Chi2(), Gaussian() + Laplacian()):
        with pytest.raises(TypeError, match="Sparse data was passed.*gaussian"):
            KernelPCA(3, kernel=kernel).fit(given)
        assert not KernelPCA(kernel=kernel).__sklearn_tags__().input_tags.sparse
    with pytest.raises(TypeError, match="Sparse data was passed.*KernelPCA"):
        mercer.MissingKernelPCA().fit(given)
    bad = X.copy()
    bad[2, 7] = np.nan
    with pytest.raises(DataError, match=r"NaN.*row 2, column 7"):
        KernelPCA(3).fit(sparse.csr_array(bad))
    pytest.importorskip("onnx")
    with pytest.raises(ModelFileError, match="no sparse rows"):
        mercer.export_onnx(model, tmp_path / "m.onnx")


def test_rules_compression_and_given_landmarks():
    given = sparse.csr_array(X)
    model = KernelPCA(3).fit(given)
    close(
        compress(model, 12, solver="greedy").transform(given),
        compress(KernelPCA(3).fit(X), 12, solver="greedy").transform(X),
    )
    for landmarks in (given[:20], X[:20]):
        solver = Landmarks(select=landmarks)
        found = KernelPCA(3, solver=solver).fit(given)
        assert isinstance(found.subspace_.support, SparseRows)
        close(
            found.transform(NEW),
            KernelPCA(3, solver=Landmarks(select=X[:20])).fit(X).transform(NEW),
        )
    shuffled = SparseRows.of(given).permuted(np.random.default_rng(0))
    assert_array_equal(np.sort(shuffled.to_dense(), axis=0), np.sort(X, axis=0))
    assert (shuffled.to_dense() != X).any()
    assert KernelPCA(ParallelAnalysis(), random_state=0).fit(given).n_components_ >= 1


def test_a_checkpoint_of_sparse_rows(tmp_path):
    given, path = sparse.csr_array(X), tmp_path / "state.npz"
    solver = Landmarks(25, checkpoint=path)
    wanted = KernelPCA(3, solver=Landmarks(25), random_state=0).fit(given)

    def stop(stage, done, total):
        if stage == "landmarks":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), mercer.listen(stop):
        KernelPCA(3, solver=solver, random_state=0).fit(given)
    assert path.exists()
    found = KernelPCA(3, solver=solver, random_state=0).fit(given)
    assert_array_equal(found.transform(given), wanted.transform(given))
    assert not path.exists()


def test_the_model_owns_its_rows():
    given = sparse.csr_array(X)
    model = KernelPCA(3).fit(given)
    before = model.transform(NEW)
    given.data[:] = 7
    assert_array_equal(model.transform(NEW), before)
    odd = sparse.csr_array(X)
    odd.indices[:2] = odd.indices[:2][::-1]
    odd.has_sorted_indices = False
    kept = odd.indices.copy()
    KernelPCA(3).fit(odd)
    assert_array_equal(odd.indices, kept)  # what the caller has is not put in order


def test_nothing_dense_of_the_size_of_the_rows():
    """3,000 rows of 200,000 columns would take 4.8 GB."""
    rng = np.random.default_rng(0)
    n, d, each = 3000, 200_000, 20
    columns = np.minimum(rng.pareto(0.5, (n, each)), d - 1).astype(int)  # a few words in most rows
    places = (np.repeat(np.arange(n), each), columns.ravel())
    given = sparse.csr_array((rng.random(n * each), places), shape=(n, d))
    tracemalloc.start()
    try:
        for solver in (Davidson(1e-4), Landmarks(200)):
            model = KernelPCA(5, solver=solver, random_state=0).fit(given)
            model.transform(given)
            model.denoise(given[:100])
        KernelNovelty(5, solver=Landmarks(200), random_state=0).fit(given).predict(given)
        chunks = IncrementalKernelPCA(5, n_landmarks=200, random_state=0)
        chunks.partial_fit(given[:1500]).partial_fit(given[1500:])
        model.relevance(given[:20])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150e6


class TestSparseRows:
    def test_is_cut_without_a_copy_and_taken_by_number(self):
        S = SparseRows.of(sparse.csr_array(X))
        assert (len(S), S.shape, S.ndim, S.dtype) == (240, (240, 40), 2, np.float64)
        assert np.shares_memory(S[10:20].data, S.data)
        assert_array_equal(S[10:20].to_dense(), X[10:20])
        assert_array_equal(S[5:5].to_dense(), X[5:5])
        assert_array_equal(S[::7].to_dense(), X[::7])
        assert_array_equal(S[np.array([5, 3, 3])].to_dense(), X[[5, 3, 3]])
        assert_array_equal(S[X[:, 0] > 1.5].to_dense(), X[X[:, 0] > 1.5])
        assert_array_equal(S[:4].joined(Vectors(X[4:])).to_dense(), X)
        assert_allclose(S.row_sums(), X.sum(axis=1))
        assert_allclose(S.square_sums(), (X**2).sum(axis=1))
        with pytest.raises(TypeError, match="never made an array"):
            np.asarray(S)

    def test_takes_any_format_and_leaves_out_zeros(self):
        for kind in ("csr", "csc", "coo", "lil", "bsr"):
            given = sparse.csr_array(X).asformat(kind)
            assert SparseRows.of(given).equals(SparseRows.of(X))
        entries = ([1.0, 2.0, 0.0, 3.0], ([0, 0, 1, 1], [2, 2, 0, 1]))
        S = SparseRows.of(sparse.coo_array(entries, shape=(2, 3)))
        assert S.nnz == 2
        assert_array_equal(S.to_dense(), [[0, 0, 3], [0, 3, 0]])

    def test_points(self):
        points = Gaussian().points(SparseRows.of(X))
        assert points.is_sparse
        assert (points.width, points.has_coordinates, points.is_open) == (40, False, True)
        assert points.cast(np.float32).rows.dtype == np.float32
        with pytest.raises(KernelError, match="a picture needs points with coordinates"):
            points.vectors("a picture")

    def test_a_head_that_is_full_is_kept_apart(self):
        S = SparseRows.of(X)
        packed = Gaussian(width=1.0).pack(S, Gaussian(width=1.0).origin(S))
        assert isinstance(packed, SparsePacked)
        assert 0 < packed.head.shape[1] < 40
        assert packed.head.shape[1] + packed.tail.width < 40  # the empty column is in neither
        assert_allclose(packed.head.mean(axis=0), 0, atol=1e-12)


FORGED = {
    "indptr goes back": {"indptr": [0, 3, 2, 4]},
    "indptr ends early": {"indptr": [0, 1, 2, 3]},
    "indptr begins late": {"indptr": [1, 2, 3, 4]},
    "no rows at all": {"indptr": []},
    "a column too far": {"indices": [0, 1, 2, 9]},
    "a negative column": {"indices": [0, -1, 2, 0]},
    "columns out of order": {"indices": [1, 0, 2, 0]},
    "columns twice": {"indices": [1, 1, 2, 0]},
    "not a number": {"data": [1.0, np.nan, 2.0, 3.0]},
    "infinite": {"data": [1.0, np.inf, 2.0, 3.0]},
    "too few entries": {"data": [1.0, 2.0, 3.0]},
    "no columns": {"width": 0},
    "width is a text": {"width": "4"},
    "a table": {"data": [[1.0, 2.0], [3.0, 4.0]]},
    "places are floats": {"indices": [0.0, 1.0, 2.0, 0.0]},
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_rows_of_a_file_are_refused(name):
    parts = {"data": [1.0, 2.0, 3.0, 4.0], "indices": [0, 1, 2, 0], "indptr": [0, 2, 3, 4]}
    SparseRows(**{key: np.array(part) for key, part in parts.items()}, width=4).check()
    given = {**parts, "width": 4, **FORGED[name]}
    made = {
        key: part if key == "width" else np.array(part, dtype=None if part else int)
        for key, part in given.items()
    }
    with pytest.raises(ModelFileError):
        SparseRows(**made).check()


def test_the_checks_of_rows_are_made_on_load(tmp_path):
    model = KernelPCA(2, solver="dense").fit(sparse.csr_array(X))
    model.subspace_.support.indices[0] = 999  # as a forged file would have it
    path = model.save(tmp_path / "m.mercer")
    with pytest.raises(ModelFileError, match="of 40 columns: indices"):
        mercer.load(path)


def test_a_hashed_text_of_a_million_columns_can_be_saved(tmp_path):
    places = ([0, 0, 1, 2, 3], [5, 1 << 19, 5, 77, (1 << 20) - 1])
    given = sparse.csr_array((np.ones(5), places), shape=(4, 1 << 20))
    model = KernelPCA(2).fit(given)
    loaded = mercer.load(model.save(tmp_path / "m.mercer"))
    assert_array_equal(loaded.transform(given), model.transform(given))


def test_uniform_landmarks_are_rows_of_the_matrix():
    S = SparseRows.of(X)
    landmarks = Uniform().select(Gaussian(), S, 10, np.random.default_rng(0))
    assert isinstance(landmarks, SparseRows)
    assert {tuple(row) for row in landmarks.to_dense()} <= {tuple(row) for row in X}


def test_no_warning_on_the_way():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KernelPCA(3).fit(sparse.csr_array(X))
        model.transform(sparse.csr_array(NEW))
        model.denoise(sparse.csr_array(NEW))


def test_means_of_many_rows_keep_their_largest_entries():
    """Centres with all the words of their rows would make every tile many times slower."""
    rng = np.random.default_rng(0)
    D = rng.random((2000, 1000)) * (rng.random((2000, 1000)) < 0.01)
    S = SparseRows.of(sparse.csr_array(D))
    found = KMeans(steps=1).select(Gaussian(gamma=0.5), S, 5, np.random.default_rng(1))
    most = 8 * -(-S.nnz // 2000)
    assert np.diff(found.indptr).max() == most < 100
    start = RPCholesky().select(Gaussian(gamma=0.5), S, 5, np.random.default_rng(1)).to_dense()
    nearest = ((D[:, None] - start) ** 2).sum(axis=2).argmin(axis=1)
    for k, centre in enumerate(found.to_dense()):
        mean = D[nearest == k].mean(axis=0)
        kept = centre != 0
        assert_allclose(centre[kept], mean[kept])
        assert mean[~kept].max() <= mean[kept].min()


@pytest.mark.parametrize("measure", ["reconstruction", "combined"])
@pytest.mark.parametrize("kernel", [Gaussian(), Matern(nu=1.5), Polynomial(2, gamma="scale")])
def test_contributions_are_those_of_dense_rows(kernel, measure):
    given = sparse.csr_array(X)
    model = KernelNovelty(4, kernel=kernel, measure=measure, random_state=0).fit(given)
    twin = KernelNovelty(4, kernel=kernel, measure=measure, random_state=0).fit(X)
    found = model.contributions(sparse.csr_array(NEW))
    assert isinstance(found, sparse.csr_array)
    way = "nearest" if kernel.radial is None else "combination"
    solver = as_preimage(way).init(model.score_.subspace)
    rows = SparseRows.of(sparse.csr_array(NEW))
    reference = solver.solve(model.score_.subspace.scores(rows), rows).points
    wanted = contributions(twin.score_, NEW, reference.to_dense())
    close(found.toarray(), wanted)
    assert not found.toarray()[:, 1].any()  # a column without entries
    close(found.sum(axis=1), model.score_(rows) - model.score_(reference), 1e-3)
    close(model.contributions(NEW).toarray(), wanted)
    close(twin.contributions(sparse.csr_array(NEW)), twin.contributions(NEW))


def test_contributions_name_the_words_that_do_not_belong():
    """Texts of two topics; a few get words of their own."""
    rng = np.random.default_rng(0)
    topics = np.zeros((2, 300))
    topics[0, :60], topics[1, 60:120] = 1 / 60, 1 / 60
    texts = np.array([rng.multinomial(25, topics[i % 2]) for i in range(400)], dtype=float)
    model = KernelNovelty(6, random_state=0).fit(sparse.csr_array(texts[:300]))
    strange, word = texts[300:].copy(), rng.integers(120, 300, 100)
    strange[np.arange(100), word] += 5
    found = model.contributions(sparse.csr_array(strange)).toarray()
    assert (found.argmax(axis=1) == word).mean() > 0.95


def test_contributions_of_many_columns_stay_small():
    """300 rows of 500,000 columns would take 1.2 GB."""
    rng = np.random.default_rng(0)
    places = (np.repeat(np.arange(300), 20), rng.integers(0, 500_000, 6000))
    given = sparse.csr_array((rng.random(6000), places), shape=(300, 500_000))
    model = KernelNovelty(3, random_state=0).fit(given)
    tracemalloc.start()
    try:
        found = model.contributions(given[:20])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.shape == (20, 500_000)
    assert peak < 400e6


@pytest.mark.parametrize("kernel", [Gaussian(), Polynomial(2, gamma="scale"), Cosine()], ids=repr)
def test_uncertainty_is_that_of_dense_rows(kernel):
    given = sparse.csr_array(X)
    found = KernelPCA(3, kernel=kernel).fit(given).uncertainty()
    wanted = KernelPCA(3, kernel=kernel).fit(X).uncertainty()
    for name in ("eigenvalues", "shares", "relevance"):
        for part in ("estimate", "low", "high"):
            close(getattr(getattr(found, name), part), getattr(getattr(wanted, name), part), 1e-7)
    close(found.angle, wanted.angle, 1e-7)
    assert found.advice == wanted.advice
    model = KernelPCA(3, kernel=kernel, solver=Landmarks(25), random_state=0).fit(given)
    assert model.uncertainty(given).n_rows == len(X)


def test_intervals_of_relevance_of_very_many_words_are_refused_with_their_size():
    rng = np.random.default_rng(0)
    places = (np.repeat(np.arange(200), 20), rng.integers(0, 200_000, 4000))
    given = sparse.csr_array((rng.random(4000), places), shape=(200, 200_000))
    found = KernelPCA(3).fit(given).uncertainty()
    assert np.isfinite(found.eigenvalues.high).all()
    with pytest.raises(DataError, match=r"200000 variables at 200 rows take 1831 MB; fit fewer"):
        found.relevance  # noqa: B018
