"""The choice on noisy rows: an estimate of the error that no clean row was needed for."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mercer import KernelPCA, TableModel
from mercer.exceptions import DataError, DenoisingWarning, said
from mercer.kernels import Gaussian, Linear
from mercer.landmarks import KMeans
from mercer.preimage import Shrunk
from mercer.selection import choose_by_noise, choose_by_risk, kernels_around
from mercer.selection.blind_spot import BlindSpots
from mercer.selection.noise_level import estimate_noise, noise_of
from mercer.selection.risk import POWERS, TRIALS, Probes
from mercer.selection.search import Cells
from mercer.solvers import Landmarks


def circle(n, noise, seed):
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    clean = np.column_stack([np.cos(t), np.sin(t)])
    return clean, clean + noise * rng.standard_normal(clean.shape)


def true_error(preimage, clean, noisy, kernel, q):
    model = KernelPCA(q, kernel=kernel, preimage=preimage, random_state=0).fit(noisy)
    return float(((model.denoise(noisy) - clean) ** 2).sum(axis=1).mean())


@pytest.mark.parametrize("seed", range(2))
def test_the_estimate_is_the_error(seed):
    clean, noisy = circle(300, 0.3, seed)
    choice = choose_by_risk(KernelPCA(random_state=0), noisy, 0.3)
    error = true_error(choice.preimage, clean, noisy, choice.kernel, choice.n_components)
    assert abs(choice.risk.error - error) <= 4 * choice.risk.deviation
    assert error < 0.7 * choice.risk.noise
    assert choice.risk.noise == pytest.approx(2 * 0.09)


def test_cells_are_ranked_as_their_errors_are():
    clean = load_digits().data[:250] / 16
    noisy = clean + 0.25 * np.random.default_rng(0).standard_normal(clean.shape)
    level = noise_of(noisy, 0.25)
    kernels = kernels_around("gaussian", noisy, (0.7, 1.4))
    cells = Cells(
        KernelPCA(random_state=0),
        Probes.of(noisy, level).trials(range(TRIALS)),
        [4, 16, 64],
        kernels,
    )
    cells.fill()
    said = [value for _, _, value in cells.table()]
    true = [true_error("auto", clean, noisy, kernel, q) for kernel, q, _ in cells.table()]
    assert np.corrcoef(said, true)[0, 1] > 0.98
    assert true[np.argmin(said)] <= 1.05 * min(true)


def gavish_donoho(X, sigma):
    """Singular values shrunk for the squared error, the level of the noise known."""
    mean, (n, d) = X.mean(axis=0), X.shape
    U, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
    beta, y = d / n, s / (sigma * np.sqrt(n))
    kept = np.sqrt(np.maximum((y**2 - beta - 1) ** 2 - 4 * beta, 0)) / y * (y > 1 + np.sqrt(beta))
    return mean + (U * kept * sigma * np.sqrt(n)) @ Vt


@pytest.mark.parametrize("noise", [0.5, 2.0])
def test_rows_of_a_plane_ask_for_linear_pca_with_shrunk_scores(noise):
    rng = np.random.default_rng(1)
    clean = rng.standard_normal((400, 3)) @ rng.standard_normal((3, 20))
    noisy = clean + noise * rng.standard_normal(clean.shape)
    choice = choose_by_risk(KernelPCA(random_state=0), noisy, noise)
    assert choice.risk.error <= choice.risk.linear
    error = true_error(choice.preimage, clean, noisy, choice.kernel, choice.n_components)
    shrunk = ((gavish_donoho(noisy, noise) - clean) ** 2).sum(axis=1).mean()
    assert error <= 1.05 * shrunk
    assert choice.risk.error == pytest.approx(error, rel=0.25)


def test_shrunk_linear_pca_is_estimated_as_any_other_candidate():
    """From one decomposition, and from fits with probes: the same number."""
    rng = np.random.default_rng(1)
    noisy = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 7)) + rng.normal(size=(80, 7))
    probes = Probes.of(noisy, noise_of(noisy, 1.0))
    for row, power in zip(probes.linear(), POWERS, strict=True):
        candidate = KernelPCA(preimage=Shrunk(power=power), solver="dense")
        cells = Cells(candidate, probes.trials(range(16)), [2, 4], [Linear()])
        cells.fill()
        assert [value for *_, value in cells.table()] == pytest.approx(row[[1, 3]], rel=1e-6)


@pytest.mark.parametrize("shape", [(1000, 100), (200, 500)], ids=["tall", "wide"])
@pytest.mark.parametrize("level", [0.05, 0.3])
def test_noise_is_told_from_signal(shape, level):
    rng = np.random.default_rng(2)
    n, d = shape
    signal = rng.standard_normal((n, 8)) @ rng.standard_normal((8, d)) / 3
    noisy = signal + level * rng.standard_normal(shape)
    assert estimate_noise(noisy) == pytest.approx(level, rel=0.05)


def test_noise_of_about_as_many_rows_as_columns():
    """Forty directions of signal leave the noise 260 of 300 rows to be seen in."""
    rng = np.random.default_rng(2)
    strength = 3.0 * np.arange(1, 41) ** -0.5
    signal = rng.standard_normal((300, 40)) * strength @ rng.standard_normal((40, 256))
    noisy = signal + rng.standard_normal(signal.shape)
    assert estimate_noise(noisy) == pytest.approx(1.0, rel=0.04)


def test_many_rows_hide_the_noise_no_better_than_few():
    """Of 40,000 rows every eigenvalue shows some of the bent signal, and none is noise alone."""
    rng = np.random.default_rng(0)
    state = rng.uniform(-1, 1, (40_000, 4))
    bent = np.tanh(2 * state @ rng.standard_normal((4, 32)) + rng.standard_normal(32))
    noisy = bent + 0.3 * rng.standard_normal(bent.shape)
    assert estimate_noise(noisy) == pytest.approx(0.3, rel=0.04)


def test_signs_are_no_stream_that_rows_are_drawn_by():
    """A probe that knows the noise is no probe: [1, 0] is the stream of 1, which users take."""
    rows = np.random.default_rng(0).uniform(size=(40, 2))
    signs = Probes.of(rows, noise_of(rows, 0.1))._signs(0)
    for seed in range(100):
        drawn = np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), rows.shape)
        assert not np.array_equal(signs, drawn)


def test_a_level_of_speckle_is_taken_where_no_logarithm_can_check_it(rng):
    level = noise_of(rng.standard_normal((40, 6)), "speckle:0.3")
    assert level.size == 0.3
    assert np.isnan(level.seen).all()


@pytest.mark.parametrize("seed", range(3))
def test_few_columns_show_their_noise_around_a_curve(seed):
    _, noisy = circle(300, 0.3, seed)
    level = noise_of(noisy)
    assert level.size == pytest.approx(0.3, rel=0.1)
    assert level.deviation.shape == ()  # one number for all columns
    assert 0 < level.uncertainty < 0.15
    assert "flat pieces" in str(level)


def test_each_column_has_its_level():
    """Of noise that need not be Gaussian, beside a column that does not vary, in any units."""
    rng = np.random.default_rng(0)
    levels = np.geomspace(0.5, 2.0, 12)
    clean = rng.standard_normal((600, 2)) @ rng.standard_normal((2, 12))
    noise = rng.laplace(scale=levels / np.sqrt(2), size=clean.shape)
    noisy = np.column_stack([clean + noise, np.full(600, 5.0)])
    units = np.append(np.geomspace(1e-3, 1e3, 12), 1.0)
    level = noise_of(noisy, "columns")
    assert level.deviation[:-1] == pytest.approx(levels, rel=0.12)
    assert level.deviation[-1] == 0
    assert np.allclose(noise_of(noisy * units, "columns").deviation, level.deviation * units)
    assert "of each column" in str(level)
    with pytest.raises(DataError, match="give noise=, one number for each"):
        noise_of(noisy[:20], "columns")


def test_levels_of_columns_that_are_estimated_are_nearly_as_good_as_true_ones():
    rng = np.random.default_rng(0)
    levels = np.geomspace(0.5, 2.0, 12)
    clean = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 12))
    noisy = clean + levels * rng.standard_normal(clean.shape)
    errors = [
        true_error(choice.preimage, clean, noisy, choice.kernel, choice.n_components)
        for choice in (
            choose_by_risk(KernelPCA(random_state=0), noisy, noise) for noise in ("columns", levels)
        )
    ]
    assert errors[0] <= 1.1 * errors[1]


def test_rows_of_the_fit_are_not_matched_but_by_landmarks():
    """Each is its own nearest support point, so that "auto" has nothing to choose for ``tune``."""
    noisy = circle(200, 0.3, 0)[1]
    exact = KernelPCA(8, random_state=0).fit(noisy)
    assert np.array_equal(
        exact.denoise(noisy, match_noise="auto"), exact.denoise(noisy, match_noise=False)
    )
    few = KernelPCA(8, solver=Landmarks(20, select=KMeans()), random_state=0).fit(noisy)
    assert not np.allclose(
        few.denoise(noisy, match_noise="auto"), few.denoise(noisy, match_noise=False)
    )


def test_where_nothing_shows_the_noise_the_words_to_type_are_said():
    blob = np.random.default_rng(0).standard_normal((200, 2))
    with pytest.raises(DataError, match="give noise=.* or rows='clean'"):
        noise_of(blob)


def test_curves_show_their_noise_between_neighbouring_columns():
    rng = np.random.default_rng(0)
    t = np.linspace(0, 1, 60)
    place, width = rng.uniform(0.2, 0.8, (40, 1)), rng.uniform(0.05, 0.3, (40, 1))
    spectra = np.exp(-(((t - place) / width) ** 2)) + 0.1 * rng.standard_normal((40, 60))
    assert estimate_noise(spectra) == pytest.approx(0.1, rel=0.1)


def test_the_circle_with_nothing_set():
    """Two components of a wide kernel have nearly the same squared error, and twice the distance.

    One probe cannot tell them from four (its standard error is as large as their difference).
    """
    apart = []
    for n, seed in ((300, 0), (500, 13), (1000, 1)):
        _, noisy = circle(n, 0.3, seed)
        clean = KernelPCA(random_state=0).tune(noisy).denoise(noisy)
        apart.append(np.abs(np.hypot(*clean.T) - 1).mean())
    assert max(apart) <= 0.075
    assert np.mean(apart) <= 0.07


def test_scores_that_are_not_shrunk_may_take_another_kernel():
    """The best near the one that is best for shrunk ones leaves a distance of 0.12 here."""
    rng = np.random.default_rng([7, 300, 7])
    t = rng.uniform(0, 2 * np.pi, 300)
    noisy = np.column_stack([np.cos(t), np.sin(t)]) + 0.3 * rng.standard_normal((300, 2))
    clean = KernelPCA(random_state=0).tune(noisy, noise=0.3).denoise(noisy)
    assert np.abs(np.hypot(*clean.T) - 1).mean() <= 0.08


def test_an_estimated_level_is_lowered_until_it_is_possible():
    """What sensors say each of their own is taken for noise here, eight times as much as there is.

    Lowered once, the level left rows worse than they were, and was said to be sure.
    """
    rng = np.random.default_rng(10)
    state = rng.uniform(-1, 1, (250, 3))
    clean = np.tanh(2 * state @ rng.standard_normal((3, 16)) + rng.standard_normal(16))
    noisy = clean + 0.1 * rng.standard_normal(clean.shape)
    assert noise_of(noisy).size > 0.5
    with pytest.warns(DenoisingWarning, match="below zero"):
        model = KernelPCA(random_state=0).tune(noisy)
    error = ((model.denoise(noisy) - clean) ** 2).sum(axis=1).mean()
    assert error < 0.8 * 16 * 0.1**2
    assert abs(model.risk_.error - error) < 2 * model.risk_.deviation
    assert str(model.risk_.level).count("lowered") == 1


@pytest.mark.parametrize("d", [2, 3])
def test_probes_of_few_columns_are_balanced(d):
    """Signs of two columns of a row agree in half of the probes, so that their slopes cancel."""
    rows = np.random.default_rng(0).standard_normal((200, d))
    probes = Probes.of(rows, noise_of(rows, 0.1))
    signs = np.stack([probes._signs(k) for k in range(TRIALS * probes.count)]).astype(float)
    products = np.einsum("pni,pnj->nij", signs, signs)
    assert np.array_equal(products, np.broadcast_to(len(signs) * np.eye(d), products.shape))


def test_speckle():
    rng = np.random.default_rng(0)
    clean = 3 + np.sin(rng.uniform(0, 6, (200, 1)) * np.arange(1, 13) / 4)
    rows = clean * (1 + 0.2 * rng.standard_normal(clean.shape))
    given, seen = noise_of(rows, "speckle:0.2"), noise_of(rows, "speckle")
    assert given.variance(rows).mean() == pytest.approx(0.04 * (clean**2).mean(), rel=0.1)
    assert seen.size == pytest.approx(0.2, rel=0.15)
    choice = choose_by_risk(KernelPCA(random_state=0), rows, "speckle:0.2")
    error = true_error(choice.preimage, clean, rows, choice.kernel, choice.n_components)
    assert choice.risk.error == pytest.approx(error, rel=0.25)
    with pytest.raises(DataError, match="not above zero"):
        noise_of(rows - 3, "speckle")
    with pytest.raises(DataError, match="such as 'speckle:0.3'"):
        noise_of(rows, "speckle:high")


def test_an_uncertain_level_widens_the_error():
    _, noisy = circle(300, 0.3, 0)
    level = noise_of(noisy)
    unsure = choose_by_risk(KernelPCA(random_state=0), noisy, level, counts=[4])
    sure = choose_by_risk(KernelPCA(random_state=0), noisy, level.size, counts=[4])
    assert unsure.risk.error == pytest.approx(sure.risk.error)
    assert unsure.risk.deviation > sure.risk.deviation


def test_what_is_chosen_is_estimated_on_all_rows():
    """The noise's own size in these rows is all that is unsure of a plane; in 600 it is more so."""
    rng = np.random.default_rng(0)
    noisy = rng.standard_normal((1000, 3)) @ rng.standard_normal((3, 60))
    noisy += rng.standard_normal(noisy.shape)
    choice = choose_by_risk(KernelPCA(random_state=0), noisy, 1.0, kernels=[Linear()], counts=[3])
    assert choice.risk.deviation < 1.1 * np.sqrt(2 * 60 / 1000)


