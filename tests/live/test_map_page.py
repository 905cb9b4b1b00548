"""The page of a map in a real browser: it computes what Python computes, and follows the hand."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mercer import MapModel, live

pytestmark = pytest.mark.browser

X = load_digits().data[:700] / 16
Z = PCA(3).fit_transform(X)


@pytest.fixture(scope="module")
def model():
    return MapModel().fit(X, Z[:, :2])


def visit(opened, path):
    opened.page.goto(path.resolve().as_uri())
    opened.until("window.mercerMap")
    return opened.page


def test_the_page_computes_what_python_computes(opened, model, tmp_path):
    page = visit(opened, model.to_html(tmp_path / "map.html", images=(8, 8)))
    for z in (Z[5, :2] + 0.1, np.array([9.0, 9.0])):
        x, radius, p = page.evaluate(
            "z => { const way = mercerMap.way;"
            " return [Array.from(way.row(z)), way.radius(z), way.pValue(z)]; }",
            z.tolist(),
        )
        assert_allclose(
            np.array(x) + model.back_.mean, model.inverse_transform(z[None])[0], atol=1e-5
        )
        assert_allclose(radius, model.row_radius(z[None])[0], rtol=1e-9)
        assert_allclose(p, model.place_p_values(z[None])[0])


def test_a_drag_follows_the_hand(opened, model, tmp_path):
    page = visit(opened, model.to_html(tmp_path / "map.html", labels=load_digits().target[:700]))
    box = page.locator(".ml-mapcanvas").bounding_box()
    at = lambda share: (box["x"] + share * box["width"], box["y"] + 0.5 * box["height"])  # noqa: E731
    page.mouse.move(*at(0.3))
    page.mouse.down()
    for step in range(60):
        page.mouse.move(*at(0.3 + step / 150))
    page.mouse.up()
    opened.until("mercerMap.state.times.length > 20")
    times = page.evaluate("() => mercerMap.state.times")
    assert np.quantile(times, 0.95) <= 50
    page.mouse.click(box["x"] + 3, box["y"] + 3)
    opened.until("document.querySelector('.ml-warn')")
    assert "no data" in page.locator(".ml-says").text_content()
    page.get_by_role("button", name="To the nearest row").click()
    z = page.evaluate("() => mercerMap.state.z")
    assert (Z[:, :2] == z).all(axis=1).any()


def test_a_map_of_three_dimensions_keeps_the_third_of_the_nearest_row(opened, tmp_path):
    page = visit(opened, live.write_html(MapModel().fit(X, Z), tmp_path / "map.html"))
    u, v, w = page.evaluate(
        "([u, v]) => { mercerMap.move(u, v); return mercerMap.state.z; }", Z[3, :2].tolist()
    )
    assert_allclose([u, v, w], Z[3])
