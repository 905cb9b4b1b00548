"""The live page in Chromium: how it follows the hand, on digits and on 100,000 points.

Needs the group ``browser`` and Debian's ``chromium``; the renderer is software.
"""

from __future__ import annotations

import base64
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._measure import table
from mercer import KernelPCA
from mercer.live import describe, pack, write_html

ARGUMENTS = [
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-gpu-compositing",
    "--disable-background-networking",
]

# From the moment at which the hand has moved to the picture on its canvas.
DRAG = """async () => {
  const { app } = mercerLive;
  app.show("drag");
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  for (let k = 0; k < 10; k++) await frame();
  const box = app.map.canvas.getBoundingClientRect();
  const at = () => app.map.toPixels(...app.map.probe);
  const send = (kind, [x, y]) => app.map.canvas.dispatchEvent(new PointerEvent(kind, {
    clientX: box.left + x, clientY: box.top + y, pointerId: 7, bubbles: true, button: 0 }));
  const start = at();
  send("pointerdown", start);
  const seen = [];
  let done = null;
  app.on("probe", () => done?.());
  for (let k = 1; k <= 120; k++) {
    const drawn = new Promise((resolve) => { done = resolve; });
    // A hand moves when it likes, not when the screen is ready.
    await new Promise((go) => setTimeout(go, (k * 7) % 16));
    const moved = performance.now();
    send("pointermove", [start[0] + 40 * Math.sin(k / 9), start[1] + 40 * Math.cos(k / 7) - 40]);
    await drawn;
    seen.push(performance.now() - moved);
  }
  send("pointerup", at());
  return seen;
}"""

WIDTH = """async () => {
  const { app } = mercerLive;
  app.show("knobs");
  app.refit({});
  while (!app.fits) await new Promise((go) => setTimeout(go, 20));
  const [before, started] = [app.fits, performance.now()];
  for (let k = 0; performance.now() - started < 4000; k++) {
    app.refit({ width: 2 ** (1.5 * Math.sin(k / 40)) });
    await new Promise((go) => requestAnimationFrame(go));
  }
  return { rate: (app.fits - before) / 4, rows: app.current.n };
}"""

PAN = """async () => {
  const { map } = mercerLive.app;
  const started = performance.now();
  let frames = 0;
  while (performance.now() - started < 4000) {
    map.view.cx += 0.002;
    map.draw();
    await new Promise((go) => requestAnimationFrame(go));
    frames += 1;
  }
  return frames / 4;
}"""


def main() -> None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        sys.exit("give the group browser: uv run --group browser python -m benchmarks live")
    program = shutil.which("chromium")
    if program is None:
        sys.exit("there is no chromium; apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        try:
            rows = [*_digits(browser, Path(folder)), *_many(browser, Path(folder))]
        finally:
            browser.close()
    table(["what", "measured", "asked"], rows)


def _digits(browser: Any, folder: Path) -> list[list[str]]:
    from sklearn.datasets import load_digits

    digits = load_digits()
    model = KernelPCA(20).fit(digits.data / 16)
    path = write_html(model, folder / "digits.html", labels=digits.target, images=(8, 8))
    page = _open(browser, path)
    drags = page.evaluate(DRAG)
    width = page.evaluate(WIDTH)
    page.close()
    numbers = len(base64.b64encode(pack(describe(model))[1]))
    size = path.stat().st_size
    high = float(np.quantile(drags, 0.95))
    return [
        ["digits: drag to new picture, median", f"{statistics.median(drags):.1f} ms", "20 ms"],
        ["digits: drag to new picture, 95 %", f"{high:.1f} ms", "50 ms"],
        [f"width drag on {width['rows']} rows", f"{width['rate']:.1f} / s", "10 / s"],
        ["page beside the model's numbers", f"{(size - numbers) / 1e3:.0f} kB", "400 kB"],
        ["page of digits, with them", f"{size / 1e3:.0f} kB", ""],
    ]


def _many(browser: Any, folder: Path) -> list[list[str]]:
    rng = np.random.default_rng(0)
    centres = 2 * rng.standard_normal((8, 5))
    labels = rng.integers(0, 8, 100_000)
    X = centres[labels] + 0.5 * rng.standard_normal((100_000, 5))
    model = KernelPCA(4, solver="landmarks", random_state=0).fit(X[:5000])
    page = _open(browser, write_html(model, folder / "many.html", X, labels=labels))
    drawn = page.evaluate("() => mercerLive.app.map.firstPainted / 1000")
    frames = page.evaluate(PAN)
    page.close()
    return [
        ["100,000 points: first drawn", f"{drawn:.2f} s", "1.5 s"],
        ["100,000 points: panned", f"{frames:.0f} frames / s", "20 / s"],
    ]


def _open(browser: Any, path: Path) -> Any:
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.goto(path.as_uri())
    while not page.evaluate("() => Boolean(window.mercerLive?.app.map.painted)"):
        page.wait_for_timeout(20)
    return page
