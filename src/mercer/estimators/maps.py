"""Both ways for a map that somebody else has made, behind scikit-learn's door."""

from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from mercer._base.config import with_parameters
from mercer._base.linalg import square_sums
from mercer._base.machine import available_bytes
from mercer._base.numbers import check_count, check_rate, counted, shortened
from mercer._base.sklearn import ClassNamePrefixFeaturesOutMixin, Tags, TransformerMixin
from mercer._base.small_table import SmallTable
from mercer._base.types import Array, ArrayLike, RowsLike, Seed
from mercer.estimators._validation import check_codes, check_rows, flat, refuse_masked
from mercer.estimators.base import OF_COLUMNS, Capabilities, Estimator
from mercer.estimators.door import verb
from mercer.estimators.subspace import SubspaceEstimator
from mercer.exceptions import DataError, Remedy
from mercer.kernels import Linear, RadialKernel, as_kernel
from mercer.novelty.places import EMPTY, Certainty
from mercer.points import Points
from mercer.preimage.near import LARGEST, Neighbours
from mercer.preimage.ways import Forth, choose_kernel, learn_back, shared, sketched
from mercer.relevance.measure import membership

#: Rows on which the way forth is chosen and both ways are calibrated, and those for the way back.
SAMPLE, SAMPLE_BACK = 2000, 600
#: Neighbours that ``trust`` looks for again in the map.
TRUSTED = 15


