"""Novelty detection behind scikit-learn's door."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer import novelty
from mercer._base.config import Config, with_parameters
from mercer._base.machine import available_bytes
from mercer._base.numbers import check_rate, fixed_rng
from mercer._base.sklearn import OutlierMixin
from mercer._base.types import Array, RowsLike, Seed, Targets
from mercer.estimators._validation import check_rows, load
from mercer.estimators.base import Capabilities, Estimator, parts_in
from mercer.estimators.door import require_open, verb
from mercer.estimators.learning import learn, plan_of
from mercer.estimators.monitor import Monitor
from mercer.estimators.subspace import OF_MODEL, TO_CONTRIBUTE, SubspaceEstimator, loading
from mercer.exceptions import DataError, Remedy, warn
from mercer.kernels import Gaussian, Kernel, as_kernel
from mercer.landmarks import Given, random_pivots
from mercer.model import ComponentRule, Model, as_rule, model_of
from mercer.novelty.calibration import check_share, leave_one_out_p_values, rows_needed
from mercer.novelty.score import NoveltyScore, default_rule, novelty_score
from mercer.points import Points, as_points
from mercer.preimage import as_preimage
from mercer.solvers import Dense, Lanczos, Landmarks, Plan, Problem, Solver, as_solver
from mercer.solvers.landmarks import as_landmark_rule


@with_parameters
class KernelNovelty(OutlierMixin, Estimator):
    r"""Novelty detection by kernel PCA, with a false-alarm rate that holds on new data.

    A point is new if it lies far from the subspace that the training rows span in feature space
    (Hoffmann 2007). The threshold comes from scores of rows that the model had not seen, by
    conformal prediction: training errors are too small, the more so the more components there are.

    Parameters
    ----------
    n_components : int, float, rule or None, default=None
        As for :class:`~mercer.KernelPCA`; None keeps 80 % of the variance, with at most 400
        components and at most one for every two rows (95 %, 40 and four rows for measures with T²;
        at most 10 components where the rows are contaminated).
    kernel : str, Kernel or None, default=None
        See :mod:`mercer.kernels`. None is a Gaussian whose width lies between the distances of
        neighbours and those of all pairs, or is wider where tails are long,
        :func:`~mercer.novelty.neighbour_kernel`; by the median rule for measures with T² and where
        the rows are contaminated.
    false_alarm_rate : float, default=0.05
        The share of fresh normal rows that ``predict`` may call outliers; where the rows are
        contaminated it is ``contamination`` that sets the threshold.
    measure : {"reconstruction", "hotelling", "combined"}, default="reconstruction"
        The distance from the subspace, T² inside it, or both; see
        :func:`~mercer.novelty_score`.
    solver : str or Solver, default="auto"
        See :mod:`mercer.solvers`; ``"auto"`` is exact up to 2,000 rows, and takes 1,000 of the rows
        as landmarks beyond.
    calibration : str or Calibration, default="auto"
        ``"cross"`` (ten more fits, all rows used), ``"split"`` (a quarter of the rows set aside, at
        most 5,000). ``"auto"`` goes by the number of rows: cross up to 1,000 (20,000 where they are
        contaminated), with five folds beyond 500; more rows are split, because cross-fitting raises
        far fewer alarms than asked for where each further row still teaches the model. For measures
        with T² it would raise more and is refused, unless the rows are contaminated; ``"auto"``
        splits, and sets up to half of the rows aside if the rate needs it.
    contamination : float, "auto" or None, default=None
        None: all training rows are normal, and ``predict`` looks for novelties. Otherwise some of
        them are outliers that should be found (``fit_predict``) and not learnt: a share in (0,
        0.5], or ``"auto"``. The strangest fifth, or twice the share, is set aside; ``predict``
        then calls that share of the training rows outliers, or those whose score lies far beyond
        the others.
        Of 300 clean rows with four normal columns ``"auto"`` calls about 2 %, with long tails 5 to
        11 %.
    random_state : int, Generator, RandomState or None, default=None
        For the folds, and for solvers that draw random numbers.

    Attributes
    ----------
    score_ : NoveltyScore
        The fitted score, on the :class:`~mercer.Subspace` ``subspace_``.
    conformal_ : Conformal
        The held-out scores in order.
    offset_ : float
        Minus the threshold: ``decision_function = score_samples - offset_``. Minus infinity if
        there are too few calibration rows for the rate: nothing is then called an outlier, and
        ``fit`` warns.
    calibration_rows_, calibration_p_values_ : (c,) arrays
        Training rows that were held out at some time, and their p-values. These show which training
        rows look strange to a model fitted without them; ``predict`` flags too few of them.
    subspace_, kernel_, eigenvalues_, explained_variance_, explained_variance_ratio_, report_
        As for :class:`~mercer.KernelPCA`, of the rows that the model has learnt from.
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

    capabilities = Capabilities(sparse=True, objects=True, onnx=True)

    _by_name: ClassVar[Mapping[str, Callable[[Any], Any]]] = {
        "kernel": lambda kernel: Gaussian() if kernel is None else as_kernel(kernel)
    }
    _saved = ("score_", "conformal_", "offset_", *OF_MODEL[1:])  # the score has the subspace

    # What its Model has learnt is shown as everywhere.
    subspace_, kernel_ = SubspaceEstimator.subspace_, SubspaceEstimator.kernel_
    eigenvalues_, residuals_ = SubspaceEstimator.eigenvalues_, SubspaceEstimator.residuals_
    explained_variance_ = SubspaceEstimator.explained_variance_
    explained_variance_ratio_ = SubspaceEstimator.explained_variance_ratio_
    report_, plan = SubspaceEstimator.report_, SubspaceEstimator.plan
    to_html, uncertainty = SubspaceEstimator.to_html, SubspaceEstimator.uncertainty
    relevance, sensitivity = SubspaceEstimator.relevance, SubspaceEstimator.sensitivity

    n_components: int | float | ComponentRule | None = None
    _: KW_ONLY
    kernel: str | Kernel | None = None
    false_alarm_rate: float = 0.05
    measure: str = "reconstruction"
    solver: str | Solver = "auto"
    calibration: str | novelty.Calibration = "auto"
    contamination: float | str | None = None
    random_state: Seed = None

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Learn what is normal, and the threshold.

        Parameters
        ----------
        X : (n, d) array or data frame; a list for kernels of objects
            Normal rows, unless ``contamination`` says otherwise. A path, a row source or a dask
            collection is read in blocks if rows are set aside for the threshold.
        y : ignored
        """
        kernel = None if self.kernel is None else as_kernel(self.kernel)
        self._check_parameters(kernel or Gaussian())
        points = check_rows(self, X, kernel or Gaussian(), reset=True, stream=self._reads_in_place)
        if not (points.is_here or self._stays(points, kernel)):
            points = as_points(load(points))
        rng = self._rng()
        learn = self._learner(points, kernel, rng)
        threshold = None
        if self.contamination is None:
            calibrated = self._strategy(len(points)).calibrate(learn, points.rows, rng)
        else:
            learn, calibrated, threshold = self._among_outliers(learn, kernel)
        self._keep(learn.model, calibrated.score, calibrated.held_out, threshold)
        order = np.argsort(calibrated.rows)
        self.calibration_rows_ = calibrated.rows[order]
        self.calibration_p_values_ = leave_one_out_p_values(calibrated.held_out[order])
        return self

    @classmethod
    def from_fitted(
        cls,
        model: Any,
        X: RowsLike,
        *,
        false_alarm_rate: float = 0.05,
        measure: str = "reconstruction",
    ) -> KernelNovelty:
        """Make a detector from an existing model, such as a sparse or an incremental one.

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
        points = check_rows(detector, X, kernel, reset=True)
        learnt = model_of(model)
        if learnt.explained_variance is None and measure != "reconstruction":
            raise DataError(
                f"measure={measure!r} needs the model's explained_variance_, which "
                f"{type(model).__name__} does not have; use measure='reconstruction'."
            )
        if learnt.was_fitted_to(X, points.rows):
            shell = "all of them with 'mercer fit DATA --model novelty'."
            raise DataError(
                f"these {len(points)} rows are those that the model was fitted to: a threshold "
                "from them would give more false alarms than asked for. Give normal rows that it "
                "has not seen, or fit " + Remedy("KernelNovelty to all of them.", shell=shell)
            )
        subspace, variance = learnt.subspace, learnt.explained_variance
        variance = np.ones(subspace.n_components) if variance is None else variance
        bound = novelty_score(measure, subspace, variance)
        detector._keep(learnt, bound, bound(points.cast(subspace.coef.dtype)))
        return detector

    @verb("rows", "numbers")
    def score_samples(self, X: RowsLike) -> Array:
        """Minus the novelty score, (n,): larger is more normal, as in scikit-learn."""
        return -self.score_(X)

    @verb("rows", "numbers")
    def decision_function(self, X: RowsLike) -> Array:
        """``score_samples - offset_``, (n,): negative for outliers.

        Infinite where there are too few calibration rows for the rate, so that nothing is an
        outlier; ``score_samples`` still ranks the rows.
        """
        scores = -self.score_(X)
        if np.isinf(self.offset_):  # a score that overflows must not meet it: inf - inf
            return np.full_like(scores, -self.offset_)
        return scores - self.offset_

    @verb("rows", "numbers")
    def predict(self, X: RowsLike) -> Array:
        """1 for normal rows and -1 for outliers: where ``p_values(X) <= false_alarm_rate``.

        With ``contamination``, outliers are rows whose score exceeds the threshold that it sets.
        """
        return np.where(self.score_(X) > -self.offset_, -1, 1)

    @verb("rows", "numbers")
    def p_values(self, X: RowsLike) -> Array:
        """Conformal p-values, (n,): how rare a score this large is among fresh normal rows.

        Never below ``1/(c + 1)`` with c calibration rows. To screen many points, pass the p-values
        to :func:`scipy.stats.false_discovery_control`.
        """
        return self.conformal_.p_values(self.score_(X))

    @verb("rows", "rows", needs="coordinates", instead=TO_CONTRIBUTE)
    def contributions(self, X: RowsLike) -> Any:
        """The part of each variable in the score of each row, (n, d); sparse for sparse rows.

        The score is integrated along the line from the point that the model would put in its place
        (the pre-image of its projection), see :func:`mercer.novelty.score`.
        """
        subspace, way = self.score_.subspace, "auto"
        points = subspace.points.adopt(X)
        if points.is_sparse:
            way = "nearest" if subspace.kernel.radial is None else "combination"
        nearest = as_preimage(way).init(subspace).solve(subspace.scores(points), points.rows)
        return novelty.contributions(self.score_, points, nearest.points)

    @verb("rows")
    def monitor(self, X: RowsLike = None, *, level: float = 0.01, random_state: int = 0) -> Monitor:
        """Watch a stream, with a bound on the chance of a false alarm over *all* of it.

        Parameters
        ----------
        X : (n, d) array or data frame, optional
            Normal rows that the model has **not** seen, to compare the stream with; a few hundred
            make changes show sooner. If calibration set rows aside, as it does by default beyond
            1,000 rows, use those: ``X[model.calibration_rows_]``. Without any, the stream counts
            as normal until it changes.
        level : float, default=0.01
            The chance that there is ever a false alarm.
        random_state : int, default=0
            Breaks ties.

        Returns
        -------
        :class:`~mercer.estimators.monitor.Monitor`
        """
        return Monitor(level, random_state)._watch(self, X)

    @property
    def _reads_in_place(self) -> bool:
        """Whether many rows are learnt where they are; few of them are loaded."""
        split = self.calibration in ("auto", "split") or isinstance(self.calibration, novelty.Split)
        return split and self.contamination is None

    def _stays(self, points: Points, kernel: Kernel | None) -> bool:
        """Whether these rows are learnt where they are."""
        aside = isinstance(self._strategy(len(points)), novelty.Split)
        return aside and not self._plan(kernel or Gaussian(), points).loads

    def _strategy(self, n: int) -> novelty.Calibration:
        rate = self.false_alarm_rate
        return novelty.honest_calibration(self.calibration, self.measure, n, rate)

    def _plan(self, kernel: Kernel, rows: Points) -> Plan:
        many = self.solver == "auto" and len(rows) > EXACT_UP_TO
        problem = Problem(kernel, rows, as_rule(self._rule), fixed_rng(0))
        plan = plan_of(problem, Landmarks(LANDMARKS) if many else self.solver)
        loads = len(rows) > MOST_IN_PLACE and not plan.loads
        return replace(loading(plan, rows) if loads else plan, resumable=False)

    @property
    def _rule(self) -> Any:
        contaminated = self.contamination is not None
        usual = default_rule(self.measure, contaminated=contaminated)
        return usual if self.n_components is None else self.n_components

    def _learner(
        self, points: Points, kernel: Kernel | None, rng: np.random.Generator
    ) -> NoveltyLearner:
        if self.contamination is not None and kernel is None:
            kernel = Gaussian()
        return NoveltyLearner(points, kernel, self._rule, self.measure, self.solver, rng)

    def _among_outliers(
        self, learn: NoveltyLearner, kernel: Kernel | None
    ) -> tuple[NoveltyLearner, novelty.Calibrated, float]:
        """What was learnt of the calm rows, and the threshold among all."""
        assert self.contamination is not None
        points = learn.points
        kept = novelty.calm_rows(learn, kernel, points, self.contamination)
        calm = replace(learn, points=points.take(kept))
        # The threshold does not rest on held-out scores here, so that T² may learn all calm rows.
        strategy = novelty.as_calibration(self.calibration, len(kept))
        calibrated = strategy.calibrate(calm, calm.points.rows, learn.rng)
        scores = calibrated.score(points)
        aside = np.setdiff1d(np.arange(len(points)), kept)
        # Rows that were learnt look calmer than new ones; "auto" takes the tail of held-out scores.
        fresh = np.concatenate([np.resize(calibrated.held_out, len(kept)), scores[aside]])
        looked_at = fresh if self.contamination == "auto" else scores
        threshold = novelty.outlier_threshold(calibrated.score, looked_at, self.contamination)
        # Rows aside that are no outliers are normal, too, and the model has not seen them.
        aside = aside[scores[aside] <= threshold]
        held_out = np.concatenate([calibrated.held_out, scores[aside]])
        every = np.concatenate([kept[calibrated.rows], aside])
        return calm, novelty.Calibrated(calibrated.score, every, held_out), threshold

    def _keep(
        self, model: Model, score: NoveltyScore, held_out: Array, threshold: float | None = None
    ) -> None:
        self._set_model(model)
        self.score_ = score
        dtype, rate = score.subspace.coef.dtype, self.false_alarm_rate
        rounding = 64 * float(np.finfo(dtype).eps)
        # In the precision of new scores, or rounding could part predict and p_values.
        held_out = held_out.astype(dtype, copy=False)
        self.conformal_ = novelty.Conformal.of(held_out, slack=rounding * np.abs(held_out).max())
        if threshold is not None:
            self.offset_ = -threshold * (1 + rounding)
            return
        self.offset_ = -self.conformal_.threshold(rate)
        if np.isinf(self.offset_):
            more = (
                " (calibration='split' takes a quarter of the rows, 'cross' all of them, for "
                "measure='reconstruction'), or ask for "
            )
            warn(
                f"{len(held_out)} calibration rows cannot promise a false-alarm rate of {rate:g}: "
                f"predict will call no row an outlier. Give at least {rows_needed(rate)} of them"
                + Remedy(more, shell=", or ask for --false-alarm-rate ")
                + f"{self.conformal_.finest_rate:.3g} or more."
            )
        elif score.reach <= -self.offset_:  # not even a row far from all others is new
            warn(
                f"at a false-alarm rate of {rate:g}, predict will call no row an outlier: so many "
                f"normal rows are farther from all others than {self.kernel_!r} reaches. Give more "
                "rows, or a wider kernel"
                + Remedy(", such as kernel='gaussian'.", shell=", such as --gamma median.")
            )

    def _check_parameters(self, kernel: Kernel) -> None:
        check_rate("false_alarm_rate", self.false_alarm_rate, 0.05)
        check_share(self.contamination)
        require_open(kernel, "novelty")

    def _restore(self, state: dict[str, Any]) -> None:
        # Files of before 0.2 tell no more than the score; a pattern has not even that.
        parts = parts_in(state)
        super()._restore(state)
        if isinstance(score := state.get("score_"), NoveltyScore):
            self._set_model(Model.known(**parts | {"subspace": score.subspace}))


