"""The report as one page of HTML: everything inside, nothing fetched, light and dark."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

import numpy as np

from mercer import __version__
from mercer._linalg import Array
from mercer._memory import size_text
from mercer.demo.charts import curve, montage, scatter, spectrum
from mercer.demo.others import SETTINGS
from mercer.relevance import measure_relevance
from mercer.rows import atomic_file

if TYPE_CHECKING:
    from mercer.demo.denoising import Study
    from mercer.demo.others import Found
    from mercer.demo.study import Results


def write(results: Results, folder: Path) -> None:
    """The models first, so that a report never speaks of models that are not there."""
    for name, model in results.models().items():
        model.save(folder / f"{name}.mercer")
    data = results.digits
    results.embedding.to_html(folder / "live.html", data.test, data.test_labels, images=(8, 8))
    with atomic_file(folder / "report.html") as file:
        file.write(render(results).encode())


def render(results: Results) -> str:
    """The page for a finished demo: ``page.html`` with everything filled in."""
    page = files("mercer.demo").joinpath("page.html").read_text(encoding="utf-8")
    parts = {
        "n_train": f"{len(results.digits.train):,}",
        "n_test": f"{len(results.digits.test):,}",
        "version": escape(__version__),
        "seconds": f"{results.seconds:.0f}",
        **_embedding(results),
        **_denoising(results),
        **_compression(results),
        **_generation(results),
        **_novelty(results),
    }
    return Template(page).substitute(parts)


def _embedding(results: Results) -> dict[str, str]:
    model, labels = results.embedding, results.digits.test_labels
    Z, share = model.transform(results.digits.test), model.explained_variance_ratio_
    names = [f"component {i} ({share[i]:.1%})" for i in range(4)]
    panels = [scatter(Z[:, i : i + 2], labels, (names[i], names[i + 1])) for i in (0, 2)]
    return {
        "panels": "\n".join(panels),
        "spectrum": spectrum(share),
        "relevance": _relevance(results),
    }


def _relevance(results: Results) -> str:
    """How much each pixel matters in the first nine components, and in all of these."""
    subspace = results.embedding.subspace_.leading(9)
    found = measure_relevance(subspace, results.digits.test, unit="share")
    images = np.vstack([found.components, found.overall])
    images /= images.max(axis=1, keepdims=True)
    return montage(images, 10, "pixels that matter in nine components, and in all of them")


def _denoising(results: Results) -> dict[str, str]:
    gaussian, speckle = results.studies
    before, linear, ours = (gaussian.results[i].error for i in (0, 1, -1))
    clean, shown = results.digits.test, results.digits.one_of_each
    return {
        "gaussian": _strips(gaussian, clean, shown),
        "speckle": _strips(speckle, clean, shown),
        "removed": f"{1 - ours / before:.0%}",
        "removed_linear": f"{1 - linear / before:.0%}",
    }


def _strips(study: Study, clean: Array, shown: Array) -> str:
    worst = max(result.error for result in study.results)
    lines = [_strip("row", "clean", "", clean[shown], "")]
    for result in study.results:
        bar = f'<i style="width:{100 * result.error / worst:.0f}%"></i>'
        figures = f"{bar}error {result.error:.3f} · read {result.read:.1%}"
        kind = "ours" if result.method.startswith("mercer") else "row"
        lines.append(_strip(kind, result.method, result.settings, result.images[shown], figures))
    return "\n".join(lines)


def _strip(kind: str, who: str, settings: str, images: Array, figures: str) -> str:
    return (
        f'<div class="{kind}"><div class="who">{escape(who)}<small>{escape(settings)}</small></div>'
        f'{montage(images, 10, f"{who}: ten digits")}<div class="value">{figures}</div></div>'
    )


def _compression(results: Results) -> dict[str, str]:
    small = results.compressed
    lines = [
        ("points kept", *(f"{count:,}" for count in small.support)),
        ("model file", *(size_text(size) for size in small.file_bytes)),
        ("time to project the test images", *(f"{1e3 * s:.1f} ms" for s in small.seconds)),
        ("error after Gaussian noise", *(f"{error:.3f}" for error in small.error)),
    ]
    cells = "\n".join(f"<tr><td>{a}</td><td>{b}</td><td>{c}</td></tr>" for a, b, c in lines)
    return {
        "kept": f"{small.support[1]:,}",
        "fewer": f"{small.support[0] / small.support[1]:.0f}",
        "compression": cells,
        "vectors": montage(np.asarray(small.model.subspace_.support), 15, "representing images"),
    }


def _generation(results: Results) -> dict[str, str]:
    made = results.generated
    return {
        "read": f"{made.read:.0%}",
        "distance": f"{made.distance:.2f}",
        "real_distance": f"{made.real_distance:.2f}",
        "generated": montage(made.images, 10, "generated digits, a line for each"),
    }


def _novelty(results: Results) -> dict[str, str]:
    found = results.found
    ranked = sorted(found.auc, key=lambda name: -found.auc[name])
    lines = [
        f"<tr{' class=best' if name == ranked[0] else ''}><td>{escape(name)}"
        f"<br><small>{escape(SETTINGS[name])}</small></td><td>{found.auc[name]:.4f}</td>"
        f"<td>{found.best[name]}</td></tr>"
        for name in ranked
    ]
    labels = [
        f"<b>{label}</b>" if label == found.digit else f"<span>{label}</span>"
        for label in found.strangest_labels
    ]
    threshold = (found.false_alarms, found.detected)
    return {
        "new_digit": str(found.digit),
        "asked": f"{found.asked:.0%}",
        "false_alarms": f"{found.false_alarms:.1%}",
        "detected": f"{found.detected:.0%}",
        "strangest": montage(found.strangest, 10, "the strangest images"),
        "strangest_labels": "".join(labels),
        "calmest": montage(found.calmest, 10, "the most ordinary images"),
        "auc": "\n".join(lines),
        "ahead": _who_is_ahead(found),
        "curve": curve(found.curve, threshold, ("false alarms", "found")),
    }


def _who_is_ahead(found: Found) -> str:
    """In words, where others are better."""
    ours = "mercer KernelNovelty"
    ahead = [name for name, auc in found.auc.items() if auc > found.auc[ours]]
    if not ahead:
        return "No other is ahead on the mean."
    gap = max(found.auc[name] for name in ahead) - found.auc[ours]
    return f"Ahead of mercer on the mean, by at most {gap:.4f}: {escape(', '.join(ahead))}."
