"""Numbers that are no count, or too large: refused with words, never rounded in silence."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from mercer import (
    DeepGenerativeKernelPCA,
    GenerativeKernelPCA,
    IncrementalKernelPCA,
    KernelNovelty,
    KernelPCA,
    MissingKernelPCA,
    ParallelAnalysis,
    ReweightedKernelPCA,
    SparseKernelPCA,
    compress,
)
from mercer.exceptions import DataError, KernelError
from mercer.novelty import CrossFit
from mercer.preimage import Distances, Smoother
from mercer.solvers import Davidson, Landmarks

X = np.random.default_rng(0).standard_normal((80, 3))
HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
HOLES[:, 0] = X[:, 0]
WIDE = np.random.default_rng(2).standard_normal((600, 3))

SOLVERS = ("lanczos", "dense")

REFUSED = {
    # A third of the rows would have had no score, and whatever was in memory instead.
    "folds of novelty": lambda: KernelNovelty(5, calibration=CrossFit(2.5)).fit(X),
    "folds of weights": lambda: ReweightedKernelPCA(KernelPCA(3), folds=2.5).fit(X),
    "folds of holes": lambda: MissingKernelPCA(KernelPCA(3), folds=2.5).fit(HOLES),
    "one fold of holes": lambda: MissingKernelPCA(KernelPCA(3), folds=1).fit(HOLES),
    "no rounds of weights": lambda: ReweightedKernelPCA(KernelPCA(3), max_iter=0).fit(X),
    "no rounds of holes": lambda: MissingKernelPCA(KernelPCA(3), max_iter=0).fit(HOLES),
    "half a kernel": lambda: compress(KernelPCA(10).fit(X), 5.5),
    "kernels as a text": lambda: compress(KernelPCA(10).fit(X), "5"),
    "half a component": lambda: (
        SparseKernelPCA(n_kernels=9).fit(X).reconstruction_error(X, n_components=2.5)
    ),
    "smoother": lambda: KernelPCA(5, preimage=Smoother(2.7)).fit(X).denoise(X),
    "distances": lambda: KernelPCA(5, preimage=Distances(2.7)).fit(X).denoise(X),
    "distances as a text": lambda: KernelPCA(5, preimage=Distances("a")).fit(X).denoise(X),
    "no draws": lambda: KernelPCA(5).fit(X).imputation_draws(HOLES, 0),
    "no passes": lambda: KernelPCA(2, solver=Davidson(max_passes=0)).fit(WIDE),
    "half a landmark": lambda: KernelPCA(2, solver=Landmarks(2.5)).fit(X),
    "landmarks as a text": lambda: KernelPCA(2, solver=Landmarks("a")).plan(X),
    "no landmarks of a solver": lambda: KernelPCA(2, solver=Landmarks(0)).fit(X),
    "no landmarks": lambda: IncrementalKernelPCA(2, n_landmarks=0).fit(X),
    "no components to look at": lambda: KernelPCA(ParallelAnalysis(0)).fit(X),
    "no permutations": lambda: KernelPCA(ParallelAnalysis(n_permutations=0)).fit(X),
    "quantile": lambda: KernelPCA(ParallelAnalysis(quantile=2)).fit(X),
}


@pytest.mark.parametrize("mistake", REFUSED)
def test_it_is_refused_with_what_to_give(mistake):
    with pytest.raises(DataError, match=r"(give|ask for) "):
        REFUSED[mistake]()


def test_a_preimage_that_is_none_is_refused_before_the_density_is_fitted():
    with pytest.raises(KernelError, match="preimage='nonsense'"):
        GenerativeKernelPCA.from_fitted(KernelPCA(5).fit(X), X, preimage="nonsense")


def test_eigenvalues_of_sparse_rows_that_leave_float32_are_named():
    rows = csr_array((np.abs(WIDE) * 8e17).astype(np.float32))
    with pytest.raises(KernelError, match=r"overflows float32.*magnitude of \d"):
        KernelPCA(2, kernel="linear", center=False, solver="dense").fit(rows)


def test_squares_that_leave_float32_are_summed_in_float64():
    """A kept matrix as well as a streamed one, whose eigenvalues are in its range here."""
    rows = (np.abs(np.random.default_rng(0).standard_normal((300, 4))) * 2e17).astype(np.float32)
    found = [KernelPCA(2, kernel="linear", center=False, solver=name).fit(rows) for name in SOLVERS]
    np.testing.assert_allclose(found[0].eigenvalues_, found[1].eigenvalues_, rtol=1e-6)
    with pytest.raises(KernelError, match="overflows float32"):
        KernelPCA(2, kernel="linear", center=False, solver="lanczos").fit(8 * rows)


def test_another_preimage_has_another_filling():
    """It was chosen once, and kept for whatever pre-image came after."""
    model = KernelPCA(5).fit(X)
    model.impute(HOLES[:5])
    found = model.set_params(preimage="nearest").impute(HOLES[:5])
    np.testing.assert_array_equal(found, KernelPCA(5, preimage="nearest").fit(X).impute(HOLES[:5]))


def test_layers_speak_of_the_scores_that_they_were_given():
    model = DeepGenerativeKernelPCA((5, 3), random_state=0).fit(X)
    with pytest.raises(DataError, match="Z has 7 columns.*as transform returns"):
        model.inverse_transform(np.zeros((2, 7)))


def test_layers_with_frames_as_output_interpolate():
    pytest.importorskip("pandas")
    plain = DeepGenerativeKernelPCA((5, 3), random_state=0).fit(X)
    framed = DeepGenerativeKernelPCA((5, 3), random_state=0).set_output(transform="pandas").fit(X)
    np.testing.assert_array_equal(framed.interpolate(X[0], X[1]), plain.interpolate(X[0], X[1]))


def test_rows_of_counts_are_read_from_a_file_where_they_are(tmp_path):
    rows = np.abs(WIDE)
    np.save(tmp_path / "rows.npy", rows)
    model = KernelPCA(3, kernel="chi2", solver=Landmarks(50), random_state=0)
    found = model.fit(tmp_path / "rows.npy").eigenvalues_
    np.testing.assert_array_equal(found, model.fit(rows).eigenvalues_)


def test_no_other_row_is_blamed_for_an_entry_below_zero():
    """Rows are packed in blocks, which count from 0 each."""
    rows = np.abs(np.random.default_rng(0).standard_normal((1500, 3)))
    model = KernelPCA(2, kernel="chi2").fit(rows[:100])
    rows[1000, 1] = -0.25
    with pytest.raises(DataError, match=r"but column 1 has -0\.25;"):
        model.transform(rows)
    with pytest.raises(DataError, match=r"row 1000, column 1 is -0\.25;"):
        model.fit(rows)
