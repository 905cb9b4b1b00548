"""Landmarks: exact when they are all points, honest about their error, stopped and resumed."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import mercer
from mercer import KernelPCA
from mercer.exceptions import DataError, KernelError, NumericalWarning
from mercer.gram import (
    Checkpoint,
    FeatureSums,
    LandmarkFeatures,
    sum_features,
)
from mercer.io import MemoryRows
from mercer.kernels import Cosine, Gaussian, Linear, Polynomial
from mercer.landmarks import KMeans
from mercer.points import Vectors
from mercer.solvers import Dense, Landmarks

ROOT = Path(__file__).resolve().parents[2]


def swiss(rng, n):
    t = rng.uniform(1, 4, n) * np.pi
    return np.c_[t * np.cos(t), t * np.sin(t), rng.uniform(0, 10, n)]


def grouped(rng, n):
    centres = 3 * rng.standard_normal((6, 5))
    return centres[rng.integers(0, 6, n)] + rng.standard_normal((n, 5))


@pytest.mark.filterwarnings("ignore::mercer.exceptions.RankWarning")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2)], ids=repr)
def test_rows_too_rare_for_any_sample_are_claimed_as_an_error(kernel, seed):
    """Three of 30,000 rows have nearly all the variance; neither sample need have any of them."""
    rng = np.random.default_rng(seed)
    X = np.vstack([1e-3 * rng.standard_normal((30_000, 5)), 1e3 * rng.standard_normal((3, 5))])
    model = KernelPCA(2, kernel=kernel, solver=Landmarks(50), random_state=seed)
    truth = np.linalg.eigvalsh(kernel(X[-3:]))[::-1][:2]  # the others hardly move the mean
    found = model.fit(X).eigenvalues_
    error = np.abs(found / truth[: len(found)] - 1).max()
    assert error <= 3 * model.report_.estimated_error + 1e-3


def test_landmarks_at_which_the_kernel_is_zero():
    X = np.vstack([np.zeros((30_000, 2)), np.eye(2)])
    for select in ("uniform", "rpcholesky"):
        with pytest.raises(DataError, match="no variance on the landmarks.*more landmarks"):
            KernelPCA(1, kernel=Cosine(), solver=Landmarks(50, select=select), random_state=0).fit(
                X
            )


def test_few_centres_settle_where_that_is_better():
    X = load_digits().data[:600] / 16
    exact = KernelPCA(5, solver=Dense()).fit(X)

    def error(select, seed):
        solver = Landmarks(20, select=select)
        model = KernelPCA(5, kernel=exact.kernel_, solver=solver, random_state=seed).fit(X)
        return np.abs(model.eigenvalues_ / exact.eigenvalues_ - 1).max()

    usual, short, long = (
        np.mean([error(select, seed) for seed in range(5)])
        for select in ("kmeans", KMeans(), KMeans(steps=20))
    )
    assert usual < 0.8 * short
    assert usual < 1.05 * long


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(5))
def test_a_sample_in_which_nothing_varies_does_not_choose(seed, rng, monkeypatch):
    monkeypatch.setattr("mercer.solvers.landmarks.FEWEST_CHECKED", 5)
    monkeypatch.setattr("mercer.solvers.landmarks.MOST_CHECKED", 5)
    X = np.vstack([np.zeros((300, 2)), rng.standard_normal((20, 2))])
    solver = Landmarks(40)
    assert KernelPCA(2, kernel=Linear(), solver=solver, random_state=seed).fit(X).n_components_ == 2


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("kernel", [Gaussian(sigma=2.0), Polynomial(degree=2)], ids=repr)
def test_all_points_as_landmarks_are_exact(kernel, center, rng):
    X = grouped(rng, 120)
    solver = Landmarks(len(X), select=X)
    near = KernelPCA(6, kernel=kernel, center=center, solver=solver).fit(X)
    exact = KernelPCA(6, kernel=kernel, center=center, solver=Dense()).fit(X)
    np.testing.assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    new = grouped(rng, 30)
    np.testing.assert_allclose(
        np.abs(near.transform(new)), np.abs(exact.transform(new)), rtol=1e-5, atol=1e-7
    )
    assert near.report_.estimated_error < 1e-6
    assert near.report_.unexplained < 1e-9


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("width", [1.0, 5.0, 60.0])
@pytest.mark.parametrize("data", [swiss, grouped])
def test_the_estimate_is_above_the_true_error(data, width, dtype, rng, monkeypatch):
    """From a kernel that the landmarks hardly span to one so smooth that K_ZZ is singular."""
    for bound in ("FEWEST_CHECKED", "MOST_CHECKED"):
        monkeypatch.setattr(f"mercer.solvers.landmarks.{bound}", 300)
    X = data(rng, 800)
    kernel = Gaussian(width=width)
    exact = KernelPCA(8, kernel=kernel, solver=Dense()).fit(X)
    model = KernelPCA(8, kernel=kernel, solver=Landmarks(80), random_state=0).fit(X.astype(dtype))
    assert model.eigenvalues_.dtype == dtype
    error = np.abs(model.eigenvalues_ / exact.eigenvalues_ - 1).max()
    assert error <= model.report_.estimated_error
    rounding = 200 * np.finfo(dtype).eps
    assert (model.eigenvalues_ <= exact.eigenvalues_ * (1 + rounding)).all()


@pytest.mark.parametrize("width", [1.0, 5.0, 60.0])
@pytest.mark.parametrize("data", [swiss, grouped])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_sums_in_single_precision_do_not_show(data, width, offset, rng, monkeypatch):
    """Rows in float64 are summed in float32 where the landmarks' own error hides that."""
    X, used = data(rng, 800) + offset, []
    model = KernelPCA(8, kernel=Gaussian(width=width), solver=Landmarks(80), random_state=0)
    plain = model.fit(X).eigenvalues_

    def noted(features, *rest):
        used.append(features.working)
        return sum_features(features, *rest)

    monkeypatch.setattr("mercer.solvers.landmarks.WORTH", 0)
    monkeypatch.setattr("mercer.solvers.landmarks.sum_features", noted)
    model.fit(X)
    exact = KernelPCA(8, kernel=Gaussian(width=width), solver=Dense()).fit(X).eigenvalues_
    error = np.abs(model.eigenvalues_ / exact - 1)
    assert model.eigenvalues_.dtype == np.float64
    assert error.max() <= model.report_.estimated_error
    if width == 1.0:  # much lies outside the span
        assert used == [np.float32]
        moved = np.abs(model.eigenvalues_ / plain - 1)
        assert moved.max() > 0
        assert (moved < 0.01 * error).all()
    if width == 60.0:
        assert used[-1] == np.float64
        np.testing.assert_array_equal(model.eigenvalues_, plain)


