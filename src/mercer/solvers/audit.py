r"""Every fit is audited: a few rows of the kernel's definition against what the solver claims.

A solver works on tiles, shifted and perhaps in float32; a fault there is repeated in every product
and shows in no residual. The audit shares nothing with it but the definition,
:meth:`~mercer.kernels.Kernel.exact`. At s sampled rows, with :math:`z_i = B^\top k(S, x_i) - b`,

- scores and reconstruction errors are those of ``transform`` and ``reconstruction_error``;
- the eigen-equation holds: :math:`z_{ik} = \lambda_k B_{ik} / w_i`;
- the centring holds: :math:`(K c)_i` is what the mean was taken from;
- what is left, :math:`\langle \tilde\varphi_i, \tilde\varphi_j \rangle - z_i \cdot z_j`, has no
  eigenvalue above the first one that was not kept (interlacing);
- nothing outside of the components is larger than the last of them, by whole columns of K there
  where most of it is left (:mod:`mercer.solvers.outside`): a solver whose search space cannot see
  out of itself has residuals of zero.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer._base.linalg import is_positive, square_sums
from mercer._base.types import Array
from mercer.exceptions import NumericalWarning, warn
from mercer.gram import CenteredGram, ProbedGram, SpotCheck
from mercer.gram.spot_check import ROWS
from mercer.model import Subspace
from mercer.model.model import Report, Spectrum
from mercer.points import Points
from mercer.solvers.outside import Outside, largest, outer_pairs
from mercer.solvers.policy import rank_floor

#: Rows that are looked at because most of the matrix is left around them: half as many as by
#: chance, and these at least.
OUTSIDE = 4
#: Rows of a block there: groups with all their rows.
CROWD = 64
#: Sampled norms and estimated errors are right to a factor; what is beyond it is no chance.
SLACK = 10.0


@dataclass(frozen=True)
class Finding:
    """One comparison: how large the discrepancy is, and how large it may be, both relative."""

    what: str
    size: float
    allowed: float

    @classmethod
    def worst(cls, what: str, sizes: Array, allowed: Array) -> Finding:
        """Of many comparisons of one kind."""
        at = np.unravel_index(np.argmax(sizes / allowed), sizes.shape)
        return cls(what, float(sizes[at]), float(allowed[at]))


def audited(report: Report, findings: list[Finding]) -> Report:
    """The report with the largest discrepancy; a warning if one is beyond what was claimed."""
    sizes = np.array([finding.size for finding in findings])
    with np.errstate(invalid="ignore"):  # what is not a number is the worst of all
        shares = sizes / [finding.allowed for finding in findings]
    worst = findings[int(np.argmax(shares))]
    # A fit that has not converged has said so, and claims no more than its residuals.
    if not shares.max() <= 1 and (report.converged or not np.isfinite(sizes.max())):
        other = "" if report.solver == "Dense" else "use solver='dense', or "
        both = f"the {worst.what} by the kernel's definition and by {report.solver}"
        apart = f"differ by {worst.size:.2g} where at most {worst.allowed:.2g} was claimed"
        warn(f"{both} {apart}; {other}give rows in float64.", NumericalWarning)
    return replace(report, audited=float(sizes.max()))


def audit_rows(
    subspace: Subspace, rows: Points, variance: Array, errors: Array, values: Array | None = None
) -> list[Finding]:
    """Scores and reconstruction errors of some rows, by definition and as the model gives them.

    Parameters
    ----------
    rows : n points, in the precision of the model; a few of them are looked at
    variance : (q,) variances of the scores
    errors : (q,) claimed relative errors of the eigenvalues
    values : (n, m) kernel values by definition between these rows and the support, if known
    """
    if values is None:
        rows = rows.take(slice(None, None, -(-len(rows) // ROWS)))
        values = subspace.exact(rows)
    K, B, c = values, *(a.astype(np.float64) for a in (subspace.coef, subspace.mean))
    Z = K @ B - subspace.offset
    own = subspace.kernel.diag(rows.rows).astype(np.float64)
    E = np.maximum(own - 2 * K @ c + subspace.mean_square - square_sums(Z), 0)
    scores, residual = subspace.scores_and_residual(rows)
    # Sums of products in the model's precision err by this much, and so do kernel values.
    eps = _rounding(subspace, rows)
    size = np.abs(K) @ np.abs(B) + np.abs(subspace.offset)
    spread = np.sqrt(variance) + np.finfo(float).tiny
    off = np.abs(scores - Z) / spread
    # ... but scores that are off by half their spread are none, whatever the reason is.
    allowed = np.minimum(SLACK * (SLACK * errors + 64 * eps * (1 + size / spread)), 0.5)
    total = float(np.abs(own).max() + subspace.mean_square) + np.finfo(float).tiny
    noise = 128 * eps * float((np.abs(Z) * size).sum(axis=1).max())  # of |z|²
    apart = float(np.abs(residual - E).max() / total)
    claimed = SLACK * (SLACK * float(errors.max()) + 64 * eps + noise / total)
    return [Finding.worst("scores", off, allowed), Finding("reconstruction errors", apart, claimed)]


def _rounding(subspace: Subspace, rows: Points, dtype: np.dtype | None = None) -> float:
    """Relative rounding of kernel values with these rows, in the precision of the model."""
    dtype = dtype or subspace.coef.dtype
    blur = subspace.kernel.rounding(rows.rows, subspace.basis.origin, dtype)
    return float(np.finfo(dtype).eps) * blur


def audit_scores(subspace: Subspace, spectrum: Spectrum, scores: Array, spot: SpotCheck) -> Finding:
    """Scores that were not computed from the kernel, but from the eigenpairs."""
    lam = spectrum.values[: scores.shape[1]].astype(np.float64)
    B, n = subspace.coef.astype(np.float64), len(subspace.coef)
    total = n if spot.weight is None else float(spot.weight.sum())
    spread = np.sqrt(lam / total)
    size = np.abs(spot.values) @ np.abs(B) + np.abs(subspace.offset)
    off = np.abs(scores[spot.index] - (spot.values @ B - subspace.offset)) / spread
    eps = _rounding(subspace, spot.rows)
    claimed = _claimed(subspace, spectrum, lam)[0] / lam
    allowed = SLACK * (np.sqrt(n) * claimed + 64 * eps * (1 + size / spread))
    return Finding.worst("scores of the rows", off, allowed)


def _claimed(subspace: Subspace, spectrum: Spectrum, lam: Array) -> tuple[Array, float]:
    """How far off ``A v`` and ``λ v`` may be for the leading pairs; and the part of rounding."""
    q = len(lam)
    # In the precision of the model, whatever the entries were computed in.
    floor = rank_floor(spectrum.operator, float(spectrum.values[0]), subspace.coef.dtype)
    # A product in the operator's own precision shows no residual below its rounding.
    rounding = float(np.finfo(spectrum.operator.precision).eps) * lam
    return np.asarray(spectrum.residuals[:q] + spectrum.errors[:q] * lam + rounding + floor), floor


def _audit_values(
    residual: Array, V: Array, lam: Array, spectrum: Spectrum, spot: SpotCheck, floor: float
) -> Finding:
    """``vᵀ (A v - λ v)`` is the error of an eigenvalue: entries may be off where no residual is."""
    off, blur = spot.sums(V * residual)
    size = np.maximum(np.abs(off) - blur, 0) / lam
    # A residual is orthogonal to its vector over all rows; over some of them it is so by chance.
    chance = spectrum.residuals[: len(lam)] * (blur > 0) / np.sqrt(len(residual))
    allowed = SLACK * spectrum.errors[: len(lam)] + (floor + chance) / lam
    return Finding.worst("eigenvalues", size, allowed)


def audit_spectrum(
    subspace: Subspace, spectrum: Spectrum, q: int, spot: SpotCheck, *, dropped: bool = False
) -> list[Finding]:
    """The eigenpairs of a Gram matrix and its centring, at the rows of a spot check.

    ``dropped`` says that what follows the q pairs was called rounding, and must be no more.
    """
    operator, i = spectrum.operator, spot.index
    K, B = spot.values, subspace.coef.astype(np.float64)
    lam = spectrum.values[:q].astype(np.float64)
    root = np.ones(len(B)) if spot.weight is None else np.sqrt(spot.weight)
    Z = K @ B - subspace.offset
    claimed, rounding = _claimed(subspace, spectrum, lam)
    skew = spot.points.skew(i)  # of a matrix that was given
    floor = rounding + np.sqrt(len(B)) * skew
    # D (z - λ B / w) √λ is the residual of the unit eigenvector v = B √λ / D.
    residual = np.sqrt(lam) * (root[i, None] * Z - lam * B[i] / root[i, None])
    findings = [
        Finding.worst("eigen-equation", spot.norms(residual) / lam[0], SLACK * claimed / lam[0]),
        _audit_values(residual, np.sqrt(lam) * B[i] / root[i, None], lam, spectrum, spot, floor),
    ]
    Kc = np.zeros(len(i))
    if isinstance(operator, CenteredGram):
        Kc = K @ subspace.mean.astype(np.float64)
        product = operator.mean_product[i] / (root[i] * np.linalg.norm(root))
        size = float(np.abs(K).max()) + np.finfo(float).tiny
        types = (operator.precision, subspace.coef.dtype)
        # Entries of copies round alike, and do not cancel in their sum.
        coarse = 64 * max(_rounding(subspace, spot.rows, dtype) for dtype in types)
        apart = float(np.abs(Kc - product).max() / size)
        findings.append(Finding("centring", apart, coarse + skew / size))
    # The rows may have been drawn twice: then the matrix is one of fewer rows.
    once = np.unique(i, return_index=True)[1]
    left = K[np.ix_(once, i[once])] - Kc[once] - Kc[once, None] + subspace.mean_square
    left -= Z[once] @ Z[once].T
    D = root[i[once]]
    beyond = float(np.linalg.eigvalsh(D[:, None] * left * D)[-1])
    following = max(float(spectrum.values[min(q, len(spectrum.values) - 1)]), 0.0)
    excess = max(beyond - (0.0 if dropped else following), 0.0)
    allowed = SLACK * (floor if dropped else float(claimed[-1]))
    findings.append(Finding("spectrum that is left", excess / lam[0], allowed / lam[0]))
    if not dropped and isinstance(operator, ProbedGram):
        findings.append(_audit_outside(operator, spectrum, q, spot, floor))
    return findings


def _audit_outside(
    operator: ProbedGram, spectrum: Spectrum, q: int, spot: SpotCheck, floor: float
) -> Finding:
    """No eigenvalue outside of the q vectors is above theirs: a solver may not see those.

    Columns by the kernel's definition, of the rows looked at and of those around which most of the
    matrix is left, show a lower bound of what was missed; and so does, of small groups a better
    one, the block of the rows with most around them (interlacing).
    """

    def seen(K: Array, rows: Array | slice, columns: Array) -> Array:
        """A block of K, weighted and centred as the operator is."""
        D = np.ones(operator.n) if operator.root_weight is None else operator.root_weight
        return operator.seen(D[rows, None] * K * D[columns], rows, columns)

    lam = spectrum.values[:q].astype(np.float64)
    V = spectrum.vectors[:, :q].astype(np.float64)
    W, last = V * lam, float(lam[-1])
    count = min(operator.n // 2, max(OUTSIDE, len(spot.index) // 2))
    look = Outside.of(operator, V, W)
    rows = np.setdiff1d(look.rows(count, last), spot.index)
    index, first = np.unique(spot.index, return_index=True)
    A = np.column_stack([spot.values[first].T, spot.exact(rows).T])
    index = np.append(index, rows)
    A = seen(A, slice(None), index)
    crowd = largest(look.around, CROWD)  # whole groups among them
    D = seen(spot.exact(crowd, crowd), crowd, crowd) - W[crowd] @ V[crowd].T
    bounds, _ = outer_pairs(A, V, W, index, operator.scale(), last)
    bound = float(bounds[:1].sum())
    # V is invariant but for its residuals R, and D for R Vᵀ + V Rᵀ.
    blur = 2 * float(spectrum.residuals[:q].max())
    if not is_positive((last + blur) * np.eye(len(D)) - D):
        bound = max(bound, float(np.linalg.eigvalsh(D)[-1]) - blur)
    excess = max(bound / last - 1, 0.0)
    allowed = SLACK * (float(spectrum.errors[:q].max()) + floor / last)
    return Finding("spectrum outside of the components", excess, allowed)
