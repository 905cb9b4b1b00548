"""The live model: kernel PCA in a web page that computes in the reader's browser.

``describe`` turns a fitted model into facts and arrays, ``write_html`` into one file that needs no
network and no Python, ``show`` into a widget of a notebook, for which ``mercer.live(model, X)`` is
short. The mathematics of the page is in ``static/*.js``, with the same letters as here.
"""

import sys
from types import ModuleType
from typing import Any

from mercer._base.types import Estimator, RowsLike, Targets
from mercer.live.model import LiveModel, describe
from mercer.live.page import bundle, pack, render, source, write_html

__all__ = ["LiveModel", "bundle", "describe", "pack", "render", "show", "source", "write_html"]


def show(
    model: Estimator, X: RowsLike = None, labels: Targets = None, images: Any = None, **options: Any
) -> Any:
    """An interactive notebook widget of a fitted model; needs anywidget.

    Parameters
    ----------
    model : fitted estimator with a Subspace
    X, labels, images, **options
        See :func:`mercer.live.describe`.

    Returns
    -------
    LiveWidget
        What is selected in its map is in ``selection``, as row numbers from 0.
    """
    from mercer._base.optional import require

    require("anywidget", "notebook")
    from mercer.live.widget import LiveWidget

    return LiveWidget(model, X, labels=labels, images=images, **options)


class _Callable(ModuleType):
    """The package itself, so that ``mercer.live(model, X)`` shows a model."""

    __call__ = staticmethod(show)


sys.modules[__name__].__class__ = _Callable
