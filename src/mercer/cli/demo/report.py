"""The report as one page of HTML: everything inside, nothing fetched, light and dark."""

import base64
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from mercer import __version__
from mercer._base.files import filled
from mercer._base.machine import size_text
from mercer._base.types import Array
from mercer.cli.demo.study import SETTINGS, SHAPE, Found, fill_in
from mercer.io import atomic_file
from mercer.io.images import encode_png, to_bytes
from mercer.papers import Labelled
from mercer.plots._base import in_lines, mosaic
from mercer.relevance import measure_relevance

HERE = "mercer.cli.demo"
SIDE, PAD = 440, 18


def montage(images: Array, columns: int, label: str) -> str:
    """Rows of ink from 0 to 1 in lines of ``columns``, as an ``<img>`` inside the page."""
    sheet = np.nan_to_num(mosaic(in_lines(images, columns), SHAPE, gap=2))
    data = base64.b64encode(encode_png(to_bytes(sheet))).decode()
    size = f'width="{sheet.shape[1]}" height="{sheet.shape[0]}"'
    return f'<img class="ink" {size} alt="{escape(label)}" src="data:image/png;base64,{data}">'


def scatter(points: Array, labels: Array, names: Sequence[str]) -> str:
    """Points coloured by ten classes, each class named at its median; axes of equal scale."""
    low, high = points.min(axis=0), points.max(axis=0)
    scale = (SIDE - 2 * PAD) / (float((high - low).max()) or 1.0)
    pixels = (points - (low + high) / 2) * np.array([scale, -scale]) + SIDE / 2
    paths, badges = "", ""
    for i, name in enumerate(np.unique(labels)):
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in pixels[labels == name])
        paths += f'<path class="dots c{i}" d="{dots}"/>'
        x, y = np.median(pixels[labels == name], axis=0)
        badges += (
            f'<circle class="badge c{i}" cx="{x:.1f}" cy="{y:.1f}" r="11"/>'
            f'<text class="mark" x="{x:.1f}" y="{y + 4.5:.1f}">{escape(str(name))}</text>'
        )
    return filled(HERE, "scatter.svg", dots=paths, badges=badges, names=[*map(escape, names)])


def spectrum(shares: Array) -> str:
    """Bars of the first forty shares of the true variance, and the line of their sum."""
    floor, room = 190, 160
    shares = np.asarray(shares)[:40]
    step, total = 920 / len(shares), np.cumsum(shares)
    bars = "".join(
        f'<rect class="bar" x="{i * step + 1.5:.1f}" y="{floor - bar:.1f}" '
        f'width="{step - 3:.1f}" height="{bar:.1f}" rx="2"/>'
        for i, bar in enumerate(shares / shares[0] * room)
    )
    sums = floor - total * room
    line = " ".join(f"{(i + 0.5) * step:.1f},{y:.1f}" for i, y in enumerate(sums))
    words = {"first": shares[0], "total": total[-1], "last": len(shares) - 1, "top": sums[-1] - 8}
    return filled(HERE, "spectrum.svg", bars=bars, line=line, **words)


def curve(points: Array, at: tuple[float, float], names: Sequence[str]) -> str:
    """A curve in the unit square with one point of it marked."""
    xs, ys = 260 * np.column_stack([points, at])
    line = " ".join(f"{x:.1f},{260 - y:.1f}" for x, y in zip(xs[:-1], ys[:-1], strict=True))
    named = [*map(escape, names)]
    return filled(HERE, "curve.svg", line=line, x=xs[-1], y=260 - ys[-1], names=named)


def write(results: Found, folder: Path) -> None:
    """Write the models first, so that a report never mentions models that do not exist."""
    for name, model in results.models.items():
        model.save(folder / f"{name}.mercer")
    data = results.digits
    results.embedding.to_html(folder / "live.html", data.X_test, data.y_test, images=(8, 8))
    with atomic_file(folder / "report.html") as file:
        file.write(render(results).encode())


def render(results: Found) -> str:
    """The page for a finished demo: ``page.html`` with everything filled in."""
    small = results.compressed
    facts = {
        **vars(results),
        "version": escape(__version__),
        "fewer": small.support[0] / small.support[1],
        "sizes": [size_text(size) for size in small.file_bytes],
        "ms": [1e3 * seconds for seconds in small.seconds],
        "vectors": montage(np.asarray(small.model.subspace_.support), 15, "representing images"),
        "new_digits": montage(results.generated.images, 10, "generated digits, a line for each"),
        **_embedding(results),
        **_denoising(results),
        **_novelty(results.found, results.digits),
    }
    return filled(HERE, "page.html", **facts)


