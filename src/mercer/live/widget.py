"""The live model in a notebook: Jupyter, VS Code, Colab, marimo; the only module for anywidget."""

from html import escape
from typing import Any

import anywidget
import traitlets

from mercer._base.types import Estimator, RowsLike
from mercer.live.model import describe
from mercer.live.page import bundle, pack, render_packed, source

#: Most bytes of numbers that are saved in a notebook.
LARGEST_SAVED = 8_000_000


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

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The widget, and the page as HTML for notebooks that are saved or exported.

        The page needs no Python, so it is alive where no kernel runs.
        """
        made = super()._repr_mimebundle_(**kwargs)
        return made and ({**made[0], "text/html": self._saved()}, made[1])

    def _saved(self) -> str:
        if len(self.numbers) > LARGEST_SAVED:
            return "<p>This model is too large for a saved notebook; write it by to_html.</p>"
        page = escape(render_packed(self.facts, self.numbers))
        look = "width: 100%; height: 720px; border: 0"
        return f'<iframe title="A live model" style="{look}" srcdoc="{page}"></iframe>'

    @traitlets.validate("selection")
    def _check(self, proposal: Any) -> list[int]:
        n = self.facts["n"]
        rows = [int(row) for row in proposal["value"]]
        if any(not 0 <= row < n for row in rows):
            raise traitlets.TraitError(f"selection holds rows from 0 to {n - 1}.")
        return rows
