"""Kernel PCA from a stream: chunks come and go, r × r sums stay."""

import time
from dataclasses import KW_ONLY
from typing import Any, Self

from mercer._base.config import with_parameters
from mercer._base.numbers import check_count
from mercer._base.types import RowsLike, Seed, Targets
from mercer.estimators._validation import check_rows, remember_data
from mercer.estimators.base import Capabilities
from mercer.estimators.door import require_vectors, verb
from mercer.estimators.subspace import SubspaceEstimator
from mercer.exceptions import DataError
from mercer.gram import FeatureSums, LandmarkFeatures, sum_features
from mercer.gram.base import in_range
from mercer.gram.feature_sums import carried, missed
from mercer.gram.spot_check import ROWS
from mercer.kernels import Kernel, as_kernel
from mercer.landmarks import LandmarkRule
from mercer.model import ComponentRule, Report, as_rule
from mercer.points import Points
from mercer.points.source import CHUNK, as_source
from mercer.preimage import PreImageSolver
from mercer.solvers.landmark_model import Few, LandmarkModel, counted
from mercer.solvers.landmarks import as_landmark_rule, audited_model
from mercer.solvers.policy import refuse_square


@with_parameters
class IncrementalKernelPCA(SubspaceEstimator):
    r"""Kernel PCA on landmarks, one chunk of rows at a time.

    The sums :math:`\sum k_Z k_Z^\top` and :math:`\sum k_Z` over the rows seen so far are updated
    exactly, so that many calls of ``partial_fit`` give what one fit on all rows gives with the same
    landmarks.

    Parameters
    ----------
    n_components : int, float, rule or None, default=None
        As for :class:`~mercer.KernelPCA`.
    kernel : str or Kernel, default="gaussian"
        Widths such as ``gamma="median"`` become numbers with the first chunk.
    n_landmarks : int, default=300
        Budget of landmarks. They are taken from the first chunk.
    select : str, LandmarkRule or (m, d) array, default="kmeans"
        As for :class:`~mercer.solvers.Landmarks`.
    growth : float, default=0
        While the budget lasts, rows of later chunks also become landmarks if the landmarks miss
        more than this share of their ``k(x, x)``; 0 keeps the landmarks of the first chunk. A new
        landmark sees earlier rows only through the old landmarks.
    forget : float, default=1
        Each chunk multiplies the weight of all earlier rows by this. Use a value below 1 for
        streams that drift.
    preimage : str or PreImageSolver, default="auto"
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    eigenvalues_, explained_variance_, explained_variance_ratio_, subspace_, kernel_, report_
        As for :class:`~mercer.KernelPCA`; ``report_.unexplained`` is the share of the variance
        that the landmarks miss, which shows when more of them are needed.
    n_samples_seen_ : int
    landmarks_ : (m, d) array, or sparse array if the rows were sparse

    Notes
    -----
    O(c m (d + m) + m³) time for a chunk of c rows, O(m²) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import IncrementalKernelPCA
    >>> X = np.random.default_rng(0).standard_normal((1000, 3))
    >>> model = IncrementalKernelPCA(5, n_landmarks=100, random_state=0)
    >>> for chunk in np.array_split(X, 10):
    ...     model = model.partial_fit(chunk)
    >>> model.n_samples_seen_
    1000
    >>> model.transform(X).shape
    (1000, 5)
    """

    capabilities = Capabilities(sparse=True, streaming=True, onnx=True)

    # With the sums a loaded model goes on learning.
    _saved = (*SubspaceEstimator._saved, "n_samples_seen_", "_features", "_sums")

    n_components: int | float | ComponentRule | None = None
    _: KW_ONLY
    kernel: str | Kernel = "gaussian"
    n_landmarks: int = 300
    select: str | LandmarkRule | Any = "kmeans"
    growth: float = 0.0
    forget: float = 1.0
    preimage: str | PreImageSolver = "auto"
    random_state: Seed = None

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Forget everything, and fit on X in chunks; X may be a file or a row source."""
        self._learn(check_rows(self, X, as_kernel(self.kernel), reset=True, stream=True))
        return self

    def _learn(self, rows: Points) -> None:
        """Forget everything, and fit to rows that have been checked."""
        self.__dict__.pop("_features", None)
        kernel, source = as_kernel(self.kernel), as_source(rows)
        starts = range(0, len(source), CHUNK)
        chunks = [slice(i, min(i + CHUNK, len(source))) for i in starts]
        if len(chunks) > 1 and chunks[-1].stop - chunks[-1].start < 2:  # one row is no chunk
            chunks[-2:] = [slice(chunks[-2].start, chunks[-1].stop)]
        for i, (_, block) in enumerate(source.stream(chunks), 1):
            self._add(kernel.points(block), solve=i == len(chunks))

    @verb("data", "self")
    def partial_fit(self, X: RowsLike, y: Targets = None) -> Self:  # noqa: ARG002
        """Add a chunk of rows.

        Parameters
        ----------
        X : (n, d) array, data frame, or SciPy sparse matrix
            The first chunk must have at least 2 rows; landmarks and widths come from it.
        y : ignored
        """
        first = not hasattr(self, "_features")
        rows = check_rows(self, X, as_kernel(self.kernel), reset=first)
        if not first:
            remember_data(self, rows, more=True)
        self._add(rows, solve=True)
        return self

    @property
    def landmarks_(self) -> Any:
        """The landmarks; a ``scipy.sparse.csr_array`` if the rows were sparse."""
        return self._features.points.for_user()

    def _begin(self, rows: Points) -> None:
        """Resolve the kernel and take the landmarks, from the first chunk."""
        if not 0 < self.forget <= 1 or not 0 <= self.growth < 1:
            settings = f"forget={self.forget!r} and growth={self.growth!r}"
            raise DataError(
                f"{settings}: give forget above 0 and up to 1, growth from 0 to below 1."
            )
        kernel = as_kernel(self.kernel)
        require_vectors(kernel, "landmarks", "use KernelPCA, or a kernel of vectors")
        kernel = kernel.resolve(rows.rows)
        points = in_range(kernel, rows)
        refuse_square(kernel, points)
        # A growing basis leaves room for what comes later.
        budget = check_count("n_landmarks", self.n_landmarks)
        budget = budget if self.growth == 0 else max(2, budget // 2)
        select = as_landmark_rule(self.select).select
        landmarks = select(kernel, points.rows, min(budget, len(rows)), self._rng())
        self._features = LandmarkFeatures(kernel, landmarks, points.dtype)
        self._sums = FeatureSums.zero(self._features.size)
        self.n_samples_seen_ = 0

    def _add(self, rows: Points, solve: bool) -> None:
        started = time.perf_counter()
        first = not hasattr(self, "_features")
        if first:
            self._begin(rows)
        rows = rows.cast(self._features.dtype)
        if not first:
            self._grow(rows)
        part = sum_features(self._features, rows)
        self._sums = self._sums * self.forget + part
        self.n_samples_seen_ += len(rows)
        if solve:
            self._update(started)

    def _grow(self, rows: Points) -> None:
        """Take up rows that the landmarks miss, the worst first, and carry the sums over."""
        old, room = self._features, self.n_landmarks - len(self._features.landmarks)
        if self.growth == 0 or room <= 0:
            return
        new = missed(old, rows, self.growth, room)
        if len(new):
            landmarks = old.points.joined(new).rows
            self._features = LandmarkFeatures(old.kernel, landmarks, old.dtype)
            self._sums = carried(self._sums, old, self._features)

    def _update(self, started: float) -> None:
        model = LandmarkModel.of(self._features, self._sums, True, self.n_samples_seen_)
        kernel, points = self._features.kernel, self._features.points
        some = points.take(slice(None, None, -(-len(points) // ROWS)))
        few = Few(some, kernel.exact(some.rows, points.rows))
        model = counted(model, as_rule(self.n_components), few)
        outside = model.unexplained + model.unexplained_error
        # What lies outside the span bounds each error: |A - PAP| <= its trace.
        left_out = (outside * model.trace + model.excess) / model.values[-1]
        error = float(left_out + model.rounded.max())
        chunks, needed = f"{self.n_samples_seen_} rows in chunks", 3 * 8 * self._features.size**2
        name, seconds = type(self).__name__, time.perf_counter() - started
        report = Report(name, chunks, 1, seconds, estimated_error=error, bytes=needed)
        self._set_model(audited_model(model, few, None, report))
