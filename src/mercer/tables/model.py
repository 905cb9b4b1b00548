"""TableModel: any of our estimators on tables, which it takes and gives."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from mercer._base.types import Array
from mercer.estimators import (
    GenerativeKernelPCA,
    KernelNovelty,
    KernelPCA,
    SparseKernelPCA,
)
from mercer.estimators.base import Estimator
from mercer.estimators.door import Verb, as_asked, verb
from mercer.exceptions import DataError, Remedy
from mercer.io.files import names_text
from mercer.tables.columns import LeftOut
from mercer.tables.encoder import TableEncoder
from mercer.tables.frames import Frame, absent, as_list, objects


def _the_model(name: str) -> Callable[[Any, str], str | None]:
    """Nothing lacks where the wrapped model has the method; else it says why itself."""

    def lack(table: TableModel, instead: str) -> str | None:  # noqa: ARG001
        try:
            getattr(table._inner(), name)
        except AttributeError as error:
            return str(error)
        return None

    return lack


def _forwarded(owner: type, name: str) -> Any:
    """A method of the wrapped model: rows are encoded, and what it gives is decoded."""

    @functools.wraps(getattr(owner, name))  # for its signature
    def method(self: TableModel, *args: Any, **options: Any) -> Any:
        check_is_fitted(self, "model_")
        declared = _declared(self.model_, name)
        X, args, options = self._encoded(declared, args, options)
        return self._decoded(declared, getattr(self.model_, name)(*args, **options), X)

    method.__doc__ = f"As :meth:`mercer.{owner.__name__}.{name}`, of tables and in tables."
    return verb(needs=_the_model(name))(method)


def _declared(model: Any, name: str) -> Verb:
    """What the method takes and gives; another's takes rows, and gives what it likes."""
    declared: Verb = getattr(getattr(type(model), name, None), "verb", Verb("rows", None, "X", 0))
    return declared