@with_parameters
class MapModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Both ways between rows and a map made by another tool, such as UMAP, t-SNE or PaCMAP.

    The way back leads from a place to the row that it stands for, by kernel ridge regression on
    the map; the way forth from a new row to its place, the median place of its nearest rows.
    Kernel, width, penalty and the number of neighbours are chosen by leaving rows out. Both ways
    state how accurate they are, and places between the islands of a map are marked as empty.

    Parameters
    ----------
    embedder : object with ``fit_transform``, optional
        Makes the map in ``fit``, such as ``umap.UMAP()`` or scikit-learn's ``TSNE()``. If not
        given, ``fit`` takes the map.
    kernel : str or RadialKernel, optional
        A kernel on the map; by default the best of exponential, Matérn and Gaussian kernels at
        eight widths.
    n_neighbors : int, optional
        Neighbours for the way forth; by default the best number from 3 to 30.
    n_landmarks : int, default=1000
        Landmarks of the way back, and cells of the way forth, for more than 5,000 rows.
    random_state : int, Generator, RandomState or None, default=0
        For the sample of rows that the choice is made on, and for landmarks.

    Attributes
    ----------
    embedding_ : (n, q) array
        The map, place by place.
    back_ : the way back: ``kernel``, ``centres``, ``weights``, ``mean`` and ``alpha``
    forth_ : the way forth: ``count`` neighbours, and their ``sharpness``
    certainty_ : how accurate both ways were for rows that were left out
    embedder_ : the fitted embedder, if there is one; not kept in model files
    n_features_in_, feature_names_in_

    See Also
    --------
    mercer.KernelPCA : has a map of its own, whose relation to the rows is exact.

    Notes
    -----
    This is a regression on the map, not the inverse of the tool that made it: two rows at one
    place come back as the same row. O(n³/3) time up to 5,000 rows; O(n m (m + d)) for m landmarks
    of more. O(m (q + d)) for a place; O(n d) for a row, and O((m + 1,000) d) above 5,000 rows. The
    rows of the fit are kept: the way forth needs them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.manifold import TSNE
    >>> from mercer import MapModel
    >>> X = load_digits().data[:400] / 16
    >>> Z = TSNE(random_state=0).fit_transform(X)
    >>> model = MapModel().fit(X[:300], Z[:300])
    >>> rows = model.inverse_transform(Z[300:])
    >>> bool(((rows - X[300:]) ** 2).sum() < 0.6 * ((X[300:] - X.mean(axis=0)) ** 2).sum())
    True
    >>> model.transform(X[300:]).shape  # t-SNE itself has no place for new rows
    (100, 2)
    """

    capabilities = Capabilities(sparse=True, onnx=True)
    _saved: ClassVar[tuple[str, ...]] = ("back_", "forth_", "certainty_", "map_names_", *OF_COLUMNS)
    #: Another's object: it made the map, and is not needed any more.
    _left_out: ClassVar[tuple[str, ...]] = ("embedder",)

    embedder: Any = None
    _: KW_ONLY
    kernel: str | RadialKernel | None = None
    n_neighbors: int | None = None
    n_landmarks: int = 1000
    random_state: Seed = 0

    @verb("data", "self")
    def fit(self, X: RowsLike, y: ArrayLike = None) -> Self:
        """Learn both ways.

        Parameters
        ----------
        X : (n, d) array, data frame, or SciPy sparse matrix
        y : (n, q) array or data frame
            The map: the place of each row. With an embedder, which makes the map: what its
            ``fit_transform`` takes beside the rows, usually nothing.
        """
        rows = check_rows(self, X, Linear(), reset=True)
        if self.embedder is not None:
            # Not all tools have the parameters of scikit-learn's.
            self.embedder_ = clone(self.embedder, safe=False)
            y = _checked_embedder(self.embedder_).fit_transform(X, y)
        _check_index(X, y)
        names = getattr(y, "columns", None)
        self.map_names_ = None if names is None else [str(name) for name in names]
        self._learn(rows, _checked_map(y, len(rows)))
        return self

    @verb("data", "scores")
    def fit_transform(self, X: RowsLike, y: ArrayLike = None) -> Array:
        """Learn both ways, and return the map."""
        return self.fit(X, y).embedding_.astype(self._dtype)

    def _learn(self, rows: Points, Z: Array) -> None:
        rng, n = self._rng(), len(rows)
        most = check_count("n_landmarks", self.n_landmarks, 2)
        count = None if self.n_neighbors is None else check_count("n_neighbors", self.n_neighbors)
        _check_room(min(most, n) if n > LARGEST else n, rows.width)
        kept = rows.take(np.arange(n)).rows  # a model must not change with the caller's rows
        some = np.sort(rng.choice(n, min(n, SAMPLE), replace=False))
        self.forth_ = Forth.chosen(Neighbours.of(kept, rng, most), Z, count, some)
        few = np.sort(rng.choice(some, min(len(some), SAMPLE_BACK), replace=False))
        placed = self.forth_.place(kept[few], leave_out=few)[0]
        sketch = sketched(rows.take(few), rng)
        kernel, alpha = choose_kernel(Z[few], sketch, placed, self._kernel_of(Z))
        self.back_, left = learn_back(Z, rows, kernel, alpha, most, some)
        near = Neighbours.of(Z, rng, most)
        apart = near.nearest(Z[some], EMPTY, leave_out=some)[1][:, -1]
        ways = self.forth_.place(kept[some], leave_out=some)
        self.certainty_ = Certainty.of(Z[some], ways, left.alone, apart, left.beside)

    def _kernel_of(self, Z: Array) -> RadialKernel | None:
        if self.kernel is None:
            return None
        kernel = as_kernel(self.kernel).resolve(Z)
        if not isinstance(kernel, RadialKernel):
            raise DataError(f"kernel={self.kernel!r} is not of the distance; give 'matern'.")
        return kernel

    @property
    def embedding_(self) -> Array:
        """The map, (n, q)."""
        return self.forth_.places

    @property
    def _n_features_out(self) -> int:
        return int(self.forth_.places.shape[1])

    @verb("model")
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the map's columns: its own if it came with some."""
        own = self.map_names_
        names = super().get_feature_names_out(input_features) if own is None else own
        return np.array(names, dtype=object)

    @verb("rows", "scores")
    def transform(self, X: RowsLike) -> Array:
        """Places of rows in the map, (n, q); rows of the fit are where the map has them."""
        return self._placed(X)[0].astype(X.dtype, copy=False)

    @verb("places", "rows")
    def inverse_transform(self, Z: ArrayLike) -> Array:
        """The rows that places in the map stand for, (n, d)."""
        return self.back_.rows(Z).astype(self._dtype, copy=False)

    @verb("rows", "rows")
    def denoise(self, X: RowsLike) -> Array:
        """There and back: the rows that the places of rows stand for, (n, d)."""
        return self.back_.rows(self._placed(X)[0]).astype(X.dtype, copy=False)

    @verb("rows", "numbers")
    def score(self, X: RowsLike, y: Any = None) -> float:  # noqa: ARG002
        """Minus the mean squared distance between rows and what returns from their places."""
        apart = self.back_.rows(self._placed(X)[0]) - X.to_dense()
        return -float(square_sums(apart).mean())

    @verb("rows", "self")
    def calibrate(self, X: RowsLike, Z: ArrayLike) -> Self:
        """Learn how accurate both ways are from other rows and their places.

        The radii hold for places like those of the fit. A tool that places new rows by other means,
        as ``umap.transform`` and :meth:`transform` do, puts them elsewhere than a map of all rows
        would; after this, radii and p-values hold for its places.

        Parameters
        ----------
        X : (n, d) rows that ``fit`` has not seen; some hundreds will do
        Z : (n, q) array
            Their places by that tool: ``reducer.transform(X)``, or ``model.transform(X)``.
        """
        places = self._places(Z)
        if len(places) != len(X):
            raise DataError(f"there are {len(X)} rows and {len(places)} places; give one for each.")
        if (self.forth_.known.nearest(X.cast(self._dtype), 1)[1] == 0).mean() > 0.5:
            small = "their radii would be too small for others; give rows that it has not seen."
            raise DataError(f"most of these rows are those of the fit: {small}")
        missed = np.sqrt(square_sums(self.back_.rows(places) - X.to_dense()))
        apart = self._near.nearest(places, EMPTY)[1][:, -1]
        self.certainty_ = Certainty.of(places, self._placed(X), missed, apart)
        return self

    @verb("places", "numbers")
    def row_radius(self, Z: ArrayLike, coverage: float = 0.9) -> Array:
        """How far a row at a place may be from ``inverse_transform(Z)``, (n,).

        On average over the map, a share ``coverage`` of new rows lies within these radii; they are
        infinite where the fit had too few rows for that promise.
        """
        sure, share = self.certainty_, check_rate("coverage", coverage, 0.9)
        return sure.expected_back(Z) * sure.back.threshold(1 - share)

    @verb("rows", "numbers")
    def place_radius(self, X: RowsLike, coverage: float = 0.9) -> Array:
        """How far the place of a row may be from ``transform(X)``, (n,); as :meth:`row_radius`."""
        sure, share = self.certainty_, check_rate("coverage", coverage, 0.9)
        return sure.expected_forth(self._placed(X)[1]) * sure.forth.threshold(1 - share)

    @verb("places", "numbers")
    def place_p_values(self, Z: ArrayLike) -> Array:
        """How common it is for a row to be as far from others in the map as these places are, (n,).

        Small where there are no data: one new row in twenty has 0.05 or less. Do not trust what
        ``inverse_transform`` returns there.
        """
        apart = self._near.nearest(Z, EMPTY)[1][:, -1]
        return self.certainty_.empty.p_values(apart)

    @verb("rows", "numbers")
    def trust(self, X: RowsLike = None, Z: ArrayLike = None, n_neighbors: int = TRUSTED) -> Array:
        """The share of each row's nearest rows that are nearest to it in the map, too, (n,).

        For the rows of the fit, or for others with their map. It is low where the map separates
        rows that belong together, or joins rows that do not.
        """
        count = check_count("n_neighbors", n_neighbors)
        if X is None:
            check_is_fitted(self, "forth_")
            both = self.forth_.known, self._near
        else:
            rng, most = self._rng(), self.n_landmarks
            places = _checked_map(Z, len(X))
            both = Neighbours.of(X.rows, rng, most), Neighbours.of(places, rng, most)
        if count >= (n := len(both[1].rows)):
            few = f"{n} rows have {n - 1} others at most"
            raise DataError(f"n_neighbors={count}: {few}; give fewer.")
        return shared(*both, count, np.arange(n))

    @verb("rows")
    def relevance(
        self, X: RowsLike = None, *, places: ArrayLike = None, groups: Any = None
    ) -> Array:
        """How fast each column changes along the map, at the places of rows, (n, d).

        The length of the gradient of the way back: units of the column for a unit of the map.

        Parameters
        ----------
        X : rows, optional
            By default the rows of the fit, which may take long if they are many.
        places : (n, q) array, optional
            Places instead of rows.
        groups : d names, optional
            Columns with the same name are added up: (n, number of names), in order of appearance.
        """
        if places is None:
            check_is_fitted(self, "forth_")
            places = self.embedding_ if X is None else self._placed(X)[0]
        squares = (self.back_.gradient(self._places(places)) ** 2).sum(axis=2)
        if groups is not None:
            squares = squares @ membership(groups, squares.shape[1])[1]
        return np.asarray(np.sqrt(squares))

    @verb("places", "rows")
    def strip(self, z0: ArrayLike, z1: ArrayLike, count: int = 10) -> Array:
        """Rows along the straight line from one place in the map to another, (count, d)."""
        ends = np.concatenate([self._places(np.reshape(z, (1, -1))) for z in (z0, z1)])
        t = np.linspace(0, 1, check_count("count", count, 2))[:, None]
        return self.back_.rows((1 - t) * ends[0] + t * ends[1]).astype(self._dtype, copy=False)

    to_html = SubspaceEstimator.to_html

    @property
    def _near(self) -> Neighbours:
        """Places to look for the nearest in, cached until the next fit."""
        Z = self.embedding_
        return self._cached("near", Z, None, lambda: Neighbours.of(Z, self._rng()))

    @property
    def _dtype(self) -> np.dtype:
        dtype: np.dtype = self.forth_.known.rows.dtype
        return dtype

    def _rows(self, X: RowsLike, stream: bool = False) -> Points:  # noqa: ARG002
        check_is_fitted(self, "forth_")
        return check_rows(self, X, Linear(), reset=False)

    def _placed(self, X: Points) -> tuple[Array, Array]:
        return self.forth_.place(X.cast(self._dtype))

    def _places(self, Z: ArrayLike) -> Array:
        check_is_fitted(self, "forth_")
        q = self._n_features_out
        if self.map_names_ is not None and hasattr(Z, "columns"):
            known, names = self.map_names_, [str(name) for name in Z.columns]
            if names != known and sorted(names) == sorted(known):
                raise DataError(f"Z has the columns {names}, and the map {known}; give Z[{known}].")
        if q == 1 and np.ndim(Z) == 1:
            Z = np.reshape(Z, (-1, 1))
        return check_codes("Z", Z, q, "places in the map", "transform").astype(np.float64)

    def _table(self) -> SmallTable | None:
        if "forth_" not in vars(self):
            return None
        (n, q), back, sure = self.embedding_.shape, self.back_, self.certainty_
        held_out = f"{len(sure.missed):,} rows left out"
        off, kernel = np.sqrt((sure.missed**2).mean()), shortened(repr(back.kernel))
        lines = [
            ("rows", f"{n:,} in a map of {counted(q, 'dimension')}"),
            ("back", f"{kernel}, alpha={back.alpha:.3g}; off by {off:.4g}, {held_out}"),
            ("forth", f"{self.forth_.count} neighbours; off by {sure.spread:.4g} in the map"),
        ]
        return SmallTable("", lines)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _checked_embedder(embedder: Any) -> Any:
    if isinstance(embedder, type) or not hasattr(embedder, "fit_transform"):
        needed = "an object with fit_transform, such as umap.UMAP()"
        raise DataError(f"embedder={embedder!r} is not {needed}; give one, or a map: fit(X, Z).")
    return embedder


