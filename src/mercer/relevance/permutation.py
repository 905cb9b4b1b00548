"""A slow second opinion on relevance: destroy one variable at a time, and see what breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from mercer._base.linalg import square_sums
from mercer._base.machine import held
from mercer._base.numbers import check_count, make_rng
from mercer._base.progress import announce
from mercer._base.types import Array, Estimator, RowsLike
from mercer.exceptions import DataError
from mercer.model import Subspace, names_of
from mercer.relevance.measure import require_vectors


@dataclass(frozen=True)
class Permutation:
    """What happens when the entries of a variable change places.

    Attributes
    ----------
    drop : (d,) array
        Of the share of the variance that the model explains, when the rows are broken and the
        model stays as it is; the mean over the repeats.
    angle : (d,) array
        Between the components and those of a fit to the broken rows: the mean of the principal
        angles in degrees, and over the repeats.
    drops, angles : (repeats, d) arrays
    share : float
        What the model explains of the rows as they are.
    names : tuple of str
    """

    drops: Array
    angles: Array
    share: float
    names: tuple[str, ...]

    @property
    def drop(self) -> Array:
        """Mean drop of the explained share for each variable."""
        return np.asarray(self.drops.mean(axis=0))

    @property
    def angle(self) -> Array:
        """Mean angle of the subspace for each variable, in degrees."""
        return np.asarray(self.angles.mean(axis=0))


@held
def permutation(
    model: Estimator, X: RowsLike, *, repeats: int = 5, random_state: Any = None
) -> Permutation:
    """Permute each variable, measure the explained share, and fit again for the angle.

    Asks another question than ``model.relevance``: not how fast the scores move with a variable,
    but what they lose without its order among the rows. Where two variables say the same, each of
    them has a large relevance, and permuting one still breaks the pair.

    Parameters
    ----------
    model : fitted estimator with a ``subspace_`` of vectors
    X : (n, d) array or data frame, in memory
        The training rows.
    repeats : int, default=5
    random_state : int, Generator or None, default=None

    Notes
    -----
    Costs ``d * repeats`` fits. The kernel of the model is kept, width and all.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> from mercer.relevance import permutation
    >>> rng = np.random.default_rng(0)
    >>> t = rng.uniform(0, 6.28, 150)
    >>> X = np.column_stack([np.cos(t), np.sin(t), 0.2 * rng.standard_normal(150)])
    >>> found = permutation(KernelPCA(4).fit(X), X, random_state=0)
    >>> bool(found.angle[:2].min() > found.angle[2])
    True
    """
    check_is_fitted(model, "subspace_")
    subspace = model.subspace_
    require_vectors(subspace)
    check_count("repeats", repeats)
    rng = make_rng(random_state)
    given = names_of(model)
    rows = np.array(X, dtype=subspace.coef.dtype, order="C")
    if rows.ndim != 2 or rows.shape[1] != subspace.support.shape[1]:
        raise DataError(
            f"X has shape {rows.shape}, and the model {subspace.support.shape[1]} variables; "
            "give the rows of the fit."
        )
    d = rows.shape[1]
    again, share = _fresh(model), explained_share(subspace, rows)
    drops, angles = np.empty((2, repeats, d))
    for j in range(d):
        announce("permutation", j, d)
        kept = rows[:, j].copy()
        for i in range(repeats):
            rows[:, j] = rng.permutation(kept)
            drops[i, j] = share - explained_share(subspace, rows)
            angles[i, j] = subspace_angles(subspace, again.fit(rows).subspace_).mean()
        rows[:, j] = kept
    names = [f"x{j}" for j in range(d)] if given is None else given
    return Permutation(drops, np.degrees(angles), share, tuple(map(str, names)))


def explained_share(subspace: Subspace, X: Array) -> float:
    """Of the squared distances to the model's mean, what lies inside the subspace."""
    Z, residual = subspace.scores_and_residual(X)
    inside = float(square_sums(Z).sum(dtype=np.float64))
    return inside / (inside + float(residual.sum(dtype=np.float64)))


def subspace_angles(first: Subspace, second: Subspace) -> Array:
    """Principal angles (radians, increasing) between two subspaces of one feature space."""
    # Cosines are the singular values of W₁ᵀW₂ = B₁ᵀ k(S₁, S₂) B₂.
    products = (first.scores(second.support) + first.offset).T @ second.coef
    cosines = np.linalg.svd(products.astype(np.float64), compute_uv=False)
    return np.arccos(np.clip(cosines, 0, 1))


def _fresh(model: Estimator) -> Any:
    """An unfitted copy with the kernel that the model has found, and a seed of its own."""
    copy = clone(model)
    parameters = copy.get_params(deep=False)
    if "kernel" in parameters:
        copy.set_params(kernel=model.subspace_.kernel)
    if parameters.get("random_state", 0) is None:
        copy.set_params(random_state=0)
    return copy
