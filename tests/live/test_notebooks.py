"""The widget in JupyterLab and marimo, each with its own server; skipped where they are absent."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from importlib.util import find_spec
from urllib.request import urlopen

import pytest

from tests.live.conftest import Opened

pytestmark = pytest.mark.browser
needs_jupyter = pytest.mark.skipif(find_spec("jupyterlab") is None, reason="no JupyterLab")
needs_marimo = pytest.mark.skipif(find_spec("marimo") is None, reason="no marimo")

CELL = """import mercer
from mercer import KernelPCA
from sklearn.datasets import load_iris
iris = load_iris()
w = mercer.live(KernelPCA(4).fit(iris.data), labels=iris.target)
w
"""
NOTEBOOK = {
    "cells": [
        {
            "cell_type": "code",
            "id": "one",
            "metadata": {},
            "source": CELL,
            "outputs": [],
            "execution_count": None,
        }
    ],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
MARIMO = f"""import marimo
app = marimo.App()


@app.cell
def _():
{"".join(f"    {line}" for line in CELL.splitlines(keepends=True))}    return


if __name__ == "__main__":
    app.run()
"""


@pytest.fixture
def serve(tmp_path):
    """Start a program that listens on a port, and wait for it; ended with the test."""
    running = []

    def start(*arguments):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        command = [sys.executable, "-m", *(text.format(port=port) for text in arguments)]
        home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        with (tmp_path / "log.txt").open("w") as log:
            look = {"cwd": tmp_path, "env": {**os.environ, **home}, "stdout": log, "stderr": log}
            done = subprocess.Popen(command, **look)
        running.append(done)
        end = time.monotonic() + 90
        while time.monotonic() < end:
            try:
                urlopen(f"http://127.0.0.1:{port}/", timeout=5).close()
                return f"http://127.0.0.1:{port}"
            except OSError:
                assert done.poll() is None, (tmp_path / "log.txt").read_text()
                time.sleep(0.3)
        raise AssertionError((tmp_path / "log.txt").read_text())

    yield start
    for one in running:
        one.terminate()
        one.wait(20)


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield context.new_page()
    context.close()


def check_room(page, share=0.4):
    """The map has its share of the widget, and is drawn."""
    box = page.locator(".ml-map").first.bounding_box()
    whole = page.locator(".ml-box").first.bounding_box()
    assert box["width"] > share * whole["width"], (box, whole)
    assert box["height"] > 250, box
    assert Opened(page).pixels(".ml-map").std() > 5
    # By locators, which also look into the shadow tree that marimo makes.
    style = {".ml-facts dt": ("float", "none"), ".ml-button": ("borderRadius", "7px")}
    for selector, (name, value) in style.items():
        seen = page.locator(selector).first.evaluate(f"e => getComputedStyle(e).{name}")
        assert seen == value, "the notebook's own style must not win"


@needs_jupyter
def test_jupyterlab(page, serve, tmp_path):
    path = tmp_path / "live.ipynb"
    path.write_text(json.dumps(NOTEBOOK))
    address = serve(
        *("jupyterlab", "--no-browser", "--port={port}", "--ServerApp.token="),
        *("--ServerApp.password=", "--allow-root", "--ServerApp.root_dir=."),
    )
    page.goto(f"{address}/lab/tree/live.ipynb")
    page.wait_for_selector("text=/[|] Idle/", timeout=90_000)
    for _ in range(4):  # a cell that is run before the kernel listens is forgotten
        page.click(".jp-Cell-inputArea .cm-content >> nth=0")
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(2000)
        if page.locator(".jp-InputPrompt >> nth=0").inner_text() != "[ ]:":
            break
    page.wait_for_selector(".ml-map canvas", timeout=90_000)
    page.wait_for_timeout(500)
    check_room(page)
    page.keyboard.press("Control+s")
    end = time.monotonic() + 30
    while "srcdoc" not in path.read_text():
        assert time.monotonic() < end, "the saved notebook has no page"
        page.wait_for_timeout(300)


@needs_jupyter
@pytest.mark.skipif(find_spec("nbconvert") is None, reason="no nbconvert")
def test_exported_notebook(page, tmp_path):
    """HTML of a notebook without a kernel: the page lives."""
    path = tmp_path / "live.ipynb"
    path.write_text(json.dumps(NOTEBOOK))
    # With the state of widgets in it, the notebook asks the web for their program.
    alone = "--ExecutePreprocessor.store_widget_state=False"
    command = [sys.executable, "-m", "nbconvert", "--execute", alone, "--to", "html", str(path)]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    page.goto(path.with_suffix(".html").as_uri(), wait_until="domcontentloaded")
    page.wait_for_selector("iframe[srcdoc]", state="attached", timeout=30_000)
    page.frame_locator("iframe[srcdoc]").locator(".ml-map canvas").first.wait_for(timeout=30_000)


@needs_marimo
def test_marimo(page, serve, tmp_path):
    (tmp_path / "live.py").write_text(MARIMO)
    arguments = ("--headless", "--no-token", "--port={port}", "live.py")
    page.goto(serve("marimo", "run", *arguments))
    page.wait_for_selector(".ml-map canvas", timeout=90_000)
    page.wait_for_timeout(500)
    check_room(page)