def test_more_rows_than_are_searched():
    clean, noisy = circle(400, 0.3, 0)
    choice = choose_by_risk(KernelPCA(random_state=0), noisy, 0.3, max_rows=100)
    error = true_error(choice.preimage, clean, noisy, choice.kernel, choice.n_components)
    assert error < 0.65 * choice.risk.noise


def test_rows_far_from_zero_in_single_precision():
    _, noisy = circle(200, 0.2, 0)
    near = choose_by_risk(KernelPCA(random_state=0), noisy, 0.2, counts=[4])
    far = (noisy + 300).astype(np.float32)
    found = choose_by_risk(KernelPCA(random_state=0), far, 0.2, counts=[4])
    assert found.risk.error == pytest.approx(near.risk.error, rel=0.05)


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
    model = KernelPCA(random_state=0).tune(noisy, noise=0.2)
    assert model.risk_ is model.tuning_.risk
    table = TableModel(KernelPCA(random_state=0)).tune({"a": noisy[:, 0], "b": noisy[:, 1]})
    assert table.risk_.error < table.risk_.noise
    assert "flat pieces" in str(table.risk_)
    assert model.preimage == model.tuning_.preimage
    assert ((model.denoise(noisy) - clean) ** 2).sum(axis=1).mean() < 0.75 * model.risk_.noise
    learnt = KernelPCA(random_state=0).tune(noisy, noise=0.2, rows="clean")
    assert learnt.risk_ is None
    assert ((learnt.denoise(noisy) - clean) ** 2).sum() > (
        (model.denoise(noisy) - clean) ** 2
    ).sum()
    with pytest.raises(DataError, match="rows='dirty' .* give one of 'auto', 'noisy', 'clean'"):
        KernelPCA().tune(noisy, rows="dirty")


