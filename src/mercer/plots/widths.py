"""The spectrum against the width of the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from mercer._base.numbers import check_count
from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.estimators import KernelPCA
from mercer.exceptions import DataError, KernelError, Remedy
from mercer.kernels import Kernel, RadialKernel
from mercer.plots._matplotlib import Display, axes_or_new, ink, tidy
from mercer.plots._models import rows_of, subspace_of
from mercer.selection import kernels_around
from mercer.selection.by_noise import fit_quietly

#: Widths that are tried, in units of the model's own.
FACTORS = tuple(2.0 ** (k / 2) for k in range(-6, 7))


@dataclass
class WidthSpectrumDisplay(Display):
    """Shares of the true variance that the first components hold, for a range of widths.

    A narrow kernel makes all rows equally far from each other: the variance spreads over as many
    components as there are rows. A wide one is almost linear: a few components hold everything.

    Attributes
    ----------
    lengths : (g,) array
        ℓ of the kernel f(r²/ℓ²); a Gaussian's is ``width``.
    shares : (g, q) array
    length : float
        That of the model.
    figure_, ax_, areas_, mark_
        What was drawn; one area for each component.
    """

    lengths: Array
    shares: Array
    length: float

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,  # noqa: ARG003
        *,
        factors: Sequence[float] = FACTORS,
        n_components: int = 8,
        ax: Axes = None,
    ) -> WidthSpectrumDisplay:
        """Fit kernel PCA once for each width, and draw the spectra.

        Parameters
        ----------
        estimator : a fitted model with a radial kernel
        X : (n, d) rows, optional
            The model's support points by default.
        y : ignored
        factors : sequence of float
            Widths, in units of the model's own; an eighth to eight by default.
        n_components : int, default=8
        ax : matplotlib axes, optional

        Notes
        -----
        It costs as many fits as there are widths; for a large model give a part of the rows as X.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from mercer import KernelPCA
        >>> from mercer.plots import WidthSpectrumDisplay
        >>> model = KernelPCA(4).fit(load_iris().data)
        >>> display = WidthSpectrumDisplay.from_estimator(model, factors=[0.1, 1, 10])
        >>> display.shares[:, 0].argmax()  # the widest kernel needs the fewest components
        np.int64(2)
        """
        subspace = subspace_of(estimator)
        rows = rows_of(estimator, X)
        kernel = subspace.kernel
        if not isinstance(kernel, RadialKernel):
            radial = "use a radial kernel such as Gaussian()."
            remedy = Remedy(radial, shell="fit with --kernel gaussian.")
            raise KernelError(f"{kernel!r} has no width; " + remedy)
        given = np.asarray(factors, dtype=float)
        if given.ndim != 1 or len(given) < 2 or not (np.isfinite(given) & (given > 0)).all():
            raise DataError(f"factors={factors!r}: give two positive numbers or more.")
        kernels: list[Any] = list(kernels_around(kernel, rows, given.tolist()))
        q = min(check_count("n_components", n_components), len(rows) - 1)
        solver = estimator.solver if isinstance(estimator, KernelPCA) else "auto"
        center = bool(subspace.mean.any())
        shares = np.stack([_spectrum(kernel, rows, q, center, solver) for kernel in kernels])
        lengths = np.array([kernel.length for kernel in kernels])
        order = np.argsort(lengths)
        return cls(lengths[order], shares[order], kernel.length).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        """Draw, into ``ax`` or a new figure."""
        from matplotlib import colormaps

        self.ax_ = ax = axes_or_new(ax, figsize=(5.6, 3.6))
        q = self.shares.shape[1]
        # From dark to light along one scale, so that the order shows without colour.
        colors = colormaps["viridis"](np.linspace(0.1, 0.95, q))
        paper = ax.get_facecolor()
        self.areas_ = ax.stackplot(
            self.lengths, self.shares.T, colors=colors, edgecolor=paper, linewidth=0.6
        )
        ax.axvline(self.length, color=paper, linewidth=3)  # so that the mark shows on dark areas
        self.mark_ = ax.axvline(self.length, color=ink(), linewidth=1.2, linestyle="--")
        ax.annotate(
            "the model",
            (self.length, 1.0),
            (0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize="small",
        )
        ax.set_xscale("log")
        ax.set(xlabel="width of the kernel", ylabel="share of the true variance", ylim=(0, 1))
        ax.set_xlim(self.lengths[0], self.lengths[-1])
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
        names = [f"{k}" for k in range(q)]
        style = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0), "fontsize": "small"}
        ax.legend(self.areas_[::-1], names[::-1], title="component", frameon=False, **style)
        tidy(ax)
        return self


def _spectrum(kernel: Kernel, rows: Array, q: int, center: bool, solver: Any) -> Array:
    """Shares of q components, zero for those that do not exist."""
    model = KernelPCA(q, kernel=kernel, center=center, solver=solver, random_state=0)
    shares = np.asarray(fit_quietly(model, rows).explained_variance_ratio_)
    return np.pad(shares, (0, q - len(shares)))
