"""How pictures are compared: what is drawn, without words, in fixed places.

Letters differ between releases of matplotlib and FreeType, and the layout follows the letters, so
that every line of a picture moves. Words are therefore compared as words in the tests of each
display; a picture holds all the rest, drawn small in matplotlib's default style.
"""

import functools

import pytest
from matplotlib.text import Text

#: Root mean square difference of pixels (0 to 255) that passes. Between matplotlib 3.8 and 3.11 the
#: pictures differ by 0.14 at most; a value on the edge of a bin, which rounding puts on either side
#: of it, makes 2.01 in a small picture, and a curve that is missing 13.
TOLERANCE = 3
DPI = 50
ENTRY = 3
STYLE = {"style": "default", "tolerance": TOLERANCE, "savefig_kwargs": {"dpi": DPI}}


def picture(test):
    """A test whose figure is compared with ``baseline/<its name>.png``."""

    @pytest.mark.mpl_image_compare(deterministic=True, **STYLE)
    @functools.wraps(test)
    def wordless_test(*args, **kwargs):
        return wordless(test(*args, **kwargs))

    return wordless_test


def wordless(figure):
    """The figure without text, legends and bars of colours, its panels in fixed places."""
    for ax in list(figure.axes):
        for drawn in [*ax.images, *ax.collections]:
            if drawn.colorbar is not None:
                drawn.colorbar.remove()
    for legend in list(figure.legends):
        legend.remove()
    figure.set_layout_engine("none")
    figure.subplotpars.update(0.04, 0.04, 0.96, 0.96, 0.1, 0.1)
    for ax in figure.axes:
        ax.set_position(ax.get_subplotspec().get_position(figure))
        for image in ax.images:
            # Whole pixels for each entry, since releases round the edges of others differently.
            rows, columns = image.get_array().shape[:2]
            figure.set_size_inches(columns * ENTRY / DPI, rows * ENTRY / DPI)
            ax.set_position((0, 0, 1, 1))
        labels = dict.fromkeys(["labeltop", "labelbottom", "labelleft", "labelright"], False)
        ax.tick_params(which="both", **labels)
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    for text in figure.findobj(Text):
        text.set_visible(False)
    return figure