def test_sums_in_single_precision_that_would_show_are_done_again(rng, monkeypatch):
    """Tight groups far apart: a well-conditioned K_ZZ, and landmarks that miss next to nothing."""
    groups = rng.integers(0, 12, 900)
    X = 50 * rng.standard_normal((12, 5))[groups] + 1e-3 * rng.standard_normal((900, 5))
    Z, used = np.array([X[groups == g].mean(axis=0) for g in range(12)]), []
    model = KernelPCA(3, kernel=Gaussian(width=30.0), solver=Landmarks(12, select=Z))
    plain = model.fit(X).eigenvalues_

    def noted(features, *rest):
        used.append(features.working)
        return sum_features(features, *rest)

    monkeypatch.setattr("mercer.solvers.landmarks.WORTH", 0)
    monkeypatch.setattr("mercer.solvers.landmarks.sum_features", noted)
    np.testing.assert_array_equal(model.fit(X).eigenvalues_, plain)
    assert used == [np.float32, np.float64]


def test_weights_are_repetitions(rng):
    X, weight = grouped(rng, 100), np.arange(100) % 3
    solver = Landmarks(20, select=X[:20])
    weighted = KernelPCA(4, kernel=Gaussian(sigma=3.0), solver=solver)
    weighted.fit(X, sample_weight=weight)
    repeated = KernelPCA(4, kernel=Gaussian(sigma=3.0), solver=solver).fit(X.repeat(weight, axis=0))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-10)


def test_a_smooth_kernel_is_whitened_before_it_is_summed(rng):
    """Plain sums of squares err here by more than the eigenvalue."""
    X = grouped(rng, 500)
    features = LandmarkFeatures(Gaussian(width=500.0), X[:60])
    assert features.size < 60
    sums = features.whitened(sum_features(features, Vectors(X)))
    A = features.gram @ features.basis
    np.testing.assert_allclose(features.basis.T @ A, np.eye(features.size), atol=1e-3)
    assert np.linalg.eigvalsh(sums.square)[0] > 0


