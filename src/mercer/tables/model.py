"""TableModel: any of our estimators on tables, which it takes and gives."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer._linalg import Array
from mercer._sklearn import BaseEstimator
from mercer._spelling import SpellingMixin
from mercer.estimators import KernelPCA
from mercer.estimators._frames import as_asked
from mercer.estimators._saving import SaveMixin
from mercer.exceptions import DataError, Remedy
from mercer.rows.files import names_text
from mercer.tables.columns import LeftOut
from mercer.tables.encoder import TableEncoder
from mercer.tables.frames import Frame, absent, as_list, objects

__all__ = ["TableModel"]


Method = TypeVar("Method", bound=Callable[..., Any])


def _if_model_has(name: str) -> Callable[[Method], Method]:
    """A method is there if the wrapped estimator has it."""
    there: Callable[[Method], Method] = available_if(lambda self: hasattr(self._asked(), name))
    return there


class TableModel(SpellingMixin, SaveMixin, BaseEstimator):
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
    >>> holes = table.copy()
    >>> holes.loc[::10, "kind"] = None
    >>> bool((model.impute(holes)["kind"] == table["kind"]).mean() > 0.95)
    True
    """

    _saved: ClassVar[tuple[str, ...]] = (
        "model_",
        "encoder_",
        "n_features_in_",
        "feature_names_in_",
    )

    def __init__(self, model: Any = None, encoder: TableEncoder | None = None) -> None:
        self.model = model
        self.encoder = encoder

    def fit(self, X: Any, y: Any = None) -> Self:
        """Decide on the columns, and fit the model to the vectors.

        Parameters
        ----------
        X : data frame (pandas, polars, pyarrow), mapping of columns, or (n, d) array
        y : what the model's ``fit`` takes
        """
        encoder = TableEncoder() if self.encoder is None else clone(self.encoder)
        encoder.fit(X)
        rows = self._vectors(X, encoder, missing=get_tags(self._asked()).input_tags.allow_nan)
        self._adopt(clone(self._asked()).fit(rows, y), encoder)
        return self

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

    @_if_model_has("transform")
    def transform(self, X: Any) -> Any:
        """Scores of the rows, (n, q)."""
        Z = self._ask("transform", X)
        named = hasattr(self, "get_feature_names_out")
        return as_asked(self, np.asarray(Z), X, self.get_feature_names_out() if named else ())

    @_if_model_has("transform")
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

    @_if_model_has("fit_transform")
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and the scores of the same rows."""
        return self.fit(X, y).transform(X)

    @_if_model_has("reconstruction_error")
    def reconstruction_error(self, X: Any) -> Array:
        """Squared distance in feature space of each row from the subspace, (n,)."""
        return np.asarray(self._ask("reconstruction_error", X))

    @_if_model_has("score_samples")
    def score_samples(self, X: Any) -> Array:
        """As of the model: larger is more normal, (n,)."""
        return np.asarray(self._ask("score_samples", X))

    @_if_model_has("decision_function")
    def decision_function(self, X: Any) -> Array:
        """As of the model: negative for outliers, (n,)."""
        return np.asarray(self._ask("decision_function", X))

    @_if_model_has("predict")
    def predict(self, X: Any) -> Array:
        """As of the model, (n,)."""
        return np.asarray(self._ask("predict", X))

    @_if_model_has("p_values")
    def p_values(self, X: Any) -> Array:
        """As of the model, (n,)."""
        return np.asarray(self._ask("p_values", X))

    @_if_model_has("score")
    def score(self, X: Any, y: Any = None) -> float:
        """As of the model, measured between vectors."""
        check_is_fitted(self, "model_")
        return float(self.model_.score(self.vectors(X), y))

    @_if_model_has("contributions")
    def contributions(self, X: Any) -> Any:
        """Each column's part in the novelty of each row, as a table."""
        parts = self._ask("contributions", X)
        groups = np.array(self.encoder_.groups_)
        used = [name for name, column in self.encoder_.columns_.items() if column.width]
        sums = {name: parts[:, groups == name].sum(axis=1) for name in used}
        frame = self.encoder_.take(X)
        return Frame({}, frame.container, index=frame.index).make(sums)

    @_if_model_has("relevance")
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

    @_if_model_has("denoise")
    def denoise(self, X: Any, **options: Any) -> Any:
        """Rows without noise: a table like X. Missing values and left-out columns stay."""
        return self._back(X, self._ask("denoise", X, **options))

    @_if_model_has("reconstruct")
    def reconstruct(self, X: Any) -> Any:
        """What the scores keep of the rows: a table like X."""
        return self._back(X, self._ask("reconstruct", X))

    @_if_model_has("impute")
    def impute(self, X: Any) -> Any:
        """Missing values filled in, numbers and categories; the others are not touched."""
        rows = self.vectors(X, missing=True)
        filled = rows if not np.isnan(rows).any() else self.model_.impute(rows)
        return self._back(X, filled, only_missing=True)

    @_if_model_has("sample")
    def sample(self, n_samples: int = 1, **options: Any) -> Any:
        """New rows: a table of the kind that ``fit`` was given.

        Parameters
        ----------
        n_samples : int, default=1
        **options
            As for ``sample`` of the model.
        """
        check_is_fitted(self, "model_")
        return self.encoder_.inverse_transform(self.model_.sample(n_samples, **options))

    @_if_model_has("inverse_transform")
    def inverse_transform(self, Z: Any) -> Any:
        """Rows whose scores are near Z: a table of the kind that ``fit`` was given."""
        check_is_fitted(self, "model_")
        return self.encoder_.inverse_transform(self.model_.inverse_transform(Z))

    @_if_model_has("get_feature_names_out")
    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the scores."""
        return np.asarray(self.model_.get_feature_names_out(input_features))

    @_if_model_has("to_html")
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

    def _ask(self, method: str, X: Any, **options: Any) -> Any:
        check_is_fitted(self, "model_")
        missing = get_tags(self.model_).input_tags.allow_nan
        rows = self.vectors(X, missing=missing)
        return getattr(self.model_, method)(rows, **options)

    def vectors(self, X: Any, *, missing: bool = False) -> Array:
        """The rows as the model sees them; NaN is let through if ``missing``."""
        check_is_fitted(self, "model_")
        return self._vectors(X, self.encoder_, missing=missing)

    @staticmethod
    def _vectors(X: Any, encoder: TableEncoder, *, missing: bool = False) -> Array:
        blocks = encoder.blocks(encoder.take(X))
        absent = {name: np.isnan(block).any(axis=1) for name, block in blocks.items()}
        holes = {name: rows for name, rows in absent.items() if rows.any()}
        if holes and not missing:
            (name, rows), *others = holes.items()
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
