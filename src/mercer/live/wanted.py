"""What a page may ask for: read from JSON, each number within its limits."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from mercer._base.catalogue import MODELS, load
from mercer._base.types import Array
from mercer.estimators import KernelPCA
from mercer.exceptions import DataError, KernelError
from mercer.kernels import Kernel, Laplacian
from mercer.kernels.width import median_length
from mercer.live.kernels import KERNELS
from mercer.plots._base import nameless_rows

#: Components that a fit may have.
MOST_COMPONENTS = 1000
#: Numbers (rows times columns) that a fit may have.
MOST_NUMBERS = 50_000_000

_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class Wanted:
    """A model that the page wants: of which rows, and how."""

    data: str  #: the id of an upload, or of a model, whose support points are then the rows
    model: str = "kpca"  #: a name in :data:`~mercer._base.catalogue.MODELS`
    #: ``name``, and either the numbers of :data:`~mercer.live.kernels.KERNELS` or ``medians``, the
    #: width in median distances; with neither the width is the median.
    kernel: Mapping[str, Any] = field(default_factory=lambda: {"name": "gaussian"})
    components: int = 20
    center: bool = True
    #: A column that colours the map and is not learnt from; chosen if None.
    label: str | None = None

    @staticmethod
    def read(given: Any) -> Wanted:
        """Check what a page sent; :class:`~mercer.exceptions.DataError` says what is wrong.

        Examples
        --------
        >>> Wanted.read({"data": "0" * 32, "components": 10**6})
        Traceback (most recent call last):
        mercer.exceptions.DataError: components must be from 1 to 1,000, not 1000000.
        """
        if not isinstance(given, dict) or not {*given} <= {*Wanted.__dataclass_fields__}:
            raise DataError(f"a fit takes {', '.join(Wanted.__dataclass_fields__)}.")
        wanted = Wanted(**{"data": "", **given})
        if not is_id(wanted.data):
            raise DataError("data must be the id of an upload.")
        if wanted.model not in MODELS:
            raise DataError(f"model must be one of {', '.join(MODELS)}.")
        q = wanted.components
        if type(q) is not int or not 1 <= q <= MOST_COMPONENTS:
            text = f"components must be from 1 to {MOST_COMPONENTS:,}, not {str(q)[:40]}."
            raise DataError(text)
        if type(wanted.center) is not bool or not isinstance(wanted.label, str | None):
            raise DataError("center is true or false, label the name of a column.")
        _check_kernel(wanted.kernel)
        return wanted

    def make(self, rows: Array) -> Any:
        """The estimator, unfitted."""
        kind = load(MODELS[self.model])
        kernel = self.make_kernel(rows)
        if self.model in ("novelty", "generative", "sparse"):
            return kind(n_components=self.components, kernel=kernel, random_state=0)
        pca = KernelPCA(self.components, kernel=kernel, center=self.center, random_state=0)
        return pca if self.model == "kpca" else kind(pca, random_state=0)

    def make_kernel(self, rows: Array) -> Kernel:
        """The kernel; a width in medians needs the rows."""
        kind, names = KERNELS[self.kernel["name"]]
        given = {names[key]: value for key, value in self.kernel.items() if key in names}
        if float(given.get("degree", 0.5)).is_integer():  # 3.0; the kernel itself refuses 2.7
            given["degree"] = int(given["degree"])
        if "medians" in self.kernel and not given:
            with nameless_rows():
                length = float(self.kernel["medians"]) * median_length(rows)
            if "length" in names:
                given[names["length"]] = length
            elif kind is Laplacian:  # as wide as a Gaussian along a diagonal
                given["gamma"] = 1 / (length * math.sqrt(rows.shape[1]))
            elif "gamma" in names:
                given["gamma"] = 1 / length**2
        return kind(**given)


def read_message(text: str) -> dict[str, Any]:
    """One message of the page: an object with a number ``id``; no NaN, no infinity.

    Examples
    --------
    >>> read_message('{"id": 1e999}')
    Traceback (most recent call last):
    mercer.exceptions.DataError: a number is too large; give numbers below 1e300.
    """
    try:
        message = json.loads(text, parse_float=_finite, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError("the message is no JSON; reload the page.") from error
    if not isinstance(message, dict) or type(message.get("id")) is not int:
        raise DataError("a message is an object with a whole number as its id.")
    return message


def is_id(value: Any) -> bool:
    """Whether this can be the id of something in the store."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _check_kernel(spec: Any) -> None:
    name = spec.get("name") if isinstance(spec, dict) else None
    if not isinstance(name, str) or name not in KERNELS:
        raise KernelError(f"kernel must have a name: one of {', '.join(KERNELS)}.")
    for key, value in spec.items():
        if key == "name":
            continue
        if key != "medians" and key not in KERNELS[name][1]:
            raise KernelError(f"the {name} kernel has no {str(key)[:40]!r}.")
        if type(value) not in (int, float) or not abs(value) < 1e30:
            raise KernelError(f"{key} must be a number, not {str(value)[:40]}.")


def _finite(text: str) -> float:
    value = float(text)
    if not abs(value) < 1e300:
        raise DataError("a number is too large; give numbers below 1e300.")
    return value


def _no_number(text: str) -> NoReturn:
    raise DataError(f"{text} is no number; give finite ones.")
