"""``to_html`` for every estimator with a Subspace."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from mercer.estimators._threads import HeldMixin

__all__ = ["LiveMixin"]


class LiveMixin(HeldMixin):
    """A fitted model as a page."""

    def to_html(
        self, path: str | os.PathLike[str], X: Any = None, labels: Any = None, images: Any = None
    ) -> Path:
        """Write the model as one HTML file that is alive offline: drag a point, see its pre-image.

        Scores, errors and pre-images are computed in the browser. The file fetches nothing.

        Parameters
        ----------
        path : path
            By custom ``*.html``.
        X : (n, d) rows for the map, optional
            The model's support points if not given: of an exact model its training rows.
        labels : (n,) array, optional
            Classes or numbers by which the map is coloured.
        images : (height, width[, 3]), or an array (n, height, width[, 3]), optional
            The shape of the image that each row is; or one picture for each row.

        Returns
        -------
        Path

        See Also
        --------
        mercer.live.write_html : the same with more options.
        """
        # A layer above this one, found by name when it is needed.
        written: Path = import_module("mercer.live").write_html(self, path, X, labels, images)
        return written
