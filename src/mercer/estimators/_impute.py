"""Missing values in new rows, for every estimator with a Subspace."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._linalg import Array
from mercer._types import RowsLike
from mercer.estimators._available import needs_coordinates
from mercer.estimators._frames import framed
from mercer.estimators._preimage import PreImageMixin
from mercer.estimators._validation import check_rows
from mercer.exceptions import ConvergenceWarning, DataError, warn
from mercer.preimage import PreImages
from mercer.robust import impute

__all__ = ["ImputeMixin", "check_no_empty_row"]


class ImputeMixin(PreImageMixin):
    """Filling in what is missing from what the model knows."""

    @needs_coordinates("to fill in values, use a kernel of vectors")
    @framed
    def impute(self, X: RowsLike) -> Array:
        """Fill the NaN of new rows so that the rows lie close to the model's subspace.

        Projection and pre-image take turns, with the observed values clamped.

        Parameters
        ----------
        X : (n, d) array or data frame, NaN where a value is missing

        Returns
        -------
        (n, d) array; values that were there are unchanged

        See Also
        --------
        imputations : the same with a report for each row.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.datasets import load_digits
        >>> from mercer import KernelPCA
        >>> X = load_digits().data / 16
        >>> model = KernelPCA(128).fit(X[100:])
        >>> holes = np.random.default_rng(0).random((100, 64)) < 0.3
        >>> filled = model.impute(np.where(holes, np.nan, X[:100]))
        >>> error = np.sqrt(((filled - X[:100])[holes] ** 2).mean())
        >>> bool(error < 0.15)  # the column means: 0.27
        True
        """
        found = self.imputations(X)
        if not found.converged.all():
            warn(
                f"{(~found.converged).sum()} of {len(found)} rows were still moving after "
                f"{found.iterations.max()} rounds of imputation; see imputations(X).converged, or "
                "use fewer components or a wider kernel.",
                ConvergenceWarning,
            )
        return np.asarray(found.points)

    @needs_coordinates("to fill in values, use a kernel of vectors")
    def imputations(self, X: RowsLike) -> PreImages:
        """As :meth:`impute`, with what happened to each row.

        Returns
        -------
        PreImages
            ``points`` are the filled rows, ``iterations`` the rounds, ``converged`` and ``status``
            how they ended, ``objective`` the reconstruction errors of the filled rows.
        """
        check_is_fitted(self, "subspace_")
        subspace = self.subspace_
        rows = check_rows(self, X, subspace.kernel, reset=False, allow_nan=True)
        rows = subspace.kernel.points(rows).vectors("imputing")
        check_no_empty_row(rows)
        return impute(subspace, rows.astype(subspace.coef.dtype, copy=False), self.preimage_)


def check_no_empty_row(rows: Array) -> None:
    """Raise for rows of which nothing is known: any answer would be made up."""
    empty = np.flatnonzero(np.isnan(rows).all(axis=1))
    if empty.size:
        raise DataError(
            f"{empty.size} rows have no observed value at all, the first is row {empty[0]}; "
            "remove them."
        )
