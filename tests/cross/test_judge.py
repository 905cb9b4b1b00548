"""The judge of fits finds each lie of a solver, and each wrong number of a model."""

from dataclasses import replace
from decimal import Decimal, getcontext
from itertools import count

import numpy as np
import pytest

from benchmarks.repeated import merged, repeated_problem, true_error
from mercer import KernelPCA
from mercer._base.progress import announce
from mercer.exceptions import DataError
from mercer.kernels import Gaussian, Kernel, Linear
from mercer.solvers import Dense, EigenSolver, Landmarks
from tests.cross.definitions import MAKERS, Draw, definition
from tests.cross.judge import check_fit, judge_fit
from tests.cross.problems import _HARD_KINDS, FitProblem, Method, random_problem
from tests.cross.reference import Reference


class Told(EigenSolver):
    """LAPACK with one lie."""

    def __init__(self, lie=None):
        self.lie = lie

    def bind(self, problem):
        return Dense().bind(problem)

    def estimate_bytes(self, problem, k):
        return 0

    def solve(self, operator, k, rng):
        found = Dense().solve(operator, k, rng)
        values, vectors = found.values.copy(), found.vectors.copy()
        if self.lie == "value":
            values[1] *= 1 + 1e-10
        if self.lie == "missed":
            more = Dense().solve(operator, k + 1, rng)
            values, vectors = np.delete(more.values, 1), np.delete(more.vectors, 1, axis=1)
        if self.lie == "vector":
            vectors[:, 0] += 1e-6 * vectors[:, 1]
        if self.lie == "dropped":
            values[-1] = 0
        if self.lie == "endless":
            for step in count():
                announce("lanczos", step)
        if self.lie == "stuck":
            while True:
                pass
        if self.lie == "refused":
            raise DataError("kernel has no variance; give other rows.")
        if self.lie == "broken":
            raise IndexError("oops")
        return replace(found, values=values, vectors=vectors)


def told(lie, **changes):
    """A plain problem for a solver that lies."""

    def build(p):
        return KernelPCA(p.k, kernel=p.kernel, center=p.center, solver=Told(lie))

    def definition(A, B):
        return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=2) / 2)

    rows = np.random.default_rng(0).standard_normal((50, 3))
    problem = FitProblem(
        Gaussian(sigma=1.0), definition, rows[:40], rows[40:], None, 5, True, Method("told", build)
    )
    return replace(problem, **changes)


def test_a_sound_fit_passes():
    check_fit(told(None))
    check_fit(told(None, weight=np.arange(40.0)))
    check_fit(told(None, center=False))
    check_fit(told(None, X=told(None).X.astype(np.float32), Y=told(None).Y.astype(np.float32)))


@pytest.mark.parametrize(
    ("lie", "outcome", "words"),
    [
        ("value", "over-claimed", "λ, claim"),
        ("missed", "wrong", "λ, claim"),
        ("vector", "over-claimed", "scores"),
        ("dropped", "wrong", "4 components"),
        ("endless", "too slow", "steps of lanczos"),
        ("stuck", "too slow", "processor"),
        ("refused", "refused without cause", "variance"),
        ("broken", "crashed", "IndexError"),
    ],
)
def test_lies_of_a_solver(lie, outcome, words):
    verdict = judge_fit(told(lie), seconds=0.3)
    assert verdict.outcome == outcome, verdict
    assert words in verdict.detail


class Says(KernelPCA):
    """A model with one wrong number."""

    wrong = ""

    def fit_transform(self, X, y=None, sample_weight=None):
        self.fit(X, sample_weight=sample_weight)
        return super().transform(X) * (1 + 1e-9 * (self.wrong == "fit_transform"))

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X, sample_weight=sample_weight)
        if self.wrong == "share":
            wrong = self.explained_variance_ratio_ * 1.001
            self._model_ = replace(self._model_, explained_variance_ratio=wrong)
        return self

    def transform(self, X):
        Z = super().transform(X)
        if self.wrong == "mean":
            Z = Z + 1e-9
        if self.wrong == "fresh" and len(X) == 10:
            Z = Z * (1 + 1e-9)
        if self.wrong == "scale":
            Z = Z * (1 + 1e-9)
        return Z

    def reconstruction_error(self, X):
        return super().reconstruction_error(X) * (1 + 1e-9 * (self.wrong == "error"))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("share", "share"),
        ("mean", "mean score"),
        ("fresh", "scores \\[4"),
        ("scale", "covariance"),
        ("error", "reconstruction error"),
        ("fit_transform", "fit_transform"),
    ],
)
def test_wrong_numbers_of_a_model(wrong, words):
    def build(p):
        model = Says(p.k, kernel=p.kernel, solver="dense")
        model.wrong = wrong
        return model

    with pytest.raises(AssertionError, match=words):
        check_fit(told(None, method=Method("says", build)))


def test_a_landmark_fit_that_claims_too_much():
    def build(p):
        model = KernelPCA(p.k, kernel=p.kernel, solver=Landmarks(15), random_state=0)
        fit = model.fit_transform

        def claim(X, **more):
            Z = fit(X, **more)
            report = replace(model.report_, estimated_error=1e-9)
            model._model_ = replace(model._model_, report=report)
            return Z

        model.fit_transform = claim
        return model

    check_fit(
        told(
            None,
            method=Method(
                "landmarks",
                lambda p: KernelPCA(p.k, kernel=p.kernel, solver=Landmarks(15), random_state=0),
                tol=None,
            ),
        )
    )
    with pytest.raises(AssertionError, match="claim 1e-09"):
        check_fit(told(None, method=Method("landmarks", build, tol=None)))


