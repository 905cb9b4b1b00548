"""Principal surfaces on sheets whose shape is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from mercer.alternatives import PrincipalSurface
from mercer.alternatives.principal_surface import Mesh, _bending, _nearest_in_triangle, _stretching
from mercer.exceptions import ConvergenceWarning, DataError
from mercer.papers.mika1999 import linear_denoise


def bowl(seed, n=400, noise=0.05):
    rng = np.random.default_rng(seed)
    flat = rng.uniform(-1, 1, (n, 2))
    clean = np.column_stack([flat, (flat**2).sum(axis=1)])
    return clean + noise * rng.standard_normal(clean.shape)


def half_pipe(seed, n=400, noise=0.05):
    rng = np.random.default_rng(seed)
    angle, along = rng.uniform(0, np.pi, n), rng.uniform(-2, 2, n)
    clean = np.column_stack([np.cos(angle), along, np.sin(angle)])
    return clean + noise * rng.standard_normal(clean.shape)


def off_the_bowl(X):
    """Squared vertical distance over the slope: the distance to first order."""
    height = X[:, 2] - (X[:, :2] ** 2).sum(axis=1)
    return (height**2 / (1 + 4 * (X[:, :2] ** 2).sum(axis=1))).mean()


def off_the_pipe(X):
    return ((np.hypot(X[:, 0], X[:, 2]) - 1) ** 2).mean()


@pytest.mark.parametrize(
    ("make", "distance"), [(bowl, off_the_bowl), (half_pipe, off_the_pipe)], ids=["bowl", "pipe"]
)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_distance_to_the_truth_beside_linear_pca(make, distance, seed):
    X = make(seed)
    points = PrincipalSurface().fit(X).denoise(X)
    assert distance(points) <= distance(X) / 3
    assert distance(points) <= distance(linear_denoise(X, X, 2)) / 20


def test_there_and_back():
    model = PrincipalSurface().fit(bowl(0) + 100)
    Z = np.random.default_rng(0).uniform(0, 1, (100, 2))
    assert_allclose(model.transform(model.inverse_transform(Z)), Z, atol=1e-6)
    assert model.nodes_.shape == (15, 15, 3)
    corners = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])
    expected = model.nodes_[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert_allclose(model.inverse_transform(corners), expected)
    with pytest.raises(DataError, match="off the surface"):
        model.inverse_transform([[0.5, 1.2]])


def test_a_stiff_surface_is_the_plane_of_linear_pca(rng):
    X = rng.standard_normal((200, 4)) * [3, 2, 0.3, 0.2]
    points = PrincipalSurface(bending=1e3).fit(X).denoise(X)
    assert np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[2] < 0.05


def test_a_line_is_no_plane_but_is_followed(rng):
    t = rng.uniform(-1, 1, 100)
    X = np.column_stack([t, 2 * t, -t])
    assert -PrincipalSurface().fit(X).score(X) < 1e-3


def test_one_column_is_refused(rng):
    with pytest.raises(DataError, match="2 columns"):
        PrincipalSurface().fit(rng.standard_normal((20, 1)))


def test_too_few_rounds_are_reported():
    with pytest.warns(ConvergenceWarning, match="raise max_iter"):
        PrincipalSurface(max_iter=1, tol=1e-9).fit(half_pipe(0))


@settings(max_examples=30)
@given(seed=st.integers(0, 200))
def test_nearest_in_a_triangle_against_a_fine_search(seed):
    rng = np.random.default_rng(seed)
    R, E, F = rng.standard_normal((3, 1, 3))
    s, t = _nearest_in_triangle(R, E, F)[0]
    assert s >= 0
    assert t >= 0
    assert s + t <= 1 + 1e-12
    fine = np.linspace(0, 1, 201)
    grid = np.array([(a, b) for a in fine for b in fine[: 201 - round(a * 200)]])
    least = np.linalg.norm(R - grid[:, :1] * E - grid[:, 1:] * F, axis=1).min()
    found = np.linalg.norm(R - s * E - t * F)
    assert found <= least + 1e-9
    assert least <= found + 0.02


def test_penalties_by_loops(rng):
    """Second and first differences, one node at a time."""
    g = 5
    Y = rng.standard_normal((g, g))
    inner = range(1, g - 1)
    bend = sum((Y[i - 1, j] - 2 * Y[i, j] + Y[i + 1, j]) ** 2 for i in inner for j in range(g))
    bend += sum((Y[i, j - 1] - 2 * Y[i, j] + Y[i, j + 1]) ** 2 for i in range(g) for j in inner)
    bend += 2 * sum(
        (Y[i + 1, j + 1] - Y[i + 1, j] - Y[i, j + 1] + Y[i, j]) ** 2
        for i in range(4)
        for j in range(4)
    )
    assert Y.ravel() @ _bending(g) @ Y.ravel() == pytest.approx(bend * 16)
    stretch = sum((Y[i + 1, j] - Y[i, j]) ** 2 for i in range(4) for j in range(g))
    stretch += sum((Y[i, j + 1] - Y[i, j]) ** 2 for i in range(g) for j in range(4))
    assert Y.ravel() @ _stretching(g) @ Y.ravel() == pytest.approx(stretch)


def test_points_of_a_mesh_lie_where_they_are(rng):
    mesh = Mesh(rng.standard_normal((4, 4, 6)))  # nothing folds back in six dimensions
    Z = rng.uniform(0, 3, (50, 2))
    coordinates, apart = mesh.project(mesh.at(Z))
    found = mesh.at(coordinates)
    inside = apart < 1e-12
    assert inside.mean() > 0.5  # the nearest node may belong to another square
    assert_allclose(coordinates[inside], Z[inside], atol=1e-6)
    assert_allclose(found[inside], mesh.at(Z)[inside], atol=1e-6)
