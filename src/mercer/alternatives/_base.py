"""What all alternatives have in common: the checks at the door, and the way there and back."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._base import linalg, numbers
from mercer._base.sklearn import ClassNamePrefixFeaturesOutMixin, Tags, TransformerMixin
from mercer._base.types import Array, ArrayLike, RowsLike, Targets
from mercer.estimators._validation import check_codes, check_rows
from mercer.estimators.base import Estimator
from mercer.estimators.door import verb
from mercer.exceptions import ConvergenceWarning, DataError, warn
from mercer.kernels import Linear

#: What every model file keeps of the data's shape; each method adds what its predictions need.
SEEN = ("n_features_in_", "feature_names_in_", "_sklearn_output_config")


class Alternative(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """A method without kernels that kernel PCA is compared with.

    Computes in double precision, and answers in that of the rows.
    """

    _foreign: ClassVar[Mapping[str, str]] = {}
    _elsewhere: ClassVar[Mapping[str, str]] = {}
    #: What it takes: ``allow_nan``, ``positive_only`` and ``three_d_array`` of scikit-learn's tags.
    _takes: ClassVar[tuple[str, ...]] = ()
    tol: float
    max_iter: int

    @verb()
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Learn from rows.

        Parameters
        ----------
        X : (n, d) array or data frame; of tensors also an (n, d1, …, dK) array
        y : ignored
        """
        self._check_parameters()
        self._learn(*self._samples(X, reset=True))
        return self

    @verb()
    def transform(self, X: RowsLike) -> Array:
        """The codes of the rows, one row of codes for each; see the class for their meaning."""
        samples, dtype = self._samples(X)
        return np.asarray(self._encode(samples).reshape(len(samples), -1).astype(dtype))

    @abstractmethod
    def _learn(self, samples: Array, dtype: np.dtype) -> None:
        """Set the fitted attributes, arrays of them in the precision of the rows."""

    @abstractmethod
    def _encode(self, samples: Array) -> Array:
        """Codes of checked samples."""

    @property
    @abstractmethod
    def _n_features_out(self) -> int: ...

    def _samples(self, X: RowsLike, *, reset: bool = False) -> tuple[Array, np.dtype]:
        """Checked rows in double precision, and the precision that they came in."""
        if not reset:
            check_is_fitted(self)
        points = check_rows(self, X, Linear(), reset=reset, allow_nan="allow_nan" in self._takes)
        rows = points.to_dense()
        # One memory layout, so that the same numbers give the same bits.
        return np.ascontiguousarray(rows, dtype=np.float64), rows.dtype

    def _check_codes(self, Z: ArrayLike) -> tuple[Array, np.dtype]:
        check_is_fitted(self)
        codes = check_codes("Z", Z, self._n_features_out, "codes", "transform")
        return codes.astype(np.float64), codes.dtype

    def _check_parameters(self) -> None:
        """Those that many methods have; methods with others check these, too."""
        if (count := getattr(self, "n_components", None)) is not None:
            numbers.check_count("n_components", count, instead=", or None")
        if (penalty := getattr(self, "penalty", None)) is not None:
            numbers.check_positive("penalty", penalty, instead=", or None")
        if not 0 < self.tol < 1 or self.max_iter < 1:
            wrong = f"tol={self.tol!r}, max_iter={self.max_iter!r}"
            raise DataError(f"{wrong}: give tol between 0 and 1, and max_iter of 1 or more.")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, self._saved[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        for name in self._takes:
            setattr(tags.input_tags, name, True)
        return tags


class ReversibleAlternative(Alternative):
    """An alternative whose codes lead back to points."""

    @verb()
    def inverse_transform(self, Z: ArrayLike) -> Array:
        """The points that codes stand for, one for each."""
        codes, dtype = self._check_codes(Z)
        return np.asarray(self._decode(codes).astype(dtype))

    @abstractmethod
    def _decode(self, codes: Array) -> Array:
        """The points of checked codes."""

    @verb()
    def denoise(self, X: RowsLike) -> Array:
        """The points of the model that stand for the rows: ``inverse_transform(transform(X))``."""
        return self.inverse_transform(self.transform(X))

    @verb()
    def score(self, X: RowsLike, y: Targets = None) -> float:  # noqa: ARG002
        """Minus the mean squared distance between rows and their points on the model.

        As :meth:`mercer.KernelPCA.score`, so that both kinds of model compare.
        """
        rows, _ = self._samples(X)
        apart = np.asarray(self.denoise(X), dtype=np.float64) - rows
        return -float(linalg.square_sums(apart.reshape(len(apart), -1)).mean())


def centred(samples: Array, method: str, noun: str = "rows") -> tuple[Array, Array, float]:
    """The mean, the samples around it with 1 as the largest magnitude, and what that was before.

    Squares of 1e300 would overflow.
    """
    mean = samples.mean(axis=0)
    around = samples - mean
    largest = largest_entry(around, f"all {noun} are equal; {method} needs {noun} that differ.")
    return mean, around / largest, largest


def largest_entry(samples: Array, wrong: str = "") -> float:
    """The largest magnitude, for a unit; an error if all entries are zero."""
    if not samples.any():
        raise DataError(wrong or "all entries are zero; give rows with something in them.")
    return float(np.abs(samples).max())


def settle(
    X: Array, shape: Any, refit: Callable[[Any, Any], Any], how: Any, smallest: float = 0.0
) -> tuple[Any, Any, float, int, bool]:
    """Project rows onto a shape and refit it in turns, until the mean squared distance settles.

    ``how`` has ``tol`` and ``max_iter``; an error below the ``smallest`` counts as that. The shape,
    the places of the rows on it, the error, the number of rounds, and whether it settled.
    """
    place, apart = shape.project(X)
    error = float(apart.mean())
    for rounds in range(1, how.max_iter + 1):
        shape = refit(shape, place)
        place, apart = shape.project(X)
        before, error = error, float(apart.mean())
        if abs(before - error) <= how.tol * max(error, smallest):
            return shape, place, error, rounds, True
    return shape, place, error, how.max_iter, False


def leading_axes(X: Array, count: int) -> tuple[Array, Array]:
    """The first principal axes of centred rows, with fixed signs, and all singular values."""
    _, s, Vt = np.linalg.svd(X, full_matrices=False)
    return Vt[:count] * linalg.fix_signs(Vt[:count].T)[:, None], s


def on_shape(codes: Array, most: float, rounding: float, shape: str, noun: str) -> Array:
    """Codes from 0 to ``most``; an error that names the first that is beyond them, if any is."""
    outside = ((codes < -rounding) | (codes > most + rounding)).any(axis=1)
    if outside.any():
        off = f"{outside.sum()} codes lie off the {shape}, such as {codes[outside][0].round(4)}"
        raise DataError(f"{off}; give {noun} from 0 to {most:.4g}.")
    return np.clip(codes, 0.0, most)


def warn_unsettled(what: str, remedy: str = "raise max_iter or tol") -> None:
    """An iteration that ended before it settled: what was still moving, and what to do."""
    warn(f"{what}; {remedy}.", ConvergenceWarning)