def test_rows_that_are_nothing_but_noise():
    X = np.random.default_rng(0).standard_normal((150, 5))
    with pytest.warns(DenoisingWarning, match="does not help"):
        KernelPCA(random_state=0).tune(X, noise=0.01, rows="noisy")


def test_a_level_that_is_too_large_shows():
    clean = load_digits().data[:150] / 16
    noisy = clean + 0.1 * np.random.default_rng(0).standard_normal(clean.shape)
    with pytest.warns(DenoisingWarning, match="below zero.*rows='clean'.*give a smaller noise"):
        KernelPCA(random_state=0).tune(noisy, noise=0.4, rows="noisy")


def waves(n, seed=0):
    """A bent curve in 24 columns."""
    rng = np.random.default_rng(seed)
    return np.sin(rng.uniform(1, 4, (n, 1)) * np.linspace(0.5, 2, 24) + rng.uniform(0, 2, (n, 1)))


@pytest.mark.parametrize(
    ("factor", "shared", "words"),
    [
        (1.0, False, ""),
        (1.5, False, "noise is smaller, or columns share it"),
        (1 / 1.5, False, "noise is larger, or each column has variation of its own"),
        (1.0, True, "noise is smaller, or columns share it"),
    ],
    ids=["right", "too large", "too small", "shared"],
)
@pytest.mark.parametrize("columns", [False, True], ids=["one level", "one of each column"])
def test_rows_disagree_with_a_level_that_is_wrong(factor, shared, words, columns):
    clean = waves(300)
    added = np.random.default_rng(1).standard_normal(clean.shape)
    if shared:
        added = (added + np.roll(added, 1, axis=1) + np.roll(added, 2, axis=1)) / np.sqrt(3)
    sigma = np.linspace(0.2, 0.4, 24) if columns else np.array(0.3)
    level = noise_of(clean + sigma * added, factor * sigma)
    assert words in level.doubt
    assert bool(level.doubt) == bool(words)


