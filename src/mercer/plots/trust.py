"""How far each place of a map that another tool has made can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from mercer._base.types import Array, ArrayLike, Axes, Estimator, RowsLike, Targets
from mercer.plots import _base as base


class TrustDisplay(base.Display):
    """A map, coloured by how much of each row's neighbourhood it keeps.

    Attributes
    ----------
    places : (n, q) array
    trust : (n,) array
        The share of each row's nearest rows that are nearest to it in the map, too.
    n_neighbors : int
        How many nearest rows these are.
    names : list of str
        Of the coordinates.
    figure_, ax_, points_, bar_
        What was drawn.
    """

    places: Array
    trust: Array
    n_neighbors: int = 15
    names: Sequence[str] = ()

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        Z: ArrayLike = None,
        n_neighbors: int = 15,
        ax: Axes = None,
    ) -> TrustDisplay:
        """Draw the first two coordinates of a map.

        Parameters
        ----------
        estimator : MapModel, fitted
        X : (n, d) rows, optional
            By default the rows of the fit.
        y : ignored
        Z : (n, q) array, optional
            The map of these rows; by default where ``transform`` puts them.
        n_neighbors : int, default=15
        ax : matplotlib axes, optional

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.decomposition import PCA
        >>> from mercer import MapModel
        >>> from mercer.plots import TrustDisplay
        >>> X = load_iris().data
        >>> display = TrustDisplay.from_estimator(MapModel(PCA(2)).fit(X))
        >>> display.ax_.get_title()
        "The map keeps 80 % of a row's 15 nearest rows."
        """
        base.require_method(estimator, "trust")
        if X is None:
            places, trust = estimator.embedding_, estimator.trust(n_neighbors=n_neighbors)
        else:
            places = np.asarray(estimator.transform(X) if Z is None else Z, dtype=np.float64)
            trust = estimator.trust(X, places, n_neighbors)
        names = [str(name) for name in estimator.get_feature_names_out()]
        return cls(places.reshape(len(trust), -1), trust, n_neighbors, names).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        self.ax_ = ax = base.tidy(base.axes_or_new(ax, figsize=(6.0, 4.4)))
        # In the order of the rows: neither the torn nor the whole lie on top.
        look: dict[str, Any] = {"s": 9, "linewidths": 0, "cmap": "coolwarm_r", "vmin": 0, "vmax": 1}
        # A map of one coordinate has the trust itself beside it.
        x, y = self.places[:, 0], self.places[:, 1] if self.places.shape[1] > 1 else self.trust
        self.points_ = ax.scatter(x, y, c=self.trust, **look)
        ax.set(xlabel=self._name(0), ylabel=self._name(1))
        share, k = 100 * self.trust.mean(), self.n_neighbors
        title = f"The map keeps {share:.0f} % of a row's {k} nearest rows."
        ax.set_title(title, fontsize="medium")
        bar = {"ticks": np.linspace(0, 1, 5), "format": lambda share, _: f"{100 * share:.0f} %"}
        bar["label"] = "torn apart  ←  nearest rows that stay near  →  kept"
        self.bar_ = ax.figure.colorbar(self.points_, ax=ax, **bar)
        return self

    def _name(self, k: int) -> str:
        q = self.places.shape[1]
        if k >= q:
            return "share of nearest rows kept"
        name = self.names[k] if k < len(self.names) else f"coordinate {k}"
        return name if q <= 2 else f"{name} ({k + 1} of {q})"
