"""How pictures are compared: drawn small in matplotlib's default style, and kept in baseline/."""

import pytest

#: Root mean square difference of pixels (0 to 255) that passes. Other releases of matplotlib and
#: FreeType shift letters by a part of a pixel, which costs less.
TOLERANCE = 12

picture = pytest.mark.mpl_image_compare(
    style="default", tolerance=TOLERANCE, savefig_kwargs={"dpi": 60}, deterministic=True
)