def test_a_level_that_the_rows_disagree_with_is_warned_of():
    noisy = waves(100) + 0.2 * np.random.default_rng(1).standard_normal((100, 24))
    with pytest.warns(DenoisingWarning, match="noise is larger.*compare with noise=None"):
        KernelPCA(random_state=0).tune(noisy, noise=0.1)


def test_speckle_that_is_given_is_compared_with_the_rows():
    rng = np.random.default_rng(0)
    rows = (3 + waves(300)) * rng.gamma(1 / 0.04, 0.04, (300, 24))
    assert not noise_of(rows, "speckle:0.2").doubt
    assert "noise is smaller" in noise_of(rows, "speckle:0.4").doubt


def test_noise_of_any_kind_is_known_by_hidden_entries():
    """Most entries are right, and some are far off: no level is that of all."""
    clean = waves(240)
    rng = np.random.default_rng(1)
    wrong = rng.random(clean.shape) < 0.1
    noisy = clean + np.where(wrong, 1.0, 0.1) * rng.standard_normal(clean.shape)
    model = KernelPCA(random_state=0).tune(noisy, noise="independent")
    before, after = (
        ((rows - clean) ** 2).sum(axis=1).mean() for rows in (noisy, model.denoise(noisy))
    )
    assert after < 0.35 * before
    assert "hidden and filled in from other columns" in str(model.risk_)
    assert model.risk_.noise == pytest.approx(before, rel=0.3)


