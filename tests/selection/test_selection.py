"""The choice of width and components: by error in input space, and against chance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, KFold

import mercer
from mercer import KernelPCA
from mercer.exceptions import DataError, KernelError
from mercer.kernels import Cauchy, Gaussian, Polynomial
from mercer.selection import (
    DenoisingScore,
    choose_by_noise,
    choose_by_parallel_analysis,
    kernels_around,
)
from mercer.selection.search import Denoiser


@pytest.fixture(scope="module")
def X():
    return load_digits().data[:240] / 16


def test_score_is_minus_the_error_left(X):
    model = KernelPCA(30, solver="dense").fit(X[:200])
    rows = X[200:]
    noisy = rows + 0.2 * np.random.default_rng(7).standard_normal(rows.shape)
    expected = -((model.denoise(noisy) - rows) ** 2).sum(axis=1).mean()
    assert DenoisingScore(0.2, random_state=7)(model, rows) == pytest.approx(expected)
    own = DenoisingScore(
        lambda rows, rng: rows + 0.2 * rng.standard_normal(rows.shape), random_state=7
    )
    assert own(model, rows) == pytest.approx(expected)


def test_choice_is_the_smallest_error_of_honest_refits(X):
    kernels, counts = [Gaussian(0.05), Gaussian(0.2)], [2, 32]
    given = {"kernels": kernels, "counts": counts}
    choice = choose_by_noise(KernelPCA(solver="dense"), X, 0.2, exhaustive=True, **given)
    table = {(kernel.gamma, q): error for kernel, q, error in choice.table}
    for kernel in kernels:
        for q in counts:
            total = 0.0
            for s, (train, test) in enumerate(KFold(5, shuffle=True, random_state=0).split(X)):
                rng = np.random.default_rng(s)
                noisy = X[test] + 0.2 * rng.standard_normal(X[test].shape)
                model = KernelPCA(q, kernel=kernel, solver="dense").fit(X[train])
                total += ((model.denoise(noisy) - X[test]) ** 2).sum()
            assert table[kernel.gamma, q] == pytest.approx(total / len(X), rel=1e-6)
    assert choice.value == min(table.values())
    assert table[choice.kernel.gamma, choice.n_components] == choice.value
    quick = choose_by_noise(KernelPCA(solver="dense"), X, 0.2, **given)
    assert (quick.kernel, quick.n_components) == (choice.kernel, choice.n_components)
    assert quick.value == pytest.approx(choice.value, rel=1e-6)


@pytest.mark.parametrize("noise", [0.1, 0.3, 0.6])
def test_from_coarse_to_fine_is_the_choice_of_the_plain_search(X, noise):
    model = KernelPCA(solver="dense")
    plain = choose_by_noise(model, X, noise, kernels=kernels_around("gaussian", X), exhaustive=True)
    quick = choose_by_noise(model, X, noise, kernels=kernels_around("gaussian", X))
    assert len(plain.table) == 6 * 8  # and all components
    assert len(quick.table) < len(plain.table)
    assert quick.value == pytest.approx(plain.value, rel=0.002)
    assert quick.kernel.length == plain.kernel.length


def test_candidates_that_are_no_ladder_of_widths_are_all_looked_at(X):
    kernels = [Gaussian(5.0), Cauchy(), Gaussian(0.1)]
    choice = choose_by_noise(KernelPCA(solver="dense"), X, 0.3, kernels=kernels, counts=[16])
    assert choice.kernel is not kernels[0]


def test_the_widths_go_on_where_the_last_is_the_best(rng):
    plane = rng.standard_normal((150, 2)) @ rng.standard_normal((2, 6))  # linear: wide is right
    around = kernels_around("gaussian", plane)
    choice = choose_by_noise(KernelPCA(solver="dense"), plane, 0.5)
    assert choice.kernel.length > around[-1].length
    held = choose_by_noise(KernelPCA(solver="dense"), plane, 0.5, kernels=around)
    assert held.kernel.length == around[-1].length
    assert choice.value < held.value


def test_rough_errors_are_close_to_those_in_full(X):
    noisy = X[160:] + 0.3 * np.random.default_rng(0).standard_normal(X[160:].shape)
    model = KernelPCA(64, kernel=Gaussian(0.1), solver="dense").fit(X[:160])
    denoised = Denoiser.of(model, noisy, False)
    rough = [denoised(q, False).rows for q in (8, 64)]
    full = [denoised(q, True).rows for q in (8, 64)]
    for first, second in zip(rough, full, strict=True):
        errors = [((points - X[160:]) ** 2).sum() for points in (first, second)]
        assert errors[0] == pytest.approx(errors[1], rel=2e-3)
        assert errors[0] != errors[1]


def test_more_noise_asks_for_fewer_components(X):
    few, many = (
        choose_by_noise(KernelPCA(solver="dense"), X, noise, kernels=[Gaussian(0.1)]).n_components
        for noise in (0.7, 0.05)
    )
    assert few < many


def test_tune_sets_fits_and_tells(X):
    steps = []
    model = KernelPCA(solver="dense")
    with mercer.listen(lambda stage, done, total: steps.append((stage, done, total))):
        assert model.tune(X, noise=0.2, rows="clean") is model
    tuned = [(done, total) for stage, done, total in steps if stage == "tune"]
    assert tuned[0][0] == 0
    assert tuned[-1][0] == tuned[-1][1]
    assert tuned == sorted(tuned, key=lambda step: step[0])
    assert model.n_components == model.n_components_ == model.tuning_.n_components
    assert model.kernel_.length == pytest.approx(model.tuning_.kernel.length)
    noisy = X + 0.2 * np.random.default_rng(0).standard_normal(X.shape)
    default = KernelPCA(2, solver="dense").fit(X)
    assert ((model.denoise(noisy) - X) ** 2).sum() < ((default.denoise(noisy) - X) ** 2).sum()


def test_tune_says_what_it_cannot_do(X):
    with pytest.raises(KernelError, match="ParallelAnalysis"):
        KernelPCA(kernel="precomputed").tune(X[:50] @ X[:50].T, noise=0.1)
    for noise in (0, -1.0, np.nan):
        with pytest.raises(DataError, match="noise"):
            KernelPCA().tune(X, noise=noise)
    with pytest.raises(DataError, match="do not differ"):
        choose_by_noise(KernelPCA(), np.ones((20, 3)), kernels=[Gaussian(1.0)])
    with pytest.raises(DataError, match="match_noise='always'"):
        KernelPCA().tune(X, noise=0.1, rows="clean", match_noise="always")
    with pytest.raises(DataError, match="splits"):
        choose_by_noise(KernelPCA(), X[:3], 0.1)


def test_grid_search_by_score_and_by_noise(X):
    grid = {"kernel__gamma": [0.02, 0.5]}
    for scoring in (None, DenoisingScore(0.2)):
        search = GridSearchCV(
            KernelPCA(20, kernel=Gaussian(0.1), solver="dense"), grid, scoring=scoring, cv=2
        )
        assert search.fit(X).best_params_ == {"kernel__gamma": 0.02}
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_parallel_analysis_finds_the_components_of_a_ring(rng):
    angle = rng.uniform(0, 2 * np.pi, 200)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    choice = choose_by_parallel_analysis(
        KernelPCA(random_state=0), ring + 0.05 * rng.standard_normal((200, 2))
    )
    chance = choose_by_parallel_analysis(KernelPCA(random_state=0), rng.standard_normal((200, 2)))
    assert choice.value > 5 * max(chance.value, 0)
    assert choice.value == max(value for _, _, value in choice.table)


def test_kernels_around():
    X = np.random.default_rng(0).standard_normal((30, 2))
    for kernel in (Gaussian(width=2.0), Cauchy(2.0)):
        lengths = [k.length for k in kernels_around(kernel, X)]
        assert_allclose(lengths, [0.7, 1.0, 1.4, 2.0, 2.8, 4.0])
    assert [type(k) for k in kernels_around("polynomial", X)] == [Polynomial]


def test_the_default_noise_is_of_the_data_and_chooses_no_linear_kernel():
    X = load_digits().data[:200] / 16
    grid = {"kernel__gamma": [0.0005, 0.05], "n_components": [32]}
    for factor in (1.0, 1000.0):  # the same choice in other units
        units = {**grid, "kernel__gamma": [g / factor**2 for g in grid["kernel__gamma"]]}
        model = KernelPCA(kernel=Gaussian(1.0))
        search = GridSearchCV(model, units, scoring=DenoisingScore(), cv=2).fit(factor * X)
        assert search.best_params_["kernel__gamma"] == units["kernel__gamma"][1]
    own = GridSearchCV(model, grid, cv=2).fit(X)  # score means the same
    assert own.best_params_["kernel__gamma"] == 0.05
    assert_allclose(
        own.cv_results_["mean_test_score"],
        GridSearchCV(model, grid, cv=2, scoring=DenoisingScore())
        .fit(X)
        .cv_results_["mean_test_score"],
    )


def test_reconstruction_without_noise_would_choose_what_is_nearly_linear(X):
    """Why ``score`` adds noise: the digits with 64 components, as people would compare widths."""
    train, test = X[:180], X[180:]
    models = [KernelPCA(64, kernel=Gaussian(g)).fit(train) for g in (0.001, 0.0165, 0.1)]
    clean = [((model.reconstruct(test) - test) ** 2).sum() for model in models]
    assert np.argmin(clean) == 0
    assert np.argmax([model.score(test) for model in models]) > 0


def test_scores_of_data_frames(X):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"p{i}" for i in range(64)])
    model = KernelPCA(16, solver="dense").fit(frame[:200])
    assert model.score(frame[200:]) == pytest.approx(DenoisingScore()(model, frame[200:]))
    assert model.score(frame[200:]) == pytest.approx(
        KernelPCA(16, solver="dense").fit(X[:200]).score(X[200:])
    )
