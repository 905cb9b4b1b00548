"""The strip shows what denoise returns, beside the best that linear PCA can do."""

import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA

from mercer import KernelNovelty
from mercer.exceptions import DataError
from mercer.plots import DenoisingDisplay
from tests.plots.pictures import picture


@pytest.fixture
def noisy(digits, rng):
    return digits[2] + 0.3 * rng.standard_normal(digits[2].shape)


def test_lines(digits, digits_model, noisy):
    clean = digits[2]
    display = DenoisingDisplay.from_estimator(digits_model, clean, X_noisy=noisy, n_images=4)
    restored = digits_model.denoise(noisy)
    assert_array_equal(display.noisy, noisy[:4])
    assert_allclose(display.kernel, restored[:4])
    assert_allclose(display.errors["kernel"], ((restored - clean) ** 2).sum(axis=1).mean())
    assert_allclose(display.errors["noisy"], ((noisy - clean) ** 2).sum(axis=1).mean())
    drawn = display.image_.get_array()
    assert_allclose(drawn[-8:, :8], restored[0].reshape(8, 8))
    assert display.n_kernel == 32


def test_linear_pca_gets_its_best_number(digits, digits_model, noisy):
    X, _, clean, _ = digits
    display = DenoisingDisplay.from_estimator(digits_model, clean, X_noisy=noisy)
    errors = {}
    for q in range(1, 65):
        pca = PCA(q).fit(X)
        back = pca.inverse_transform(pca.transform(noisy))
        errors[q] = ((back - clean) ** 2).sum(axis=1).mean()
    assert display.n_linear == min(errors, key=errors.get)
    assert_allclose(display.errors["linear"], min(errors.values()))


def test_noise_is_added_where_none_is_given(digits, digits_model):
    clean = digits[2]
    draw = DenoisingDisplay.from_estimator
    one, two = draw(digits_model, clean), draw(digits_model, clean)
    assert_array_equal(one.noisy, two.noisy)
    assert_allclose(one.errors["noisy"], 64 * 0.3**2, rtol=0.05)
    other = draw(digits_model, clean, random_state=1)
    assert (other.noisy != one.noisy).all()
    flipped = draw(digits_model, clean, noise=lambda rows, rng: 1 - rows)
    assert_allclose(flipped.noisy, 1 - clean[:10])


def test_matched_noise_is_passed_on(digits, digits_model, noisy):
    clean = digits[2]
    display = DenoisingDisplay.from_estimator(digits_model, clean, X_noisy=noisy, match_noise=True)
    assert_allclose(display.kernel, digits_model.denoise(noisy, match_noise=True)[:10])


def test_wrong_arguments(digits, digits_model, noisy, ring):
    clean = digits[2]
    draw = DenoisingDisplay.from_estimator
    with pytest.raises(DataError, match="not both"):
        draw(digits_model, clean, X_noisy=noisy, noise=0.1)
    with pytest.raises(DataError, match="5 noisy rows and 120 clean"):
        draw(digits_model, clean, X_noisy=noisy[:5])
    with pytest.raises(DataError, match="above zero"):
        draw(digits_model, clean, noise=-1.0)
    with pytest.raises(DataError, match="no way back"):
        draw(KernelNovelty(3, random_state=0).fit(ring))


@picture
def test_denoising(digits, digits_model):
    display = DenoisingDisplay.from_estimator(
        digits_model, digits[2], y=digits[3], match_noise=True, n_images=8
    )
    assert display.errors["kernel"] < display.errors["linear"]
    return display.figure_
