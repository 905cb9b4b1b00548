"""TableEncoder: a table as vectors for a kernel, and back to a legal table."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from mercer._base.numbers import check_choice, check_positive
from mercer._base.sklearn import TransformerMixin
from mercer._base.types import Array
from mercer.estimators.base import OF_COLUMNS, Estimator
from mercer.estimators.door import verb
from mercer.exceptions import DataError, Remedy
from mercer.io.files import check_columns, lacks_text, names_text
from mercer.tables import columns as column_kinds
from mercer.tables import graph
from mercer.tables.columns import Category, Column, LeftOut, Number, Used, WrongCellError, as_kind
from mercer.tables.deciding import KINDS, decide, have_one_unit, is_id
from mercer.tables.frames import Frame, is_absent, take_apart, unit_of

SCALES = ("auto", "robust", "std", "none")


class TableEncoder(TransformerMixin, Estimator):
    r"""Turn a table of numbers, categories and dates into vectors, and vectors into legal rows.

    What is done with each column is decided once, in ``fit``; :meth:`describe` shows it, and it
    can be set by name: ``TableEncoder(age="number", zip="category")``.

    - A number is scaled by its standard deviation. Long tails are scaled by their quartiles and
      go through asinh, a logarithm with a sign. Whole numbers come back whole, and no number
      leaves the bounds that the data show: from 0, 0 to 1, 0 to 100 %. In a column of few values,
      the nearest of them comes back.
    - A category (text, boolean) becomes a one-hot block, so that a Gaussian on the vectors is the
      product of a Gaussian of the numbers and :math:`e^{-\gamma_c [x \ne y]}` for each category.
      The largest entry decides on the way back, so only values seen in ``fit`` come back. Of more
      than 100 values, the rarest share one slot.
    - A date counts days (or seconds, ...) since the first one, and comes back as a date. With
      ``"date:month"``, ``"date:weekday"``, ``"date:hour"``, or some of them as
      ``"date:month+hour"``, these are angles beside it: December lies next to January.
    - Columns that are constant, id-like, or free text are left out; so are whole numbers beyond
      2⁵³, which float64 cannot hold.
    - A missing value is NaN in the vectors, and missing again on the way back.

    A category that ``fit`` has not seen becomes zeros, as far from one known category as from
    another, with a warning.

    Parameters
    ----------
    kinds : dict, optional
        Name of a column → ``"number"``, ``"category"``, ``"date"`` (``"date:month"``, see above),
        ``"raw"`` (a number as it is), ``"drop"``, or ``"index"`` for names of the rows, which are
        left out as well.
    weights : dict, optional
        Name of a column → its weight; a standardised number has weight 1.
    scale : {"auto", "robust", "std", "none"}, default="auto"
        How numbers are scaled. ``"auto"`` leaves them unscaled if all columns seem to share a unit,
        as pixels and spectra do: numbers only, and largest values within a factor of ten.
    **columns : str
        More ``kinds``, for columns whose names are words.

    Attributes
    ----------
    columns_ : dict
        Name → what is done: a ``Number``, ``Category``, ``Date`` or ``LeftOut``.
    scale_ : str
        What ``"auto"`` decided.
    n_features_in_ : int
    feature_names_in_ : (d,) array

    Notes
    -----
    ``inverse_transform`` is meant for vectors that a model has made, and so respects bounds and
    levels; a row beyond the values that ``fit`` saw is encoded as it is, but returns inside.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.tables import TableEncoder
    >>> table = pd.DataFrame({"age": [31, 52, 24, 47], "city": ["Oslo", "Rome", "Oslo", "Bonn"]})
    >>> encoder = TableEncoder(scale="std").fit(table)
    >>> print("\n".join(encoder.describe()))
    age: number, (x - 38.5) / 11.41, whole, from 0
    city: category of 3 (Oslo, Bonn, Rome)
    >>> encoder.transform(table).shape
    (4, 4)
    >>> encoder.inverse_transform(encoder.transform(table)).equals(table)
    True
    """

    _foreign: ClassVar[Mapping[str, str]] = {}
    _elsewhere: ClassVar[Mapping[str, str]] = {}
    _saved: ClassVar[tuple[str, ...]] = ("columns_", "scale_", "container_", "dtypes_", *OF_COLUMNS)

    def __init__(
        self,
        kinds: Mapping[str, str] | None = None,
        *,
        weights: Mapping[str, float] | None = None,
        scale: str = "auto",
        **columns: str,
    ) -> None:
        # Without keywords the dict stays the same object, as clone requires.
        more = columns and isinstance(kinds or {}, Mapping)
        self.kinds = {**(kinds or {}), **columns} if more else kinds
        self.weights = weights
        self.scale = scale

    @verb()
    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Decide what is done with each column.

        Parameters
        ----------
        X : data frame (pandas, polars, pyarrow), mapping of columns, or (n, d) array
        y : ignored
        """
        frame = take_apart(X)
        kinds, weights = self._check(frame)

        def decided(name: str, scale: str) -> Column:
            return decide(frame, name, kinds.get(name), scale, weights.get(name, 1.0))

        # Texts and dates first: whether numbers are scaled depends on which of them are used.
        others = [name for name, values in frame.columns.items() if values.dtype.kind != "f"]
        columns = {name: decided(name, "robust") for name in others}
        self.scale_ = self._decide_scale(frame, kinds, columns)
        self.columns_: dict[str, Column] = {
            name: columns.get(name) or decided(name, self.scale_) for name in frame.columns
        }
        self.dtypes_ = {name: str(dtype) for name, dtype in frame.dtypes.items()}
        used = self.used_.values()
        if used and all(isinstance(column, Number) and len(column.levels) == 1 for column in used):
            raise DataError("the rows have no variance: all are alike; give rows that differ.")
        if not used:
            how = Remedy("TableEncoder(name='category').", shell="--category NAME, or --number.")
            left_out = "; ".join(self.describe()[:5])
            raise DataError(f"no column is left ({left_out}); say what they are: " + how)
        self.n_features_in_ = len(self.columns_)
        vars(self).pop("feature_names_in_", None)
        if frame.container != "array":
            self.feature_names_in_ = np.array(list(self.columns_), dtype=object)
        self.container_ = frame.container
        self._cached("dtypes", self.dtypes_, None, lambda: dict(frame.dtypes))
        return self

    @verb("model")
    def transform(self, X: Any) -> Array:
        """Turn rows into vectors, (n, D); NaN where a value is missing."""
        return np.hstack([*self.blocks(self.take(X)).values()])

    @verb("model")
    def inverse_transform(self, Z: Any) -> Any:
        """Turn vectors into a table of the kind given to ``fit``; every value is a legal one.

        Parameters
        ----------
        Z : (n, D) array

        Returns
        -------
        table
            Left-out columns are included, with their constant or without values.
        """
        # Types are objects of a library or, from a file, their names.
        dtypes = self._cached("dtypes", self.dtypes_, None, lambda: self.dtypes_)
        return Frame({}, self.container_, dtypes).make(self.decode(Z))

    @verb()
    def keep_all_digits(self) -> None:
        """Return numbers with all computed digits, not with as many as in the fit."""
        self.columns_ = {
            name: replace(column, digits=None) if isinstance(column, Number) else column
            for name, column in self.columns_.items()
        }

    @verb()
    def describe(self, most: int | None = None) -> list[str]:
        """A line for each column on what is done with it; for each kind, if more than ``most``."""
        lines = [
            f"{name}: {column.describe()}{unit and f', in {unit}'}"
            for name, column in self.columns_.items()
            for unit in [unit_of(self.dtypes_.get(name, ""))]
        ]
        if most is None or len(lines) <= most:
            return lines
        kinds: dict[str, list[str]] = {}
        for name, column in self.used_.items():
            kind = re.split(",| of ", column.describe())[0]
            kinds.setdefault("number, scaled" if kind == "number" else kind, []).append(name)
        few = [f"{len(names)} × {kind}: {names_text(names)}" for kind, names in kinds.items()]
        return few + [f"{name}: left out: {why}" for name, why in self.left_out_.items()]

    @property
    def groups_(self) -> list[str]:
        """The column that each entry of a vector comes from."""
        return [name for name, column in self.columns_.items() for _ in range(column.width)]

    @property
    def is_identity_(self) -> bool:
        """Whether all columns in use are numbers that are left as they are."""
        return all(isinstance(column, Number) and column.is_raw for column in self.used_.values())

    @property
    def used_(self) -> dict[str, Used]:
        """The columns that the kernel sees."""
        return {n: column for n, column in self.columns_.items() if not isinstance(column, LeftOut)}

    @property
    def is_numeric_(self) -> bool:
        """Whether all columns are numbers."""
        return all(isinstance(column, Number) for column in self.columns_.values())

    @property
    def left_out_(self) -> dict[str, str]:
        """The columns that are left out, and why."""
        columns = self.columns_.items()
        return {name: column.reason for name, column in columns if isinstance(column, LeftOut)}

    @verb("model")
    def get_feature_names_out(self, input_features: Any = None) -> Array:  # noqa: ARG002
        """``age``, ``city=Oslo``, ...: a name for each entry of a vector."""
        ends = [end for column in self.columns_.values() for end in column.ends]
        return np.array([*map("".join, zip(self.groups_, ends, strict=True))], dtype=object)

    @verb("model")
    def codes(self, X: Any) -> Array:
        """The rows as an ONNX graph takes them, see :func:`mercer.export_onnx`."""
        frame = self.take(X)
        codes = [column.codes(frame.columns[name]) for name, column in self.used_.items()]
        return np.column_stack(codes)

    @verb()
    def traced(self, X: Any, xp: Any) -> tuple[Any, str]:
        """What a graph computes from such rows, and a description of their columns as JSON."""
        inputs = json.dumps(graph.inputs_of(self.used_), default=str)
        return graph.vectors_in(self.used_, X, xp), inputs

    @verb()
    def take(self, X: Any) -> Frame:
        """The columns of a table by name, in any order; those of an array by position."""
        frame = take_apart(X)
        if frame.container == "array":
            if len(frame.columns) != self.n_features_in_:
                has = f"X has {len(frame.columns)} features, but {type(self).__name__} is expecting"
                raise DataError(f"{has} {self.n_features_in_} features as input; give those.")
            return Frame(dict(zip(self.columns_, frame.columns.values(), strict=True)), "array")
        if lost := [name for name in self.used_ if name not in frame.columns]:
            others = [name for name in frame.columns if name not in self.columns_]
            raise DataError(lacks_text("the table", lost, self.n_features_in_, others))
        return frame

    @verb()
    def blocks(self, frame: Frame) -> dict[str, Array]:
        """The vectors column by column; unseen categories are named in a warning."""
        blocks = {}
        for name, column in self.columns_.items():
            if isinstance(column, LeftOut):
                _warn_of_another(name, column.constant, frame.columns.get(name, np.empty(0)))
                continue
            values = frame.columns[name]
            if isinstance(column, Category) and (unseen := column.unseen(values)):
                count = "1 category" if len(unseen) == 1 else f"{len(unseen)} categories"
                new = f" has {count} that fit has not seen: {names_text([*map(str, unseen)])}"
                column_kinds.warn_of(name, f"{new}; they count as unknown until you fit again.")
            try:
                blocks[name] = column.encode(values)
            except DataError as error:
                what = error.at(frame.place) if isinstance(error, WrongCellError) else error
                raise DataError(f"column {name!r} {what}; fix it.") from error
            column_kinds.warn_of_far_rows(name, column, values, blocks[name])
        return blocks

    @verb()
    def decode(self, Z: Any) -> dict[str, Array]:
        """Vectors as columns of plain kinds."""
        Z = np.asarray(Z, dtype=np.float64)
        ends = np.cumsum([column.width for column in self.columns_.values()])
        if Z.ndim != 2 or Z.shape[1] != ends[-1]:
            shape = f"vectors of shape {Z.shape} do not have {ends[-1]} entries"
            raise DataError(f"{shape}; give vectors that do.")
        blocks = zip(self.columns_.items(), np.split(Z, ends[:-1], axis=1), strict=True)
        return {name: column.decode(block) for (name, column), block in blocks}

    def _check(self, frame: Frame) -> tuple[Mapping[str, str], Mapping[str, float]]:
        kinds, weights = self.kinds or {}, self.weights or {}
        if len(frame) < 2:
            count = "1 row (1 sample)" if len(frame) else "no rows (0 samples)"
            raise DataError(f"the table has {count}; give at least 2.")
        check_columns((*kinds, *weights), [*frame.columns])
        for name, kind in kinds.items():
            if not isinstance(kind, str) or column_kinds.parse_cycles(kind) is None:
                check_choice(f"the kind of {name!r}", kind, (*KINDS, "date:month+weekday+hour"))
        check_choice("scale", self.scale, SCALES)
        for name, weight in weights.items():
            check_positive(f"the weight of {name!r}", weight)
        return kinds, weights

    def _decide_scale(
        self, frame: Frame, kinds: Mapping[str, str], others: Mapping[str, Column]
    ) -> str:
        """Decide by the rule for units, in which columns that are left out have no say."""
        if self.scale != "auto":
            return self.scale
        numbers = {
            name: values
            for name, values in frame.columns.items()
            if values.dtype.kind == "f"
            and name not in frame.exact
            and kinds.get(name) not in ("drop", "index")
            and np.isfinite(values).any()
            and not (name not in kinds and is_id(name, values[~np.isnan(values)]))
        }
        mixed = any(column.width for column in others.values())
        mixed |= any(kinds.get(name) not in (None, "number", "raw") for name in numbers)
        mixed |= len({unit_of(frame.dtypes.get(name, "")) for name in numbers}) > 1
        return "none" if not mixed and have_one_unit(numbers) else "robust"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        takes = tags.input_tags
        takes.allow_nan = takes.categorical = takes.string = True
        return tags


def _warn_of_another(name: str, constant: Any, values: Array) -> None:
    """Warn if new rows differ in a column that was left out because it was constant."""
    if constant is None:
        return
    if other := [v for v in values.tolist() if v != constant and not is_absent(v)]:
        kind = "number" if isinstance(constant, float) else "category"
        what = f" had one value in fit ({constant!r}) and is left out; {len(other)} of "
        what += f"{len(values)} rows have another, which the model does not see. To see it, "
        column_kinds.warn_of(name, what + "fit with " + as_kind(name, kind) + ".")
