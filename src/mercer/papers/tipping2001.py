"""Tipping 2001, *Sparse kernel principal component analysis* (NIPS 13): the figures as numbers.

The paper gives neither the centres of its three clusters nor a seed; ours are stated below. The
Pima data are not shipped: read ``Pima.tr`` and ``Pima.te`` (Ripley 1996; R package MASS) yourself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from mercer._base.numbers import fixed_rng
from mercer._base.progress import announce
from mercer._base.types import Array, Estimator
from mercer.estimators import KernelPCA, SparseKernelPCA
from mercer.kernels import Gaussian
from mercer.model import Subspace
from mercer.papers.item import INK, PALE, Check, Result, Setting, cloud, plane, sheet
from mercer.papers.sources import read_pima_part
from mercer.plots._base import PALETTE, tidy

read_pima = read_pima_part
CENTRES = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])
WIDTH = 0.25
NOISE = 0.25
PIMA_WIDTH = 10.0


def three_clusters(seed: int = 0, per_cluster: int = 30) -> tuple[Array, Array]:
    """The data of Figures 1–3: Gaussian clusters of standard deviation 0.1 in the plane.

    Returns
    -------
    (n, 2) points and (n,) labels

    Examples
    --------
    >>> from mercer.papers.tipping2001 import three_clusters
    >>> X, labels = three_clusters()
    >>> X.shape, labels.max() + 1
    ((90, 2), np.int64(3))
    """
    rng = fixed_rng(seed)
    labels = np.repeat(np.arange(len(CENTRES)), per_cluster)
    return CENTRES[labels] + 0.1 * rng.standard_normal((len(labels), 2)), labels


def figure1(X: Array, n_components: int = 9) -> KernelPCA:
    """Conventional, uncentred kernel PCA; ``explained_variance_`` is printed above each panel."""
    model = KernelPCA(n_components, kernel=Gaussian(width=WIDTH), center=False)
    model.fit(X)
    return model


def figure2(X: Array) -> SparseKernelPCA:
    """Sparse kernel PCA with σ = 0.25 and the paper's own projections.

    The paper shows nine kernels. That is one draw of the data: over draws the optimum has between 4
    and 11, seven on average, and an iteration that is stopped early shows more.

    Examples
    --------
    >>> from mercer.papers.tipping2001 import figure2, three_clusters
    >>> model = figure2(three_clusters()[0])
    >>> len(model.support_indices_)
    8
    """
    return SparseKernelPCA(noise=NOISE, kernel=Gaussian(width=WIDTH), refit=False).fit(X)


@dataclass(frozen=True)
class Figure3:
    """Which points represent the data, and the reconstruction error over the plane."""

    support_indices: Array
    per_cluster: Array
    grid: Array
    error: Array


def figure3(X: Array, labels: Array, resolution: int = 60) -> Figure3:
    """Representing vectors of each cluster, and eq. (18) on a grid around the data."""
    model = figure2(X)
    lines = [np.linspace(X[:, j].min() - 0.3, X[:, j].max() + 0.3, resolution) for j in (0, 1)]
    grid = np.stack(np.meshgrid(*lines), axis=-1)
    error = model.span_error(grid.reshape(-1, 2)).reshape(resolution, resolution)
    chosen = np.asarray(model.support_indices_)
    counts = np.bincount(labels[chosen], minlength=int(labels.max()) + 1)
    return Figure3(chosen, counts, grid, error)


def largest_angle_cosine(a: Subspace, b: Subspace) -> float:
    """Cosine of the largest angle between two subspaces of one feature space."""
    inner = a.coef.T @ b.basis.at(a.support) @ b.coef
    return float(np.linalg.svd(inner, compute_uv=False)[-1])


@dataclass(frozen=True)
class Figure4:
    """Reconstruction and classification for 1 to p components.

    ``full`` is kernel PCA on all rows, ``sparse`` the paper's projections, and ``refit`` the data's
    own components in the span of the kernels.
    """

    #: (p,) root mean squared reconstruction errors in feature space on the training rows.
    rms_full: Array
    rms_sparse: Array
    rms_refit: Array
    #: (p,) test rows that a linear support vector machine on the components gets wrong.
    errors_full: Array
    errors_sparse: Array
    errors_refit: Array
    n_kernels: int
    fits: int  #: that the search for the noise took
    noise: float


def figure4(
    X: Array,
    y: Array,
    X_test: Array,
    y_test: Array,
    *,
    n_kernels: int = 40,
    n_components: int = 25,
) -> Figure4:
    """Kernel PCA against its sparse form on standardised rows, Gaussian of width 10.

    Standardised by the training rows: with the raw columns a width of 10 is far from the
    "near-optimal" that the paper states (103–109 SVM errors of 332).
    """
    mean, scale = X.mean(axis=0), X.std(axis=0)
    A, B = (X - mean) / scale, (X_test - mean) / scale
    kernel = Gaussian(width=PIMA_WIDTH)
    full = KernelPCA(n_components, kernel=kernel, center=False, solver="dense").fit(A)
    refit = SparseKernelPCA(n_kernels, kernel=kernel).fit(A)
    paper = SparseKernelPCA(noise=refit.noise_, kernel=kernel, refit=False).fit(A)
    return Figure4(
        rms_full=_rms_curve(full.subspace_, A, n_components),
        rms_sparse=_rms_curve(paper.subspace_, A, n_components),
        rms_refit=_rms_curve(refit.subspace_, A, n_components),
        errors_full=svm_errors(full, A, y, B, y_test, n_components),
        errors_sparse=svm_errors(paper, A, y, B, y_test, n_components),
        errors_refit=svm_errors(refit, A, y, B, y_test, n_components),
        n_kernels=len(refit.weights_),
        fits=refit.n_fits_,
        noise=refit.noise_,
    )


def svm_errors(
    model: KernelPCA | SparseKernelPCA,
    X: Array,
    y: Array,
    X_test: Array,
    y_test: Array,
    n_components: int = 25,
) -> Array:
    """Test rows wrong of a linear SVM (C = 1) on the leading 1, 2, … components, standardised."""
    Z, Z_test = model.transform(X), model.transform(X_test)
    mean, scale = Z.mean(axis=0), Z.std(axis=0)
    Z, Z_test = (Z - mean) / scale, (Z_test - mean) / scale
    wrong = []
    for q in range(1, n_components + 1):
        svm = LinearSVC(random_state=0, dual=False).fit(Z[:, :q], y)
        wrong.append(int((svm.predict(Z_test[:, :q]) != y_test).sum()))
    return np.array(wrong)


def _rms_curve(subspace: Subspace, X: Array, n_components: int) -> Array:
    """Root mean squared distance from the leading 1, 2, … directions."""
    Z, _ = subspace.scores_and_residual(X)
    left = subspace.kernel.diag(X)[:, None] - np.cumsum(Z[:, :n_components] ** 2, axis=1)
    return np.asarray(np.sqrt(np.maximum(left, 0).mean(axis=0)))


SETTING = {"points": "3 × 30, sd 0.1", "kernel": "exp(-r²/0.25²)", "centred": "no"}
DRAWS = (
    "The paper gives neither the clusters' centres nor a seed; ours are (-0.5, -0.2), (0, 0.6) "
    "and (0.5, 0), and the checks are over many draws."
)


def _draws(setting: Setting, figure: str) -> Iterator[tuple[Array, Array]]:
    """The three clusters and their labels, drawn as often as the run asks for."""
    draws = setting.choose(20, 100)
    for seed in range(draws):
        announce(figure, seed, draws)
        yield three_clusters(setting.seed + seed)


def run_figure1(setting: Setting) -> Result:
    """Nine projections of kernel PCA; the first three pick out the clusters."""
    spectra, picked = [], []
    for X, labels in _draws(setting, "figure 1"):
        model = figure1(X)
        spectra.append(model.explained_variance_)
        picked.append(_picked(model.transform(X)[:, :3], labels))
    mean = np.mean(spectra, axis=0)
    numbers = [{"component": k, "eigenvalue": value} for k, value in enumerate(mean)]
    checks = [
        Check("first eigenvalue, mean", mean[0], 0.21, 0.25),
        Check("third eigenvalue, mean", mean[2], 0.19, 0.22),
        Check("gap: third eigenvalue / fourth", mean[2] / mean[3], low=3),
        Check(
            "draws whose first three components pick out all three clusters, share",
            float(np.mean(np.array(picked) == 3)),
            low=0.9,
            paper="all, in the one shown",
        ),
    ]
    X, _ = three_clusters(setting.seed)
    model = figure1(X)
    return Result(
        numbers,
        checks,
        lambda: _draw_components(X, model, model.explained_variance_),
        {**SETTING, "draws": len(spectra)},
        (
            DRAWS,
            (
                "A cluster is picked out if some score is on average twice as large there as in "
                "the others. Where two eigenvalues nearly agree, their components mix clusters."
            ),
        ),
    )


def _picked(Z: Array, labels: Array) -> int:
    """Clusters where one of the scores is twice as large as in both others."""
    size = np.array([np.abs(Z[labels == c]).mean(axis=0) for c in range(3)])
    others = np.array([np.delete(size, c, axis=0).max(axis=0) for c in range(3)])
    return int((size > 2 * others).any(axis=1).sum())


def run_figure2(setting: Setting) -> Result:
    """The same by sparse kernel PCA: how many kernels, and how near its subspace is."""
    sizes, cosines = [], []
    for X, _ in _draws(setting, "figure 2"):
        sparse, full = figure2(X), figure1(X, 3)
        sizes.append(len(sparse.subspace_.support))
        cosines.append(largest_angle_cosine(full.subspace_, sparse.subspace_.leading(3)))
    numbers = [
        {"draw": seed, "kernels": size, "cosine": cosine}
        for seed, (size, cosine) in enumerate(zip(sizes, cosines, strict=True))
    ]
    low, high = min(sizes), max(sizes)
    checks = [
        Check("kernels of 90, mean over draws", float(np.mean(sizes)), 6, 9, 9),
        Check("draws whose range holds the paper's 9", float(low <= 9 <= high), low=1),
        Check("kernels, fewest", low, low=3),
        Check("kernels, most", high, high=13),
        Check("cosine of the largest angle to kernel PCA, worst", min(cosines), low=0.93),
    ]
    X, _ = three_clusters(setting.seed)
    model = figure2(X)
    return Result(
        numbers,
        checks,
        lambda: _draw_components(X, model, None),
        {**SETTING, "σ": 0.25, "draws": len(sizes)},
        (
            DRAWS,
            (
                "The paper shows nine kernels. At the optimum it is seven on average, between 4 "
                "and 11 by the draw; an iteration that is stopped early shows more."
            ),
        ),
    )


def _draw_components(X: Array, model: Estimator, values: Array | None) -> Any:
    figure, axes = sheet(3, 3, (7.2, 7.2))
    lines = [np.linspace(X[:, j].min() - 0.3, X[:, j].max() + 0.3, 80) for j in (0, 1)]
    grid = np.stack(np.meshgrid(*lines), axis=-1)
    Z = model.transform(grid.reshape(-1, 2))
    for k, ax in enumerate(axes.ravel()):
        if k >= Z.shape[1]:
            ax.set_axis_off()
            continue
        cloud(ax, X, PALE, 5)
        ax.contour(*lines, Z[:, k].reshape(80, 80), 8, cmap="viridis", linewidths=0.9)
        plane(ax, f"component {k}" if values is None else f"{values[k]:.3f}")
    return figure


def run_figure3(setting: Setting) -> Result:
    """The points that represent the data, and the reconstruction error over the plane."""
    fewest, at_centres = [], []
    for X, labels in _draws(setting, "figure 3"):
        model = figure2(X)
        chosen = np.asarray(model.support_indices_)
        at_centres.append(model.span_error(CENTRES))
        fewest.append(int(np.bincount(labels[chosen], minlength=3).min()))
    X, labels = three_clusters(setting.seed)
    found = figure3(X, labels)
    numbers = [
        {"cluster": c, "kernels": int(count)} for c, count in enumerate(found.per_cluster, start=1)
    ]
    checks = [
        Check("draws where every cluster is represented", float(np.mean(np.array(fewest) >= 1)),
              low=1),
        Check("error at the clusters' centres, mean", float(np.mean(at_centres)), high=0.2),
        Check("error in a corner far away", found.error[0, -1], low=0.99),
    ]  # fmt: skip
    return Result(
        numbers,
        checks,
        lambda: _draw_figure3(X, found),
        {**SETTING, "σ": 0.25, "draws": len(fewest)},
        (DRAWS, "The error is eq. (18), in feature space, on the chosen kernels alone."),
    )


def _draw_figure3(X: Array, found: Figure3) -> Any:
    figure, axes = sheet(1, 1, (5.4, 4.8))
    ax = axes[0, 0]
    cloud(ax, X, INK, 9)
    chosen = X[found.support_indices]
    ax.scatter(*chosen.T, s=90, facecolors="none", edgecolors=PALETTE[6], linewidths=1.8)
    lines = ax.contour(found.grid[..., 0], found.grid[..., 1], found.error,
                       [0.1, 0.3, 0.5, 0.7, 0.9], cmap="viridis", linewidths=1)  # fmt: skip
    ax.clabel(lines, fontsize=7)
    plane(ax, f"{len(chosen)} of {len(X)} points represent the data", ticks=True)
    return figure


def run_figure4(setting: Setting) -> Result:
    """Pima: reconstruction and classification with 40 of 200 kernels."""
    data = setting.sources.pima()
    found = figure4(data.X, data.y, data.X_test, data.y_test)
    sparse, refit = found.rms_sparse / found.rms_full, found.rms_refit / found.rms_full
    numbers = [
        {"components": p + 1}
        | {
            f"{what}, {way}": getattr(found, f"{what}_{way}")[p]
            for what in ("rms", "errors")
            for way in ("full", "sparse", "refit")
        }
        for p in range(len(found.rms_full))
    ]
    apart = float(found.errors_sparse.mean() - found.errors_full.mean())
    checks = [
        Check("kernels of 200", found.n_kernels, 40, 40, 40),
        Check("fits of the search for σ²", found.fits, high=15),
        Check("rms, sparse / full, p = 5", sparse[4], 1, 1.03, "small loss"),
        Check("rms, sparse / full, p = 10", sparse[9], 1, 1.25, "small loss"),
        Check("rms, sparse / full, p = 25", sparse[24], 1, 1.95, "small loss"),
        Check("rms, refit / full, p = 25", refit[24], 1, 1.5),
        Check("test errors, sparse − full, mean", apart, -4, 4, "marginally fewer"),
    ]
    return Result(
        numbers,
        checks,
        lambda: _draw_figure4(found),
        {"rows": f"{len(data.X)} + {len(data.X_test)}", "kernel": "exp(-r²/10²), standardised"},
        (
            (
                "The columns are standardised; with the raw ones a width of 10 is not the “near-"
                "optimal” that the text states (inferred)."
            ),
            (
                "That the sparse form classifies marginally better is noise: over twelve re-splits "
                "the difference is −0.1 ± 0.4 errors of 332."
            ),
            "“Refit” is mercer's default: the data's own components in the span of the kernels.",
        ),
        data.stands_in,
    )


def _draw_figure4(found: Figure4) -> Any:
    figure, axes = sheet(1, 2, (9, 3.6))
    p = np.arange(1, len(found.rms_full) + 1)
    styles = (("full", "all 200", INK), ("sparse", "40, paper's", PALETTE[2]),
              ("refit", "40, refit", PALETTE[0]))  # fmt: skip
    for name, label, color in styles:
        axes[0, 0].plot(p, getattr(found, f"rms_{name}"), color=color, label=label)
        axes[0, 1].plot(p, getattr(found, f"errors_{name}"), color=color, label=label)
    axes[0, 0].set_ylabel("rms reconstruction error")
    axes[0, 1].set_ylabel("test errors")
    for ax in axes[0]:
        ax.set_xlabel("number of components")
        tidy(ax)
    axes[0, 0].legend(frameon=False, fontsize=8)
    return figure
