"""Principal curves on shapes whose middle is known."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.alternatives import PrincipalCurve
from mercer.alternatives.principal_curve import Polyline, basis, smoothed
from mercer.exceptions import ConvergenceWarning, DataError
from mercer.papers.mika1999 import Curve, half_circle, linear_denoise, square


def noisy(fine, seed, n=200, noise=0.1):
    rng = np.random.default_rng(seed)
    points = fine[rng.integers(len(fine), size=n)]
    return Curve(points + noise * rng.standard_normal(points.shape), fine)


def circle(seed):
    angle = np.linspace(0, 2 * np.pi, 2000)
    return noisy(np.column_stack([np.cos(angle), np.sin(angle)]), seed)


def s_curve(seed):
    angle = np.linspace(-1.5 * np.pi, 1.5 * np.pi, 2000)
    return noisy(np.column_stack([np.sin(angle), np.sign(angle) * (np.cos(angle) - 1)]), seed)


@pytest.mark.parametrize(
    ("make", "closed", "length", "bar"),
    [
        (lambda seed: half_circle(np.random.default_rng(seed)), False, np.pi, 0.0015),
        (s_curve, False, 3 * np.pi, 0.0015),
        (circle, True, 2 * np.pi, 0.001),
        (lambda seed: square(np.random.default_rng(seed)), True, 8, 0.0025),
    ],
    ids=["half circle", "S", "circle", "square"],
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), 2])
def test_distance_to_the_truth_beside_linear_pca(make, closed, length, bar, seed):
    data = make(seed)
    model = PrincipalCurve(closed=closed).fit(data.points)
    points = model.denoise(data.points)
    straight = linear_denoise(data.points, data.points, 1)
    assert data.squared_distance(points) <= bar
    assert data.squared_distance(points) <= data.squared_distance(data.points) / 4
    assert data.squared_distance(points) <= data.squared_distance(straight) / 25
    assert data.coverage(points) >= 0.95
    assert model.length_ == pytest.approx(length, rel=0.1)


def test_new_points_come_as_close_as_old_ones():
    model = PrincipalCurve().fit(s_curve(0).points)
    fresh = s_curve(7)
    assert fresh.squared_distance(model.denoise(fresh.points)) <= 0.0015


def test_codes_are_arc_lengths():
    """On clean data the code is the arc length of the truth, up to direction and a shift."""
    angle = np.sort(np.random.default_rng(0).uniform(0, np.pi, 300))
    X = 3 * np.column_stack([np.cos(angle), np.sin(angle)])
    t = PrincipalCurve().fit_transform(X)[:, 0]
    slope = np.polyfit(3 * angle, t, 1)[0]
    assert abs(slope) == pytest.approx(1, abs=0.02)
    assert np.corrcoef(angle, t)[0, 1] ** 2 > 0.999


@pytest.mark.parametrize("closed", [False, True])
def test_there_and_back(closed):
    model = PrincipalCurve(closed=closed).fit(circle(0).points + 100)
    t = np.linspace(0, model.length_, 50, endpoint=False)[:, None]
    points = model.inverse_transform(t)
    apart = np.abs(model.transform(points) - t)
    if closed:
        apart = np.minimum(apart, model.length_ - apart)
    assert apart.max() < 1e-6 * model.length_
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert_allclose(steps, t[1, 0], rtol=0.02)  # unit speed; chords are a little shorter
    if closed:
        assert_allclose(model.inverse_transform(t + 3 * model.length_), points, atol=1e-6)
    else:
        with pytest.raises(DataError, match="off the curve"):
            model.inverse_transform([[model.length_ * 1.1]])


def test_two_degrees_of_freedom_are_linear_pca(rng):
    X = rng.standard_normal((100, 3)) * [5, 1, 0.5] + 2
    assert_allclose(PrincipalCurve(2).fit(X).denoise(X), linear_denoise(X, X, 1), atol=0.05)


def test_wiggles_are_not_chosen():
    """Distances alone would choose them: they get smaller with every degree of freedom."""
    model = PrincipalCurve().fit(half_circle(np.random.default_rng(2)).points)
    assert (np.diff(model.path_[:, 1]) < 0).all()
    assert model.df_ < model.path_[-1, 0]
    assert model.df_ == model.path_[model.path_[:, 2].argmin(), 0]


def test_many_columns(rng):
    """A curve in a plane of a space of thirty dimensions."""
    data = half_circle(rng)
    turn = np.linalg.qr(rng.standard_normal((30, 30)))[0][:2]
    model = PrincipalCurve().fit(data.points @ turn)
    assert data.squared_distance(model.denoise(data.points @ turn) @ turn.T) <= 0.002


def test_offset_is_harmless():
    X = half_circle(np.random.default_rng(0)).points
    plain, far = PrincipalCurve().fit(X), PrincipalCurve().fit(X + 1e8)
    assert_allclose(far.denoise(X + 1e8) - 1e8, plain.denoise(X), atol=1e-6)


def test_a_closed_curve_needs_a_plane(rng):
    with pytest.raises(DataError, match="2 columns"):
        PrincipalCurve(closed=True).fit(rng.standard_normal((20, 1)))


def test_too_few_rounds_are_reported():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        PrincipalCurve(8, max_iter=1, tol=1e-6).fit(s_curve(0).points)


@settings(max_examples=40)
@given(df=st.floats(2, 15), closed=st.booleans(), seed=st.integers(0, 20))
def test_the_smoother_has_the_degrees_of_freedom_asked_for(df, closed, seed):
    """Trace of the hat matrix, one unit vector at a time."""
    t = np.random.default_rng(seed).uniform(0, 5, 60)
    hat = smoothed(t, np.eye(60), 5.0, df, t, closed=closed)
    assert np.trace(hat) == pytest.approx(df, abs=0.01)
    assert_allclose(hat.sum(axis=1), 1, atol=1e-4)  # constants are kept
    assert_allclose(hat, hat.T, atol=1e-6)
    if not closed:
        assert_allclose(hat @ t, t, atol=1e-3)  # and straight lines


@pytest.mark.parametrize("closed", [False, True])
def test_the_basis_sums_to_one_and_closed_ones_are_periodic(closed):
    t = np.linspace(0, 3, 101)
    B = basis(t, 3.0, 20, closed=closed)
    assert_allclose(B.sum(axis=1), 1)
    assert B.shape[1] == (20 if closed else 23)
    if closed:
        assert_allclose(basis(t + 3, 3.0, 20, closed=True), B, atol=1e-9)


@settings(max_examples=20)
@given(closed=st.booleans(), seed=st.integers(0, 50))
def test_projection_against_every_piece(closed, seed):
    """The nearest of all pieces, one by one; for points nearer than the curve bends."""
    rng = np.random.default_rng(seed)
    angle = np.linspace(0, 2 * np.pi if closed else 4.0, 100, endpoint=not closed)
    line = Polyline.through(np.column_stack([np.cos(angle), 2 * np.sin(angle)]), closed=closed)
    X = line.nodes[rng.integers(len(line.nodes), size=10)] + 0.1 * rng.standard_normal((10, 2))
    t, apart = line.project(X)
    for x, code, squared in zip(X, t, apart, strict=True):
        least = min(distance_to_piece(x, a, b) for a, b in pairwise(line.nodes))
        assert np.sqrt(squared) == pytest.approx(least, abs=1e-9)
        assert np.linalg.norm(line.at(np.array([code]))[0] - x) == pytest.approx(least, abs=1e-9)


def distance_to_piece(x, a, b):
    part = min(1.0, max(0.0, (x - a) @ (b - a) / ((b - a) @ (b - a))))
    return np.linalg.norm(x - a - part * (b - a))
