"""What a solver returns: eigenpairs with their residuals, and a model with its report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from mercer._base.machine import size_text
from mercer._base.numbers import counted, shortened
from mercer._base.small_table import SmallTable, shown_as_table
from mercer._base.types import Array, Estimator, RowsLike
from mercer.exceptions import DataError, Remedy
from mercer.gram import GramOperator
from mercer.model.subspace import Subspace
from mercer.points import as_points
from mercer.points.source import MemoryRows, Source


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenpairs of a symmetric operator, largest first.

    Attributes
    ----------
    values : (k,) eigenvalues, decreasing
    vectors : (n, k) orthonormal eigenvectors
    residuals : (k,) norms ``|A v - λ v|``
    errors : (k,) estimates of the relative error of each eigenvalue, from the residuals
    passes : number of passes over the matrix (products with a block of vectors)
    operator : the matrix that they belong to; a solver may have gone over to a finer one
    converged : did every pair reach the solver's tolerance?
    smallest : the smallest eigenvalue of the whole matrix, where the solver knows it
    beyond : how large the next eigenvalue may be, where the solver has looked
    """

    values: Array
    vectors: Array
    residuals: Array
    errors: Array
    passes: int
    operator: GramOperator
    converged: bool = True
    smallest: float | None = None
    beyond: float = 0.0


@shown_as_table
@dataclass(frozen=True)
class Report:
    """How a fit went.

    Attributes
    ----------
    solver : its name
    reason : why it was taken
    passes : passes over the kernel matrix
    seconds : wall time of the fit
    estimated_error : largest estimated relative error of a kept eigenvalue
    bytes : estimated peak of the solver's own arrays
    converged : did the solver reach its tolerance?
    unexplained : share of the total variance that the approximation cannot see (landmarks); 0 if
        none
    audited : largest relative discrepancy between the fit and the kernel's definition at a few
        rows; None for models that were saved before fits were audited
    advice : which components the rows hardly tell apart, in words; empty if none
    """

    solver: str
    reason: str
    passes: int
    seconds: float
    estimated_error: float
    bytes: int
    converged: bool = True
    unexplained: float = 0.0
    audited: float | None = None
    advice: str = ""

    @property
    def accuracy(self) -> str:
        """What the fit claims, and what its audit has found, in words."""
        audit = "not audited" if self.audited is None else f"audited {self.audited:.1e}"
        return f"relative error: claimed {self.estimated_error:.1e}, {audit}"

    def _table(self) -> SmallTable:
        unseen = f"{self.unexplained:.2%} of the variance" if self.unexplained else ""
        passes = "1 pass" if self.passes == 1 else f"{self.passes:,} passes"
        lines = {
            "solver": self.solver + ("" if self.converged else ", did not converge"),
            "reason": self.reason,
            "cost": f"{passes}, {self.seconds:.3g} s, {size_text(self.bytes)}",
            "accuracy": self.accuracy,
            "not seen": unseen,
            "advice": self.advice,
        }
        return SmallTable("Report", [line for line in lines.items() if line[1]])


