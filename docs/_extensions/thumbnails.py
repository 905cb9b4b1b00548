"""Thumbnails that show a part of a wide picture instead of all of it, too small to see.

sphinx-gallery shrinks a whole figure to a card. A row of panels becomes a thin line in that way;
here the card is filled with one end of it, the left one unless ``KEPT`` names another.
"""

import re
from pathlib import Path
from typing import Any

from PIL import Image, ImageChops

#: Width and height of a card, in pixels (two for each of the page, for fine screens).
CARD = (480, 336)
#: A picture is cut down to this many times the height of a card that it fills, in width or height.
MOST = 1.25
#: Examples whose idea is at another place → the share of what is left out that lies before it;
#: None for those that are shown whole.
KEPT: dict[str, float | None] = {
    "plot_exactness": None,
    "plot_signal": None,
    "plot_relevance": 1.0,
    "plot_maps": 1.0,
    "plot_background": 0.9,
    "plot_multilinear": 1.0,
    "plot_stream": 1.0,
    "plot_widths": 0.35,
    "plot_component": 0.3,
    "plot_sum": 0.6,
    "plot_compress": 1.0,
    "7_when_not": 1.0,
}
NUMBER = re.compile(r"sphinx_gallery_thumbnail_number = (-?\d+)")


def card_of(picture: Path, before: float | None) -> Image.Image:
    """The part of a picture that fills a card, with little paper around it."""
    with Image.open(picture) as opened:
        image = _on_paper(opened.convert("RGBA"))
    image = image.crop(_inked(image))
    width, height = image.size
    wide = CARD[0] / CARD[1]
    if before is not None:
        keep = min(width, round(height * wide * MOST)), min(height, round(width / wide * MOST))
        left, top = round((width - keep[0]) * before), round((height - keep[1]) * before)
        image = image.crop((left, top, left + keep[0], top + keep[1]))
    image.thumbnail(CARD, Image.Resampling.LANCZOS)
    card = Image.new("RGB", CARD, "white")
    card.paste(image, ((CARD[0] - image.width) // 2, (CARD[1] - image.height) // 2))
    return card


def _on_paper(image: Image.Image) -> Image.Image:
    paper = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(paper, image).convert("RGB")


def _inked(image: Image.Image) -> tuple[int, int, int, int] | None:
    return ImageChops.difference(image, Image.new("RGB", image.size, "white")).getbbox()


def draw_cards(app: Any) -> None:
    """After the examples have run, and before their pictures are copied."""
    for folder in app.config.sphinx_gallery_conf["gallery_dirs"]:
        for thumb in Path(app.srcdir, folder).rglob("images/thumb/sphx_glr_*_thumb.png"):
            name = thumb.name.removeprefix("sphx_glr_").removesuffix("_thumb.png")
            code = (thumb.parents[2] / f"{name}.py").read_text(encoding="utf-8")
            drawn = sorted(thumb.parents[1].glob(f"sphx_glr_{name}_[0-9][0-9][0-9].png"))
            wanted = int(found[1]) if (found := NUMBER.search(code)) else 1
            if drawn:
                picture = drawn[wanted if wanted < 0 else min(wanted, len(drawn)) - 1]
                card_of(picture, KEPT.get(name, 0.0)).save(thumb)


def setup(app: Any) -> dict[str, bool]:
    """Behind sphinx-gallery, which makes its own at the same event."""
    app.connect("builder-inited", draw_cards, priority=900)
    return {"parallel_read_safe": True}
