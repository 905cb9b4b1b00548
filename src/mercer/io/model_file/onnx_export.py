"""Export to ONNX: the formulas of the Subspace as a graph that needs neither mercer nor Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.files import atomic_file
from mercer._base.linalg import square_sums
from mercer._base.types import Array, Estimator, Precision
from mercer.exceptions import DataError, MercerWarning, ModelFileError, warn
from mercer.io.model_file.onnx_kernels import Exported, Graph, RadialNodes, export_kernel
from mercer.kernels import Linear, RadialKernel
from mercer.model import Subspace, model_of
from mercer.preimage import Auto, FixedPoint, InverseDot, Nearest, PreImageSolver, Smoother
from mercer.preimage._sweep import Sweep
from mercer.preimage.fixed_point import CANCELLED
from mercer.preimage.nearest import SupportScores
from mercer.preimage.noise import can_be_matched, match_limits

#: Support points on which the rounding of float32 is measured before the export.
SAMPLE = 256
#: A larger error, relative to the largest score, is worth a word.
ROUNDING = 1e-5
#: What a protocol buffer can hold.
MAX_BYTES = (1 << 31) - 1

_SUBSPACE = ("transform", "reconstruction_error", "denoise")
_NOVELTY = ("score_samples", "decision_function")


def export_onnx(
    model: Estimator,
    path: str | os.PathLike[str],
    *,
    outputs: Sequence[str] | None = None,
    steps: int = 20,
    dtype: str = "float32",
) -> Path:
    """Write a fitted model as an ONNX graph, for onnxruntime in any language.

    The graph has one input ``X`` (any number of rows, d columns) and one output for each method,
    under the method's name.

    Parameters
    ----------
    model : fitted estimator with ``subspace_``, or :class:`~mercer.KernelNovelty`
    path : where to, by custom ``*.onnx``
    outputs : sequence of str, optional
        ``"transform"``, ``"reconstruction_error"``, ``"denoise"``; of a novelty detector
        ``"score_samples"``, ``"decision_function"``. By default all but ``"denoise"``, which costs
        ``steps`` times as much as the others together.
    steps : int, default=20
        Fixed-point steps of ``"denoise"`` for radial kernels: the graph does what
        ``FixedPoint(early_stop=steps)`` does. Methods that do not iterate have no use for it.
    dtype : {"float32", "float64"}, default="float32"
        Of input, outputs and all that is between them. Where float32 would cost more than 1e-5 of
        the largest output, a warning says so; take "float64" there.

    Returns
    -------
    Path

    Raises
    ------
    ModelFileError
        The kernel or the pre-image method has no ONNX form; the message names one that has.

    Notes
    -----
    Kernels: Gaussian, Cauchy, RationalQuadratic, Matern, Linear, Polynomial, Sigmoid, Cosine, and
    their sums, products and multiples. With the linear kernel the graph is that of PCA, without the
    support points. Pre-images: ``FixedPoint``, ``InverseDot`` with the linear kernel, ``Smoother``,
    ``Nearest``.

    A graph does not check its input: NaN in gives NaN out, and it knows no names of columns. It
    does not fill in what is missing, either.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from mercer import KernelPCA, export_onnx
    >>> X = np.random.default_rng(0).standard_normal((100, 3)).astype("float32")
    >>> model = KernelPCA(4).fit(X)
    >>> path = export_onnx(model, pathlib.Path(tempfile.mkdtemp()) / "model.onnx")
    >>> import onnxruntime
    >>> session = onnxruntime.InferenceSession(path)
    >>> (Z,) = session.run(["transform"], {"X": X[:5]})
    >>> bool(abs(Z - model.transform(X[:5])).max() < 1e-5)
    True
    """
    try:
        subspace = model_of(model).subspace
    except DataError as error:
        raise ModelFileError(f"nothing to export: {error}") from error
    known = _NOVELTY if hasattr(model, "score_samples") else _SUBSPACE
    wanted = known[:2] if outputs is None else tuple(outputs)
    _check(subspace, wanted, known, steps, dtype)
    g = Graph(dtype)
    nodes = _Nodes(subspace, g)
    for name in wanted:
        width = {"transform": [nodes.q], "denoise": [nodes.d]}.get(name, [])
        g.output(name, nodes.of(name, model, steps), width)
    texts = {"class": type(model).__name__, "kernel": repr(subspace.kernel)}
    return _write(g.model(nodes.d, texts), Path(path))


@dataclass(frozen=True)
class _Nodes:
    """The quantities of a subspace; each is put into the graph when it is first asked for."""

    subspace: Subspace
    g: Graph

    @property
    def q(self) -> int:
        return self.subspace.n_components

    @property
    def d(self) -> int:
        return int(self.subspace.support.shape[1])

    def of(self, name: str, model: Estimator, steps: int) -> str:
        """The value that a method returns."""
        g = self.g
        if name == "transform":
            return self.scores
        if name == "reconstruction_error":
            return g.op("Squeeze", self.residual, g.integers(1))
        if name == "denoise":
            solver = model.preimage_
            return _preimage(g, solver, self.subspace, "X", self._matched, steps)
        inside = g.op(
            "MatMul", g.op("Mul", self.scores, self.scores), g.number(model.score_.inside[:, None])
        )
        outside = g.op("Mul", self.residual, g.number(model.score_.outside))
        novelty = g.op("Squeeze", g.op("Add", inside, outside), g.integers(1))
        shift = model.offset_ if name == "decision_function" else 0.0
        return g.op("Sub", g.number(-shift), novelty)

    @cached_property
    def kernel(self) -> Exported:
        return export_kernel(self.subspace.kernel, self.subspace.support, self.g.dtype)

    @cached_property
    def rows(self) -> str:
        return self.kernel.rows(self.g, "X")

    @cached_property
    def scores(self) -> str:
        g, S = self.g, self.subspace
        if self._centred is not None:  # PCA: z = Wᵀ (x − μ) with W = Sᵀ B
            return g.op("MatMul", self._centred, g.number(self._axes))
        products = g.op("MatMul", self.rows, g.number(S.coef))
        return g.op("Sub", products, g.number(S.offset[None]))

    @property
    def _matched(self) -> str:
        """Scores as ``denoise`` takes them: ``match_noise="auto"``, see mercer.preimage.noise."""
        g, S = self.g, self.subspace
        if not can_be_matched(S):
            return self.scores
        least, most = match_limits(g.dtype)
        largest = g.op("Max", g.sum(self.rows, "ReduceMax"), g.number(least))
        factor = g.op("Div", g.number(S.basis.neighbour_similarity), largest)
        factor = g.op("Max", g.op("Min", factor, g.number(most)), g.number(1.0))
        offset = g.number(S.offset[None])
        return g.op("Sub", g.op("Mul", factor, g.op("Add", self.scores, offset)), offset)

    @cached_property
    def residual(self) -> str:
        """``k(x,x) - 2 cᵀk(S,x) + cᵀ K_SS c - |z(x)|²``, (n, 1)."""
        g, S = self.g, self.subspace
        if self._centred is not None:  # |x − μ − W z|²: nothing cancels
            inside = g.op("MatMul", self.scores, g.number(self._axes.T))
            return g.sum(g.op("Sub", self._centred, inside), "ReduceSumSquare")
        inside = g.sum(self.scores, "ReduceSumSquare")
        to_mean = g.op("MatMul", self.rows, g.number(2 * S.mean[:, None]))
        centred = g.op("Sub", self.kernel.diag(g, "X"), to_mean)
        centred = g.op("Add", centred, g.number(S.mean_square))
        return g.op("Max", g.op("Sub", centred, inside), g.number(0.0))

    @cached_property
    def _centred(self) -> str | None:
        """For the linear kernel x − μ, where μ = Sᵀ c is a point of input space."""
        if type(self.subspace.kernel) is not Linear:
            return None
        g, mean = self.g, (self._wide("mean") @ self._wide("support"))[None]
        rounded = mean.astype(g.dtype).astype(np.float64)
        # In two steps: what float32 loses of the mean is small, and comes second.
        return g.op("Sub", g.op("Sub", "X", g.number(rounded)), g.number(mean - rounded))

    @property
    def _axes(self) -> Array:
        """W = Sᵀ B, (d, q), for the linear kernel."""
        return np.asarray(self._wide("support").T @ self._wide("coef"))

    def _wide(self, name: str) -> Array:
        return np.asarray(getattr(self.subspace, name), dtype=np.float64)


def _preimage(
    g: Graph, solver: PreImageSolver, subspace: Subspace, X: str, Z: str, steps: int
) -> str:
    """The rows that ``solver`` finds for the scores Z of the rows X, (n, d)."""
    if isinstance(solver, Auto):
        solver = solver.choose(subspace, has_start=True)
    kernel = subspace.kernel
    if isinstance(solver, FixedPoint) and kernel.radial is not None:
        return _FixedPoint(solver, subspace, kernel.radial).nodes(g, X, Z, steps)
    if isinstance(solver, InverseDot) and isinstance(kernel, Linear):
        # Φ_S γ is itself a point of input space: x̂ = Sᵀ (c + B z), the inverse of PCA.
        S = subspace.support
        back = g.op("MatMul", Z, g.number(subspace.coef.T @ S))
        return g.op("Add", back, g.number((subspace.mean @ S)[None]))
    if isinstance(solver, Smoother):
        return _smoother(g, solver, subspace, Z)
    if isinstance(solver, Nearest):
        return _nearest(g, subspace, Z)
    raise ModelFileError(
        f"pre-images by {type(solver).__name__} have no ONNX form for {kernel!r}; call "
        "model.set_params(preimage='smoother') first (also 'nearest', and 'fixed_point' for radial "
        "kernels), or leave 'denoise' out."
    )


@dataclass(frozen=True)
class _FixedPoint:
    """Mika's iteration, unrolled; see :mod:`mercer.preimage.fixed_point` for the same in NumPy."""

    config: FixedPoint
    subspace: Subspace
    kernel: RadialKernel

    def nodes(self, g: Graph, X: str, Z: str, steps: int) -> str:
        radial = export_kernel(self.kernel, self.subspace.support, g.dtype)
        assert isinstance(radial, RadialNodes)
        G = g.op("MatMul", Z, g.number(self.subspace.coef.T))
        G = g.op("Add", G, g.number(self.subspace.mean[None]))
        best = g.op("Gather", g.number(radial.support), g.op("ArgMax", G, axis=1, keepdims=0))
        Y = anchor = radial.shifted(g, X)
        hold, tries = None, g.op("Mul", g.sum(anchor), g.number(0.0))
        for _ in range(steps):
            _, slope = radial.profile_and_slope(g, Y)
            delta = g.op("Mul", G, slope)  # Mika eq. (9)
            pull = g.op("MatMul", delta, g.number(radial.support))
            weight, size = g.sum(delta), g.sum(g.op("Abs", delta))
            if self.config.input_weight:
                if hold is None:
                    positive = g.op("Max", weight, g.number(0.0))
                    hold = g.op("Mul", positive, g.number(self.config.input_weight))
                pull = g.op("Add", pull, g.op("Mul", hold, anchor))
                weight = g.op("Add", weight, hold)
            image = g.op("Div", pull, weight)  # Mika eq. (10)
            Y, tries = self._guarded(g, image, weight, size, best, Y, tries)
        return g.op("Add", Y, g.number(radial.origin))

    def _guarded(
        self, g: Graph, image: str, weight: str, size: str, best: str, Y: str, tries: str
    ) -> tuple[str, str]:
        """The image where it can be trusted; else a new start, and after two of them a stop."""
        low, high = Sweep(self.subspace, self.kernel).box
        inside = g.op(
            "And",
            g.op("GreaterOrEqual", image, g.number(low[None])),
            g.op("LessOrEqual", image, g.number(high[None])),
        )
        kind = {"float32": 1, "float64": 11}[g.dtype.name]  # TensorProto.FLOAT and DOUBLE
        share = g.sum(g.op("Cast", inside, to=kind), "ReduceMin")
        good = g.op(
            "And",
            g.op("Greater", share, g.number(0.5)),
            g.op("Greater", weight, g.op("Mul", size, g.number(CANCELLED))),
        )
        stopped = g.op("Greater", tries, g.number(2.5))
        tries = g.op("Add", tries, g.op("Where", good, g.number(0.0), g.number(1.0)))
        second = g.op("Equal", g.op("Round", tries), g.number(2.0))
        start = g.op("Where", second, g.op("Mul", best, g.number(0.0)), best)
        moved = g.op("Where", good, image, start)
        return g.op("Where", stopped, Y, moved), tries


