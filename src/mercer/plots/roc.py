"""How well a novelty score tells new rows from normal ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.metrics import auc, roc_curve

from mercer._base.types import Array, Axes, Estimator, RowsLike, Targets
from mercer.exceptions import DataError, Remedy
from mercer.plots._matplotlib import PALETTE, Display, axes_or_new, ink, tidy
from mercer.plots._models import A_DETECTOR, check_labels


@dataclass
class NoveltyRocDisplay(Display):
    """The receiver operating characteristic of a detector, and the point where it works.

    Attributes
    ----------
    false_alarms, detections : (t,) arrays
        Rates over all thresholds.
    area : float
        Under the curve: the chance that a new row scores above a normal one.
    working_point : pair of float, or None
        False-alarm and detection rate of ``predict``.
    name : str
    figure_, ax_, line_, point_
        What was drawn.
    """

    false_alarms: Array
    detections: Array
    area: float
    working_point: tuple[float, float] | None = None
    name: str = ""
    point_ = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: RowsLike = None,
        y: Targets = None,
        *,
        positive: object = None,
        name: str | None = None,
        ax: Axes = None,
    ) -> NoveltyRocDisplay:
        """Draw the curve of a detector on rows of which is known whether they are new.

        Parameters
        ----------
        estimator : KernelNovelty, fitted
            Or any detector with ``score_samples``, or a model with ``reconstruction_error``; draw
            several into the same axes to compare them.
        X : (n, d) rows
        y : (n,) array
            -1 for new and 1 for normal rows, as ``predict`` has it; or true and false (1 and 0),
            true for new; or classes, of which ``positive`` is new.
        positive : class, optional
        name : str, optional
            For the legend; the class of the estimator by default.
        ax : matplotlib axes, optional

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelNovelty
        >>> from mercer.plots import NoveltyRocDisplay
        >>> rng = np.random.default_rng(0)
        >>> normal, new = rng.standard_normal((200, 2)), rng.normal(4, 1, (50, 2))
        >>> model = KernelNovelty(5, random_state=0).fit(normal[:100])
        >>> X, y = np.vstack([normal[100:], new]), np.repeat([1, -1], [100, 50])
        >>> bool(NoveltyRocDisplay.from_estimator(model, X, y=y).area > 0.95)
        True
        """
        if X is None or y is None:
            raise DataError(
                "a ROC curve needs rows X and the truth y about them; "
                "give both, y -1 for new and 1 for normal rows."
            )
        novelty, called_new = _judge(estimator, X)
        is_new = _truth(y, len(novelty), positive)
        false_alarms, detections, _ = roc_curve(is_new, novelty, drop_intermediate=False)
        point = None
        if called_new is not None:
            point = float(called_new[~is_new].mean()), float(called_new[is_new].mean())
        label = type(estimator).__name__ if name is None else name
        area = float(auc(false_alarms, detections))
        return cls(false_alarms, detections, area, point, label).plot(ax=ax)

    def plot(self, *, ax: Axes = None) -> Self:
        """Draw, into ``ax`` or a new figure; another curve in the same axes gets another colour."""
        self.ax_ = ax = axes_or_new(ax, figsize=(4.4, 4.0))
        before = sum(line.get_gid() == "roc" for line in ax.lines)
        if not before:
            ax.plot([0, 1], [0, 1], ":", color=ink(), alpha=0.5, linewidth=1)
        label = f"{self.name}: area {self.area:.3f}"
        color = PALETTE[before % len(PALETTE)]
        (self.line_,) = ax.plot(
            self.false_alarms, self.detections, color=color, label=label, gid="roc"
        )
        if self.working_point is not None:
            alarms, found = self.working_point
            text = f"threshold: {found:.0%} found, {alarms:.1%} false alarms"
            style = {"color": color, "markeredgecolor": ink(), "markersize": 7}
            (self.point_,) = ax.plot([alarms], [found], "o", label=text, zorder=3, **style)
        ax.set(xlabel="false alarms", ylabel="new rows found", xlim=(-0.02, 1), ylim=(0, 1.02))
        ax.set_aspect("equal")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(lambda value, _: f"{value:.0%}")
        ax.legend(loc="lower right", frameon=False, fontsize="small")
        tidy(ax)
        return self


def _judge(estimator: Estimator, X: RowsLike) -> tuple[Array, Array | None]:
    """A score that is large for new rows, and which ones are called new, if that is decided."""
    if hasattr(estimator, "score_samples"):
        return -np.asarray(estimator.score_samples(X)), np.asarray(estimator.predict(X)) == -1
    if hasattr(estimator, "reconstruction_error"):
        return np.asarray(estimator.reconstruction_error(X)), None
    raise DataError(f"{type(estimator).__name__} gives no novelty score; " + A_DETECTOR)


def _truth(y: Targets, n: int, positive: object) -> Array:
    """Which rows are new, from -1 and 1, from true and false, or from the class that is new."""
    labels = np.asarray(check_labels(y, n))
    values = set(np.unique(labels).tolist())
    if positive is not None and len(values) > 1 and str(positive) in map(str, values):
        return np.asarray(labels.astype(str) == str(positive))
    if values == {-1, 1}:
        return np.asarray(labels == -1)
    if values == {0, 1}:
        return np.asarray(labels == 1)
    raise DataError(
        f"y holds {', '.join(map(str, sorted(values)[:20]))}; say which class is new by "
        + Remedy(
            "positive=, or give -1 for new and 1 for normal rows (or 1 and 0), and some of each.",
            shell="--positive.",
        )
    )