def test_hidden_entries_find_a_good_candidate_and_find_out_what_keeps_noise():
    """They rank candidates less well than the estimate by the level does (a correlation of 0.7)."""
    clean = waves(200)
    noisy = clean + 0.4 * np.random.default_rng(1).standard_normal(clean.shape)
    kernels = kernels_around("gaussian", noisy, (0.5, 1.0))
    cells = Cells(
        KernelPCA(random_state=0),
        [spots.errors for spots in BlindSpots.of(noisy)],
        [2, 4, 8, 64],
        kernels,
    )
    cells.fill()
    said = [value for *_, value in cells.table()]
    true = [true_error("auto", clean, noisy, kernel, q) for kernel, q, _ in cells.table()]
    assert true[np.argmin(said)] <= 1.1 * min(true)
    kept = [q == 64 for _, q, _ in cells.table()]
    assert min(np.array(said)[kept]) > max(np.array(said)[np.invert(kept)])


def test_what_was_hidden_is_not_seen():
    """Whatever stood in a hidden entry, what is filled in is the same."""
    noisy = waves(60) + 0.1 * np.random.default_rng(1).standard_normal((60, 24))
    first = BlindSpots.of(noisy)[0]
    other = BlindSpots.of(np.where(first.where, 5.0, noisy))[0]
    assert np.array_equal(first.rows, other.rows)
    assert np.array_equal(np.where(first.where, 0, noisy), np.where(first.where, 0, first.rows))
    assert first.rows[first.where].std() == pytest.approx(noisy[first.where].std(), rel=0.2)


