"""A browser for the tests of the page: Chromium, driven by Playwright."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

ARGUMENTS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    # Without a graphics card the page is put together by the processor, as on such a machine.
    "--disable-gpu-compositing",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


def _missing(reason: str) -> None:
    """No browser: a skip with one clear line, and a failure where one is required."""
    if os.environ.get("MERCER_REQUIRE_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a screen, in its software renderer."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
    if program is None:
        _missing("no chromium on this machine; install it (apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("no playwright; run with --group browser")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield opened
        opened.close()


class Opened:
    """A page without network, and all that it complained of or asked for."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.problems: list[str] = []
        self.requests: list[str] = []
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def _console(self, message: Any) -> None:
        # The software renderer remarks on its own speed.
        if message.type in ("error", "warning") and "GL Driver Message" not in message.text:
            self.problems.append(message.text)

    def visit(self, path: Path, fragment: str = "") -> Any:
        """Open a file, and wait until the model is on the screen."""
        self.page.goto(path.resolve().as_uri() + fragment)
        self.until("window.mercerLive?.app.map.painted > 0")
        return self.page

    def until(self, expression: str, seconds: float = 30) -> None:
        """Wait until something holds. (Playwright's own way needs eval, which is forbidden.)"""
        end = time.monotonic() + seconds
        while not self.page.evaluate(f"() => Boolean({expression})"):
            assert time.monotonic() < end, f"not after {seconds} s: {expression}; {self.problems}"
            self.page.wait_for_timeout(20)

    def pixels(self, selector: str) -> np.ndarray:
        """What the screen shows of an element, (height, width, 3)."""
        picture = self.page.locator(selector).first.screenshot()
        return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"))

    def check(self) -> None:
        """Nothing was complained of, and nothing fetched but the file itself."""
        assert not self.problems, self.problems
        foreign = [url for url in self.requests if not url.startswith(("file:", "blob:", "data:"))]
        assert not foreign, foreign


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    """A page of 1280 × 860 pixels, offline; checked when the test is over."""
    context = browser.new_context(viewport={"width": 1280, "height": 860}, offline=True)
    view = Opened(context.new_page())
    yield view
    context.close()
    view.check()
