r"""What a fitted model says, and each of its numbers beside the definition.

Scores are judged without eigenvectors, which turn freely within a cluster: with the centred kernel
:math:`\tilde k` of the definition, scores of *any* row must solve
:math:`\lambda_j z_j(x) = \sum_i \tilde k(x, x_i)\, w_i\, z_j(x_i)`, and those of the training rows
must be uncorrelated with :math:`\sum_i w_i z_j(x_i)^2 = \lambda_j`. Together with the right
eigenvalues that is kernel PCA, and it holds for rows of weight 0 and for fresh rows as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer._base.types import Array
from mercer.model import Subspace, model_of
from tests.cross.problems import FitProblem
from tests.cross.reference import ROUNDING, Reference, own_error

Faults = list[tuple[str, str]]

#: Off by more than this share of its size a number is wrong; else less accurate than claimed.
FAR = 1e-4
#: The rounding of float32.
FLOAT32 = float(np.finfo(np.float32).eps)
#: What directions of a span's own points may be off, beside the largest: they are divided by the
#: roots of small eigenvalues of K.
WHITENING = {"d": 1e-10, "f": 1e-3}


@dataclass(frozen=True)
class Outputs:
    """The numbers of a fitted model, for the rows to fit followed by the fresh ones.

    Attributes
    ----------
    values, ratio, residuals : (q,) eigenvalues, shares, and |A v - λ v| as reported
    scores : (m, q) by ``transform``
    fitted : (n, q) by ``fit_transform``
    errors : (m,) by ``reconstruction_error``; none for a precomputed kernel
    claim, audited : ``report_.estimated_error`` and ``report_.audited``
    noise : (m, q) sizes of the terms that scores are sums of
    """

    values: Array
    ratio: Array
    residuals: Array
    scores: Array
    fitted: Array
    errors: Array
    claim: float
    audited: float
    converged: bool
    unexplained: float
    noise: Array

    @classmethod
    def of(cls, problem: FitProblem) -> Outputs:
        """Fit the model of a problem, and ask it everything."""
        model = problem.estimator()
        weight = {} if problem.weight is None else {"sample_weight": problem.weight}
        fitted = model.fit_transform(problem.X, **weight)
        scores = np.concatenate([model.transform(problem.X), model.transform(problem.Y)])
        errors = np.zeros(0)  # of a precomputed kernel, which does not know k(x, x) of new rows
        if problem.definition is not None:
            parts = [model.reconstruction_error(rows) for rows in (problem.X, problem.Y)]
            errors = np.concatenate(parts)
        values, residuals = model.eigenvalues_.astype(np.float64), model_of(model).residuals
        return cls(
            values,
            model.explained_variance_ratio_.astype(np.float64),
            np.zeros(len(values)) if residuals is None else residuals.astype(np.float64),
            scores.astype(np.float64),
            fitted.astype(np.float64),
            errors.astype(np.float64),
            float(model.report_.estimated_error),
            float(model.report_.audited or 0.0),  # precomputed: nothing to compare with
            bool(model.report_.converged),
            float(model.report_.unexplained),
            _terms(model.subspace_, problem),
        )

    def measured_in(self, unit: np.longdouble) -> Outputs:
        """The same with kernel values in other units; scores are in their roots."""
        root = np.sqrt(unit)
        names = {"values": unit, "residuals": unit, "errors": unit}
        names |= {"scores": root, "fitted": root, "noise": root}
        scaled = {name: (getattr(self, name) / by).astype(np.float64) for name, by in names.items()}
        return replace(self, **scaled)

    def outside(self) -> float:
        """Variance that the model says its span does not see, times the number of rows."""
        return self.unexplained * float(self.values[0] / self.ratio[0])


def _terms(subspace: Subspace, problem: FitProblem) -> Array:
    """``|k(x, S)| |B|``: inside a span B may be large where landmarks are much alike."""
    if problem.definition is None or problem.method.tol is not None:
        return np.zeros((0, subspace.n_components))
    points, support = np.concatenate([problem.X, problem.Y]), np.asarray(subspace.support)
    K = np.abs(problem.definition(*(rows.astype(np.longdouble) for rows in (points, support))))
    return np.asarray(K @ np.abs(subspace.coef).astype(np.longdouble) + np.abs(subspace.offset))


def check_outputs(problem: FitProblem, reference: Reference, found: Outputs) -> Faults:
    """Every fault of a model, as outcome and text."""
    for name in ("values", "ratio", "scores", "fitted", "errors"):
        if not np.isfinite(getattr(found, name)).all():
            return [("wrong", f"{name} are not finite")]
    if not np.isfinite([found.claim, found.audited]).all():
        return [("wrong", f"claim {found.claim:g}, audited {found.audited:g}")]
    found = found.measured_in(reference.unit)
    if problem.method.tol is None and reference.values[-1] < -reference.floor:
        # No span of some points shows that the kernel is indefinite, but shares must stay shares.
        return _impossible_shares(found)
    bounds = _Bounds(problem, reference, found)
    faults = check_values(problem, reference, found)
    faults += check_count(problem, reference, found)
    faults += check_shares(problem, reference, found)
    faults += bounds.check_variances()
    faults += bounds.check_same()
    if problem.method.tol is None:
        return faults + bounds.check_total_error()
    faults += bounds.check_means()
    faults += bounds.check_equation()
    return faults + bounds.check_errors()


def check_values(problem: FitProblem, reference: Reference, found: Outputs) -> Faults:
    """Eigenvalues within three times the claim, and within the tolerance that was asked for."""
    q, tol, claims = len(found.values), problem.method.tol, problem.method.claims
    true = reference.leading(q)
    # The claim is relative to what was found, which for noise may be more than there is.
    relative_to = np.maximum(np.abs(true), np.abs(found.values))
    claimed = 3 * found.claim * relative_to if claims else np.zeros(q)
    size = _visible(np.abs(true))
    off = np.abs(found.values - true)
    if tol is None and not claims:  # inside a span: too small is no fault, too large is
        off = found.values - true
    # Without a claim of their own the eigenvalues are as good as the kernel's formula, and inside a
    # span as the whitening of its points.
    rounding = reference.rounding
    if not claims:
        rounding += reference.formula + WHITENING["d"] * reference.values[0]
    faults = _worst(f"λ, claim {found.claim:.2g}", off, rounding + claimed, size)
    # Rows in float32 cannot be promised more than their own rounding, which the claim tells.
    if tol is not None and found.converged and problem.X.dtype == np.float64 and not faults:
        promised = max(tol, ROUNDING * reference.eps)  # copies round alike, and not by chance
        allowed = reference.rounding + reference.formula + 3 * promised * np.abs(true)
        faults = _worst(f"λ at tol={tol:g}, claim {found.claim:.2g}", off, allowed, size)
    return faults


def check_shares(problem: FitProblem, reference: Reference, found: Outputs) -> Faults:
    """Shares of the true trace, which rounds like the sum of the entries before centring."""
    if faults := _impossible_shares(found):
        return faults
    total = float((reference.w * np.abs(reference.own[reference.counts])).sum())
    blur = 2 * ROUNDING * reference.eps * total + 3 * found.claim * found.values[-1]
    blur += np.sqrt(len(reference.w)) * reference.formula  # of the mean, a sum of so many entries
    # What a solver promises for eigenvalues it promises for their sum, and for the mean.
    blur += 3 * (problem.method.tol or 0.0) * reference.trace
    if problem.method.tol is None:
        blur += 3 * found.claim * reference.trace + 2 * found.outside()
        blur += 4 * WHITENING[problem.X.dtype.char] * total  # of the mean, which is taken off
    if blur >= 0.5 * reference.trace:  # a trace of zero, too
        return []
    true = found.values / reference.trace
    allowed = 2 * true * blur / reference.trace + ROUNDING * reference.eps
    return _worst("share", np.abs(found.ratio - true), allowed, _visible(true))


def _impossible_shares(found: Outputs) -> Faults:
    if (found.ratio >= 0).all() and (found.ratio <= 1.01).all():
        return []
    return [("wrong", f"shares from {found.ratio.min():.4g} to {found.ratio.max():.4g}")]


def check_count(problem: FitProblem, reference: Reference, found: Outputs) -> Faults:
    """All components above rounding that were asked for, and no more than asked for."""
    q, values = len(found.values), reference.values
    if problem.method.tol is None:
        return []
    certain = int((values > reference.floor).sum())
    if isinstance(problem.k, float):
        reached = np.cumsum(values) / reference.trace
        slack = 1e-9 + 2 * reference.rounding * len(values) / reference.trace + 3 * found.claim
        least = int(np.searchsorted(reached, problem.k - slack)) + 1
        most = int(np.searchsorted(reached, min(problem.k + slack, 1))) + 1
        least, most = min(least, certain), max(most, least)
    else:
        most = len(reference.w) if problem.k is None else problem.k
        least = min(most, certain)
    if least <= q <= most:
        return []
    after = values[min(q, len(values) - 1)]
    text = f"{q} components, expected {least} to {most}"
    return [("wrong", f"{text} (λ_{q} is {after:.3g}, rounding {reference.floor:.2g})")]


class _Bounds:
    """How far scores may be off, and whether they are further."""

    def __init__(self, problem: FitProblem, reference: Reference, found: Outputs) -> None:
        self.problem, self.ref, self.found = problem, reference, found
        lam = np.maximum(found.values, 1e-300)
        w = reference.w.astype(np.float64)
        self.lam, self.w = lam, w
        self.Z = found.scores
        train = self.Z[reference.counts]
        # Rounding of z = Bᵀ k - b, entry by entry: B = D² Z Λ⁻¹ on the rows that count.
        p = reference.p.astype(np.float64)
        one = reference.blur @ (w[:, None] * np.abs(train)) / lam
        self.evaluation = one + p @ one[reference.counts]
        if problem.method.tol is None and problem.definition is not None:
            self.evaluation = self.evaluation + ROUNDING * reference.eps * found.noise
        # Residuals of the pairs: rounding, what was reported, and what the claim stands for.
        self.rho = reference.rounding + 3 * found.residuals + 3 * found.claim * lam
        self.largest = max(float(reference.values[0]), float(lam[0]))

    def check_same(self) -> Faults:
        """fit_transform = transform on the rows to fit, whatever their weight."""
        n = len(self.found.fitted)
        off = np.abs(self.found.fitted - self.Z[:n])
        # fit_transform may take √λ v, which is off by the residual, and all of it may be one row's.
        allowed = 2 * self.evaluation[:n] + self._equation()[:n] / self.lam
        allowed = allowed + self.rho / np.sqrt(self.lam)
        return _worst("fit_transform - transform", off, allowed, self.Z[:n])

    def check_means(self) -> Faults:
        """Weighted means of the scores are zero if centred."""
        if not self.ref.center:
            return []
        p = self.ref.p.astype(np.float64)
        mean = np.abs(p @ self.Z[self.ref.counts])
        allowed = p @ self.evaluation[self.ref.counts] + self.rho / np.sqrt(self.lam * self.w.sum())
        allowed = allowed + self._summed()
        return _worst("mean score", mean, allowed, np.sqrt(_visible(self.lam) / self.w.sum()))

    def _summed(self) -> Array:
        """What ``b = Bᵀ K c`` may be off where tiles, and sums in them, are in float32.

        That is what a tolerance of 1e-6 allows; it promises eigenvalues, which the mean is not in.
        """
        if (self.problem.method.tol or 0.0) < 1e-6:
            return np.zeros(len(self.lam))
        B = self.w[:, None] * self.Z[self.ref.counts] / self.lam
        sums = np.abs(self.ref.to_mean[self.ref.counts].astype(np.float64))
        return np.asarray(ROUNDING * FLOAT32 * np.linalg.norm(B * sums[:, None], axis=0))

    def check_variances(self) -> Faults:
        """Zᵀ D² Z = Λ. Off the eigenvectors by a residual ρ, it is so to √(λᵢ/λⱼ) ρⱼ."""
        root = np.sqrt(self.w)[:, None]
        V = root * self.Z[self.ref.counts]
        if self.ref.center and self.problem.method.tol is None:
            V = V - np.sqrt(self.w)[:, None] * (self.w / self.w.sum() @ self.Z[self.ref.counts])
        off = np.abs(V.T @ V - np.diag(self.lam))
        rho = self.rho if self.problem.method.tol is not None else self._inside()
        by_residual = np.sqrt(self.lam[:, None] / self.lam) * rho
        noise = np.sqrt((root**2 * self.evaluation[self.ref.counts] ** 2).sum(axis=0))
        by_rounding = np.sqrt(self.lam)[:, None] * noise + noise[:, None] * noise / 2
        both = rho[:, None] * rho / np.sqrt(self.lam[:, None] * self.lam)
        allowed = by_residual + by_residual.T + by_rounding + by_rounding.T + both
        allowed = allowed + self.ref.rounding
        size = np.sqrt(_visible(self.lam))
        return _worst("scores' covariance", off, allowed, np.outer(size, size))

    def check_equation(self) -> Faults:
        """λ z(x) = Σ k~(x, x_i) w_i z(x_i) for old, weightless and fresh rows."""
        D2Z = self.ref.w[:, None] * self.Z[self.ref.counts].astype(np.longdouble)
        with_all = (self.ref.centred @ D2Z).astype(np.float64)
        off = np.abs(with_all - self.lam * self.Z) / self.lam
        return _worst("scores", off, self._equation() / self.lam, self.Z)

    def check_errors(self) -> Faults:
        """|φ(x) - μ|² - |z|², at least zero."""
        ref, found = self.ref, self.found
        if not (m := len(found.errors)):
            return []
        known = np.isfinite(ref.own[:m].astype(np.float64))
        Z = self.Z[:m]
        true = np.maximum((ref.own_centred[:m] - (Z.astype(np.longdouble) ** 2).sum(axis=1)), 0)
        parts = np.abs(ref.own) + 2 * np.abs(ref.to_mean) + abs(ref.mean_square)
        allowed = ROUNDING * ref.eps * (parts[:m].astype(np.float64) + (Z**2).sum(axis=1))
        allowed += own_error(self.problem.kernel) * ref.eps * np.abs(ref.own[:m]).astype(np.float64)
        allowed += 2 * (np.abs(Z) * self.evaluation[:m]).sum(axis=1)
        p, to_mean = ref.p.astype(np.float64), ref.blur @ ref.p.astype(np.float64)
        allowed += 2 * to_mean[:m] + p @ to_mean[ref.counts]
        allowed += (self.problem.method.tol or 0.0) * parts[:m].astype(np.float64)
        # A claim stands for coarse entries, which the mean is made of, too.
        allowed += 3 * found.claim * self.lam[-1] / self.w.max()
        off = np.abs(found.errors - true.astype(np.float64))
        scale = ref.own_centred[:m].astype(np.float64)
        return _worst("reconstruction error", off[known], allowed[known], scale[known])

    def check_total_error(self) -> Faults:
        """Inside a span the errors sum to at least the trace that is left, and hardly to more.

        The mean is projected onto the span, too, which adds at most what the span does not see.
        """
        ref, found = self.ref, self.found
        if not len(found.errors) or not np.isfinite(ref.own[ref.counts].astype(np.float64)).all():
            return []
        total = float(self.w @ found.errors[ref.counts])
        left = ref.trace - float(found.values.sum())
        parts = ref.own[ref.counts] + 2 * np.abs(ref.to_mean[ref.counts]) + ref.mean_square
        # The mean, too, is whitened: where it is much larger than what is left, so is its error.
        share = ROUNDING * ref.eps + 2 * WHITENING[self.problem.X.dtype.char]
        slack = share * float(ref.w @ np.abs(parts)) + float(self._inside().sum())
        slack += 2 * float(self.w @ (np.abs(self.Z) * self.evaluation)[ref.counts].sum(axis=1))
        over = found.outside()
        excess = np.array([left - total, total - left - over])
        return _worst("sum of errors", excess, np.full(2, slack), np.full(2, ref.trace))

    def _inside(self) -> Array:
        """Residuals of pairs within the span: rounding, the whitening's, and what is claimed."""
        whitening = WHITENING[self.problem.X.dtype.char]
        claimed = 3 * self.found.claim * self.lam if self.problem.method.claims else 0 * self.lam
        return np.asarray(self.ref.rounding + whitening * self.largest + claimed)

    def _equation(self) -> Array:
        """How far the eigen-equation may be off for each row and component.

        A pair with residual r has a direction with the residual Φ D r / √λ, of length √(λ₁/λ) |r|
        at most; what a row sees of it is at most |φ(x) - μ| times that. Rounding of the scores
        goes through the equation once more.
        """
        ref = self.ref
        reach = np.sqrt(np.abs(ref.own_centred.astype(np.float64)))  # < 0: an indefinite kernel
        unknown = ~np.isfinite(reach)
        reach[unknown] = np.sqrt(np.abs(ref.size))
        noise = np.sqrt((self.w[:, None] * self.evaluation[ref.counts] ** 2).sum(axis=0))
        per_row = np.sqrt(self.largest / self.lam) * self.rho + np.sqrt(self.largest) * noise
        cancelled = ROUNDING * ref.eps * np.sqrt(ref.size)  # a row at the mean still rounds
        return np.asarray((reach + cancelled)[:, None] * per_row + self.lam * self.evaluation)


def _visible(lam: Array) -> Array:
    """Variances to measure errors by: nobody sees a component with a millionth of the largest."""
    return np.asarray(np.maximum(lam, 1e-6 * np.abs(lam).max()))


def _worst(what: str, off: Array, allowed: Array, scale: Array) -> Faults:
    """The fault that is largest beside the size of its column, or none."""
    excess = off - allowed
    if not (excess > 0).any():
        return []
    size = np.abs(np.broadcast_to(scale, off.shape))
    if off.ndim == 2 and off.shape[0] != off.shape[1]:
        size = np.broadcast_to(np.sqrt(_visible(size.max(axis=0) ** 2)), off.shape)
    share = np.where(excess > 0, off / np.maximum(size, 1e-300), -1)
    at = np.unravel_index(share.argmax(), share.shape)
    where = ", ".join(str(int(i)) for i in at)
    limit = allowed[at] / max(size[at], 1e-300)
    text = f"{what} [{where}] off by {share[at]:.2g} of {size[at]:.3g}, allowed {limit:.2g}"
    return [("wrong" if share[at] > FAR else "over-claimed", text)]
