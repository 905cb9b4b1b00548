"""Pictures of the report as inline SVG and PNG, coloured by the page's own style sheet."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

import numpy as np

from mercer._linalg import Array
from mercer.demo.digits import SHAPE
from mercer.rows.images import encode_png, to_bytes

SIDE, PAD = 440, 18


def montage(images: Array, columns: int, label: str) -> str:
    """Images in lines of ``columns``, as an ``<img>`` whose picture is inside the page.

    Parameters
    ----------
    images : (n, d) rows of ink from 0 to 1
    columns : images in a line
    label : what it shows, for those who cannot see it
    """
    (h, w), gap = SHAPE, 2
    lines = -(-len(images) // columns)
    sheet = np.zeros((lines * (h + gap) - gap, columns * (w + gap) - gap))
    for i, image in enumerate(images):
        top, left = i // columns * (h + gap), i % columns * (w + gap)
        sheet[top : top + h, left : left + w] = image.reshape(SHAPE)
    data = base64.b64encode(encode_png(to_bytes(sheet))).decode()
    size = f'width="{sheet.shape[1]}" height="{sheet.shape[0]}"'
    return f'<img class="ink" {size} alt="{escape(label)}" src="data:image/png;base64,{data}">'


def scatter(points: Array, labels: Array, names: tuple[str, str]) -> str:
    """Points coloured by ten classes, each class named at its median; axes of equal scale."""
    low, high = points.min(axis=0), points.max(axis=0)
    scale = (SIDE - 2 * PAD) / (float((high - low).max()) or 1.0)
    pixels = (points - (low + high) / 2) * np.array([scale, -scale]) + SIDE / 2
    parts = [_open(SIDE, SIDE + 26, f"{names[0]} against {names[1]}")]
    parts.append(
        f'<rect class="frame" x=".5" y=".5" width="{SIDE - 1}" height="{SIDE - 1}" rx="8"/>'
    )
    for i, name in enumerate(np.unique(labels)):
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in pixels[labels == name])
        parts.append(f'<path class="dots c{i}" d="{dots}"/>')
    for i, name in enumerate(np.unique(labels)):
        x, y = np.median(pixels[labels == name], axis=0)
        parts.append(
            f'<circle class="badge c{i}" cx="{x:.1f}" cy="{y:.1f}" r="11"/>'
            f'<text class="mark" x="{x:.1f}" y="{y + 4.5:.1f}">{escape(str(name))}</text>'
        )
    parts.append(f'<text class="axis" x="{SIDE / 2}" y="{SIDE + 20}">{escape(names[0])} →</text>')
    parts.append(
        f'<text class="axis" transform="translate(14 {SIDE / 2}) rotate(-90)">'
        f"{escape(names[1])} →</text></svg>"
    )
    return "".join(parts)


def spectrum(shares: Array) -> str:
    """Bars of the first forty shares of the true variance, and the line of their sum."""
    width, height, foot = 920, 190, 24
    shares = np.asarray(shares)[:40]
    step = width / len(shares)
    tall = (height - 30) / shares[0]
    parts = [_open(width, height + foot, "shares of the variance, component by component")]
    for i, share in enumerate(shares):
        tall_i = share * tall
        parts.append(
            f'<rect class="bar" x="{i * step + 1.5:.1f}" y="{height - tall_i:.1f}" '
            f'width="{step - 3:.1f}" height="{tall_i:.1f}" rx="2"/>'
        )
    total = np.cumsum(shares)
    line = " ".join(
        f"{(i + 0.5) * step:.1f},{height - value * (height - 30):.1f}"
        for i, value in enumerate(total)
    )
    parts.append(f'<polyline class="line" points="{line}"/>')
    end = height - total[-1] * (height - 30)
    parts.append(
        f'<text class="note end" x="{width - 4}" y="{end - 8:.1f}">together {total[-1]:.0%}</text>'
        f'<text class="note" x="1.5" y="{height - shares[0] * tall - 7:.1f}">'
        f"first {shares[0]:.1%}</text>"
        f'<text class="axis" x="{width / 2}" y="{height + 19}">'
        f"component 0 to {len(shares) - 1}</text>"
        "</svg>"
    )
    return "".join(parts)


def curve(points: Array, at: tuple[float, float], names: Sequence[str]) -> str:
    """A curve in the unit square with one point of it marked."""
    side = 260
    xs, ys = points[0] * side, (1 - points[1]) * side
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    x, y = at[0] * side, (1 - at[1]) * side
    head = _open(side + 40, side + 34, f"{names[1]} against {names[0]}")
    return (
        f'{head}<g transform="translate(34 4)">'
        f'<rect class="frame" width="{side}" height="{side}" rx="6"/>'
        f'<path class="zero" d="M0 {side}L{side} 0"/>'
        f'<polyline class="line" points="{path}"/>'
        f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="5.5"/>'
        f'<text class="axis" x="{side / 2}" y="{side + 22}">{escape(names[0])} →</text>'
        f'<text class="axis" transform="translate(-14 {side / 2}) rotate(-90)">'
        f"{escape(names[1])} →</text></g></svg>"
    )


def _open(width: float, height: float, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(label)}">'
    )
