"""matplotlib, imported when a picture is drawn and not before."""

from __future__ import annotations

from typing import Any

__all__ = ["axes_or_new"]


def axes_or_new(ax: Any, **figure_arguments: Any) -> Any:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "drawing needs matplotlib; install it with: pip install 'mercer[plot]'"
        ) from error
    return plt.subplots(layout="constrained", **figure_arguments)[1]
