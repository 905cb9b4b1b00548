"""scikit-learn's contract and the law for bad input, for every alternative."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer.alternatives import (
    BottleneckAutoencoder,
    MultilinearPCA,
    NonNegativeMultilinearPCA,
    PrincipalCurve,
    PrincipalSurface,
    RobustMultilinearPCA,
    RobustPCA,
    UncorrelatedMultilinearPCA,
)
from mercer.exceptions import DataError, NotFittedError

ESTIMATORS = [
    RobustPCA(),
    PrincipalCurve(4, max_iter=5),
    BottleneckAutoencoder(hidden=4, n_init=2, max_iter=50, random_state=0),
    PrincipalSurface(4, bending=0.1, max_iter=5),
    MultilinearPCA(2),
    NonNegativeMultilinearPCA(2, max_iter=20),
    RobustMultilinearPCA(2),
]
ONE_WAY = [UncorrelatedMultilinearPCA(2)]


# The checks fit noise, which rightly brings RankWarning and ConvergenceWarning.
@parametrize_with_checks([*ESTIMATORS, *ONE_WAY])
@pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.fixture
def rows(rng):
    """A bent band in four dimensions."""
    t = rng.uniform(-1, 1, 80)
    bent = np.column_stack([t, t**2, 0.3 * t, np.zeros_like(t)])
    return bent + 0.02 * rng.standard_normal(bent.shape) + 1.0


ids = pytest.mark.parametrize("model", ESTIMATORS, ids=repr)
quiet = pytest.mark.filterwarnings("ignore::mercer.exceptions.MercerWarning")


@ids
@quiet
def test_codes_lead_back_to_the_model(model, rows):
    """A point of the model has itself as its point of the model."""
    model = clone(model).fit(rows)
    points = model.denoise(rows)
    assert points.shape == rows.shape
    if not isinstance(model, BottleneckAutoencoder):  # a network does not project
        assert_allclose(model.denoise(points), points, atol=1e-4)
    assert model.score(rows) == pytest.approx(-((points - rows) ** 2).sum(axis=1).mean())
    assert -model.score(rows) < rows.var(axis=0).sum()


@ids
@quiet
def test_single_precision_stays(model, rows):
    single = clone(model).fit(rows.astype(np.float32))
    Z = single.transform(rows.astype(np.float32))
    assert Z.dtype == np.float32
    assert single.inverse_transform(Z).dtype == np.float32
    assert single.transform(rows).dtype == np.float64


@ids
@quiet
@pytest.mark.parametrize("factor", [2.0**-980, 2.0**980])
def test_extreme_units(model, rows, factor):
    """The same answer in other units of measurement, far beyond where squares overflow.

    Powers of two change no digit, so that nothing else can differ.
    """
    plain = clone(model).fit(rows)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        scaled = clone(model).fit(factor * rows)
        points = scaled.denoise(factor * rows)
    assert_allclose(points / factor, plain.denoise(rows), rtol=1e-6, atol=1e-6)


@ids
@quiet
def test_layout_and_input_are_left_alone(model, rows):
    before = rows.copy()
    expected = clone(model).fit(rows).transform(rows)
    for other in (np.asfortranarray(rows), rows[::-1][::-1], pd.DataFrame(rows).to_numpy()):
        assert_allclose(clone(model).fit(other).transform(other), expected, atol=1e-6)
    assert_array_equal(rows, before)


@ids
@quiet
def test_pickle(model, rows):
    model = clone(model).fit(rows)
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(rows), model.transform(rows))


@ids
@quiet
def test_codes_are_checked(model, rows):
    with pytest.raises(NotFittedError):
        clone(model).inverse_transform([[0.0]])
    model = clone(model).fit(rows)
    q = model.transform(rows).shape[1]
    with pytest.raises(DataError, match="as transform returns"):
        model.inverse_transform(np.zeros((2, q + 1)))
    with pytest.raises(DataError, match="NaN"):
        model.inverse_transform(np.full((2, q), np.nan))


@pytest.mark.parametrize("model", [*ESTIMATORS[1:5], *ONE_WAY], ids=repr)
def test_equal_rows_are_refused(model):
    with pytest.raises(DataError, match="differ"):
        clone(model).fit(np.ones((20, 3)))


@pytest.mark.parametrize(
    "model",
    [
        RobustPCA(0),
        RobustPCA(penalty=-1),
        RobustPCA(penalty=np.nan),
        RobustPCA(tol=0),
        RobustPCA(max_iter=0),
        PrincipalCurve(1),
        PrincipalCurve("many"),
        PrincipalCurve(np.inf),
        PrincipalCurve(100),
        PrincipalCurve(tol=2),
        PrincipalSurface(2),
        PrincipalSurface(bending=0),
        MultilinearPCA(0),
        MultilinearPCA(max_iter=0),
        RobustMultilinearPCA(penalty=0),
        UncorrelatedMultilinearPCA(0),
        BottleneckAutoencoder(0),
        BottleneckAutoencoder(hidden=2.5),
        BottleneckAutoencoder(alpha=-1),
        BottleneckAutoencoder(n_init=0),
    ],
    ids=repr,
)
def test_senseless_parameters_are_refused(model, rows):
    with pytest.raises(DataError, match="give"):
        model.fit(rows)
