"""The choice on noisy rows: an estimate of the error that no clean row was needed for."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer import KernelPCA
from mercer.exceptions import DataError, DenoisingWarning
from mercer.kernels import Gaussian, Linear
from mercer.selection import choose_by_noise, choose_by_risk
from mercer.selection.noise_level import estimate_noise, noise_of


def circle(n, noise, seed):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    clean = np.column_stack([np.cos(t), np.sin(t)])
    return clean, clean + noise * rng.standard_normal(clean.shape)


def true_error(choice, clean, noisy, kernel, q):
    model = KernelPCA(q, kernel=kernel, preimage=choice.preimage, random_state=0).fit(noisy)
    return float(((model.denoise(noisy) - clean) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("seed", range(3))
def test_the_estimate_is_the_error(seed):
    clean, noisy = circle(400, 0.3, seed)
    choice = choose_by_risk(KernelPCA(random_state=0), noisy, 0.3)
    error = true_error(choice, clean, noisy, choice.kernel, choice.n_components)
    assert abs(choice.risk.error - error) <= 4 * choice.risk.deviation
    assert error < 0.7 * choice.risk.noise
    assert choice.risk.noise == pytest.approx(2 * 0.09)


def test_cells_are_ranked_as_their_errors_are():
    clean = load_digits().data[:250] / 16
    noisy = clean + 0.25 * np.random.default_rng(0).standard_normal(clean.shape)
    choice = choose_by_risk(KernelPCA(random_state=0), noisy, 0.25)
    cells = [row for row in choice.table if row[0] != Linear()][:12]
    said = [value for _, _, value in cells]
    true = [true_error(choice, clean, noisy, kernel, q) for kernel, q, _ in cells]
    assert np.corrcoef(said, true)[0, 1] > 0.9
    best = true_error(choice, clean, noisy, choice.kernel, choice.n_components)
    assert best <= 1.1 * min(true)


def test_rows_of_a_plane_ask_for_linear_pca():
    rng = np.random.default_rng(1)
    clean = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 10))
    noisy = clean + 0.5 * rng.standard_normal(clean.shape)
    choice = choose_by_risk(KernelPCA(random_state=0), noisy, 0.5)
    assert choice.risk.error <= choice.risk.linear
    assert choice.risk.linear == pytest.approx(2 * 0.25, rel=0.3)


@pytest.mark.parametrize("shape", [(1000, 100), (200, 500)], ids=["tall", "wide"])
@pytest.mark.parametrize("level", [0.05, 0.3])
def test_noise_is_told_from_signal(shape, level):
    rng = np.random.default_rng(2)
    n, d = shape
    signal = rng.standard_normal((n, 8)) @ rng.standard_normal((8, d)) / 3
    noisy = signal + level * rng.standard_normal(shape)
    assert estimate_noise(noisy) == pytest.approx(level, rel=0.05)


def test_without_small_eigenvalues_nothing_is_guessed():
    _, noisy = circle(300, 0.3, 0)
    with pytest.raises(DataError, match="give noise="):
        noise_of(noisy)


@pytest.mark.parametrize("noise", [0.0, -1.0, [0.1, 0.2, 0.3], "speckles", float("nan")])
def test_a_level_that_is_none(noise):
    with pytest.raises(DataError, match="noise="):
        noise_of(np.ones((5, 2)), noise)


def test_counts_and_columns():
    X = np.array([[4.0, 9.0], [1.0, 0.0]])
    assert np.array_equal(noise_of(X, "poisson").variance(X), X)
    assert np.array_equal(noise_of(X, [1.0, 2.0]).variance(X), [[1, 4], [1, 4]])
    with pytest.raises(DataError, match="negative"):
        noise_of(-X, "poisson")


def test_tune_on_noisy_rows():
    clean, noisy = circle(300, 0.2, 4)
    model = KernelPCA(random_state=0).tune(noisy, noise=0.2, rows="noisy")
    assert model.risk_ is model.tuning_.risk
    assert model.preimage == model.tuning_.preimage
    assert ((model.denoise(noisy) - clean) ** 2).sum(axis=1).mean() < 0.75 * model.risk_.noise
    learnt = KernelPCA(random_state=0).tune(noisy, noise=0.2)  # takes the rows for clean ones
    assert ((learnt.denoise(noisy) - clean) ** 2).sum() > (
        (model.denoise(noisy) - clean) ** 2
    ).sum()
    with pytest.raises(DataError, match="rows='dirty'; give 'clean' or 'noisy'"):
        KernelPCA().tune(noisy, rows="dirty")


def test_rows_that_are_nothing_but_noise():
    X = np.random.default_rng(0).standard_normal((150, 5))
    with pytest.warns(DenoisingWarning, match="does not help"):
        KernelPCA(random_state=0).tune(X, noise=0.01, rows="noisy")


def test_a_level_that_is_too_large_shows():
    clean = load_digits().data[:150] / 16
    noisy = clean + 0.1 * np.random.default_rng(0).standard_normal(clean.shape)
    with pytest.warns(DenoisingWarning, match="below zero.*give a smaller noise"):
        KernelPCA(random_state=0).tune(noisy, noise=0.4, rows="noisy")


@pytest.mark.parametrize("noise", [0.02, 0.3])
def test_clean_rows_are_never_tuned_to_something_worse_than_the_default(noise):
    """All components at the kernel's own width are among the cells, whatever the search thinks."""
    X = load_digits().data[:240] / 16
    own, every = Gaussian().resolve(X), len(X) * 4 // 5 - 1
    default = choose_by_noise(KernelPCA(), X, noise, kernels=[own], counts=[every])
    assert choose_by_noise(KernelPCA(), X, noise).value <= default.value * (1 + 1e-9)
