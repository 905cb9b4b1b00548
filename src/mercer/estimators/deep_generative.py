"""Layers of generative kernel PCA, each on the hidden units of the one before (experimental)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mercer._base.numbers import check_positive
from mercer._base.sklearn import ClassNamePrefixFeaturesOutMixin, Tags, TransformerMixin
from mercer._base.types import Array, ArrayLike, RowsLike, Seed, Targets
from mercer.estimators._sampling import check_hidden, draw, keep_labels, one_row
from mercer.estimators._validation import check_codes, check_rows
from mercer.estimators.base import Capabilities, Estimator
from mercer.estimators.door import verb
from mercer.estimators.learning import learn, owned, plan_of, scores_of
from mercer.exceptions import DataError, KernelError
from mercer.generative import (
    RKM,
    Density,
    FittedDensity,
    as_density,
    as_generator_preimage,
    straight_line,
)
from mercer.kernels import Kernel, as_kernel
from mercer.preimage import PreImageSolver
from mercer.solvers import Solver


class DeepGenerativeKernelPCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    r"""Kernel PCA on the hidden units of kernel PCA, and generation back through the layers.

    Layer 1 learns from the rows, and each further layer from the scores (hidden units in the units
    of feature space) of the one below. A sample is drawn at the top; each layer's pre-image method
    turns it into scores of the layer below, and the last into a point. This is what the paper
    leaves for future work, trained greedily from the bottom to the top: the layers are not
    optimised together as in Suykens 2017.

    Parameters
    ----------
    layers : sequence of int, default=(50, 20)
        Components of each layer, from the bottom to the top.
    kernel : str or Kernel, default="gaussian"
        Of every layer; rules such as the median width are applied to each layer's own input.
    eta : float, default=1.0
        η of every layer, see :class:`~mercer.GenerativeKernelPCA`.
    density : str or Density, default="local"
        Of the top layer's scores.
    preimage : str or PreImageSolver, default="ridge"
        Back through every layer.
    solver : str or Solver, default="auto"
        See :mod:`mercer.solvers`.
    random_state : int, Generator, RandomState or None, default=None

    Attributes
    ----------
    layers_ : tuple of RKM
        From the bottom to the top.
    hidden_, scores_ : (n, q) arrays
        Of the training rows in the top layer.
    density_ : FittedDensity
    classes_, labels_
        If ``y`` was given as classes.
    n_features_in_, feature_names_in_

    Notes
    -----
    Experimental: names and defaults may change. For sampling we measured no advantage over a
    single layer (see the explanation); what a further layer gives is a smaller code.

    References
    ----------
    J. A. K. Suykens. Deep restricted kernel machines using conjugate feature duality. Neural
    Computation 29, 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from mercer import DeepGenerativeKernelPCA
    >>> X, y = load_digits(return_X_y=True)
    >>> model = DeepGenerativeKernelPCA((40, 15), random_state=0).fit(X[:500] / 16, y[:500])
    >>> model.transform(X[:3] / 16).shape, model.sample(4, label=7).shape
    ((3, 15), (4, 64))
    """

    capabilities: ClassVar[Capabilities] = Capabilities(experimental=True)

    _saved: ClassVar[tuple[str, ...]] = (
        "layers_",
        "scores_",
        "density_",
        "classes_",
        "labels_",
        "n_features_in_",
        "feature_names_in_",
        "_sklearn_output_config",
    )

    def __init__(
        self,
        layers: Sequence[int] = (50, 20),
        *,
        kernel: str | Kernel = "gaussian",
        eta: float = 1.0,
        density: str | Density = "local",
        preimage: str | PreImageSolver = "ridge",
        solver: str | Solver = "auto",
        random_state: Seed = None,
    ) -> None:
        self.layers = layers
        self.kernel = kernel
        self.eta = eta
        self.density = density
        self.preimage = preimage
        self.solver = solver
        self.random_state = random_state

    @verb("data", "self")
    def fit(self, X: RowsLike, y: Targets = None) -> Self:
        """Fit the layers from the bottom to the top, and the density of the top.

        Parameters
        ----------
        X : (n, d) array or data frame
        y : (n,) array of classes, optional
            For ``sample(label=...)``; anything but classes is ignored.
        """
        density, kernel = as_density(self.density), as_kernel(self.kernel)
        as_generator_preimage(self.preimage)
        self._check(kernel)
        eta = check_positive("eta", self.eta)
        rng = self._rng()
        Z = check_rows(self, X, kernel, reset=True)
        machines = []
        for q in self.layers:
            model = owned(learn(Z, kernel, plan_of(Z, kernel, q, self.solver), rng), X)
            Z = scores_of(model, Z)
            machines.append(RKM(model.subspace, model.eigenvalues, eta))
        self.layers_ = tuple(machines)
        self.scores_ = Z
        keep_labels(self, y, len(Z))
        self.density_: FittedDensity = density.fit(Z, rng)
        return self

    @verb("rows", "scores")
    def transform(self, X: RowsLike) -> Array:
        """Scores in the top layer, (n, q)."""
        return self._scores(X)

    @verb("rows", "scores")
    def hidden_units(self, X: RowsLike) -> Array:
        """Hidden units in the top layer, (n, q)."""
        return self.layers_[-1].hidden(self._scores(X))

    @verb("model", "rows")
    def inverse_transform(self, Z: ArrayLike) -> Array:
        """Points from scores of the top layer, back through all layers, (n, d)."""
        top = self.layers_[-1].subspace
        points = check_codes("Z", Z, top.n_components, "scores", "transform")
        return self._points(points.astype(top.coef.dtype))

    @verb("model", "rows")
    def generate(self, H_star: ArrayLike) -> Array:
        """Points of hidden units of the top layer, (n, d)."""
        top = self.layers_[-1]
        H = check_hidden(H_star, len(top.eigenvalues), top.subspace.coef.dtype)
        return self._points(top.scores(H))

    @verb("model", "rows")
    def sample(
        self, n_samples: int = 1, *, label: ArrayLike = None, random_state: Seed = None
    ) -> Array:
        """Draw new points, (n_samples, d); see :meth:`mercer.GenerativeKernelPCA.sample`."""
        return self._points(draw(self, n_samples, label, random_state))

    @verb("row", "rows")
    def interpolate(self, x0: RowsLike, x1: RowsLike, steps: int = 10) -> Array:
        """Points on the straight line between two rows in the top layer, (steps, d)."""
        start, end = (self._scores(self._rows(one_row(x)))[0] for x in (x0, x1))
        return self._points(straight_line(start, end, steps))

    def _rows(self, X: RowsLike, stream: bool = False) -> Any:  # noqa: ARG002  held in memory
        check_is_fitted(self, "layers_")
        first = self.layers_[0].subspace
        return first.in_precision(check_rows(self, X, first.kernel, reset=False))

    def _scores(self, Z: Array) -> Array:
        for machine in self.layers_:
            Z = machine.subspace.scores(Z)
        return np.asarray(Z)

    def _points(self, points: Array) -> Array:
        """Back through all layers."""
        solver = as_generator_preimage(self.preimage)
        for k in reversed(range(len(self.layers_))):
            bound = self._bound(f"pre-image of layer {k}", solver, self.layers_[k].subspace)
            points = np.asarray(bound.solve(points).points)
        return points

    @property
    def hidden_(self) -> Array:
        """Hidden units of the training rows in the top layer, (n, q)."""
        check_is_fitted(self, "layers_")
        return self.layers_[-1].hidden(self.scores_)

    def _check(self, kernel: Kernel) -> None:
        if np.ndim(self.layers) != 1:
            raise DataError(f"layers={self.layers!r}: give a sequence of whole numbers.")
        if not len(self.layers):
            raise DataError("layers is empty; give the components of at least one layer.")
        if not kernel.takes_vectors:
            raise KernelError(
                f"{kernel!r} has no coordinates for a second layer; use a vector kernel, "
                "or GenerativeKernelPCA."
            )

    @property
    def _n_features_out(self) -> int:
        return self.layers_[-1].subspace.n_components

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
