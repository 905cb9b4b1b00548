"""What an estimator takes and gives: declared once, for the table in the docs and for the tests."""

from __future__ import annotations

from dataclasses import dataclass, field


def _can(words: str, usual: bool = False) -> bool:
    """A yes or no with the words of the table's head."""
    able: bool = field(default=usual, metadata={"words": words})
    return able


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Every estimator takes arrays; this says what else.

    Attributes
    ----------
    tables : pandas and polars frames, whose names are remembered
    sparse : SciPy's sparse matrices
    objects : lists of any Python objects, with a kernel of them
    precomputed : a kernel matrix
    files : paths and row sources in ``fit``
    dask : dask arrays and frames in ``fit``
    missing : NaN in ``fit``
    weights : ``sample_weight``
    streaming : ``partial_fit``
    onnx : :func:`mercer.export_onnx`
    experimental : names and defaults may change
    """

    tables: bool = _can("tables", True)
    sparse: bool = _can("sparse matrices")
    objects: bool = _can("objects")
    precomputed: bool = _can("kernel matrix")
    files: bool = _can("files", True)
    dask: bool = _can("dask", True)
    missing: bool = _can("missing values")
    weights: bool = _can("weights")
    streaming: bool = _can("chunks")
    onnx: bool = _can("ONNX")
    experimental: bool = _can("experimental")
