"""The widget: its Python side without a notebook, its ES module in a browser."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from sklearn.datasets import load_iris

import mercer
from mercer import KernelPCA

anywidget = pytest.importorskip("anywidget")
IRIS = load_iris()
RENDER = """async ({ esm, facts, numbers }) => {
  const bytes = Uint8Array.from(atob(numbers), (c) => c.charCodeAt(0));
  const values = { _esm: esm, facts, numbers: new DataView(bytes.buffer), selection: [] };
  const acts = {};
  globalThis.model = {
    values,
    get: (name) => values[name],
    set: (name, value) => (values[name] = value),
    save_changes: () => (globalThis.saved = (globalThis.saved ?? 0) + 1),
    on: (name, act) => (acts[name] = act),
    off: (name) => delete acts[name],
    fromPython: (rows) => { values.selection = rows; acts["change:selection"](); },
  };
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { default: widget } = await import(url);
  const el = document.getElementById("here");
  globalThis.cleanup = await widget.render({ model: globalThis.model, el });
}"""


@pytest.fixture(scope="module")
def model():
    return KernelPCA(4).fit(IRIS.data)


def test_the_package_can_be_called(model):
    import mercer.live

    widget = mercer.live(model, IRIS.data, labels=IRIS.target)
    assert isinstance(widget, anywidget.AnyWidget)
    assert widget.facts["classes"] == ["0", "1", "2"]
    assert widget.facts["n"] == 150
    assert mercer.live.show(model).facts["n"] == 150
    assert mercer.live.describe, "and is a package still"


def test_what_goes_to_the_notebook(model):
    import json

    state = mercer.live(model).get_state()
    assert {"facts", "numbers", "selection", "_esm", "_css"} <= set(state)
    json.dumps(state["facts"])
    assert state["_esm"].rstrip().endswith("export default $widget.widget;")


def test_selection_comes_back(model):
    widget = mercer.live(model)
    assert widget.selection == []
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), "selection")
    widget.set_state({"selection": [3, 5]})  # as the notebook does
    assert widget.selection == [3, 5]
    assert seen == [[3, 5]]
    widget.selection = np.flatnonzero(IRIS.target == 1)[:2].tolist()
    assert widget.selection == [50, 51]
    with pytest.raises(Exception, match="from 0 to 149"):
        widget.selection = [150]


def bundle_of(widget):
    return widget._repr_mimebundle_()[0]


def test_a_saved_notebook_has_the_page(model, monkeypatch):
    """A notebook without a kernel showed the words LiveWidget(...)."""
    data = bundle_of(mercer.live(model))
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/html"].startswith("<iframe")
    monkeypatch.setattr("mercer.live.widget.LARGEST_SAVED", 10)
    assert "to_html" in bundle_of(mercer.live(model))["text/html"]


@pytest.mark.browser
def test_the_saved_page_is_alive(opened, model):
    html = bundle_of(mercer.live(model, labels=IRIS.target))["text/html"]
    opened.page.set_content(f"<body style='width: 900px'>{html}</body>")
    frame = opened.page.frames[1]
    frame.wait_for_selector(".ml-map canvas")
    frame.click("#ml-tab-novelty")
    frame.wait_for_selector(".ml-strange-row")
    opened.page.wait_for_timeout(300)
    assert opened.pixels("iframe").std() > 10


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 700, 950, 1070, 1200])
def test_the_map_has_room_in_a_narrow_column(width, opened, model):
    """The window is wide and the column is not: a map of 92 pixels, in marimo."""
    mount(opened, mercer.live(model, labels=IRIS.target), width)
    box = opened.page.locator(".ml-map").bounding_box()
    assert box["width"] > 0.4 * width
    assert box["height"] > 250
    assert opened.page.evaluate("document.querySelector('#here').scrollWidth") <= width


def mount(opened, widget, width):
    """The widget in a column of a page, as a notebook does it."""
    page = opened.page
    column = f"<div id='here' style='width: {width}px'></div>"
    page.set_content(f"<style>{widget._css}</style>{column}")
    given = {
        "esm": widget._esm,
        "facts": widget.facts,
        "numbers": base64.b64encode(widget.numbers).decode(),
    }
    page.evaluate(RENDER, given)
    opened.until("document.querySelector('.ml-map canvas')")
    page.wait_for_timeout(300)


@pytest.mark.browser
def test_the_module_in_a_page(opened, model):
    """Loaded as a notebook loads it: the map is drawn, selections go both ways, fits run."""
    page = opened.page
    mount(opened, mercer.live(model, labels=IRIS.target), 1200)
    assert opened.pixels(".ml-map").std() > 5
    page.evaluate("model.fromPython([1, 2, 7])")
    assert page.inner_text(".ml-said") == "3 rows selected"
    page.click("button:text('Lasso')")
    box = page.locator(".ml-map").bounding_box()
    page.mouse.move(box["x"] + 2, box["y"] + 60)
    page.mouse.down()
    for a, b in ((0.99, 0.1), (0.99, 0.99), (0.01, 0.99)):
        page.mouse.move(box["x"] + a * box["width"], box["y"] + b * box["height"], steps=3)
    page.mouse.up()
    assert len(page.evaluate("model.values.selection")) > 100
    page.click("#ml-tab-knobs")
    page.locator(".ml-side input[type=range] >> nth=0").fill("0.5")
    page.click("text=Use this fit")
    opened.until("document.querySelector('.ml-badge').textContent.includes('to all ')")
    page.evaluate("cleanup()")
    assert page.evaluate("document.getElementById('here').children.length") == 0
