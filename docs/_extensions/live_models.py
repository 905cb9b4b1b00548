"""Live models on a page: ``<!-- live: digits#tab=drag -->`` becomes a frame that computes.

In a chapter of the tutorial, which is reStructuredText, the mark is ``.. live: digits#tab=drag``.
Each model is fitted when the pages are built, and written as a file of its own.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

MARK = re.compile(r"^<!-- live: (\w+)(#[\w=&,.:-]*)? -->$", re.MULTILINE)
RST_MARK = re.compile(r"^\.\. live: (\w+)(#[\w=&,.:-]*)?$", re.MULTILINE)
FOLDER = "_live"


def digits(path: Path) -> None:
    """All digits, with a density to draw from."""
    from sklearn.datasets import load_digits

    from mercer import GenerativeKernelPCA
    from mercer.live import write_html

    data = load_digits()
    model = GenerativeKernelPCA(30, random_state=0).fit(data.data / 16)
    write_html(model, path, labels=data.target, images=(8, 8), title="Handwritten digits")


def moons(path: Path) -> None:
    """Two half moons: a plane, in which everything can be seen."""
    from sklearn.datasets import make_moons

    from mercer import KernelPCA
    from mercer.kernels import Gaussian
    from mercer.live import write_html

    X, y = make_moons(300, noise=0.08, random_state=0)
    model = KernelPCA(8, kernel=Gaussian(width=0.6)).fit(X)
    write_html(model, path, labels=[("upper", "lower")[k] for k in y], title="Two half moons")


def threes(path: Path) -> None:
    """A detector that has seen nothing but threes, looking at all digits."""
    from sklearn.datasets import load_digits

    from mercer import KernelNovelty
    from mercer.live import write_html

    data = load_digits()
    X = data.data / 16
    model = KernelNovelty(random_state=0).fit(X[data.target == 3][:140])
    write_html(model, path, X, data.target, (8, 8), title="A detector that knows threes")


MODELS: dict[str, Callable[[Path], None]] = {"digits": digits, "moons": moons, "threes": threes}


def frame(match: re.Match[str], depth: int) -> str:
    """The frame, and a way to see it larger."""
    name, fragment = match[1], match[2] or ""
    if name not in MODELS:
        raise KeyError(f"no live model {name!r}; docs/_extensions/live_models.py knows {[*MODELS]}")
    address = f"{'../' * depth}{FOLDER}/{name}.html{fragment}"
    return (
        f'<iframe class="live-model" src="{address}" loading="lazy" '
        f'title="A live model: {name}"></iframe>\n'
        f'<p class="live-link"><a href="{address}">Open it on a page of its own</a></p>\n'
    )


def raw(html: str) -> str:
    """HTML inside reStructuredText."""
    return ".. raw:: html\n\n" + "".join(f"   {line}\n" for line in html.splitlines())


def fill(app: Any, page: str, source: list[str]) -> None:
    """Fill in the frames of a page before it is parsed."""
    if app.builder.format == "html":
        depth = page.count("/")
        source[0] = MARK.sub(lambda match: frame(match, depth), source[0])
        source[0] = RST_MARK.sub(lambda match: raw(frame(match, depth)), source[0])


def write(app: Any, problem: Exception | None) -> None:
    """Fit and write the models, once all pages are there."""
    if problem is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for name, make in MODELS.items():
        make(folder / f"{name}.html")


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}
