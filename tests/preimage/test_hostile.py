"""Scores that no point has: an error that names them, or a finite point and no false claim."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mercer import KernelPCA
from mercer.exceptions import (
    DataError,
    KernelError,
    NotFittedError,
)
from mercer.kernels import (
    Cauchy,
    Chi2,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Sigmoid,
)
from mercer.preimage import (
    Auto,
    Distances,
    FixedPoint,
    Gradient,
    InverseDot,
    Nearest,
    Ridge,
    Smoother,
)
from tests import naive_preimage as naive
from tests.preimage.conftest import ring

KERNELS = {
    "gaussian": Gaussian(width=1.5),
    "cauchy": Cauchy(1.5),
    "matern 1/2": Matern(1.5, nu=0.5),
    "laplacian": Laplacian(1.0),
    "linear": Linear(),
    "cubic": Polynomial(3),
    "square": Polynomial(2),
    "sigmoid": Sigmoid(0.01),
    "cosine": Cosine(),
    "chi2": Chi2(0.2),
    "sum": 0.5 * Gaussian(width=1.0) + Polynomial(2),
}
SOLVERS = [
    Auto(),
    Distances(5),
    FixedPoint(),
    Gradient(max_iter=40),
    InverseDot(),
    Nearest(),
    Ridge(),
    Smoother(5),
]


def model_of(kernel, dtype=np.float64, n=40):
    X = ring(n, np.random.default_rng(0)).astype(dtype)
    X = np.abs(X) if isinstance(kernel, Chi2) else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the sigmoid is indefinite, the linear kernel has rank 3
        return KernelPCA(3, kernel=kernel, solver="dense").fit(X), X


@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_no_hostile_score_gives_a_wrong_point_in_silence(solver, kernel, dtype):
    model, X = model_of(kernel, dtype)
    subspace = model.subspace_
    try:
        bound = solver.init(subspace)
    except KernelError:
        return  # not made for this kernel
    for start in (None, X[:2]):
        for value in (np.nan, np.inf, -np.inf, 1e300, -1e300):
            Z = np.zeros((2, subspace.n_components), dtype)
            with np.errstate(over="ignore"):
                Z[1, 0] = value
            with pytest.raises(DataError, match=r"row 1, column 0 is (nan|-?inf|-?1e\+300)"):
                bound.solve(Z, start)
        for value in (0.0, 1e-300, -1e-30, 1e3, 1e8, -1e15):
            Z = np.zeros((2, subspace.n_components), dtype)
            Z[1, 0] = value
            try:
                found = bound.solve(Z, start)
            except KernelError as error:
                assert "overflows" in str(error)  # noqa: PT017
                continue
            assert np.isfinite(found.points).all()
            assert found.points.shape == (2, 3)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_door_refuses_what_cannot_be_computed(dtype):
    model, _ = model_of(Gaussian(width=1.5), dtype)
    for value in (np.nan, np.inf, 1e300):
        with pytest.raises(DataError, match="finite"):
            model.inverse_transform(np.full((1, 3), value))


def test_ridge_says_where_it_has_nothing_to_go_by():
    model, X = model_of(Gaussian(width=1.5))
    Z = model.transform(X[:2])
    Z[1] = 1e6
    found = Ridge().init(model.subspace_).solve(Z)
    assert_array_equal(found.converged, [True, False])
    assert_array_equal(found.status, ["direct", "failed"])
    assert np.allclose(found.points[1], X.mean(axis=0))


def test_distances_say_where_all_neighbours_are_out_of_reach():
    model, X = model_of(Gaussian(width=1.5))
    Z = model.transform(X[:2])
    Z[1] = 1e6
    found = Distances(5).init(model.subspace_).solve(Z)
    assert_array_equal(found.converged, [True, False])


def test_the_nearest_of_a_far_code_lies_in_its_direction():
    """|z|² = 1e60 would swallow the difference between any two support points."""
    model, X = model_of(Gaussian(width=1.5))
    Z = np.array([[1e30, 0.0, 0.0], [-1e30, 0.0, 0.0]])
    found = Nearest().init(model.subspace_).solve(Z)
    own = model.transform(X)[:, 0]
    assert_array_equal(found.points, X[[own.argmax(), own.argmin()]])


@pytest.mark.parametrize("far", [1e3, 1e6])
def test_gradient_of_a_far_code_has_not_converged_where_it_started(far):
    """The tolerance must not grow faster with the code than the gradient does."""
    model, X = model_of(Gaussian(width=1.5))
    subspace = model.subspace_
    Z = far * model.transform(X[:5])
    found = Gradient().init(subspace).solve(Z, X[:5])
    for z, point in zip(Z[found.converged], found.points[found.converged], strict=True):
        gamma = naive.expansion(subspace, z)
        slope = naive.difference_gradient(subspace.kernel, subspace.support, gamma, point)
        assert np.linalg.norm(slope) < 1e-4 * far
    assert found.converged.any()


def test_gradient_ends_where_all_points_stall_at_once():
    """A kink under each point: nothing is left to go on with."""
    model, X = model_of(Laplacian(1.0))
    found = Gradient().init(model.subspace_).solve(np.zeros((2, 3)), X[:2])
    assert np.isfinite(found.points).all()
    assert_array_equal(found.converged, found.status == "converged")


@pytest.mark.parametrize("kernel", [Laplacian(1.0), Chi2(0.2), Cosine()], ids=repr)
def test_auto_does_not_call_a_blur_converged_where_a_known_point_is_better(kernel):
    model, X = model_of(kernel)
    subspace = model.subspace_
    noisy = X * np.random.default_rng(1).uniform(0.5, 1.5, X.shape)
    Z = model.transform(noisy)
    found = Auto().init(subspace).solve(Z, noisy)
    assert (found.status == "not a minimum").any()
    for i, z in enumerate(Z):
        gamma = naive.expansion(subspace, z)
        candidates = [noisy[i], X[naive.nearest(kernel, X, gamma)]]
        own, *others = (
            naive.objective(kernel, X, gamma, point) for point in [found.points[i], *candidates]
        )
        if found.converged[i]:
            assert own <= min(others) + 1e-9
        else:
            assert own >= min(others) - 1e-9


def test_a_blur_on_purpose_brings_no_warning():
    model, X = model_of(Laplacian(1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.denoise(X[:5] + 0.1)


class TestCodes:
    """As far as the estimator goes; the solvers' own tests are with them."""

    rows = np.random.default_rng(0).standard_normal((40, 3))
    model = KernelPCA(3, kernel=Gaussian(gamma=0.3)).fit(rows)

    def test_unfitted(self):
        for method in ("transform", "inverse_transform", "denoise", "reconstruction_error"):
            with pytest.raises(NotFittedError):
                getattr(KernelPCA(2), method)(self.rows)

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_codes_that_are_no_numbers(self, value):
        with pytest.raises(ValueError, match=r"NaN|inf"):
            self.model.inverse_transform(np.full((2, 3), value))

    def test_codes_of_the_wrong_width(self):
        with pytest.raises(ValueError, match="3"):
            self.model.inverse_transform(np.ones((2, 5)))

    @pytest.mark.filterwarnings("ignore::mercer.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("size", [0.0, 1.0, 1e3, 1e9])
    def test_codes_off_the_data_give_finite_points(self, size):
        assert np.isfinite(self.model.inverse_transform(size * np.eye(3))).all()

    @pytest.mark.filterwarnings("ignore::mercer.exceptions.ConvergenceWarning")
    def test_points_where_the_kernel_is_zero(self):
        far = np.full((2, 3), 1e6)
        found = self.model.preimages(far)
        assert np.isfinite(found.points).all()
        assert found.converged.dtype == bool