def test_components_far_above_the_rounding_need_no_whitening_before_the_sums(rng, monkeypatch):
    """K_ZZ is singular here, but the eight leading components are not small."""
    X = swiss(rng, 800)
    features = LandmarkFeatures(Gaussian(width=12.0), X[:300], leading=8)
    assert features.size == 300 > features.basis.shape[1]
    solver = Landmarks(300, select=X[:300])
    plain = KernelPCA(8, kernel=Gaussian(width=12.0), solver=solver).fit(X)
    monkeypatch.setattr("mercer.gram.feature_sums.TALL", 2.0)
    careful = KernelPCA(8, kernel=Gaussian(width=12.0), solver=solver).fit(X)
    np.testing.assert_allclose(plain.eigenvalues_, careful.eigenvalues_, rtol=1e-7)
    exact = KernelPCA(8, kernel=Gaussian(width=12.0), solver=Dense()).fit(X)
    error = np.abs(plain.eigenvalues_ / exact.eigenvalues_ - 1).max()
    assert error <= plain.report_.estimated_error
    scores = (np.abs(model.transform(X)) for model in (plain, careful))  # signs are free
    np.testing.assert_allclose(*scores, atol=1e-6)


def test_precomputed_kernels_have_no_landmarks(rng):
    K = np.eye(5)
    with pytest.raises(KernelError, match="needs k.*davidson"):
        KernelPCA(2, kernel="precomputed", solver="landmarks").fit(K)
    with pytest.raises(DataError, match="select='best' is not known"):
        KernelPCA(2, solver=Landmarks(3, select="best")).fit(grouped(rng, 10))
    with pytest.raises(DataError, match="do not fit rows of 5 columns"):
        KernelPCA(2, solver=Landmarks(3, select=np.zeros((3, 2)))).fit(grouped(rng, 10))


class Stop(Exception):
    pass


def stop_at(step):
    def listener(stage, done, total):
        if stage == "landmarks" and done == step:
            raise Stop

    return listener


@pytest.fixture
def small_chunks(monkeypatch):
    """Many steps from few rows; every step saved."""
    monkeypatch.setattr("mercer.points.source.CHUNK", 100)
    monkeypatch.setattr("mercer.gram.checkpoint.OVERHEAD", 1e9)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("step", [1, 4, 9])
def test_a_stopped_fit_goes_on_to_the_same_bits(step, rng, tmp_path):
    X, path = grouped(rng, 950), tmp_path / "fit.checkpoint"
    whole = KernelPCA(4, solver=Landmarks(30), random_state=0).fit(X)
    model = KernelPCA(4, solver=Landmarks(30, checkpoint=path), random_state=0)
    with pytest.raises(Stop), mercer.listen(stop_at(step)):
        model.fit(X)
    assert path.exists()
    steps = []
    with mercer.listen(lambda stage, done, total: steps.append((stage, done, total))):
        model.fit(X)
    assert ("landmarks", step + 1, 10) in steps
    assert ("landmarks", step, 10) not in steps
    np.testing.assert_array_equal(model.eigenvalues_, whole.eigenvalues_)
    np.testing.assert_array_equal(model.residuals_, whole.residuals_)
    assert model.report_.estimated_error == whole.report_.estimated_error
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("change", ["data", "m", "kernel", "select", "components"])
def test_a_foreign_checkpoint_is_refused(change, rng, tmp_path):
    X, path = grouped(rng, 300), tmp_path / "fit.checkpoint"
    with pytest.raises(Stop), mercer.listen(stop_at(1)):
        KernelPCA(4, solver=Landmarks(30, checkpoint=path), random_state=0).fit(X)
    before = path.read_bytes()
    solver = Landmarks(
        31 if change == "m" else 30,
        select="uniform" if change == "select" else "kmeans",
        checkpoint=path,
    )
    kernel = Gaussian(sigma=0.3) if change == "kernel" else "gaussian"
    k = 5 if change == "components" else 4
    with pytest.raises(DataError, match="other data or parameters"):
        KernelPCA(k, kernel=kernel, solver=solver).fit(X + (change == "data"))
    assert path.read_bytes() == before


def saved_once(path, rows):
    """A checkpoint of one step over the rows, which gave sums of zero."""
    checkpoint = Checkpoint(path, "mine")
    checkpoint.begin(Vectors(rows.X), np.arange(2), Vectors(rows.X))
    sums = next(checkpoint.steps(rows, lambda *_: FeatureSums.zero(len(rows)), 0))
    checkpoint.keep(1, sums)


@pytest.mark.usefixtures("small_chunks")
def test_a_damaged_checkpoint_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    rows = MemoryRows(np.arange(6.0).reshape(3, 2))
    saved_once(path, rows)
    content = path.read_bytes()
    assert Checkpoint(path, "mine").position(FeatureSums.zero(3), rows)[0] == 1
    for damaged in (b"", b"PK", content[:-30], b"\x80\x04K\x01."):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="not a checkpoint of mercer"):
            Checkpoint(path, "mine")


def test_a_place_that_cannot_be_written_is_found_before_the_pass(rng, tmp_path):
    steps = []
    model = KernelPCA(2, solver=Landmarks(10, checkpoint=tmp_path / "no" / "x"))
    with (
        pytest.raises(FileNotFoundError, match="no/x"),
        mercer.listen(lambda stage, done, total: steps.append(stage)),
    ):
        model.fit(grouped(rng, 50))
    assert "landmarks" not in steps


