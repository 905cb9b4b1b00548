"""A small writer of ONNX graphs: nodes by name, constants kept once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mercer._extras import require
from mercer._linalg import Array
from mercer._types import Precision

#: Reductions take their axes as an input from here on; onnxruntime reads it since 1.14.
OPSET, IR_VERSION = 18, 8


class Graph:
    """Nodes in the order in which they are asked for; every value is known by its name.

    Parameters
    ----------
    dtype : float32 or float64
        Of all numbers in the graph.
    """

    def __init__(self, dtype: Precision) -> None:
        self.dtype = np.dtype(dtype)
        self._onnx = require("onnx", "onnx")
        self._nodes: list[object] = []
        self._constants: dict[bytes, tuple[str, object]] = {}
        self._outputs: list[tuple[str, Sequence[int]]] = []

    def op(self, kind: str, *inputs: str, **attributes: int) -> str:
        """A node; the name of its result."""
        return self.pair(kind, *inputs, outputs=1, **attributes)[0]

    def pair(self, kind: str, *inputs: str, outputs: int = 2, **attributes: int) -> list[str]:
        """A node with two results; their names."""
        names = [f"{kind}_{len(self._nodes)}_{i}" for i in range(outputs)]
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), names, **attributes))
        return names

    def number(self, value: ArrayLike) -> str:
        """A constant in the graph's precision; scalars and arrays."""
        return self._constant(
            np.ascontiguousarray(value, dtype=self.dtype).reshape(np.shape(value))
        )

    def integers(self, *values: int) -> str:
        """A constant list of whole numbers, such as axes."""
        return self._constant(np.array(values, dtype=np.int64))

    def sum(self, name: str, kind: str = "ReduceSum") -> str:
        """Over the columns, which stay as one: (n, 1)."""
        return self.op(kind, name, self.integers(1), keepdims=1)

    def output(self, name: str, value: str, shape: Sequence[int]) -> None:
        """Make a value an output under this name."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append((name, shape))

    def model(self, n_features: int, texts: dict[str, str]) -> Any:
        """The finished model, with one input ``X`` of any number of rows."""
        helper = self._onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        shape_of = helper.make_tensor_value_info
        graph = helper.make_graph(
            self._nodes,
            "mercer",
            [shape_of("X", kind, ["rows", n_features])],
            [shape_of(name, kind, ["rows", *shape]) for name, shape in self._outputs],
            initializer=[tensor for _, tensor in self._constants.values()],
        )
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(
            graph, producer_name="mercer", opset_imports=[opset], ir_version=IR_VERSION
        )
        helper.set_model_props(model, texts)
        self._onnx.checker.check_model(model)
        return model

    def _constant(self, value: Array) -> str:
        key = repr((value.shape, value.dtype)).encode() + value.tobytes()
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            self._constants[key] = name, self._onnx.numpy_helper.from_array(value, name)
        return self._constants[key][0]