class TableModel(Estimator):
    """Any estimator of mercer on tables: data frames in, data frames out.

    A :class:`TableEncoder` turns rows into vectors for the model, and what the model gives back
    into rows with legal values, in the types, order and index of the table. A method is there if
    the model has it.

    Parameters
    ----------
    model : estimator, optional
        ``KernelPCA()`` if not given.
    encoder : TableEncoder, optional
        What is done with the columns; decided from the data if not given.

    Attributes
    ----------
    encoder_ : TableEncoder
        Fitted; ``encoder_.describe()`` tells what is done.
    model_ : estimator
        Fitted to the vectors.
    n_features_in_, feature_names_in_
        Of the table.

    Notes
    -----
    The table is held in memory. Columns that the encoder leaves out (ids, free text) stay as they
    are in ``denoise`` and ``impute``, and have no values in new rows.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.datasets import load_iris
    >>> from mercer import KernelPCA
    >>> from mercer.tables import TableModel
    >>> iris = load_iris(as_frame=True)
    >>> table = iris.data.assign(kind=iris.target_names[iris.target])
    >>> model = TableModel(KernelPCA(8)).fit(table)
    >>> model.transform(table).shape
    (150, 8)
    >>> gaps = table.copy()
    >>> gaps.loc[::10, "kind"] = None
    >>> bool((model.impute(gaps)["kind"] == table["kind"]).mean() > 0.95)
    True
    """

    _foreign: ClassVar[Mapping[str, str]] = {}
    _saved: ClassVar[tuple[str, ...]] = (
        "model_",
        "encoder_",
        "n_features_in_",
        "feature_names_in_",
    )

    def __init__(self, model: Any = None, encoder: TableEncoder | None = None) -> None:
        self.model = model
        self.encoder = encoder

    @verb("data", "self")
    def fit(self, X: Any, y: Any = None) -> Self:
        """Decide on the columns, and fit the model to the vectors.

        Parameters
        ----------
        X : data frame (pandas, polars, pyarrow), mapping of columns, or (n, d) array
        y : what the model's ``fit`` takes
        """
        rows, encoder = self._fit_encoder(X)
        self._adopt(clone(self._asked()).fit(rows, y), encoder)
        return self

    @verb("data", "self", needs=_the_model("partial_fit"))
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a chunk of rows; the columns are decided on by the first."""
        if "model_" not in vars(self):
            return self.fit(X, y)
        self.model_.partial_fit(self.vectors(X), y)
        return self

    @verb("data", "self", needs=_the_model("tune"))
    def tune(self, X: Any, **options: Any) -> Self:
        """Choose width and number of components for denoising, as ``tune`` of the model, and fit.

        ``model`` is then the one that was chosen; noise is measured between vectors, and so is
        ``risk_``, of noisy rows.
        """
        rows, encoder = self._fit_encoder(X)
        tuned = clone(self._asked()).tune(rows, **options)
        self.model = clone(tuned)
        self._adopt(tuned, encoder)
        self.risk_ = getattr(tuned, "risk_", None)
        return self

    @verb("data", needs=_the_model("plan"))
    def plan(self, X: Any) -> Any:
        """What :meth:`fit` would do with this table, as ``plan`` of the model."""
        return self._asked().plan(self._fit_encoder(X)[0])

    @verb("data", "scores", needs=_the_model("fit_transform"))
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and the scores of the same rows."""
        return self.fit(X, y).transform(X)

    @verb("data", "numbers", needs=_the_model("fit_predict"))
    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit, and 1 for the normal ones of the same rows, -1 for outliers."""
        return np.asarray(self.fit(X, y).predict(X))

    @classmethod
    def from_fitted(cls, model: Any, encoder: TableEncoder) -> TableModel:
        """A model that was fitted to vectors of a fitted encoder, on tables."""
        made = cls(clone(model), clone(encoder))
        made._adopt(model, encoder)
        return made

    def _adopt(self, model: Any, encoder: TableEncoder) -> None:
        self.model_, self.encoder_ = model, encoder
        self._data_fingerprint = getattr(model, "_data_fingerprint", None)
        self.n_features_in_ = encoder.n_features_in_
        vars(self).pop("feature_names_in_", None)
        if hasattr(encoder, "feature_names_in_"):
            self.feature_names_in_ = encoder.feature_names_in_

    @verb(needs=_the_model("transform"))
    def transform(self, X: Any) -> Any:
        """Scores of the rows, (n, q)."""
        check_is_fitted(self, "model_")
        Z = np.asarray(self.model_.transform(self._seen(X)))
        named = hasattr(self, "get_feature_names_out")
        return as_asked(self, Z, X, self.get_feature_names_out() if named else ())

    @verb(needs=_the_model("transform"))
    def set_output(self, *, transform: str | None = None) -> Self:
        """Scores as a frame with the index of the table.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None
            None changes nothing.
        """
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    reconstruction_error = _forwarded(KernelPCA, "reconstruction_error")
    score_samples = _forwarded(KernelNovelty, "score_samples")
    decision_function = _forwarded(KernelNovelty, "decision_function")
    predict = _forwarded(KernelNovelty, "predict")
    p_values = _forwarded(KernelNovelty, "p_values")
    score = _forwarded(KernelPCA, "score")
    sensitivity = _forwarded(KernelPCA, "sensitivity")
    uncertainty = _forwarded(KernelPCA, "uncertainty")
    transform_to = _forwarded(KernelPCA, "transform_to")
    denoise = _forwarded(KernelPCA, "denoise")
    preimages = _forwarded(KernelPCA, "preimages")
    reconstruct = _forwarded(KernelPCA, "reconstruct")
    inverse_transform = _forwarded(KernelPCA, "inverse_transform")
    component_preimages = _forwarded(KernelPCA, "component_preimages")
    component_images = _forwarded(KernelPCA, "component_images")
    imputations = _forwarded(KernelPCA, "imputations")
    imputation_draws = _forwarded(KernelPCA, "imputation_draws")
    sample = _forwarded(GenerativeKernelPCA, "sample")
    generate = _forwarded(GenerativeKernelPCA, "generate")
    sample_hidden = _forwarded(GenerativeKernelPCA, "sample_hidden")
    hidden_units = _forwarded(GenerativeKernelPCA, "hidden_units")
    similarities = _forwarded(GenerativeKernelPCA, "similarities")
    span_error = _forwarded(SparseKernelPCA, "span_error")
    interpolate = _forwarded(GenerativeKernelPCA, "interpolate")
    traverse = _forwarded(GenerativeKernelPCA, "traverse")
    get_feature_names_out = _forwarded(KernelPCA, "get_feature_names_out")

    @verb(needs=_the_model("impute"))
    def impute(self, X: Any) -> Any:
        """Missing values filled in, numbers and categories; the others are not touched."""
        rows = self.vectors(X, missing=True)
        filled = rows if not np.isnan(rows).any() else self.model_.impute(rows)
        return self._back(X, filled, only_missing=True)

    @verb(needs=_the_model("contributions"))
    def contributions(self, X: Any) -> Any:
        """Each column's part in the novelty of each row, as a table."""
        parts = self.model_.contributions(self.vectors(X))
        groups = np.array(self.encoder_.groups_)
        used = [name for name, column in self.encoder_.columns_.items() if column.width]
        sums = {name: parts[:, groups == name].sum(axis=1) for name in used}
        frame = self.encoder_.take(X)
        return Frame({}, frame.container, index=frame.index).make(sums)

    @verb(needs=_the_model("relevance"))
    def relevance(self, X: Any = None, **options: Any) -> Any:
        """How much each column matters in each component; entries of a category are added up.

        Parameters
        ----------
        X : table, optional
        **options
            As for ``relevance`` of the model.
        """
        check_is_fitted(self, "model_")
        rows = None if X is None else self._vectors(X, self.encoder_)
        return self.model_.relevance(rows, groups=self.encoder_.groups_, **options)

    @verb(needs=_the_model("to_html"))
    def to_html(self, path: str | os.PathLike[str], X: Any = None, labels: Any = None) -> Path:
        """The model as a page that shows the columns of the table, see ``to_html`` of the model."""
        check_is_fitted(self, "model_")
        # A layer above this one, found by name when it is needed.
        written: Path = import_module("mercer.live").write_html(self, path, X, labels)
        return written

    def _asked(self) -> Any:
        if self.model is not None and not hasattr(self.model, "fit"):
            raise TypeError(
                f"model={self.model!r} is no estimator; give one, for example KernelPCA(10)."
            )
        return KernelPCA() if self.model is None else self.model

    def _inner(self) -> Any:
        """The model that has or lacks a method: the fitted one, if there is one."""
        return self.model_ if "model_" in vars(self) else self._asked()

    def _fit_encoder(self, X: Any) -> tuple[Array, TableEncoder]:
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        encoder.fit(X)
        missing = get_tags(self._asked()).input_tags.allow_nan
        return self._vectors(X, encoder, missing=missing), encoder

    def _encoded(
        self, declared: Verb, args: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
        """The table among the arguments, and these with vectors in its place."""
        if declared.takes == "row":
            singles = {"x", "x0", "x1"} & set(options)
            count = 2 if declared.name == "x0" else 1
            options = options | {name: self._seen(options[name]) for name in singles}
            return None, (*map(self._seen, args[:count]), *args[count:]), options
        place, name = declared.place, declared.name
        X = args[place] if place < len(args) else options.get(name)
        if X is None or declared.takes not in ("rows", "blocks", "source", "missing"):
            return None, args, options
        rows = self._seen(X, missing=declared.takes == "missing")
        if place < len(args):
            return X, (*args[:place], rows, *args[place + 1 :]), options
        return X, args, options | {name: rows}

    def _decoded(self, declared: Verb, answer: Any, X: Any) -> Any:
        """Vectors as a table: like X if there is one, else of the kind that ``fit`` was given."""
        gives, missing = declared.gives, declared.takes == "missing"
        if gives == "points":
            return replace(answer, points=self._back(X, answer.points, only_missing=missing))
        if gives == "tables":
            return [self._decoded(replace(declared, gives="rows"), part, X) for part in answer]
        if gives != "rows":
            return answer
        if X is None:
            return self.encoder_.inverse_transform(answer)
        return self._back(X, answer, only_missing=missing)

    def _seen(self, X: Any, *, missing: bool = False) -> Array:
        """The rows as the model sees them; NaN is let through if the model or the verb takes it."""
        missing = missing or get_tags(self.model_).input_tags.allow_nan
        return self._vectors(X, self.encoder_, missing=missing)

    @verb()
    def vectors(self, X: Any, *, missing: bool = False) -> Array:
        """The rows as the model sees them; NaN is let through if ``missing``."""
        check_is_fitted(self, "model_")
        return self._vectors(X, self.encoder_, missing=missing)

    @staticmethod
    def _vectors(X: Any, encoder: TableEncoder, *, missing: bool = False) -> Array:
        blocks = encoder.blocks(encoder.take(X))
        where = {name: np.isnan(block).any(axis=1) for name, block in blocks.items()}
        where = {name: rows for name, rows in where.items() if rows.any()}
        if where and not missing:
            (name, rows), *others = where.items()
            more = f" (and others of {names_text([n for n, _ in others])})" if others else ""
            raise DataError(
                f"Input X contains NaN: {rows.sum()} values of column {name!r} are missing, the "
                f"first in row {rows.argmax()}{more}. "
                + Remedy(
                    "Fill them with impute, fit TableModel(MissingKernelPCA(...)), or",
                    shell="Fit with 'mercer fit DATA --model missing', fill them in by a model of "
                    "other rows ('mercer impute MODEL DATA'), or",
                    page="Choose the estimator 'With missing values', or",
                )
                + " remove such rows."
            )
        return np.hstack(list(blocks.values()))

    def _back(self, X: Any, rows: Any, *, only_missing: bool = False) -> Any:
        """A table like X with these vectors decoded; what the model does not see stays."""
        frame = self.encoder_.take(X)
        columns: dict[str, Array] = dict(frame.columns)
        for name, values in self.encoder_.decode(rows).items():
            if isinstance(self.encoder_.columns_[name], LeftOut):
                continue
            columns[name] = _filled(frame, name, values) if only_missing else values
        return frame.make(columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._asked())
        tags.estimator_type, tags.transformer_tags = inner.estimator_type, inner.transformer_tags
        if tags.transformer_tags is not None:  # numbers of a table are encoded in float64
            tags.transformer_tags.preserves_dtype = ["float64"]
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def _filled(frame: Frame, name: str, values: Array) -> Array:
    """The column that was given, with other values where they are missing."""
    given = frame.columns[name]
    missing = absent(given)
    if not missing.any():
        return given
    if name in frame.exact:
        given, values = objects(as_list(frame.exact[name])), objects(map(int, np.rint(values)))
    found = given.astype(np.promote_types(given.dtype, values.dtype))
    found[missing] = values[missing]
    return found