def test_where_nothing_shows_the_level_hidden_entries_do():
    """No eigenvalues are alike, but the fifth column is known by the others."""
    rng = np.random.default_rng(0)
    states = rng.standard_normal((60, 4)) * [1, 2, 4, 8]
    with pytest.raises(DataError, match="columns do not predict each other"):
        choose_by_risk(KernelPCA(random_state=0), states, counts=[2, 4])
    rows = np.column_stack([states, states @ [1, 1, 0.5, 0.5]])
    noisy = rows + 0.3 * rng.standard_normal(rows.shape)
    with pytest.raises(DataError, match="cannot be told apart"):
        noise_of(noisy)
    risk = choose_by_risk(KernelPCA(random_state=0), noisy, counts=[2, 4]).risk
    assert "at most" in str(risk)
    assert risk.level.uncertainty > 0.1


@pytest.mark.parametrize("noise", [0.02, 0.3])
def test_clean_rows_are_never_tuned_to_something_worse_than_the_default(noise):
    """All components at the kernel's own width are among the cells, whatever the search thinks."""
    X = load_digits().data[:240] / 16
    own, every = Gaussian().resolve(X), len(X) * 4 // 5 - 1
    default = choose_by_noise(KernelPCA(), X, noise, kernels=[own], counts=[every])
    assert choose_by_noise(KernelPCA(), X, noise).value <= default.value * (1 + 1e-9)


def test_a_constant_column_has_no_noise():
    _, noisy = circle(200, 0.2, 0)
    more = np.column_stack([noisy, np.full(len(noisy), 3.0)])
    plain, level = noise_of(noisy), noise_of(more)
    assert level.deviation[2] == 0
    assert level.size == pytest.approx(plain.size)
    risk = KernelPCA(random_state=0).tune(more).risk_
    assert risk.noise == pytest.approx(2 * plain.size**2)


def test_few_rows_say_nothing_about_their_noise():
    with pytest.raises(DataError, match="3 rows are too few"):
        noise_of(np.random.default_rng(0).standard_normal((3, 40)))
    with pytest.raises(DataError, match="with 1 column cannot"):
        noise_of(np.random.default_rng(0).standard_normal((50, 1)))


def test_a_level_that_is_too_large_is_warned_of_in_the_words_of_the_place():
    _, noisy = circle(150, 0.1, 0)
    with pytest.warns(DenoisingWarning, match="below zero") as caught:
        KernelPCA(random_state=0).tune(noisy, noise=0.6)
    words = caught[0].message
    assert "rows='clean'" in str(words)
    assert "--noise" in said(words, "shell")
    assert "rows=" not in said(words, "shell")


def test_a_curve_that_bends_all_ways_is_not_noise():
    """All eigenvalues are alike, and yet the rows lie around a curve."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 2 * np.pi, 300)
    curve = np.column_stack([f(k * t) for k in (1, 2) for f in (np.cos, np.sin)])
    assert noise_of(curve + 0.1 * rng.standard_normal(curve.shape)).size < 0.15
    cloud = rng.standard_normal((300, 5))
    assert noise_of(cloud).size == pytest.approx(1, rel=0.1)
