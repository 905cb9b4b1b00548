"""Frames in, frames out, with their columns and their index."""

import numpy as np
import pytest
import sklearn

from mercer import GenerativeKernelPCA, KernelNovelty, KernelPCA

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

X = np.random.default_rng(0).standard_normal((40, 3))
FRAME = pd.DataFrame(X, columns=list("abc"), index=[f"row {i}" for i in range(40)])


def test_rows_in_input_space_keep_columns_and_index():
    plain = KernelPCA(4).fit(FRAME)
    model = KernelPCA(4).fit(FRAME).set_output(transform="pandas")
    holes = FRAME.mask(np.random.default_rng(1).random(FRAME.shape) < 0.1)
    for name, rows in {
        "denoise": FRAME,
        "reconstruct": FRAME,
        "impute": holes,
        "inverse_transform": model.transform(FRAME),
    }.items():
        found = getattr(model, name)(rows)
        assert list(found.columns) == list("abc"), name
        assert list(found.index) == list(FRAME.index), name
        expected = getattr(plain, name)(np.asarray(rows) if "inverse" in name else rows)
        assert isinstance(expected, np.ndarray)
        np.testing.assert_array_equal(np.asarray(found), expected)


def test_samples_and_polars():
    table = pl.DataFrame(dict(zip("abc", X.T, strict=True)))
    model = GenerativeKernelPCA(4, random_state=0).fit(table).set_output(transform="polars")
    drawn = model.sample(5, random_state=0)
    assert isinstance(drawn, pl.DataFrame)
    assert drawn.columns == list("abc")


def test_contributions():
    model = KernelNovelty(random_state=0).fit(FRAME)
    with sklearn.config_context(transform_output="pandas"):
        parts = model.contributions(FRAME[:3])
    assert list(parts.columns) == list("abc")
    assert list(parts.index) == list(FRAME.index[:3])
