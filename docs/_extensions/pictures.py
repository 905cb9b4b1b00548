"""The pictures of the front page and of the README, drawn by mercer.

``<!-- picture: front -->`` stands for the picture, ``<!-- version -->`` for the version. The front
page draws its own at each build, for light and dark pages. Those of the README are kept:
``python docs/_extensions/pictures.py`` writes them to ``docs/_static``.
"""

import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("MPLBACKEND", "Agg")

MARK = re.compile(r"^<!-- picture: (\w+) -->$", re.MULTILINE)
VERSION = "<!-- version -->"
STATIC = Path(__file__).parents[1] / "_static"
INK = {"light": "#1f2933", "dark": "#ced6dd"}
FOLDER = "_pictures"


def front(ink: str) -> Any:
    """Shapes, noise and novelty, side by side."""
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, 3, figsize=(12, 4.1), layout="constrained")
    for ax, draw in zip(axes, (shapes, noise, novelty), strict=True):
        draw(ax, ink)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(False)
    return fig


def shapes(ax: Any, ink: str) -> None:
    """Noisy points, and where they are put back to."""
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap
    from sklearn.datasets import make_moons

    from mercer import KernelPCA
    from mercer.kernels import Gaussian

    X, _ = make_moons(400, noise=0.13, random_state=0)
    model = KernelPCA(7, kernel=Gaussian(width=0.7)).fit(X)
    x, y = np.linspace(-1.7, 2.7, 160), np.linspace(-1.2, 1.7, 110)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    far = model.reconstruction_error(grid).reshape(110, 160)
    # Near the shape blue, far from it nothing, so that light and dark pages shine through.
    fade = LinearSegmentedColormap.from_list(
        "fade", [(0.23, 0.51, 0.77, 0.75), (0.23, 0.51, 0.77, 0)]
    )
    ax.contourf(x, y, far, levels=np.linspace(far.min(), 0.9 * far.max(), 18), cmap=fade)
    ax.scatter(*X.T, s=8, c=ink, linewidths=0, alpha=0.6)
    ax.scatter(*model.denoise(X).T, s=11, c="#e4572e", linewidths=0)
    ax.set_title("find the shape behind the points", color=ink, fontsize=13)


@cache
def digits_with_noise(count: int) -> dict[str, Any]:
    """Held-out digits: noisy, by the best linear PCA of four, by a tuned kernel PCA."""
    import numpy as np
    from sklearn.datasets import load_digits
    from sklearn.decomposition import PCA
    from sklearn.model_selection import train_test_split

    from mercer import KernelPCA

    X, y = load_digits(return_X_y=True)
    train, test, _, labels = train_test_split(X / 16, y, test_size=200, random_state=0)
    first = [int(np.flatnonzero(labels == digit)[0]) for digit in range(count)]
    test = test[first]
    noisy = test + np.random.default_rng(0).normal(scale=0.35, size=test.shape)
    fits = [PCA(q).fit(train) for q in (4, 8, 16, 32)]
    linear = [pca.inverse_transform(pca.transform(noisy)) for pca in fits]
    best = min(linear, key=lambda images: np.mean((images - test) ** 2))
    model = KernelPCA(random_state=0).tune(train[:500], noise=0.35, rows="clean", match_noise=True)
    model.fit(train)
    clean = model.denoise(noisy, match_noise=True)
    return {"noisy": noisy, "linear PCA": best, "mercer": clean}


def noise(ax: Any, ink: str) -> None:
    """Four digits, three ways."""
    import numpy as np

    rows = digits_with_noise(4)
    sheet = np.full((3 * 9 - 1, 4 * 9 - 1), np.nan)
    for i, images in enumerate(rows.values()):
        for j, image in enumerate(images):
            sheet[9 * i : 9 * i + 8, 9 * j : 9 * j + 8] = image.reshape(8, 8)
    ax.imshow(sheet, cmap="gray_r", vmin=0, vmax=1)
    for i, name in enumerate(rows):
        ax.text(-1.5, 9 * i + 3.5, name, rotation=90, ha="center", va="center", color=ink)
    ax.set_title("remove noise, back in pixels", color=ink, fontsize=13)


def novelty(ax: Any, ink: str) -> None:
    """What a detector takes for normal."""
    import numpy as np

    from mercer import KernelNovelty
    from mercer.kernels import Gaussian

    rng = np.random.default_rng(2)
    angle = rng.uniform(0, 2 * np.pi, 240)
    X = np.column_stack([1.5 * np.cos(angle), np.sin(angle)]) + rng.normal(scale=0.1, size=(240, 2))
    model = KernelNovelty(40, kernel=Gaussian(width=0.7), random_state=0).fit(X)
    x, y = np.linspace(-2.3, 2.3, 150), np.linspace(-1.7, 1.7, 110)
    grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    score = model.decision_function(grid).reshape(110, 150)
    ax.contourf(x, y, score > 0, levels=[0.5, 1.5], colors=["#3b82c4"], alpha=0.35)
    ax.contour(x, y, score, levels=[0], colors=["#3b82c4"], linewidths=2)
    ax.scatter(*X.T, s=9, c=ink, linewidths=0)
    new = np.array([(0, 0.05), (0.9, 0.1), (-1.9, 1.1), (1.8, -1.2)])
    ax.scatter(*new.T, s=90, marker="X", c="#e4572e")
    ax.set_title("tell what is new", color=ink, fontsize=13)


FOR_README: dict[str, Callable[[str], Any]] = {"front": front}


def save(draw: Callable[[str], Any], path: Path, ink: str, **how: Any) -> None:
    """Draw and write one picture."""
    import matplotlib.pyplot as plt

    fig = draw(ink)
    fig.savefig(path, dpi=110, metadata={"Software": None}, **how)
    plt.close(fig)


def frame(match: re.Match[str]) -> str:
    """Two pictures, of which the theme shows one."""
    name = match[1]
    pictures = "\n".join(
        f'<img class="front-picture only-{theme}" src="{FOLDER}/{name}-{theme}.png" '
        f'alt="Drawn by mercer when this page was built: {FOR_README[name].__doc__}">'
        for theme in INK
    )
    return f'<div class="front-frame">\n{pictures}\n</div>'


def fill(app: Any, _page: str, source: list[str]) -> None:
    """Fill in the pictures of a page before it is parsed."""
    if app.builder.format == "html":
        source[0] = MARK.sub(frame, source[0]).replace(VERSION, app.config.version)


def write(app: Any, problem: Exception | None) -> None:
    """Draw what the front page shows."""
    if problem is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir) / FOLDER
    folder.mkdir(exist_ok=True)
    for theme, ink in INK.items():
        save(front, folder / f"front-{theme}.png", ink, transparent=True)


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    for picture, draw in FOR_README.items():
        save(draw, STATIC / f"{picture}.png", INK["light"], facecolor="white")
