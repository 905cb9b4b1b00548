"""Export to ONNX: the formulas of the Subspace as a graph that needs neither mercer nor Python."""

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mercer import preimage
from mercer._base.files import atomic_file
from mercer._base.linalg import square_sums
from mercer._base.numbers import check_choice, check_one_of
from mercer._base.types import Array, Estimator, Names, PathLike, Precision
from mercer.exceptions import DataError, ModelFileError
from mercer.io.model_file.onnx_kernels import (
    SAMPLE,
    Graph,
    RadialNodes,
    Traced,
    check_outputs,
    kernel_nodes,
    node,
    warn_of_rounding,
)
from mercer.io.model_file.onnx_maps import is_map, map_graph
from mercer.kernels import Linear, RadialKernel
from mercer.model import Subspace, model_of
from mercer.model.model import OnTables
from mercer.preimage._sweep import Sweep
from mercer.preimage.fixed_point import CANCELLED
from mercer.preimage.nearest import SupportScores
from mercer.preimage.noise import can_be_matched, match_limits

#: What a protocol buffer can hold.
MAX_BYTES = (1 << 31) - 1

_SUBSPACE = ("transform", "reconstruction_error", "denoise")
_NOVELTY = ("score_samples", "decision_function")


def export_onnx(
    model: Estimator,
    path: PathLike,
    *,
    outputs: Names | None = None,
    steps: int = 20,
    dtype: str = "float32",
) -> Path:
    """Write a fitted model as an ONNX graph, for onnxruntime in any language.

    The graph has one input ``X`` (any number of rows, d columns) and one output for each method,
    under the method's name.

    Parameters
    ----------
    model : fitted estimator with ``subspace_``, :class:`~mercer.KernelNovelty` or \
:class:`~mercer.MapModel`
    path : the file to write, usually ``*.onnx``
    outputs : sequence of str, optional
        ``"transform"``, ``"reconstruction_error"``, ``"denoise"``; of a novelty detector
        ``"score_samples"``, ``"decision_function"``. By default all but ``"denoise"``, which costs
        ``steps`` times as much as the others together. Of a map ``"transform"``, the default,
        ``"denoise"``, or by itself ``"inverse_transform"``: its input is ``Z``, the places.
    steps : int, default=20
        Fixed-point steps of ``"denoise"`` for radial kernels: the graph does what
        ``FixedPoint(early_stop=steps)`` does. Methods that do not iterate ignore it.
    dtype : {"float32", "float64"}, default="float32"
        The type of input, outputs and all steps between. If float32 costs more than 1e-5 of the
        largest output, a warning says so; use "float64" then.

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

    The way into a map is that of at most 5,000 rows, which are part of the graph.

    A graph does not check its input: NaN in gives NaN out, and it does not know the names of
    columns. It does not fill in missing values, either.

    The graph of a :class:`~mercer.TableModel` scales numbers and compares categories itself. Its
    input has a number for each column that is used: a number as it is, a category by its place in
    the list of its values (-1 for another), a date by its units since the first one. The text
    ``columns`` of the graph's metadata says so in JSON, and ``model.encoder_.codes(table)`` makes
    such rows. What it gives are numbers: ``"denoise"`` is left to Python.

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
    check_choice("dtype", dtype, ("float32", "float64"))
    if is_map(model):
        graph = map_graph(model, outputs, dtype)
    else:
        graph = _subspace_graph(model, outputs, steps, dtype)
    if (size := graph.ByteSize()) > MAX_BYTES:
        raise ModelFileError(f"the graph takes {size >> 20} MB of 2047; fit by solver='landmarks'.")
    with atomic_file(path) as file:
        file.write(graph.SerializeToString())
    return Path(path)


def _subspace_graph(model: Estimator, outputs: Names | None, steps: int, dtype: str) -> Any:
    try:
        subspace = model_of(model).subspace
    except DataError as error:
        raise ModelFileError(f"nothing to export: {error}") from error
    known = _NOVELTY if hasattr(model, "score_samples") else _SUBSPACE
    known = known[:2] if isinstance(model, OnTables) else known
    names = known[:2] if outputs is None else tuple(outputs)
    check_outputs(names, known)
    check_one_of("steps", steps, 1, 1000, "each makes the graph longer")
    if subspace.points.is_sparse:
        raise ModelFileError("ONNX has no sparse rows as input; fit to X.toarray().")
    if not subspace.points.has_coordinates:
        what = f"the input of {subspace.kernel!r} is not a table of numbers"
        raise ModelFileError(f"{what}; export a model with a kernel of vectors.")
    if dtype == "float32":
        warn_of_rounding(_rounding(subspace), "fewer components, or standardised data")
    texts = {"class": type(model).__name__, "kernel": repr(subspace.kernel)}
    d = int(subspace.support.shape[1])
    g = Graph(dtype)
    if isinstance(model, OnTables):
        g.X, texts["columns"] = model.encoder_.traced(g.X, g.xp)
        model, d = model.model_, len({*model.encoder_.groups_})
    nodes = _Nodes(subspace, g, steps)
    for name in names:
        width = {"transform": [subspace.n_components], "denoise": [d]}.get(name, [])
        g.output(name, nodes.of(name, model), width)
    return g.model(d, texts)


@dataclass(frozen=True)
class _Nodes:
    """The quantities of a subspace; each is put into the graph when it is first asked for."""

    subspace: Subspace
    g: Graph
    steps: int

    def of(self, name: str, model: Estimator) -> Traced:
        """The value that a method returns."""
        if name == "transform":
            return self.scores
        if name == "reconstruction_error":
            return self.g.with_axis("Squeeze", self.residual, 1)
        if name == "denoise":
            Z, solver = self._matched, model.preimage_
            if isinstance(solver, preimage.Shrunk):
                Z = Z * solver.shrinkage(model.explained_variance_)[None]
                solver = preimage.as_preimage(solver.preimage)
            return self._preimage(solver, Z)
        inside = (self.scores * self.scores) @ model.score_.inside[:, None]
        novelty = inside + self.residual * model.score_.outside
        shift = model.offset_ if name == "decision_function" else 0.0
        return -shift - self.g.with_axis("Squeeze", novelty, 1)

    @cached_property
    def rows(self) -> Traced:
        """k(s_i, x), (n, m)."""
        return kernel_nodes(self.g, self.subspace.kernel, self.g.X, self.subspace.support)

    @cached_property
    def scores(self) -> Traced:
        if self._centred is not None:  # PCA: z = Wᵀ (x − μ) with W = Sᵀ B
            return self._centred @ self._axes
        return self.rows @ self.subspace.coef - self.subspace.offset[None]

    @property
    def _matched(self) -> Traced:
        """Scores as ``denoise`` takes them: ``match_noise="auto"``, see mercer.preimage.noise."""
        g, S = self.g, self.subspace
        if not can_be_matched(S):
            return self.scores
        least, most = match_limits(g.dtype)
        largest = g.xp.maximum(g.sum(self.rows, "ReduceMax"), least)
        factor = S.basis.neighbour_similarity / largest
        factor = g.xp.maximum(g.xp.minimum(factor, most), 1.0)
        return factor * (self.scores + S.offset[None]) - S.offset[None]

    @cached_property
    def residual(self) -> Traced:
        """``k(x,x) - 2 cᵀk(S,x) + cᵀ K_SS c - |z(x)|²``, (n, 1)."""
        g, S = self.g, self.subspace
        if self._centred is not None:  # |x − μ − W z|²: nothing cancels
            return g.sum(self._centred - self.scores @ self._axes.T, "ReduceSumSquare")
        inside = g.sum(self.scores, "ReduceSumSquare")
        to_mean = self.rows @ (2 * S.mean[:, None])
        centred = kernel_nodes(g, S.kernel, g.X, None) - to_mean + S.mean_square
        return g.xp.maximum(centred - inside, 0.0)

    @cached_property
    def _centred(self) -> Traced | None:
        """For the linear kernel x − μ, where μ = Sᵀ c is a point of input space."""
        if type(self.subspace.kernel) is not Linear:
            return None
        rounded = self._centre.astype(self.g.dtype).astype(np.float64)
        # In two steps: what float32 loses of the mean is small, and comes second.
        return self.g.X - rounded - (self._centre - rounded)

    @property
    def _centre(self) -> Array:
        """μᵀ = cᵀ S, (1, d), for the linear kernel."""
        return np.asarray(self._wide.mean @ self._wide.support)[None]

    @property
    def _axes(self) -> Array:
        """W = Sᵀ B, (d, q), for the linear kernel."""
        return np.asarray(self._wide.support.T @ self._wide.coef)

    @cached_property
    def _wide(self) -> Subspace:
        """In float64: constants of the graph shall bring no rounding of their own."""
        return _as_type(self.subspace, np.float64)

    def _preimage(self, solver: preimage.PreImageSolver, Z: Traced) -> Traced:
        """The rows that ``solver`` finds for the scores Z of the input, (n, d)."""
        g, subspace = self.g, self.subspace
        if isinstance(solver, preimage.Auto):
            solver = solver.choose(subspace, has_start=True)
        kernel, S = subspace.kernel, subspace.support
        if isinstance(solver, preimage.FixedPoint) and kernel.radial is not None:
            return self._fixed_point(solver, kernel.radial, Z)
        if isinstance(solver, preimage.InverseDot) and isinstance(kernel, Linear):
            # Φ_S γ is itself a point of input space: x̂ = Sᵀ (c + B z), the inverse of PCA.
            return Z @ self._axes.T + self._centre
        if isinstance(solver, preimage.Smoother):
            return self._smoother(solver, Z)
        if isinstance(solver, preimage.Nearest):
            known = SupportScores(self._wide)
            apart = Z @ (-2 * known.scores.T) + known.squares[None]
            return g.xp.take(S, node(g, "ArgMin", apart, axis=1, keepdims=0))
        what = f"pre-images by {type(solver).__name__} have no ONNX form for {kernel!r}"
        raise ModelFileError(f"{what}; set preimage='smoother' first, or leave 'denoise' out.")

    def _fixed_point(self, solver: preimage.FixedPoint, kernel: RadialKernel, Z: Traced) -> Traced:
        """Mika's iteration, unrolled; :mod:`mercer.preimage.fixed_point` has it in NumPy."""
        g, subspace = self.g, self.subspace
        xp, radial = g.xp, RadialNodes(g, kernel, subspace.support)
        low, high = Sweep(subspace, kernel).box
        G = Z @ subspace.coef.T + subspace.mean[None]
        best = xp.take(radial.support, node(g, "ArgMax", G, axis=1, keepdims=0))
        Y = anchor = g.X - radial.origin
        hold, tries = None, g.sum(anchor) * 0.0
        for _ in range(self.steps):
            _, slope = radial.profile_and_slope(Y)
            delta = G * slope  # Mika eq. (9)
            pull = delta @ radial.support
            weight, size = g.sum(delta), g.sum(xp.abs(delta))
            if solver.input_weight:
                hold = hold or xp.maximum(weight, 0.0) * solver.input_weight
                pull, weight = pull + hold * anchor, weight + hold
            image = pull / weight  # Mika eq. (10)
            # The image where it can be trusted; else a new start, and after two of them a stop.
            inside = xp.where((image >= low[None]) & (image <= high[None]), 1.0, 0.0)
            good = (g.sum(inside, "ReduceMin") > 0.5) & (weight > size * CANCELLED)
            stopped = tries > 2.5
            tries = tries + xp.where(good, 0.0, 1.0)
            start = xp.where(xp.equal(xp.round(tries), 2.0), best * 0.0, best)
            Y = xp.where(stopped, Y, xp.where(good, image, start))
        return Y + radial.origin

    def _smoother(self, solver: preimage.Smoother, Z: Traced) -> Traced:
        g, subspace = self.g, self.subspace
        known = SupportScores(self._wide)
        similarity = Z @ known.scores.T
        key = similarity
        if solver.by != "similarity":
            own = square_sums(known.scores) if solver.by == "distance" else known.squares
            key = similarity * 2.0 - own[None]
        index = g.largest(key, solver.init(self._wide).count)
        weight = node(g, "GatherElements", similarity, index, axis=1)
        weight = weight - g.sum(similarity, "ReduceMin")
        # All equally similar: the plain mean.
        weight = g.xp.where(g.sum(weight, "ReduceMax") > 0.0, weight, 1.0)
        weight = weight / g.sum(weight)
        # With the mean taken off, the weighted sum does not lose what distinguishes the points.
        origin: Array = subspace.support.mean(axis=0)
        weighted = g.xp.take(subspace.support - origin, index) * g.with_axis("Unsqueeze", weight, 2)
        return g.with_axis("ReduceSum", weighted, 1, keepdims=0) + origin[None]


def _as_type(subspace: Subspace, dtype: Precision) -> Subspace:
    """The same subspace, support and all, in another precision."""
    return replace(subspace.astype(dtype), support=subspace.support.astype(dtype))


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
