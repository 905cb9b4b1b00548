import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from mercer.cli.scatter import Panel, scatter_svg


def draw(points, labels, title="t"):
    text = scatter_svg(
        [Panel(np.asarray(points, float), "a", "b")], np.asarray(labels), title=title
    )
    return ElementTree.fromstring(text)


def coordinates(root):
    circles = [node.attrib for node in root.iter() if node.tag.endswith("circle")]
    return np.array([[float(c["cx"]), float(c["cy"])] for c in circles])


def test_names_are_text_not_markup():
    root = draw([[0, 0], [1, 1]], ["<script>", "&"], title='<b onload="x">')
    assert not [node for node in root.iter() if node.tag.endswith(("script", "}b"))]


@pytest.mark.parametrize("points", [[[3.0, 3.0], [3.0, 3.0]], [[-1e300, 0], [1e300, 5]], [[0, 0]]])
def test_extreme_points_stay_inside_the_picture(points):
    root = draw(points, ["a"] * len(points))
    inside = coordinates(root)
    assert np.isfinite(inside).all()
    assert (inside >= 0).all()
    assert (inside[:, 0] <= float(root.attrib["width"])).all()


def test_up_is_up_and_scales_are_equal():
    pixels = coordinates(draw([[0, 0], [1, 0], [0, 1]], [0, 0, 0]))[:3]
    right, up = pixels[1] - pixels[0], pixels[2] - pixels[0]
    assert right[0] > 0
    assert up[1] == pytest.approx(-right[0], abs=0.2)
