"""A test whether a batch comes from where the reference came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY
from typing import Self

import numpy as np
from scipy.stats import false_discovery_control

from mercer._base.config import with_parameters
from mercer._base.numbers import check_count, check_rate, fixed_rng
from mercer._base.types import Array, RowsLike, Seed, Targets
from mercer.estimators._validation import check_rows
from mercer.estimators.base import Capabilities, Estimator
from mercer.estimators.door import require_open, verb
from mercer.estimators.learning import learn, plan_of
from mercer.estimators.subspace import OF_MODEL, TO_CONTRIBUTE, SubspaceEstimator
from mercer.exceptions import DataError
from mercer.kernels import Kernel, as_kernel
from mercer.landmarks import Given
from mercer.model.rank import Above
from mercer.novelty.drift import Drift, by_column, compare
from mercer.points import Points
from mercer.solvers import Landmarks, Plan, Problem

#: Smaller ones add nothing to the distance of means, and float32 rows leave no digit of them.
NEARLY_ALL = Above(1e-4)


@with_parameters
class KernelDrift(Estimator):
    r"""A test whether batches of rows have drifted away from a reference, by MMD on landmarks.

    The kernel two-sample test (Gretton et al. 2012) needs hundreds of permutations of a matrix of
    all pairs for its p-value. This one costs a transform, and its time does not depend on the
    size of the reference; see :mod:`mercer.novelty.drift`.

    Parameters
    ----------
    n_landmarks : int, default=200
        Rows of the reference, drawn at random, that serve as landmarks: at most half of them.
        Batches are compared with the other rows only.
    kernel : str or Kernel, default="gaussian"
        By default of the median width, the usual choice for this test.
    level : float, default=0.05
        The p-value up to which ``mercer drift`` calls a batch drifted.
    random_state : int, Generator, RandomState or None, default=None
        Which rows are landmarks.

    Attributes
    ----------
    n_reference_ : int
        Rows that batches are compared with.
    subspace_, kernel_, eigenvalues_, explained_variance_, explained_variance_ratio_, report_
        As for :class:`~mercer.KernelPCA`.
    n_features_in_, feature_names_in_

    Notes
    -----
    Rows must be independent of each other: 500 rows of one hour are not 500 rows. Batches of
    20 rows and more keep the level; fewer may miss it by a little.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelDrift
    >>> rng = np.random.default_rng(0)
    >>> model = KernelDrift(random_state=0).fit(rng.standard_normal((2000, 4)))
    >>> bool(model.test(rng.standard_normal((300, 4))).p_value > 0.05)
    True
    >>> batch = rng.standard_normal((300, 4)) + [0, 0.5, 0, 0]
    >>> bool(model.test(batch).p_value < 0.001), int(model.contributions(batch).argmax())
    (True, 1)
    """

    capabilities = Capabilities(sparse=True, objects=True, onnx=True)
    _saved = ("n_reference_", *OF_MODEL)
    _reads_in_place = False
    #: Nearly all that the landmarks have.
    n_components = None

    subspace_, kernel_ = SubspaceEstimator.subspace_, SubspaceEstimator.kernel_
    eigenvalues_, residuals_ = SubspaceEstimator.eigenvalues_, SubspaceEstimator.residuals_
    explained_variance_ = SubspaceEstimator.explained_variance_
    explained_variance_ratio_ = SubspaceEstimator.explained_variance_ratio_
    report_, plan = SubspaceEstimator.report_, SubspaceEstimator.plan

    n_landmarks: int = 200
    _: KW_ONLY
    kernel: str | Kernel = "gaussian"
    level: float = 0.05
    random_state: Seed = None

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Learn the reference.

        Parameters
        ----------
        X : (n, d) array, data frame, or SciPy sparse matrix
            Rows that have not drifted.
        y : ignored
        """
        kernel = as_kernel(self.kernel)
        require_open(kernel, "drift")
        check_rate("level", self.level, 0.05)
        points = check_rows(self, X, kernel, reset=True)
        if len(points) < 4:
            raise DataError(f"{len(points)} row(s) are not a reference; give at least 4 rows.")
        rng, m = self._rng(), self._count(len(points))
        parts = np.split(rng.permutation(len(points)), [m])
        chosen, others = (points.take(np.sort(part)) for part in parts)
        problem = Problem(kernel.resolve(points.rows), others, NEARLY_ALL, rng)
        solver = Landmarks(m, select=Given(chosen.rows))
        self._set_model(learn(problem, plan_of(problem, solver)))
        self.n_reference_ = len(others)
        return self

    @verb("rows")
    def test(self, X: RowsLike) -> Drift:
        """Compare a batch of at least two rows with the reference."""
        if len(X) < 2:
            raise DataError(f"a batch of {len(X)} row(s) has no spread; give at least 2 rows.")
        model = self._model_
        return compare(model.subspace, model.explained_variance, self.n_reference_, X)

    @verb("model")
    def test_many(self, batches: Iterable[RowsLike]) -> tuple[list[Drift], Array]:
        """Compare several batches, with p-values that are adjusted for their number.

        Among the batches with such a p-value up to a rate, no larger share is false on the average
        (Benjamini and Hochberg).
        """
        drifts = [self.test(batch) for batch in batches]
        return drifts, false_discovery_control([drift.p_value for drift in drifts])

    @verb("rows", needs="dense rows", instead=TO_CONTRIBUTE)
    def contributions(self, X: RowsLike) -> Array:
        """The part of each column in the MMD² of a batch, (d,); the largest have moved most."""
        return by_column(self._model_.subspace, X)

    @verb("blocks", "scores")
    def transform(self, X: RowsLike) -> Array:
        """Coordinates, (n, r), in which MMD is the distance between the means of two samples."""
        return self._model_.subspace.scores(X)

    def _count(self, n: int) -> int:
        return min(check_count("n_landmarks", self.n_landmarks, 1), n // 2)

    def _plan(self, kernel: Kernel, rows: Points) -> Plan:
        problem = Problem(kernel, rows, NEARLY_ALL, fixed_rng(0))
        return plan_of(problem, Landmarks(self._count(len(rows))))