def test_a_kernel_whose_tiles_are_shifted_is_seen_by_the_operators():
    class Shifted(Kernel):
        """A sum that shifts a part that must not be shifted."""

        def origin(self, X):
            return X.mean(axis=0)

        def pack(self, X, origin=None, dtype=None):
            return Linear().pack(X if origin is None else X - origin, None, dtype)

        def fill(self, A, B, out):
            Linear().fill(A, B, out)
            out += 1

        def diag(self, X):
            return Linear().diag(X) + 1

        gradient = diag_gradient = None

    Shifted.__abstractmethods__ = frozenset()
    problem = told(
        None, kernel=Shifted(), definition=lambda A, B: A @ B.T + 1, center=False,
        X=told(None).X + 2, Y=told(None).Y + 2,
        method=Method("operators", lambda _: None, operators=True),
    )  # fmt: skip
    assert judge_fit(problem).outcome == "wrong"


@pytest.mark.parametrize("scale", [1e75, 1e-140])
def test_lies_are_seen_at_any_scale(scale):
    """Squares of eigenvalues would leave the range of floats, and allow everything or nothing."""
    rows = {name: getattr(told(None), name) * scale for name in "XY"}
    linear = {"kernel": Linear(), "definition": lambda A, B: A @ B.T, "k": 2}
    check_fit(told(None, **rows, **linear))
    for lie in ("value", "vector"):
        assert judge_fit(told(lie, **rows, **linear)).outcome == "over-claimed"


@pytest.mark.parametrize("number", ["audited", "estimated_error"])
def test_what_a_report_says_is_a_number(number):
    class Unsure(KernelPCA):
        def fit_transform(self, X, y=None, sample_weight=None):
            Z = super().fit_transform(X)
            report = replace(self._model_.report, **{number: np.nan})
            self._model_ = replace(self._model_, report=report)
            return Z

    unsure = Method("unsure", lambda p: Unsure(p.k, kernel=p.kernel, solver="dense"))
    assert "nan" in judge_fit(told(None, method=unsure)).detail


def test_problems_repeat_whether_hard_or_not():
    for hard in (True, False):
        first, again = random_problem(77, hard), random_problem(77, hard)
        np.testing.assert_array_equal(first.X, again.X)
        assert first.describe() == again.describe()
    drawn = [random_problem(s).describe() == random_problem(s, True).describe() for s in range(60)]
    assert 0.3 < np.mean(drawn) < 0.7


def test_hard_problems_are_of_every_kind(rng):
    problems = [random_problem(seed, hard=True) for seed in range(160)]
    said = "\n".join(problem.data for problem in problems)
    for kind in (*_HARD_KINDS, "x 1e+150", "x 1e-150", "read-only", "mapped"):
        assert kind in said, kind
    assert any(isinstance(problem.X, np.memmap) for problem in problems)
    assert not all(problem.X.flags.writeable for problem in problems)
    drawn = [
        MAKERS[name](Draw(rng, 1.0, 1.0, 3, hard=True))
        for name in ("rational quadratic", "polynomial")
        for _ in range(40)
    ]
    assert max(kernel.alpha for kernel in drawn[:40]) > 1e5
    assert max(kernel.degree for kernel in drawn[40:]) == 20


def _decimals(row):
    return [Decimal(float(x)) for x in row]


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3, 1e150])
def test_definitions_at_extreme_parameters(rng, length):
    """Beside fifty decimals: the judge must not share the rounding of a formula."""
    getcontext().prec = 50
    x, y = rng.standard_normal((2, 3)) * length
    square = sum((a - b) ** 2 for a, b in zip(_decimals(x), _decimals(y), strict=True))
    dot = sum(a * b for a, b in zip(_decimals(x), _decimals(y), strict=True))
    for name in ("rational quadratic", "polynomial"):
        k = MAKERS[name](Draw(rng, length, length**-2.0, 3, hard=True))
        if name == "rational quadratic":
            alpha = Decimal(k.alpha)
            true = (1 + square / (2 * alpha * Decimal(length) ** 2)) ** -alpha
        else:
            true = (Decimal(k.gamma) * dot + Decimal(k.coef0)) ** k.degree
        found = definition(k, x[None], y[None])[0, 0]
        limit = Decimal(1e3 * float(np.finfo(np.longdouble).eps)) * abs(true)
        assert abs(Decimal(np.format_float_positional(found)) - true) < limit, k


def test_copies_are_one_row_with_their_weights():
    for seed in range(12):
        problem, _ = repeated_problem(seed, largest=300)
        whole, distinct = Reference.of(problem), Reference.of(merged(problem))
        np.testing.assert_allclose(
            distinct.leading(5) * float(distinct.unit),
            whole.leading(5) * float(whole.unit),
            rtol=1e-12,
        )


def test_a_group_that_was_missed_is_measured():
    problem, _ = repeated_problem(3, largest=300)
    reference = Reference.of(merged(problem))
    values = reference.leading(6) * float(reference.unit)
    assert true_error(reference, values[:5]) == 0
    assert true_error(reference, np.delete(values, 1)) > 0.9 * (1 - values[2] / values[1]) > 0.1
