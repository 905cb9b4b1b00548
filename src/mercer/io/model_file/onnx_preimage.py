"""Pre-images as ONNX nodes: fixed-point steps, and the methods that need no iteration."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mercer._base.linalg import square_sums
from mercer._base.types import Precision
from mercer.exceptions import ModelFileError
from mercer.io.model_file.onnx_kernels import Graph, RadialNodes, export_kernel
from mercer.kernels import Linear, RadialKernel
from mercer.model import Subspace
from mercer.preimage import Auto, FixedPoint, InverseDot, Nearest, PreImageSolver, Smoother
from mercer.preimage._sweep import Sweep
from mercer.preimage.fixed_point import CANCELLED
from mercer.preimage.nearest import SupportScores


def export_preimage(
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
    return SupportScores(as_type(subspace, np.float64))


def as_type(subspace: Subspace, dtype: Precision) -> Subspace:
    """The same subspace in another precision."""
    return replace(
        subspace,
        support=subspace.support.astype(dtype),
        coef=subspace.coef.astype(dtype),
        mean=subspace.mean.astype(dtype),
        offset=subspace.offset.astype(dtype),
    )
