"""A browser for the tests of the page: Chromium, driven by Playwright."""

from __future__ import annotations

import io
import os
import shutil
import time
from collections.abc import Iterator
from importlib.util import find_spec
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
    # Where its renderer falls over, on a machine that is busy, a page may have another.
    "--disable-domain-blocking-for-3d-apis",
    "--disable-gpu-process-crash-limit",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
]


def _program() -> str | None:
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


def _why_not() -> str | None:
    """What is missing for a browser, with a remedy; None if nothing is."""
    if _program() is None:
        return "no chromium on this machine; install it (apt-get install chromium)"
    if find_spec("playwright") is None:
        return "no playwright; run with --group browser"
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without a browser: one skip that speaks for all of these tests."""
    reason = _why_not()
    if reason is None or os.environ.get("MERCER_REQUIRE_BROWSER"):
        return
    browsing = [item for item in items if item.get_closest_marker("browser")]
    for item in browsing[:1]:
        text = f"{len(browsing)} tests of the live page in a browser: {reason}"
        item.add_marker(pytest.mark.skip(reason=text))
    config.hook.pytest_deselected(items=browsing[1:])
    items[:] = [item for item in items if item not in browsing[1:]]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a screen, in its software renderer."""
    reason = _why_not()
    if reason is not None:  # only where MERCER_REQUIRE_BROWSER makes it a failure
        pytest.fail(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=_program(), args=ARGUMENTS)
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
