"""TableModel: any estimator of mercer with tables as input and output."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from mercer import estimators
from mercer._base.config import with_parameters
from mercer._base.types import Array
from mercer.estimators.base import OF_COLUMNS, Estimator
from mercer.estimators.door import Verb, as_asked, verb
from mercer.estimators.subspace import to_html
from mercer.model.rank import usual_rule
from mercer.points.source import check_no_empty_row
from mercer.tables.encoder import TableEncoder
from mercer.tables.frames import Frame, absent, as_list, as_one_row, objects, take_apart
from mercer.tables.missing import completed, takes_missing
from mercer.tables.opening import Opened, Opening


def _the_model(name: str) -> Callable[[Any, str], str | None]:
    """What a verb needs: that the wrapped model has the method, or says why it has not."""

    def lack(table: TableModel, instead: str) -> str | None:  # noqa: ARG001
        try:
            getattr(table._inner(name), name)
        except AttributeError as error:
            return str(error)
        return None

    return lack


def _forwarded(owner: type, name: str) -> Any:
    """A method of the wrapped model: its rows are encoded, and its result is decoded."""

    @functools.wraps(getattr(owner, name))  # for its signature
    def method(self: TableModel, *args: Any, **options: Any) -> Any:
        inner = getattr(self._inner(name), name)
        call = inspect.signature(inner).bind_partial(*args, **options)
        # A method of another library takes rows first, and its result is left as it is.
        others = Verb("rows", None, next(iter(call.signature.parameters), ""))
        declared: Verb = getattr(inner, "verb", others)
        X = self._encode(declared, call.arguments)
        return self._decoded(declared, inner(*call.args, **call.kwargs), X)

    method.__doc__ = f"As :meth:`mercer.{owner.__name__}.{name}`, of tables and in tables."
    return verb("model", needs=_the_model(name))(method)


@dataclass(frozen=True)
class _Forwarded:
    """Methods of an estimator: a name of a class that this is assigned to becomes that method."""

    owner: str

    def __set_name__(self, table: type, name: str) -> None:
        setattr(table, name, _forwarded(getattr(estimators, self.owner), name))


#: Declared as what it becomes, for type checkers.
_of: Any = _Forwarded

#: Kinds of input for which a table is turned into vectors.
_TAKE_ROWS = ("rows", "blocks", "source", "missing", "row")
#: Verbs that belong to the model which fills in missing values.
_FILLS = ("impute", "imputations", "imputation_draws")


@with_parameters
class TableModel(Estimator):
    """Use any estimator of mercer on tables: data frames in, data frames out.

    A :class:`TableEncoder` turns rows into vectors for the model, and the model's results into
    rows with legal values, in the types, order and index of the table. Missing values are
    filled in before the model sees the rows. All methods of the model are available.

    Parameters
    ----------
    model : estimator, optional
        By default the same as in ``mercer fit``: kernel PCA of 95 % of the variance, in at most 64
        components.
    encoder : TableEncoder, optional
        What is done with the columns; decided from the data if not given.
    missing : {"auto", "fill", "drop", "refuse"}, default="auto"
        What to do with missing values: ``"fill"`` learns from rows in which they are drawn, given
        the other values of the row; ``"drop"`` learns from the complete rows only. ``"auto"``
        fills, and drops rows in which every value is missing. Later rows are filled in by expected
        values, unless missing values are refused. A :class:`~mercer.MissingKernelPCA` fills in
        what it learns from by itself.

    Attributes
    ----------
    encoder_ : TableEncoder
        Fitted; ``encoder_.describe()`` says what is done.
    model_ : estimator
        Fitted to the vectors.
    filler_ : MissingKernelPCA or None
        What fills in missing values; None where nothing was missing in ``fit``.
    note_ : str
        What was done about missing values; empty where nothing was missing in ``fit``.
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

    _foreign: ClassVar[Mapping[str, str]] = {
        name: f"write TableModel(KernelPCA({name}=...))."
        for name in ("n_components", "kernel", "solver", "preimage", "random_state")
    }
    _saved: ClassVar[tuple[str, ...]] = ("model_", "encoder_", "filler_", *OF_COLUMNS)

    model: Any = None
    encoder: TableEncoder | None = None
    _: KW_ONLY
    missing: str = "auto"

    @verb("data", "self")
    def fit(self, X: Any, y: Any = None, **options: Any) -> Self:
        """Decide on the columns, and fit the model to the vectors.

        Parameters
        ----------
        X : data frame (pandas, polars, pyarrow), mapping of columns, (n, d) array, or path of a
            file, which is read as ``mercer fit`` reads it
        y : what the model's ``fit`` takes
        **options
            Further arguments of that ``fit``, such as ``sample_weight``; all rows count equally in
            the scaling of columns.
        """
        opened = self._open(X)
        y, options = opened.part(y), {k: opened.part(v) for k, v in options.items()}
        fitted = opened.signed(clone(self._asked()).fit(opened.rows, y, **options))
        self._adopt(fitted, opened.encoder, opened.filler, opened.note)
        return self

    @verb("data", "self", needs=_the_model("partial_fit"))
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a chunk of rows; the first chunk decides on the columns."""
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
        opened = self._open(X)
        tuned = opened.signed(clone(self._asked()).tune(opened.table.rows[:], **options))
        self.model = clone(tuned)
        self._adopt(tuned, opened.encoder, opened.filler, opened.note)
        self.risk_ = vars(tuned).get("risk_")
        return self

    @verb("data", needs=_the_model("plan"))
    def plan(self, X: Any) -> Any:
        """What :meth:`fit` would do with this table, as ``plan`` of the model."""
        return self._asked().plan(self._open(X).rows)

    @verb("data", "scores", needs=_the_model("fit_transform"))
    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit, and return the scores of the same rows."""
        return self.fit(X, y).transform(X)

    @verb("data", "numbers", needs=_the_model("fit_predict"))
    def fit_predict(self, X: Any, y: Any = None) -> Array:
        """Fit, and return 1 for the normal rows among them and -1 for outliers."""
        return np.asarray(self.fit(X, y).predict(X))

    @classmethod
    def from_fitted(cls, model: Any, encoder: TableEncoder, filler: Any = None) -> Self:
        """A model that was fitted to vectors of a fitted encoder, on tables.

        ``filler`` is the model that filled in the missing values of these vectors, if any.
        """
        made = cls(clone(model), clone(encoder))
        made._adopt(model, encoder, filler)
        return made

    def _adopt(self, model: Any, encoder: Any, filler: Any, note: str = "") -> None:
        self.model_, self.encoder_, self.filler_, self.note_ = model, encoder, filler, note
        self._data_fingerprint = getattr(model, "_data_fingerprint", None)
        self.n_features_in_ = encoder.n_features_in_
        vars(self).pop("feature_names_in_", None)
        if "feature_names_in_" in vars(encoder):
            self.feature_names_in_ = encoder.feature_names_in_

    @verb("model", needs=_the_model("transform"))
    def transform(self, X: Any) -> Any:
        """Scores of the rows, (n, q)."""
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

    # Each name is a method of its own, see _Forwarded.
    score = reconstruction_error = sensitivity = uncertainty = transform_to = _of("KernelPCA")
    denoise = preimages = reconstruct = inverse_transform = _of("KernelPCA")
    component_preimages = component_images = get_feature_names_out = _of("KernelPCA")
    imputations = imputation_draws = _of("KernelPCA")
    score_samples = decision_function = predict = p_values = _of("KernelNovelty")
    sample = generate = sample_hidden = hidden_units = similarities = _of("GenerativeKernelPCA")
    interpolate = traverse = _of("GenerativeKernelPCA")
    span_error = _of("SparseKernelPCA")
    row_radius = place_radius = place_p_values = trust = strip = calibrate = _of("MapModel")
    test = _of("KernelDrift")

    # Its page shows the columns of the table.
    to_html = verb("model", needs=_the_model("to_html"))(to_html)

    @verb(needs=_the_model("impute"))
    def impute(self, X: Any) -> Any:
        """Fill in missing values, numbers and categories; all others stay unchanged."""
        rows = self.vectors(X, missing=True)
        check_no_empty_row(rows, self.encoder_.take(X).place)
        filled = rows if not np.isnan(rows).any() else self._inner("impute").impute(rows)
        return self._back(X, filled, only_missing=True)

    @verb(needs=_the_model("contributions"))
    def contributions(self, X: Any) -> Any:
        """Each column's part in the novelty of each row, or in the drift of all, as a table."""
        parts = np.atleast_2d(self.model_.contributions(self.vectors(X)))
        groups = np.array(self.encoder_.groups_)
        sums = {name: parts[:, groups == name].sum(axis=1) for name in self.encoder_.used_}
        frame = self.encoder_.take(X)
        return Frame({}, frame.container, index=frame.index).make(sums)

    @verb("model", needs=_the_model("test_many"))
    def test_many(self, batches: Iterable[Any]) -> Any:
        """Compare several batches, with p-values that are adjusted for their number."""
        return self.model_.test_many(self.vectors(batch) for batch in batches)

    @verb("model", needs=_the_model("monitor"))
    def monitor(self, X: Any = None, **options: Any) -> Any:
        """Watch a stream; the monitor takes its rows as vectors, ``update(model.vectors(X))``.

        Parameters
        ----------
        X : table, optional
            Normal rows that the model has not seen.
        **options
            As for ``monitor`` of the model.
        """
        return self.model_.monitor(None if X is None else self.vectors(X), **options)

    @verb("model", needs=_the_model("relevance"))
    def relevance(self, X: Any = None, **options: Any) -> Any:
        """How much each column matters in each component; entries of a category are added up.

        Parameters
        ----------
        X : table, optional
        **options
            As for ``relevance`` of the model.
        """
        rows = None if X is None else self.vectors(X)
        return self.model_.relevance(rows, groups=self.encoder_.groups_, **options)

    def _asked(self) -> Any:
        if isinstance(self.model, type):
            name = self.model.__name__
            raise TypeError(f"model={name} is a class; give {name}(), an object.")
        if self.model is not None and not hasattr(self.model, "fit"):
            raise TypeError(f"model={self.model!r} is not an estimator; give one: KernelPCA(10).")
        if self.model is None:
            return estimators.KernelPCA(usual_rule(), random_state=0)
        return self.model

    def _inner(self, name: str = "") -> Any:
        """The model that has or lacks a method: the fitted one, if there is one."""
        if name in _FILLS and vars(self).get("filler_") is not None:  # older files have none
            return self.filler_
        return self.model_ if "model_" in vars(self) else self._asked()

    def _open(self, X: Any) -> Opened:
        """The rows as the model is going to see them, and what prepares them."""
        if not isinstance(self.encoder, TableEncoder | None):
            wrong = f"encoder={self.encoder!r} is not a TableEncoder; other steps go into the model"
            raise TypeError(f"{wrong}: TableModel(make_pipeline(..., KernelPCA())).")
        how = Opening(self.encoder, None, self.missing, self._asked(), as_table=True)
        return how.of_file(X) if isinstance(X, str | os.PathLike) else how.of_frame(take_apart(X))

    def _encode(self, declared: Verb, arguments: dict[str, Any]) -> Any:
        """Replace tables among the arguments by vectors; returns the table that was there."""
        names = {"row": ("x", "x0", "x1")}.get(declared.takes or "", (declared.name,))
        table = None
        for name in names if declared.takes in _TAKE_ROWS else ():
            if (table := arguments.get(name)) is not None:
                table = as_one_row(table) if declared.takes == "row" else table
                arguments[name] = self._seen(table, missing=declared.takes == "missing")
        return None if declared.takes == "row" else table

    def _decoded(self, declared: Verb, answer: Any, X: Any) -> Any:
        """Vectors as a table: like X if there is one, otherwise of the kind given to ``fit``."""
        gives, missing = declared.gives, declared.takes == "missing"
        if gives == "points":
            return replace(answer, points=self._back(X, answer.points, only_missing=missing))
        if gives == "tables":
            return [self._decoded(replace(declared, gives="rows"), part, X) for part in answer]
        if gives != "rows":
            return self if gives == "self" else answer
        if X is None:
            return self.encoder_.inverse_transform(answer)
        return self._back(X, answer, only_missing=missing)

    def _seen(self, X: Any, *, missing: bool = False) -> Array:
        """The rows as the model sees them; NaN is let through if the model or the verb takes it."""
        return self.vectors(X, missing=missing or takes_missing(self.model_))

    @verb("model")
    def vectors(self, X: Any, *, missing: bool = False) -> Array:
        """The rows as the model sees them, filled in; NaN is let through if ``missing``."""
        rows = self.encoder_.transform(X)
        return rows if missing else completed(self, rows, self.encoder_.take(X).place)

    def _back(self, X: Any, rows: Any, *, only_missing: bool = False) -> Any:
        """A table like X with these vectors decoded; columns that the model ignores stay."""
        frame = self.encoder_.take(X)
        columns, decoded = dict(frame.columns), self.encoder_.decode(rows)
        for name in self.encoder_.used_:
            columns[name] = _filled(frame, name, decoded[name]) if only_missing else decoded[name]
        return frame.make(columns)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._asked())
        tags.estimator_type, tags.transformer_tags = inner.estimator_type, inner.transformer_tags
        if tags.transformer_tags is not None:  # numbers of a table are encoded in float64
            tags.transformer_tags.preserves_dtype = ["float64"]
        tags.input_tags.allow_nan = self.missing != "refuse" or inner.input_tags.allow_nan
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def _filled(frame: Frame, name: str, values: Array) -> Array:
    """The original column, with values filled in where they were missing."""
    original = frame.columns[name]
    missing = absent(original)
    if not missing.any():
        return original
    if name in frame.exact:
        original = objects(as_list(frame.exact[name]))
        values = objects(map(int, np.rint(values)))
    column = original.astype(np.promote_types(original.dtype, values.dtype))
    column[missing] = values[missing]
    return column