@dataclass(frozen=True)
class Model:
    """All that was learnt: solvers return it, and every fitted estimator keeps one.

    Of another's estimator, or an old file, what it does not tell is None; see :func:`model_of`.

    Attributes
    ----------
    subspace : Subspace
    eigenvalues : (q,) array
        Of the centred Gram matrix, decreasing.
    explained_variance : (q,) array
        The same over the number of rows.
    explained_variance_ratio : (q,) array
        The same over the true total variance.
    residuals : (q,) array or None
        ``|K v - λ v|``, of methods that have eigenvectors.
    report : Report
    n_rows : float
        Rows of the fit, or the sum of their weights; 0 if unknown.
    of_gram : bool
        These are eigenpairs of the Gram matrix of all rows.
    names : list of str or None
        Of the columns of the rows.
    fingerprint : mapping or None
        Which rows they were: their number, width, precision, and a hash.
    """

    subspace: Subspace
    eigenvalues: Array
    explained_variance: Array
    explained_variance_ratio: Array
    residuals: Array | None
    report: Report
    n_rows: float
    of_gram: bool = False
    names: list[str] | None = None
    fingerprint: Mapping[str, Any] | None = None

    def was_fitted_to(self, X: RowsLike, rows: Array) -> bool:
        """Whether these are the rows of the fit, as far as can be known.

        ``X`` as given, ``rows`` as checked: a file is known by itself or by what is in it.
        """
        known = self.fingerprint
        sources = [MemoryRows(rows), *([X] if isinstance(X, Source) else [])]
        same = known is not None and known["sha256"] in [part.fingerprint() for part in sources]
        return same or as_points(self.subspace.support).equals(as_points(rows))

    def scores(self, weight: Array | None) -> Array | None:
        """Scores of the rows themselves where they cost no pass: ``z = √λ v = λ B``; else None.

        Landmarks may be the rows, too; then B is any of many if the rows have copies. With weights
        ``λ B / w`` would divide the rounding of B by weights that may be tiny.
        """
        if not self.of_gram or weight is not None:
            return None
        return np.asarray(self.subspace.coef * self.eigenvalues, dtype=self.subspace.coef.dtype)

    @classmethod
    def of(
        cls,
        subspace: Subspace,
        eigenvalues: Array,
        residuals: Array | None,
        report: Report,
        *,
        rows: float,
        trace: float,
        of_gram: bool = False,
    ) -> Self:
        """From eigenvalues, the number of rows (or the sum of their weights) and the trace."""
        # Solvers may be better than the precision in which the eigenvalues are returned.
        error = max(report.estimated_error, float(np.finfo(eigenvalues.dtype).eps) / 2)
        report = replace(report, estimated_error=error, advice=spectrum_advice(eigenvalues, rows))
        shares = eigenvalues / float(rows), eigenvalues / float(trace)
        return cls(subspace, eigenvalues, *shares, residuals, report, float(rows), of_gram)

    @classmethod
    def known(cls, **parts: Any) -> Self:
        """From what is known: the subspace, and any of the others."""
        values: dict[str, Any] = dict.fromkeys(PARTS) | parts
        return cls(**values, n_rows=_rows_of(values["eigenvalues"], values["explained_variance"]))

    def describe(self) -> dict[str, str]:
        """Rows, kernel, components and accuracy in words; what an old file lacks is left out."""
        subspace, share = self.subspace, self.explained_variance_ratio
        rows, kept, width = round(self.n_rows), subspace.n_support, subspace.points.width
        part = "" if share is None else f", with {share.sum():.1%} of the variance"
        return {
            "rows": f"{rows:,}" if rows else "",
            "columns": _few(self.names) if self.names else f"{width:,}",
            "kernel": shortened(repr(subspace.kernel)),
            "components": f"{subspace.n_components:,}{part}",
            "support": "" if kept == rows else counted(kept, "point"),
            "solver": "" if self.report is None else self.report.solver,
            "accuracy": "" if self.report is None else self.report.accuracy,
        }

    def leading(self, q: int) -> "Model":
        """What was learnt of the first q components."""
        parts = {name: getattr(self, name) for name in PER_COMPONENT}
        known = {name: part[:q] for name, part in parts.items() if part is not None}
        return replace(self, subspace=self.subspace.leading(q), of_gram=False, **known)


def _few(names: Sequence[str]) -> str:
    """How many columns, with the names of the first."""
    return f"{len(names):,}: {', '.join(names[:6])}" + ", …" * (len(names) > 6)


#: Arrays with a number for each component.
PER_COMPONENT = ("eigenvalues", "explained_variance", "explained_variance_ratio", "residuals")
#: What an estimator shows of its model, each under its name with an underscore behind.
PARTS = ("subspace", *PER_COMPONENT, "report")


