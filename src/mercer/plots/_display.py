"""What all displays have in common."""

from __future__ import annotations

import numpy as np

from mercer._types import Axes, Figure


class Display:
    """A picture and the numbers in it: ``from_estimator`` computes both, ``plot`` draws again.

    What was drawn is kept under names that end in an underscore, as in scikit-learn.
    """

    #: The axes that were drawn into, or all of several panels.
    ax_: Axes = None
    axes_: Axes = None

    @property
    def figure_(self) -> Figure:
        """The figure that the axes are in; None before anything is drawn."""
        ax = self.ax_ if self.axes_ is None else np.ravel(self.axes_)[0]
        return None if ax is None else ax.figure
