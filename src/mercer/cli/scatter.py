"""A scatter plot as SVG text, so that the demo draws a picture without matplotlib."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Panel", "scatter_svg"]

# The ten "Tableau" colours; each class is also named in the plot, for readers who see fewer.
COLOURS = (
    "#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f",
    "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#8a8f98",
)  # fmt: skip
MARGIN, SIDE, GAP, HEAD, FOOT = 28, 440, 28, 84, 76
STYLE = (
    "text{font-family:system-ui,'Segoe UI',Helvetica,Arial,sans-serif;fill:#2b2f36}"
    ".title{font-size:21px;font-weight:600}.note{font-size:13px;fill:#5d636e}"
    ".axis{font-size:13px;fill:#5d636e;text-anchor:middle}.key{font-size:14px}"
    ".mark{font-size:14px;font-weight:700;text-anchor:middle}"
    ".frame{fill:#fff;stroke:#d5d9e0}.zero{stroke:#e8ebf0}"
)


@dataclass(frozen=True)
class Panel:
    """One pair of axes: points (n, 2), and what the axes are called."""

    points: NDArray[Any]
    x_label: str
    y_label: str


def scatter_svg(
    panels: Sequence[Panel],
    labels: NDArray[Any],
    *,
    title: str,
    note: str = "",
) -> str:
    """Draw panels side by side, one colour per label, with each label's name at its median.

    Parameters
    ----------
    panels : sequence of Panel
        The scatter plots, all of the same rows.
    labels : ndarray of shape (n,)
        The class of each row; at most ten classes keep distinct colours.
    title, note : str
        Text above the panels.

    Returns
    -------
    str
        A complete SVG document.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.array([[0.0, 0.0], [1.0, 2.0]])
    >>> svg = scatter_svg([Panel(points, "1", "2")], np.array(["a", "b"]), title="Two points")
    >>> svg.count("<circle"), svg.startswith("<svg")
    (6, True)
    """
    width = 2 * MARGIN + len(panels) * SIDE + (len(panels) - 1) * GAP
    height = HEAD + SIDE + FOOT
    classes = list(np.unique(labels))
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    body = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">',
        f"<title>{escape(title)}</title><desc>{escape(note)}</desc><style>{STYLE}</style>",
        f'<rect width="{width}" height="{height}" fill="#f7f8fa"/>',
        f'<text class="title" x="{MARGIN}" y="38">{escape(title)}</text>',
        f'<text class="note" x="{MARGIN}" y="62">{escape(note)}</text>',
    ]
    for i, panel in enumerate(panels):
        body += _draw_panel(panel, labels, classes, left=MARGIN + i * (SIDE + GAP))
    body += _draw_legend(classes, width, y=HEAD + SIDE + 54)
    return "\n".join([*body, "</svg>", ""])


def _draw_panel(panel: Panel, labels: NDArray[Any], classes: Sequence[Any], left: int) -> list[str]:
    to_pixels = _pixel_map(panel.points, left)
    x0, y0 = to_pixels(np.zeros((1, 2)))[0]
    right, bottom = left + SIDE, HEAD + SIDE
    parts = [f'<rect class="frame" x="{left}" y="{HEAD}" width="{SIDE}" height="{SIDE}" rx="6"/>']
    if left < x0 < right:
        parts.append(f'<path class="zero" d="M{x0:.1f} {HEAD}V{bottom}"/>')
    if HEAD < y0 < bottom:
        parts.append(f'<path class="zero" d="M{left} {y0:.1f}H{right}"/>')
    pixels = to_pixels(panel.points)
    for i, name in enumerate(classes):
        parts.append(f'<g fill="{_colour(i)}" fill-opacity=".7">')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in pixels[labels == name]]
        parts.append("</g>")
    for i, name in enumerate(classes):
        x, y = np.median(pixels[labels == name], axis=0)
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="11" fill="#fff" fill-opacity=".93" '
            f'stroke="{_colour(i)}" stroke-width="2.5"/>'
            f'<text class="mark" x="{x:.1f}" y="{y + 5:.1f}">{escape(str(name))}</text>'
        )
    middle = HEAD + SIDE / 2
    parts.append(
        f'<text class="axis" x="{left + SIDE / 2:.0f}" y="{bottom + 20}">'
        f"{escape(panel.x_label)}</text>"
        f'<text class="axis" transform="translate({left - 9} {middle:.0f}) rotate(-90)">'
        f"{escape(panel.y_label)}</text>"
    )
    return parts


def _pixel_map(points: NDArray[Any], left: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """One scale for both axes, because distances in the embedding mean something."""
    low, high = points.min(axis=0), points.max(axis=0)
    span = float((high - low).max()) or 1.0  # all points equal: any scale will do
    scale = (SIDE - 36) / span
    centre = (low + high) / 2

    def to_pixels(points: NDArray[Any]) -> NDArray[Any]:
        flipped = (points - centre) * np.array([scale, -scale])  # SVG's y axis points down
        return np.asarray(flipped + np.array([left + SIDE / 2, HEAD + SIDE / 2]))

    return to_pixels


def _draw_legend(classes: Sequence[Any], width: int, y: int) -> list[str]:
    step = 54
    left = (width - step * len(classes)) / 2 + step / 4
    return [
        f'<circle cx="{left + step * i:.0f}" cy="{y}" r="6" fill="{_colour(i)}"/>'
        f'<text class="key" x="{left + step * i + 12:.0f}" y="{y + 5}">{escape(str(name))}</text>'
        for i, name in enumerate(classes)
    ]


def _colour(i: int) -> str:
    return COLOURS[i % len(COLOURS)]