@pytest.mark.slow
def test_fifty_kills_change_nothing(tmp_path):
    from benchmarks.kill import kill_loop

    killed, fits, difference = kill_loop(tmp_path, 50, n=150_000, m=150)
    assert killed == 50
    assert fits >= 1
    assert difference <= 1e-12


_STREAM = """
import sys
from pathlib import Path
import numpy as np
from mercer import KernelPCA
from mercer.kernels import Gaussian
from mercer.solvers import Landmarks
from benchmarks._measure import peak_mb
KernelPCA(5, kernel=Gaussian(sigma=3.0), solver=Landmarks(200), random_state=0).fit(sys.argv[1])
print(peak_mb())
"""


def peak_of(path):
    done = subprocess.run(
        [sys.executable, "-c", _STREAM, str(path)], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    from benchmarks._data import write_clusters

    small = peak_of(write_clusters(tmp_path / "small.npy", 100_000, 16, "float64"))
    large = peak_of(write_clusters(tmp_path / "large.npy", 2_000_000, 16, "float64"))  # 256 MB
    assert large < small + 40


@pytest.mark.slow
def test_a_kill_leaves_no_half_file(tmp_path):
    """The process is killed while it saves all the time: what is there can always be read."""
    path = tmp_path / "fit.checkpoint"
    script = (
        "import numpy as np; from mercer.gram import Checkpoint, FeatureSums\n"
        "from mercer.io import MemoryRows; import mercer.points.source\n"
        "mercer.points.source.CHUNK = 1; X = np.zeros((100_000, 3)); rows = MemoryRows(X)\n"
        "from mercer.points import Vectors; Z, pool = Vectors(X[:300]), Vectors(X)\n"
        f"c = Checkpoint({str(path)!r}, 'mine'); c.begin(Z, np.arange(2), pool)\n"
        "print(1, flush=True); import mercer.gram.checkpoint as m; m.OVERHEAD = 1e9\n"
        "zero = FeatureSums.zero(300); i = c.position(zero, rows)[0]\n"
        "for _ in c.steps(rows, lambda *_: zero, i): i += 1; c.keep(i, zero)\n"
    )
    last = 0
    for pause in np.random.default_rng(0).uniform(0.05, 0.4, 10):
        child = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
        child.stdout.readline()
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(pause)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        state = Checkpoint(path, "mine")._state
        done = int(state["scalars"][0]) if "scalars" in state else 0
        assert done >= last
        last = done
    assert last > 0


def test_landmarks_that_are_the_rows_have_their_own_scores(rng):
    X = rng.standard_normal((4, 3))[rng.integers(4, size=40)]
    model = KernelPCA(2, kernel="linear", solver=Landmarks(40, select=X), random_state=0)
    np.testing.assert_allclose(model.fit_transform(X), model.transform(X), atol=1e-9)


def test_shares_of_float32_rows_far_from_the_origin(rng):
    X = (rng.standard_normal((110, 5)) + 1e4).astype(np.float32)
    model = KernelPCA(1, kernel="linear", solver=Landmarks(110, select=X), random_state=0)
    with pytest.warns(NumericalWarning, match="scores"):  # a model in float32 has none here
        model.fit(X)
    exact = KernelPCA(1, kernel="linear", solver=Dense()).fit(X.astype(np.float64))
    ratios = (model.explained_variance_ratio_, exact.explained_variance_ratio_)
    np.testing.assert_allclose(*ratios, rtol=1e-3)


def test_the_error_of_landmarks_is_looked_at_by_weight(rng):
    X, weight = rng.standard_t(2, (666, 8)), 10 ** rng.uniform(0, 6, 666)
    kernel = Gaussian(sigma=2.0)
    model = KernelPCA(7, kernel=kernel, solver=Landmarks(100), random_state=0)
    exact = KernelPCA(7, kernel=kernel, solver=Dense()).fit(X, sample_weight=weight).eigenvalues_
    off = np.abs(model.fit(X, sample_weight=weight).eigenvalues_ / exact - 1).max()
    assert off <= model.report_.estimated_error


def test_rows_of_counts_are_read_from_a_file_where_they_are(tmp_path, rng):
    rows = np.abs(rng.standard_normal((600, 3)))
    np.save(tmp_path / "rows.npy", rows)
    model = KernelPCA(3, kernel="chi2", solver=Landmarks(50), random_state=0)
    found = model.fit(tmp_path / "rows.npy").eigenvalues_
    np.testing.assert_array_equal(found, model.fit(rows).eigenvalues_)