def _smoother(g: Graph, solver: Smoother, subspace: Subspace, Z: str) -> str:
    products = _support_scores(subspace).products
    similarity = g.op("MatMul", Z, g.number(products[:, :-1].T))
    similarity = g.op("Add", similarity, g.number(products[None, :, -1]))
    count = min(int(solver.n_neighbors), subspace.n_support)
    values, index = g.pair("TopK", similarity, g.integers(count), axis=1)
    weight = g.op("Sub", values, g.sum(similarity, "ReduceMin"))
    some = g.op("Greater", g.sum(weight, "ReduceMax"), g.number(0.0))
    weight = g.op("Where", some, weight, g.number(1.0))  # all equally similar: the plain mean
    weight = g.op("Div", weight, g.sum(weight))
    # With the mean taken off, the weighted sum does not lose what distinguishes the points.
    origin = subspace.support.mean(axis=0)
    points = g.op("Gather", g.number(subspace.support - origin), index)
    weighted = g.op("Mul", points, g.op("Unsqueeze", weight, g.integers(2)))
    mean = g.op("ReduceSum", weighted, g.integers(1), keepdims=0)
    return g.op("Add", mean, g.number(origin[None]))


def _nearest(g: Graph, subspace: Subspace, Z: str) -> str:
    known = _support_scores(subspace)
    own = square_sums(known.scores)[None] + known.residual[None]
    across = g.op("MatMul", Z, g.number(-2 * known.scores.T))
    index = g.op("ArgMin", g.op("Add", across, g.number(own)), axis=1, keepdims=0)
    return g.op("Gather", g.number(subspace.support), index)


