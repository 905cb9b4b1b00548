"""Novelty detection behind scikit-learn's door."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._held_out import take
from mercer._linalg import Array
from mercer._random import make_rng
from mercer._sklearn import BaseEstimator, OutlierMixin, Tags
from mercer._types import ArrayLike, Estimator, RowsLike, Seed, Targets
from mercer.eigen import Solver
from mercer.estimators._available import absent_if, kernel_of, needs_coordinates, require_open
from mercer.estimators._capabilities import Capabilities
from mercer.estimators._frames import framed
from mercer.estimators._live import LiveMixin
from mercer.estimators._parameters import ParametersMixin
from mercer.estimators._relevance import RelevanceMixin
from mercer.estimators._saving import SaveMixin, refuse_seen
from mercer.estimators._validation import check_rows
from mercer.estimators.kernel_pca import KernelPCA
from mercer.exceptions import DataError, MercerWarning, warn
from mercer.kernels import Kernel, RadialKernel, as_kernel
from mercer.novelty import (
    Calibration,
    Conformal,
    CrossFit,
    NoveltyScore,
    ShareUpTo,
    Split,
    WidthChoice,
    as_calibration,
    contributions,
    novelty_score,
    select_width,
)
from mercer.novelty.conformal import rows_needed
from mercer.preimage import as_preimage
from mercer.subspace import ComponentRule, Subspace

__all__ = ["KernelNovelty"]

#: Widths that ``select_width`` tries, in units of the median distance.
WIDTHS = (0.25, 0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8, 4.0)

#: With fewer rows, cross-fitting breaks its promise for measures that contain T².
FEW = 50


def _has_no_width(model: Estimator) -> str | None:
    kernel = kernel_of(model)
    if kernel is None or isinstance(kernel, RadialKernel):
        return None
    return f"{kernel!r} has no width to select; use a radial kernel such as Gaussian()."


class KernelNovelty(
    ParametersMixin, RelevanceMixin, LiveMixin, SaveMixin, OutlierMixin, BaseEstimator
):
    r"""Novelty detection by kernel PCA, with a false-alarm rate that holds on new data.

    A point is new if it lies far from the subspace that the training rows span in feature space
    (Hoffmann 2007). The threshold comes from scores of rows that the model had not seen, by
    conformal prediction: training errors are too small, the more so the more components there are.

    Parameters
    ----------
    n_components : int, float, rule or None, default=None
        As for :class:`~mercer.KernelPCA`; None takes as many as hold 95 % of the variance, at most
        40. The detection hardly depends on it.
    kernel : str or Kernel, default="gaussian"
        See :mod:`mercer.kernels`; the width may be chosen by :meth:`select_width`.
    false_alarm_rate : float, default=0.05
        The share of fresh normal rows that ``predict`` may call outliers.
    measure : {"reconstruction", "hotelling", "combined"}, default="reconstruction"
        The distance from the subspace; T² inside it; or both, see
        :func:`~mercer.novelty.novelty_score`. (Not called ``score``, which scikit-learn takes for
        a method.)
    solver : str or Solver, default="auto"
        See :mod:`mercer.solvers`; with ``Landmarks`` a detector for very many rows.
    calibration : str or Calibration, default="auto"
        ``"cross"`` (ten more fits, all rows used), ``"split"`` (a quarter of the rows set aside, at
        most 5,000), or by the number of rows: cross up to 20,000. With fewer than 50 rows and
        another measure than ``"reconstruction"`` cross-fitting breaks its promise, and
        ``"auto"`` splits.
    random_state : int, Generator, RandomState or None, default=None
        For the folds, and for solvers that draw random numbers.

    Attributes
    ----------
    score_ : NoveltyScore
        The fitted score, on the :class:`~mercer.Subspace` ``score_.subspace``.
    conformal_ : Conformal
        The held-out scores in order.
    offset_ : float
        Minus the threshold: ``decision_function = score_samples - offset_``. Minus infinity where
        the calibration rows are too few for the rate: then nothing is called an outlier, and
        ``fit`` warns.
    calibration_rows_, calibration_p_values_ : (c,) arrays
        Training rows that were held out at some time, and their p-values: which training rows look
        strange to a model without them. ``predict`` on training rows is too kind to them.
    kernel_ : Kernel
    n_features_in_, feature_names_in_

    References
    ----------
    H. Hoffmann. Kernel PCA for novelty detection. Pattern Recognition 40, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelNovelty
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 300)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(
    ...     scale=0.05, size=(300, 2)
    ... )
    >>> model = KernelNovelty(random_state=0).fit(ring)
    >>> model.predict([[0.0, 1.0], [0.0, 0.0]])
    array([ 1, -1])
    >>> bool(model.p_values([[0.0, 0.0]])[0] <= 0.01)
    True
    """

    capabilities: ClassVar[Capabilities] = Capabilities(objects=True, onnx=True)

    _saved: ClassVar[tuple[str, ...]] = (
        "score_",
        "conformal_",
        "offset_",
        "kernel_",
        "n_features_in_",
        "feature_names_in_",
    )

    def __init__(
        self,
        n_components: int | float | ComponentRule | None = None,
        *,
        kernel: str | Kernel = "gaussian",
        false_alarm_rate: float = 0.05,
        measure: str = "reconstruction",
        solver: str | Solver = "auto",
        calibration: str | Calibration = "auto",
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.false_alarm_rate = false_alarm_rate
        self.measure = measure
        self.solver = solver
        self.calibration = calibration
        self.random_state = random_state

    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Learn what is normal, and the threshold.

        Parameters
        ----------
        X : (n, d) array or data frame, all normal rows; a list for kernels of objects
        y : ignored
        """
        rows, kernel = self._check_fit(X)
        rng = self._rng()
        strategy = self._strategy(len(rows))
        found = strategy.calibrate(
            lambda index, like=None: self._learn(kernel, rows, index, rng, like), rows, rng
        )
        self.kernel_ = found.score.subspace.kernel
        self._keep(found.score, found.held_out)
        self.calibration_rows_ = found.rows
        self.calibration_p_values_ = _leave_one_out_p_values(found.held_out)
        return self

    @classmethod
    def from_fitted(
        cls,
        model: Estimator,
        X: RowsLike,
        *,
        false_alarm_rate: float = 0.05,
        measure: str = "reconstruction",
    ) -> KernelNovelty:
        """A detector on a model that exists: sparse, incremental, or fitted long ago.

        Parameters
        ----------
        model : estimator with ``subspace_`` (and ``explained_variance_``, unless the measure is
            ``"reconstruction"``)
        X : (n, d) normal rows that the model has **not** seen, for the threshold
        false_alarm_rate, measure
            As in the constructor.

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelNovelty, KernelPCA
        >>> X = np.random.default_rng(0).standard_normal((300, 2))
        >>> pca = KernelPCA(20, solver="landmarks").fit(X[:200])
        >>> KernelNovelty.from_fitted(pca, X[200:]).predict([[0.0, 0.0], [6.0, 6.0]])
        array([ 1, -1])
        """
        check_is_fitted(model, "subspace_")
        kernel = model.subspace_.kernel
        detector = cls(kernel=kernel, false_alarm_rate=false_alarm_rate, measure=measure)
        detector._check_parameters(kernel)
        rows = check_rows(detector, X, kernel, reset=True)
        variance = getattr(model, "explained_variance_", None)
        if variance is None:
            if measure != "reconstruction":
                raise DataError(
                    f"measure={measure!r} needs the model's explained_variance_, which "
                    f"{type(model).__name__} has not; use measure='reconstruction'."
                )
            variance = np.ones(model.subspace_.n_components)
        refuse_seen(model, X, rows)
        bound = novelty_score(measure, model.subspace_, variance)
        detector.kernel_ = kernel
        detector._keep(bound, bound(_to_dtype(rows, bound)))
        return detector

    @property
    def subspace_(self) -> Subspace:
        """What is normal: the subspace that the score measures distances from."""
        return self.score_.subspace

    def score_samples(self, X: RowsLike) -> Array:
        """Minus the novelty score, (n,): larger is more normal, as scikit-learn has it."""
        return -self._novelty(X)

    def decision_function(self, X: RowsLike) -> Array:
        """``score_samples - offset_``, (n,): negative for outliers.

        Infinite where the rate is too fine for the calibration rows and nothing is an outlier;
        ``score_samples`` still tells which rows are stranger.
        """
        scores = self.score_samples(X)
        if np.isinf(self.offset_):  # a score that overflows must not meet it: inf - inf
            return np.full_like(scores, -self.offset_)
        return scores - self.offset_

    def predict(self, X: RowsLike) -> Array:
        """1 for normal rows and -1 for outliers: where ``p_values(X) <= false_alarm_rate``."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def p_values(self, X: RowsLike) -> Array:
        """Conformal p-values, (n,): how rare so large a score is among fresh normal rows.

        Never below ``1/(c + 1)`` with c calibration rows. For a list of many points give these to
        :func:`scipy.stats.false_discovery_control`.
        """
        novelty = self._novelty(X)
        return self.conformal_.p_values(novelty)

    @needs_coordinates("there are no variables that could contribute; use a kernel of vectors")
    @framed
    def contributions(self, X: RowsLike) -> Array:
        """Which variables did it: each one's part in the score, (n, d).

        The score is integrated along the line from the point that the model would put in its place
        (the pre-image of its projection), see :func:`mercer.novelty.contributions`.
        """
        rows = self._rows(X)
        subspace = self.score_.subspace
        found = as_preimage("auto").init(subspace).solve(subspace.scores(rows), rows)
        return contributions(self.score_, rows, np.asarray(found.points))

    @absent_if(_has_no_width)
    def select_width(self, X: RowsLike, widths: ArrayLike = WIDTHS) -> WidthChoice:
        """Choose the kernel width by normal rows alone.

        Parameters
        ----------
        X : (n, d) normal rows
        widths : sequence of float
            Candidates, as multiples of the length that this kernel takes on X.

        Returns
        -------
        WidthChoice
            ``kernel`` is the best; ``kernels`` and ``separation`` tell about the others.

        Examples
        --------
        >>> from sklearn.datasets import load_digits
        >>> from mercer import KernelNovelty
        >>> digits = load_digits()
        >>> threes = digits.data[digits.target == 3]
        >>> model = KernelNovelty(random_state=0)
        >>> choice = model.select_width(threes, widths=[0.5, 1, 2])
        >>> model = model.set_params(kernel=choice.kernel).fit(threes)
        """
        rows, kernel = self._check_fit(X)
        resolved = kernel.resolve(rows)
        assert isinstance(resolved, RadialKernel)
        kernels = [resolved.with_length(resolved.length * width) for width in widths]
        rng = self._rng()
        return select_width(
            lambda kernel, index: self._learn(kernel, rows, index, rng), rows, kernels, rng
        )

    def _strategy(self, n: int) -> Calibration:
        """How to calibrate; says so where the promise of the rate is known to be broken."""
        strategy = as_calibration(self.calibration, n)
        if self.measure == "reconstruction" or n >= FEW or not isinstance(strategy, CrossFit):
            return strategy
        if self.calibration == "auto":
            return Split()
        warn(
            f"cross-fitting {n} rows with measure={self.measure!r} lets up to 1.5 times the "
            f"false-alarm rate through; use calibration='split', measure='reconstruction', or at "
            f"least {FEW} rows.",
            MercerWarning,
        )
        return strategy

    def _learn(
        self,
        kernel: Kernel,
        rows: RowsLike,
        index: Array,
        rng: Any,
        like: NoveltyScore | None = None,
    ) -> NoveltyScore:
        """Fit these rows, and return their score; with the choices of ``like``, if given."""
        wanted = ShareUpTo() if self.n_components is None else self.n_components
        if like is not None:
            kernel, wanted = like.subspace.kernel, like.subspace.n_components
        pca = KernelPCA(wanted, kernel=kernel, solver=self.solver, random_state=rng)
        pca.fit(take(rows, index))
        return novelty_score(self.measure, pca.subspace_, pca.explained_variance_)

    def _keep(self, score: NoveltyScore, held_out: Array) -> None:
        self.score_ = score
        eps = np.finfo(score.subspace.coef.dtype).eps
        # In the precision of new scores, or rounding could part predict and p_values.
        held_out = held_out.astype(score.subspace.coef.dtype, copy=False)
        self.conformal_ = Conformal.of(held_out, slack=64 * eps * np.abs(held_out).max())
        self.offset_ = -self.conformal_.threshold(self.false_alarm_rate)
        if np.isinf(self.offset_):
            warn(
                f"{len(held_out)} calibration rows cannot promise a false-alarm rate of "
                f"{self.false_alarm_rate:g}: predict will call no row an outlier. Give at least "
                f"{rows_needed(self.false_alarm_rate)} of them (calibration='cross' takes all rows"
                f", 'split' a quarter), or ask for {self.conformal_.finest_rate:.3g} or more.",
                MercerWarning,
            )

    def _novelty(self, X: RowsLike) -> Array:
        rows = self._rows(X)
        return self.score_(rows)

    def _rows(self, X: RowsLike, stream: bool = False) -> Any:
        check_is_fitted(self, "score_")
        rows = check_rows(self, X, self.kernel_, reset=False, stream=stream)
        return _to_dtype(rows, self.score_)

    def _subspace_of_scores(self) -> Subspace:
        check_is_fitted(self, "score_")
        return self.score_.subspace

    def _check_fit(self, X: RowsLike) -> tuple[Any, Kernel]:
        kernel = as_kernel(self.kernel)
        self._check_parameters(kernel)
        return check_rows(self, X, kernel, reset=True), kernel

    def _check_parameters(self, kernel: Kernel) -> None:
        if not 0 < self.false_alarm_rate < 1:
            raise DataError(
                f"false_alarm_rate={self.false_alarm_rate} must lie between 0 and 1; "
                "0.05 lets one in twenty normal rows be called new."
            )
        require_open(kernel, "novelty")

    def _rng(self) -> np.random.Generator:
        return make_rng(self.random_state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = False
        return tags


def _leave_one_out_p_values(held_out: Array) -> Array:
    """p-values of the calibration rows among each other: ranks from the top over their number."""
    ordered = np.sort(held_out)
    return np.asarray((len(ordered) - np.searchsorted(ordered, held_out)) / len(ordered))


def _to_dtype(rows: RowsLike, score: NoveltyScore) -> Any:
    """Rows in the precision of the model."""
    return score.subspace.kernel.points(rows).cast(score.subspace.coef.dtype).rows