def model_of(estimator: Estimator) -> Model:
    """What a fitted estimator has learnt: ours, one on tables, or another's with our attributes."""
    holder = getattr(estimator, "__dict__", {}).get("model_", estimator)
    own = getattr(holder, "_model_", None)
    if isinstance(own, Model):  # on tables the columns have names of their own
        return own if holder is estimator else replace(own, names=names_of(estimator))
    parts = {name: getattr(holder, f"{name}_", None) for name in PARTS}
    if isinstance(parts["subspace"], Subspace):
        return Model.known(**parts, names=names_of(estimator))
    name = type(estimator).__name__
    try:
        check_is_fitted(estimator)
    except (NotFittedError, TypeError):
        if hasattr(estimator, "fit"):
            raise NotFittedError(f"this {name} is not fitted yet; call fit(X) first.") from None
    raise DataError(f"{type(estimator).__module__}.{name} has no subspace; give a model of mercer.")


@runtime_checkable
class OnTables(Protocol):
    """A fitted estimator that takes and gives tables of all kinds of columns."""

    encoder_: Any
    model_: Any

    def vectors(self, X: Any) -> Array:
        """The rows as the model inside sees them."""


@runtime_checkable
class Detector(Protocol):
    """A fitted estimator with a threshold, as :class:`~mercer.KernelNovelty`."""

    score_: Any
    conformal_: Any
    offset_: float
    measure: str
    false_alarm_rate: float
    contamination: float | str | None
    monitor: Any


@runtime_checkable
class Reversible(Protocol):
    """A fitted estimator with a way back to input space."""

    preimage_: Any


def of_vectors(estimator: Estimator) -> Any:
    """The estimator inside one of tables; any other as it is."""
    return estimator.model_ if isinstance(estimator, OnTables) else estimator


def remember(estimator: Estimator, fingerprint: Mapping[str, Any] | None) -> None:
    """Keep the fingerprint of the rows of a fit with the estimator, and with its model."""
    estimator._data_fingerprint = fingerprint
    if isinstance(own := vars(estimator).get("_model_"), Model):
        estimator._model_ = replace(own, fingerprint=fingerprint)
    if "model_" in vars(estimator):
        remember(estimator.model_, fingerprint)


#: Where scikit-learn's estimators keep the names of their columns.
NAMES = "feature_names_in_"


def names_of(estimator: Estimator) -> list[str] | None:
    """The names of the columns that anything was fitted to, if they had any; a Model has them."""
    names = getattr(estimator, NAMES, None)
    return None if names is None else [str(name) for name in names]


def _rows_of(values: Array | None, variances: Array | None) -> float:
    """The number of rows, where a file does not tell, by the two scales of the eigenvalues."""
    known = [np.ravel(part) for part in (values, variances) if isinstance(part, np.ndarray)]
    if len(known) < 2 or not all(part.dtype.kind == "f" and part.size for part in known):
        return 0.0
    rows = float(known[0][0]) / float(known[1][0]) if known[1][0] > 0 else 0.0
    whole = abs(rows - round(rows)) <= 4 * float(np.finfo(known[0].dtype).eps) * rows
    return float(round(rows)) if whole else rows


def measured(
    operator: GramOperator, values: Array, vectors: Array, passes: int, **known: float | None
) -> Spectrum:
    """A Spectrum with residuals measured by one more product, for solvers that return none."""
    residuals = np.linalg.norm(operator.matmat(vectors) - vectors * values, axis=0)
    errors = estimate_errors(values, residuals) + rounding_errors(operator, values, vectors)
    return Spectrum(values, vectors, residuals, errors, passes + 1, operator, **known)  # type: ignore[arg-type]


