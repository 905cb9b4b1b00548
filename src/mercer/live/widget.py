"""The live model in a notebook: Jupyter, VS Code, Colab, marimo; the only module for anywidget."""

from typing import Any

import anywidget
import traitlets

from mercer._base.types import Estimator, RowsLike
from mercer.live.model import describe
from mercer.live.page import bundle, pack, source


class LiveWidget(anywidget.AnyWidget):
    """A model to touch, whose selection comes back to Python.

    Made by :func:`mercer.live.show`.

    Attributes
    ----------
    selection : list of int
        Rows that are selected in the map, from 0; set it to select rows from Python. ``observe``
        tells of changes.
    """

    _esm = f"{bundle('widget')}\nexport default $widget.widget;\n"
    _css = source("live.css")
    facts = traitlets.Dict().tag(sync=True)
    numbers = traitlets.Bytes().tag(sync=True)
    selection = traitlets.List(traitlets.Int()).tag(sync=True)

    def __init__(self, model: Estimator, X: RowsLike = None, **options: Any) -> None:
        facts, numbers = pack(describe(model, X, **options), level=3)
        super().__init__(facts=facts, numbers=numbers)

    @traitlets.validate("selection")
    def _check(self, proposal: Any) -> list[int]:
        n = self.facts["n"]
        rows = [int(row) for row in proposal["value"]]
        if any(not 0 <= row < n for row in rows):
            raise traitlets.TraitError(f"selection holds rows from 0 to {n - 1}.")
        return rows