def _support_scores(subspace: Subspace) -> SupportScores:
    """In float64: these are constants of the graph, and shall bring no rounding of their own."""
    return SupportScores(_as_type(subspace, np.float64))


def _as_type(subspace: Subspace, dtype: Precision) -> Subspace:
    """The same subspace in another precision."""
    return replace(
        subspace,
        support=subspace.support.astype(dtype),
        coef=subspace.coef.astype(dtype),
        mean=subspace.mean.astype(dtype),
        offset=subspace.offset.astype(dtype),
    )


def _check(
    subspace: Subspace, wanted: Sequence[str], known: Sequence[str], steps: int, dtype: str
) -> None:
    if subspace.points.is_sparse:
        raise ModelFileError(
            "ONNX has no sparse rows as input; fit to X.toarray(), or to TruncatedSVD of X."
        )
    if not subspace.points.has_coordinates:
        raise ModelFileError(
            f"the input of {subspace.kernel!r} is no table of numbers; export a model with a "
            "kernel of vectors."
        )
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted:
        raise DataError(f"outputs={list(wanted)!r}: give some of {', '.join(map(repr, known))}.")
    if not 1 <= steps <= 1000:
        raise DataError(f"steps={steps!r}: give a whole number from 1 to 1000.")
    if dtype not in ("float32", "float64"):
        raise DataError(f"dtype={dtype!r}: give 'float32' or 'float64'.")
    rounding = _rounding(subspace) if dtype == "float32" else 0.0
    if rounding > ROUNDING:
        warn(
            f"in float32 the outputs differ by up to {rounding:.1g} of the largest one; "
            "use dtype='float64', fewer components, or standardised data.",
            MercerWarning,
        )


def _rounding(subspace: Subspace) -> float:
    """Relative error of scores and squared distances when all is computed in float32.

    Of some support points; the distances from the subspace count as shares of those from the mean.
    """
    if type(subspace.kernel) is Linear:  # the graph has another, better formula
        return 0.0
    rows = subspace.support[:: -(-subspace.n_support // SAMPLE)].astype(np.float32)
    Z, residual = _as_type(subspace, np.float64).scores_and_residual(rows.astype(np.float64))
    narrow = _as_type(subspace, np.float32).scores_and_residual(rows)
    tiny = np.finfo(float).tiny
    of_scores = np.abs(narrow[0] - Z).max() / max(np.abs(Z).max(), tiny)
    of_squares = np.abs(narrow[1] - residual).max() / max((square_sums(Z) + residual).max(), tiny)
    return float(max(of_scores, of_squares))


def _write(graph: Any, path: Path) -> Path:
    size = graph.ByteSize()
    if size > MAX_BYTES:
        raise ModelFileError(
            f"the graph takes {size >> 20} MB, and ONNX allows 2047; use solver='landmarks', or "
            "compress the model."
        )
    with atomic_file(path) as file:
        file.write(graph.SerializeToString())
    return path