def rounding_errors(operator: GramOperator, values: Array, vectors: Array) -> Array:
    """Relative errors of the eigenvalues that no residual shows: those of the entries themselves.

    Entries computed as K + E move an eigenvalue by ``vᵀEv``, which a few rows of the kernel's
    definition tell; LAPACK and the sums of a product add their own rounding. That of ``(K v)ᵢ`` is
    ``δᵢ λ vᵢ``, which moves the eigenvalue by ``λ Σ vᵢ² δᵢ``: by chance, but the less of it cancels
    the fewer rows a vector lives on.
    """
    eps, coarse = (float(np.finfo(dtype).eps) for dtype in (operator.dtype, operator.precision))
    # Sums of n terms err by a random walk of n steps.
    arithmetic = eps * (np.sqrt(operator.n) * abs(float(values[0])) + operator.scale())
    size = np.maximum(np.abs(values.astype(np.float64)), np.finfo(float).tiny)
    summed = coarse * np.linalg.norm(vectors * vectors, axis=0)
    # Of 20,000 fits one had rows so unlucky that the entries erred by four times their estimate.
    return np.asarray((1.5 * operator.entry_errors(vectors) + arithmetic) / size + summed)


def estimate_errors(values: Array, residuals: Array, beyond: float = 0.0) -> Array:
    """``min(res, res²/gap) / λ`` for each pair: the two classical bounds on an eigenvalue's error.

    The gap of a pair is the distance to the nearest value outside its cluster (closer than its own
    residual); ``beyond`` is an estimate of the next eigenvalue after the last.
    """
    lam = np.asarray(values, dtype=np.float64)
    res = np.asarray(residuals, dtype=np.float64)
    # A Ritz value lies below its eigenvalue, so that what threatens it comes from further down.
    gap = np.maximum(lam - np.append(lam[1:], beyond), 0)
    for i in range(len(lam) - 2, -1, -1):
        if gap[i] <= res[i]:
            gap[i] += gap[i + 1]
    bound = np.minimum(res, np.divide(res * res, gap, out=np.full_like(res, np.inf), where=gap > 0))
    relative = bound / np.maximum(np.abs(lam), np.finfo(float).tiny)
    return np.asarray(np.maximum(relative, np.finfo(values.dtype).eps))  # no claim beyond rounding


def close_groups(values: Array, n: float) -> list[tuple[int, int]]:
    """Runs of components (first and last, from 0) that n rows hardly tell apart.

    A rule of thumb in the manner of North et al. (1982): sampling turns component k towards the
    next one by about ``λ / (√n gap)``, so that a gap below ``2 λ / √n`` means 30 degrees or more.

    Examples
    --------
    >>> from mercer.relevance import close_groups
    >>> close_groups([5.0, 3.0, 2.95, 1.0], n=200)
    [(1, 2)]
    """
    lam = np.asarray(values, dtype=np.float64)
    near = np.flatnonzero(lam[:-1] - lam[1:] < lam[:-1] * 2 / np.sqrt(max(n, 1)))
    runs = np.split(near, np.flatnonzero(np.diff(near) > 1) + 1)
    return [(int(run[0]), int(run[-1]) + 1) for run in runs if run.size]


def spectrum_advice(values: Array, n: float, most: int = 10) -> str:
    """One sentence about close eigenvalues among the leading ones, for a report; empty if none."""
    groups = close_groups(values[:most], n)
    if not groups:
        return ""
    named = [listed(range(first, last + 1)) for first, last in groups]
    shell = "; 'mercer relevance MODEL --intervals' measures it"
    measured = Remedy("; uncertainty() measures it", shell=shell, table="")
    close = f"the eigenvalues of components {'; '.join(named)} are too close for {n:.0f} rows"
    return f"{close} to tell them apart: interpret such a group as one" + measured


def listed(numbers: Sequence[int] | Array | range) -> str:
    """Counted from 0: ``2 and 3``, ``2 to 5``, or a list."""
    shown = [int(k) for k in numbers]
    if len(shown) == 1:
        return str(shown[0])
    if len(shown) > 2 and shown[-1] - shown[0] == len(shown) - 1:
        return f"{shown[0]} to {shown[-1]}"
    return f"{', '.join(map(str, shown[:-1]))} and {shown[-1]}"
