"""Warnings point at the line of the person who called, and say what was not done."""

import warnings

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import KernelNovelty, KernelPCA
from mercer.exceptions import RankWarning
from mercer.solvers import Landmarks


@pytest.fixture
def X(rng):
    return rng.normal(size=(60, 4))


def test_the_line_that_called_is_named(X):
    """scikit-learn 1.9 wraps ``fit``; pipelines and searches call it from within."""
    search = GridSearchCV(KernelPCA(), {"n_components": [200]}, cv=2)
    pipeline = make_pipeline(StandardScaler(), KernelPCA(200))
    for model in (KernelPCA(200), pipeline, search):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X)
        found = [warning for warning in caught if warning.category is RankWarning]
        assert found
        assert {warning.filename for warning in found} == {__file__}


def test_a_share_that_landmarks_cannot_hold(X):
    model = KernelPCA(0.95, solver=Landmarks(5), random_state=0)
    with pytest.warns(RankWarning, match=r"0\.95 of the variance .* hold 0\.\d+ of it"):
        model.fit(X)
    assert model.n_components_ == 5
    assert model.explained_variance_ratio_.sum() < 0.9


def test_kernels_are_printed_with_plain_numbers(X):
    assert "np." not in repr(KernelNovelty(random_state=0).fit(X).kernel_)
    assert "np." not in repr(KernelPCA().fit(X.astype(np.float32)).kernel_)