def in_words(results: Found) -> dict[str, str]:
    """The other figures, as lines."""
    small, made, watch = results.compressed, results.generated, results.found
    rate = watch.model.false_alarm_rate
    sizes = [size_text(size) for size in small.file_bytes]
    others = ", ".join(f"{name} {auc:.3f}" for name, auc in list(watch.auc.items())[1:])
    before, linear, after = (result.error for result in results.alone.results)
    return {
        "noisy rows": f"with nothing else to learn from, error {after:.3f} of {before:.3f} is left "
        f"(estimated {results.alone.said:.3f}); linear PCA at its best {linear:.3f}",
        "sparse": f"{small.support[1]} points instead of {small.support[0]:,}; error "
        f"{small.error[1]:.3f} instead of {small.error[0]:.3f}; model file {sizes[1]} instead of "
        f"{sizes[0]}",
        "generated": f"{made.read:.0%} of {len(made.images)} new digits are recognised as the "
        f"digit asked for; {made.distance:.2f} from the nearest training image (real ones "
        f"{made.real_distance:.2f})",
        "novelty": f"{watch.detected:.0%} of the {watch.digit}s found by a model that never saw "
        f"one, at {watch.false_alarms:.1%} false alarms (asked for {rate:.0%}); area under "
        f"the curve, mean of ten digits: {next(iter(watch.auc.values())):.3f} ({others})",
        "table": fill_in(),
        "time": f"{results.seconds:.1f} s",
    }


def _embedding(results: Found) -> dict[str, str]:
    model, test, labels = results.embedding, results.digits.X_test, results.digits.y_test
    Z, share = model.transform(test), model.explained_variance_ratio_
    names = [f"component {i} ({share[i]:.1%})" for i in range(4)]
    panels = [scatter(Z[:, i : i + 2], labels, names[i : i + 2]) for i in (0, 2)]
    # How much each pixel matters in the first nine components, and in all of these.
    measured = measure_relevance(model.subspace_.leading(9), test, unit="share")
    pixels = np.vstack([measured.components, measured.overall])
    pixels /= pixels.max(axis=1, keepdims=True)
    relevance = montage(pixels, 10, "pixels that matter in nine components, and in all of them")
    return {"panels": "\n".join(panels), "spectrum": spectrum(share), "relevance": relevance}


def _denoising(results: Found) -> dict[str, Any]:
    studies = dict(zip(("gaussian", "speckle"), results.studies, strict=True))
    studies["alone_strips"] = results.alone
    strips = {name: _strips(study, results.digits) for name, study in studies.items()}
    before, linear, ours = (results.studies[0].results[i].error for i in (0, 1, -1))
    return {**strips, "removed": 1 - ours / before, "removed_linear": 1 - linear / before}


def _strips(study: Found, digits: Labelled) -> str:
    worst = max(result.error for result in study.results)
    shown = np.unique(digits.y_test, return_index=True)[1]  # the first image of every digit
    lines = []
    for result in (Found(method="clean", settings="", images=digits.X_test), *study.results):
        who, figures = result.method, ""
        if who != "clean":
            bar = f'<i style="width:{100 * result.error / worst:.0f}%"></i>'
            figures = f"{bar}error {result.error:.3f} · read {result.read:.1%}"
        kind = "ours" if who.startswith("mercer") else "row"
        words = {"kind": kind, "who": who, "settings": result.settings, "figures": figures}
        images = montage(result.images[shown], 10, f"{who}: ten digits")
        lines.append(filled(HERE, "strip.html", images=images, **words))
    return "\n".join(lines)


def _novelty(study: Found, digits: Labelled) -> dict[str, str]:
    strangest, calmest = study.order[:10], study.order[-10:]
    ranked = sorted(study.auc, key=lambda name: -study.auc[name])
    lines = [
        f"<tr{' class=best' if name == ranked[0] else ''}><td>{name}<br><small>{SETTINGS[name]}"
        f"</small></td><td>{study.auc[name]:.4f}</td><td>{study.best[name]}</td></tr>"
        for name in ranked
    ]
    labels = [
        f"<b>{label}</b>" if label == study.digit else f"<span>{label}</span>"
        for label in digits.y_test[strangest]
    ]
    threshold = (study.false_alarms, study.detected)
    return {
        "strangest": montage(digits.X_test[strangest], 10, "the strangest images"),
        "strangest_labels": "".join(labels),
        "calmest": montage(digits.X_test[calmest], 10, "the most ordinary images"),
        "auc": "\n".join(lines),
        "ahead": _who_is_ahead(study),
        "curve": curve(study.curve, threshold, ("false alarms", "found")),
    }


def _who_is_ahead(study: Found) -> str:
    """Where others are better, in words."""
    ours = study.auc["mercer KernelNovelty"]
    ahead = {name: auc - ours for name, auc in study.auc.items() if auc > ours}
    if not ahead:
        return "No other is ahead on average."
    return f"Ahead of mercer on average, by at most {max(ahead.values()):.4f}: {', '.join(ahead)}."