#: Up to this many rows ``solver="auto"`` is exact; beyond, components are found on landmarks.
EXACT_UP_TO = 2_000
#: Rows that are learnt where they are: the numbers of as many take 2.4 GB while some are set aside.
MOST_IN_PLACE = 100_000_000
LANDMARKS = 1_000


@dataclass
class NoveltyLearner:
    """Kernel PCA of some of the rows, and its score.

    Attributes
    ----------
    rows : the rows, checked
    kernel : Kernel, or None for the default of the measure
    n_components, measure, solver : as of :class:`~mercer.KernelNovelty`
    rng : numpy.random.Generator
    model : Model
        Of the last fit whose choices were its own.
    """

    points: Points
    kernel: Kernel | None
    n_components: Any
    measure: str
    solver: str | Solver
    rng: np.random.Generator
    model: Model = field(init=False)
    _solver: Config = field(default_factory=Dense, init=False)
    _landmarks: Array | None = field(default=None, init=False)

    def __call__(self, rows: Array, like: NoveltyScore | None = None) -> NoveltyScore:
        """Fit the rows with these numbers; with the choices of ``like``, if given."""
        X = self.points.left(rows)
        if like is None:
            rule, kernel = self.n_components, self._kernel_for(X).resolve(X.rows)
        else:
            rule, kernel = like.subspace.n_components, like.subspace.kernel
        problem = Problem(kernel, X, as_rule(rule), self.rng)
        plan = plan_of(problem, self._choose(kernel, X))
        learnt, self._solver = learn(problem, plan), plan.solver
        if like is None:
            self.model = learnt
        return novelty_score(self.measure, learnt.subspace, learnt.explained_variance)

    def held_out(self, score: NoveltyScore, fold_of: Array) -> Array | None:
        """Each row's score under the model of the other folds, if the fit of all rows helps."""
        solver, n = self._solver, len(self.points)
        known_to = None
        if self._landmarks is not None:
            known_to = fold_of[self._landmarks]
        elif isinstance(solver, Landmarks) and isinstance(as_landmark_rule(solver.select), Given):
            # The user's own points: no fold brings them with it.
            known_to = np.full(score.subspace.n_support, -1)
        if known_to is not None:
            return novelty.landmark_folds(score, self.measure, self.points, known_to, fold_of)
        # Davidson is near-exact only, and each fold anew takes it no longer.
        if not isinstance(solver, Dense | Lanczos) or 5 * 8 * n * n > available_bytes() // 2:
            return None
        return novelty.gram_folds(score, self.measure, solver, fold_of, self.rng)

    def _kernel_for(self, X: Points) -> Kernel:
        if self.kernel is not None:
            return self.kernel
        # T² of a narrow kernel tells how close a row is to others, and not how far.
        return novelty.neighbour_kernel(X) if self.measure == "reconstruction" else Gaussian()

    def _choose(self, kernel: Kernel, X: Points) -> Solver:
        """The solver; ``"auto"`` takes rows as landmarks where there are many."""
        self._landmarks = None
        if self.solver != "auto" or len(X) <= EXACT_UP_TO:
            return as_solver(self.solver)
        # By randomly pivoted Cholesky on a sample; rows and not means: what a fold's model must
        # not know can be left out.
        sample = np.sort(self.rng.choice(len(X), min(len(X), 5 * LANDMARKS), replace=False))
        exact = X.take(sample).cast(np.float64)
        self._landmarks = np.sort(sample[random_pivots(kernel, exact, LANDMARKS, self.rng)])
        return Landmarks(len(self._landmarks), select=Given(X.take(self._landmarks).rows))
