"""What the way through tiles promises: no matrix as long as the rows on both sides."""

import tracemalloc

import numpy as np
import pytest

from mercer import GenerativeKernelPCA, KernelPCA, RKMClassifier
from mercer.generative import LeastSquaresMachine
from mercer.kernels import Gaussian
from mercer.live import describe
from mercer.solvers import Landmarks

MEGABYTE = 1 << 20


def peak_bytes(work):
    """The most that ``work()`` holds at a time, beside what was there before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(scope="module")
def classifier():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 20))
    return RKMClassifier().fit(X, X[:, 0] > 0)


@pytest.fixture(scope="module")
def many_rows():
    return np.random.default_rng(1).standard_normal((20_000, 20))


def test_predicting_many_rows_adds_little_memory(classifier, many_rows):
    assert peak_bytes(lambda: classifier.predict(many_rows)) < 30 * MEGABYTE


def test_the_bar_is_one_that_the_whole_matrix_fails(classifier, many_rows, monkeypatch):
    def around_the_tiles(self, X):
        return self.kernel(X, self.support) @ self.hidden / self.eta + self.bias

    monkeypatch.setattr(LeastSquaresMachine, "predict", around_the_tiles)
    assert peak_bytes(lambda: classifier.predict(many_rows)) > 200 * MEGABYTE


@pytest.fixture
def evaluated(monkeypatch):
    """How many values of a Gaussian kernel have been computed: ``evaluated[0]``."""
    count, fill = [0], Gaussian.fill

    def counting(self, A, B, out):
        count[0] += out.size
        return fill(self, A, B, out)

    monkeypatch.setattr(Gaussian, "fill", counting)
    return count


@pytest.mark.parametrize("preimage", ["ridge", "smoother", "nearest"])
def test_a_warm_generator_does_no_work_of_all_pairs(evaluated, preimage):
    n = 1200
    X = np.random.default_rng(0).standard_normal((n, 6))
    model = GenerativeKernelPCA(10, preimage=preimage, random_state=0).fit(X)
    H = model.sample_hidden(1)
    assert evaluated[0] >= n * n / 2, "the fit is counted, or the count means nothing"
    model.generate(H)
    evaluated[0] = 0
    peak = peak_bytes(lambda: model.generate(H))
    assert evaluated[0] <= 2 * n
    assert peak < 8 * n * n / 10


def test_a_page_holds_no_scores_of_all_rows_on_all_components(many_rows):
    """Of 100,000 rows and 1,000 components they took 1.8 GB, to show ten of them."""
    rows = many_rows[:, :3]
    model = KernelPCA(300, solver=Landmarks(400), random_state=0).fit(rows)
    arrays = {}
    peak = peak_bytes(lambda: arrays.update(describe(model, rows).arrays))
    assert peak < 40 * MEGABYTE < len(rows) * 301 * 8
    Z, error = model.subspace_.scores_and_residual(rows)
    assert arrays["scores"].shape == (20_000, 50)
    np.testing.assert_allclose(arrays["scores"], Z[:, :50], atol=1e-6)
    np.testing.assert_allclose(arrays["error"], error, atol=1e-6)