def _check_index(X: Any, Z: Any) -> None:
    """Frames of pandas with the same labels in another order would be paired wrongly."""
    # Nothing but pandas' frames has an index with tolist.
    labels: list[list[Any]] = [
        getattr(getattr(rows, "index", None), "tolist", list)() for rows in (X, Z)
    ]
    ours, theirs = labels
    if len(ours) == len(theirs) and ours != theirs and set(ours) == set(theirs):
        raise DataError("X and Z have the same index in different orders; give Z.loc[X.index].")


def _checked_map(Z: ArrayLike, n: int) -> Array:
    """The places of n rows in float64, (n, q)."""
    if Z is None:
        raise DataError("no map was given; fit(X, Z), or let MapModel(umap.UMAP()) make one.")
    refuse_masked(Z)
    try:
        places = check_array(Z, dtype=np.float64, ensure_2d=False, ensure_all_finite=False)
    except (ValueError, TypeError) as error:
        raise DataError(f"the map is not a table of numbers: {flat(error)[:200]}") from error
    places = places[:, None] if places.ndim == 1 else places
    if len(places) != n:
        raise DataError(f"there are {n} rows and {len(places)} places; give one for each row.")
    bad = np.flatnonzero(~np.isfinite(places).all(axis=1))
    if bad.size:
        raise DataError(
            f"the places of {bad.size} of {n} rows are not finite, the first that of row {bad[0]}; "
            + Remedy("use X[ok] and Z[ok].", shell="leave these rows out of both files.")
        )
    if (places == places[0]).all():
        same = f"all {n} rows are at one place in the map, {places[0].tolist()}"
        raise DataError(f"{same}; give a map that tells rows apart.")
    return np.array(places)


def _check_room(m: int, d: int) -> None:
    """Sparse rows may have very many columns, and the way back has a number for each."""
    if (needed := 8 * m * d) > available_bytes() // 2:
        raise DataError(
            f"the way back to {d:,} columns from {m:,} places would take {needed >> 20:,} MB; use "
            "fewer columns, such as those of TruncatedSVD, or fewer n_landmarks."
        )
