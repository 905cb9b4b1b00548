"""What is chosen by hidden values, and what comes of it."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits

import mercer
from mercer import KernelPCA, MissingKernelPCA
from mercer.exceptions import DataError
from mercer.kernels import Linear
from mercer.robust import Imputer, fit_gaussian, impute, mixed_masks, one_hot_groups, shrinkage
from tests import naive


def spectra(n, rng):
    """Smooth curves of four numbers, as a spectrometer sees them."""
    band = np.linspace(0, 1, 60)
    bumps = np.exp(-((band - np.array([[0.2], [0.4], [0.65], [0.8]])) ** 2) / 0.02)
    return (rng.dirichlet(np.ones(4), n) * rng.uniform(0.5, 1.5, (n, 1))) @ bumps + 0.002 * (
        rng.standard_normal((n, 60))
    )


def rmse(filled, truth, holes):
    return np.sqrt(((filled - truth)[holes] ** 2).mean())


def test_shrunk_rounds_of_the_linear_kernel_end_at_the_conditional_mean(rng):
    """[τ (C + τ)⁻¹ (x - μ)]_m = 0: the Gaussian of covariance C + τ."""
    X = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 4)) + 2
    model = KernelPCA(4, kernel=Linear()).fit(X)
    noise = 0.05
    given = X[:20].copy()
    given[::2, 1], given[1::2, [0, 3]] = np.nan, np.nan
    factors = shrinkage(model.explained_variance_, noise)
    found = impute(model.subspace_, given, limits=Imputer(1e-9, 5000), shrink=factors)
    C = np.cov(X.T, bias=True)
    expected = naive.conditional_means(X.mean(axis=0), C + noise * np.trace(C) * np.eye(4), given)
    assert found.converged.all()
    assert_allclose(found.points, expected, atol=1e-5)


def test_every_component_is_no_worse_than_some(rng):
    """With all of them every point lies in the subspace; imputation once ran astray (0.2)."""
    X = spectra(500, rng)
    holes = rng.random((150, 60)) < 0.5
    given = np.where(holes, np.nan, X[350:])
    errors = {q: rmse(KernelPCA(q).fit(X[:350]).impute(given), X[350:], holes) for q in (64, None)}
    linear = rmse(fit_gaussian(X[:350]).fill(given), X[350:], holes)
    assert errors[None] <= 1.01 * errors[64]
    assert errors[None] <= 1.01 * linear < 0.004


def test_a_row_is_filled_alike_alone_and_among_others(rng):
    X = load_digits().data[:300] / 16
    model = KernelPCA(32).fit(X[:250])
    given = np.where(rng.random((50, 64)) < 0.3, np.nan, X[250:])
    together = model.impute(given)
    assert_allclose(together[7:8], model.impute(given[7:8]), atol=1e-6)
    assert_allclose(together, KernelPCA(32).fit(X[:250]).impute(given), atol=1e-6)


def test_linear_structure_is_left_to_the_linear_answer(rng):
    X = rng.standard_normal((400, 3)) @ rng.standard_normal((3, 12)) + 0.1 * rng.standard_normal(
        (400, 12)
    )
    holes = rng.random(X.shape) < 0.2
    given = np.where(holes, np.nan, X)
    model = MissingKernelPCA(random_state=0).fit(given)
    linear = rmse(fit_gaussian(given).fill(given), X, holes)
    assert rmse(model.imputed_, X, holes) <= 1.03 * linear  # choosing has its price
    before, after = model.filling_.errors.T
    assert (after <= before * (1 + 1e-12)).all()


@pytest.mark.slow
def test_where_it_is_not_linear_the_kernel_counts(rng):
    angle = rng.uniform(0, 2 * np.pi, (400, 1))
    X = np.hstack([np.cos(angle), np.sin(angle), np.cos(2 * angle), np.sin(2 * angle)])
    holes = rng.random(X.shape) < 0.2
    holes[holes.all(axis=1), 0] = False
    given = np.where(holes, np.nan, X)
    model = MissingKernelPCA(random_state=0).fit(given)
    assert rmse(model.imputed_, X, holes) < 0.85 * rmse(fit_gaussian(given).fill(given), X, holes)
    assert model.filling_.share.max() > 0.9


def test_few_holes_take_little_time(rng):
    """699 rows of 9 columns with 16 holes took 65 s."""
    X = np.clip(np.round(rng.gamma(2, 1.5, (699, 1)) + rng.normal(0, 1, (699, 9))), 1, 10)
    X[rng.choice(699, 16, replace=False), 5] = np.nan
    started = time.process_time()
    MissingKernelPCA(random_state=0).fit(X)
    assert time.process_time() - started < 10


def test_draws_are_as_wide_as_the_errors(rng):
    X = load_digits().data[rng.permutation(1797)[:500]] / 16
    model = KernelPCA().fit(X[:350])
    holes = rng.random((150, 64)) < 0.3
    given = np.where(holes, np.nan, X[350:])
    draws = model.imputation_draws(given, 4, random_state=0)
    assert draws.shape == (4, 150, 64)
    assert_array_equal(draws[:, ~holes], np.repeat(X[350:][~holes][None], 4, axis=0))
    centre = model.impute(given)
    ratio = np.sqrt(((draws - centre)[:, holes] ** 2).mean()) / rmse(centre, X[350:], holes)
    assert 0.85 < ratio < 1.2
    assert_array_equal(draws, model.imputation_draws(given, 4, random_state=0))


def test_too_few_rows_for_a_spread_are_named(rng):
    X = rng.standard_normal((20, 3))
    with pytest.raises(DataError, match="20 support points"):
        KernelPCA(2).fit(X).imputation_draws([[1.0, np.nan, 0.0]])


@pytest.mark.parametrize("n", [80, 20])  # of 20 rows too few values are known to choose by
def test_what_was_chosen_is_saved(rng, tmp_path, n):
    X = np.where(rng.random((n, 5)) < 0.1, np.nan, rng.standard_normal((n, 1)) + np.zeros(5))
    X[np.isnan(X).all(axis=1), 0] = 0
    model = MissingKernelPCA(KernelPCA(4), random_state=0).fit(X)
    model.save(tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    assert_array_equal(again.filling_.share, model.filling_.share)
    new = [[1.0, np.nan, 1.0, np.nan, 1.0]]
    assert_allclose(again.impute(new), model.impute(new))


def test_slots_of_a_category_are_hidden_together(rng):
    kinds = 1.3 * np.eye(3)[rng.integers(0, 3, 200)]
    flag = 2.0 * np.eye(2)[rng.integers(0, 2, 200)]
    X = np.hstack([rng.standard_normal((200, 2)), kinds, flag, rng.integers(0, 2, (200, 1))])
    assert_array_equal(one_hot_groups(X), [0, 1, 2, 2, 2, 3, 3, 4])
    masks = mixed_masks(X, rng)
    assert masks.any(axis=1).all()
    assert (masks[:, 2:5].sum(axis=1) % 3 == 0).all()
    assert (masks[:, 5:7].sum(axis=1) % 2 == 0).all()
    assert 0.1 < masks[:, 2].mean() < 0.6
    X[5, 2:5] = np.nan  # a missing category is missing in all of its slots
    assert_array_equal(one_hot_groups(X), [0, 1, 2, 2, 2, 3, 3, 4])
    X[:, 2:5] *= [1, 2, 0.5]  # scaled column by column
    assert_array_equal(one_hot_groups(X), [0, 1, 2, 2, 2, 3, 3, 4])
    X[7, 2:5] = [0, 2.6, 0.65]  # two at once are no category
    assert_array_equal(one_hot_groups(X)[2:5], [2, 3, 4])


def test_masks_hide_something_in_every_row(rng):
    masks = mixed_masks(np.zeros((200, 3)), rng)
    assert masks.any(axis=1).all()
    assert mixed_masks(np.zeros((50, 1)), rng).all()


def test_another_preimage_has_another_filling(rng):
    """It was chosen once, and kept for whatever pre-image came after."""
    X = rng.standard_normal((80, 3))
    holes = np.where(rng.random((5, 3)) < 0.3, np.nan, X[:5])
    holes[:, 0] = X[:5, 0]
    model = KernelPCA(5).fit(X)
    model.impute(holes)
    found = model.set_params(preimage="nearest").impute(holes)
    np.testing.assert_array_equal(found, KernelPCA(5, preimage="nearest").fit(X).impute(holes))


def test_a_column_that_is_seldom_observed_can_be_filled(rng):
    """None of the rows to learn from has it: nothing can be chosen, and the usual is taken."""
    X = rng.standard_normal((700, 3))
    X[:, 2] = np.nan
    X[np.random.default_rng(0).permutation(700)[3], 2] = 1.0  # one of the rows that are held out
    model = MissingKernelPCA(KernelPCA(2, random_state=0), random_state=0).fit(X)
    assert np.isfinite(model.transform(X)).all()
