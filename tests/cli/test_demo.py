"""`mercer demo` as users run it: the installed executable, in a folder of their own."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import mercer as package
from mercer.cli.demo.report import curve, montage, scatter, spectrum

MERCER = Path(sys.executable).with_name("mercer")
TIMEOUT = 600
MODELS = {"embedding", "denoiser", "sparse", "generator", "novelty"}


def run(*args, cwd, **options):
    return subprocess.run(
        [MERCER, *args], cwd=cwd, capture_output=True, text=True, timeout=TIMEOUT, **options
    )


def start(*args, cwd, **options):
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [MERCER, *args], cwd=cwd, stdout=pipe, stderr=pipe, text=True, **options
    )


def assert_one_line(text, *words):
    assert text.startswith("mercer: ")
    assert text.count("\n") == 1, text
    assert "Traceback" not in text
    for word in words:
        assert word in text


class Page(HTMLParser):
    """Collects tags, checks that they are closed, and keeps what they point to."""

    def __init__(self, text):
        super().__init__()
        self.open, self.links, self.tags = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("br", "img", "meta"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.slow
def test_the_whole_demo(tmp_path):
    """Figures that a better method than the rivals' must show, a page that needs nothing else."""
    done = run("demo", cwd=tmp_path, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    folder = tmp_path / "mercer-demo"
    assert {path.name for path in folder.iterdir()} == {
        "report.html", "live.html", *(f"{name}.mercer" for name in MODELS)
    }  # fmt: skip
    line = r"(noisy|linear PCA|\S+ KernelPCA)\W+(0\.\d+)\W+[\d.]+%\W+(0\.\d+)"
    figures = {name: (gauss, speckle) for name, gauss, speckle in re.findall(line, done.stdout)}
    assert len(figures) == 4
    ours = figures.pop("mercer KernelPCA")
    assert all(ours[i] < rival[i] for rival in figures.values() for i in (0, 1))
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert page.open == []
    assert page.tags.count("img") == 19
    assert "script" not in page.tags
    links = [link for link in page.links if not link.startswith("data:image/png")]
    assert links == ["live.html"]
    for name in MODELS:
        package.load(folder / f"{name}.mercer")


def test_output_that_is_a_file(tmp_path):
    (tmp_path / "taken").write_text("mine")
    done = run("demo", "--output", "taken", cwd=tmp_path)
    assert done.returncode == 2
    assert_one_line(done.stderr, "taken", "file")
    done = run("demo", "--debug", "--output", "taken/below", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert_one_line(done.stderr.splitlines()[-1] + "\n", "taken/below", "--output")
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_disk_that_is_full_keeps_the_old_report(tmp_path, monkeypatch, capsys):
    """The work is left out here: what is tested is the writing."""
    from mercer.cli import main
    from mercer.cli.demo import report, study

    folder = tmp_path / "mercer-demo"
    folder.mkdir()
    (folder / "report.html").write_text("old")

    class Nothing:
        digits = SimpleNamespace(X_test=None, y_test=None)
        embedding = SimpleNamespace(to_html=lambda *_, **__: None)
        models = SimpleNamespace(items=list)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(study, "run", Nothing)
    monkeypatch.setattr(report, "render", lambda results: "new" * 4000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        status = main(["demo"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert status == 1
    assert_one_line(capsys.readouterr().err, "too large")
    assert [path.name for path in folder.iterdir()] == ["report.html"]
    assert (folder / "report.html").read_text() == "old"


@pytest.mark.parametrize(
    ("number", "status"),
    [
        pytest.param(signal.SIGINT, 130, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, 143, id="SIGTERM", marks=pytest.mark.slow),
    ],
)
def test_signals_end_it_at_once(tmp_path, number, status):
    process = start("demo", cwd=tmp_path)
    while not (tmp_path / "mercer-demo").exists():
        assert process.poll() is None
        time.sleep(0.005)
    time.sleep(1.5)
    process.send_signal(number)
    begin = time.monotonic()
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == status, out + err
    assert_one_line(err)
    assert time.monotonic() - begin < 10  # a second on an idle machine
    assert not list((tmp_path / "mercer-demo").iterdir())


def test_charts_are_well_formed():
    import xml.etree.ElementTree as ElementTree

    rng = np.random.default_rng(0)
    labels = np.array(["<b>", "&"] * 10)
    for points in (rng.standard_normal((20, 2)), np.zeros((20, 2)), 1e300 * np.ones((20, 2))):
        root = ElementTree.fromstring(scatter(points, labels, ("<x>", '"y"')))
        marks = [node for node in root.iter() if node.attrib.get("class") == "mark"]
        assert [node.text for node in marks] == ["&", "<b>"]
        x = [float(node.attrib["x"]) for node in marks]
        assert np.isfinite(x).all()
    ElementTree.fromstring(spectrum(np.array([0.5, 0.3, 0.1])))
    ElementTree.fromstring(curve(np.array([[0, 1], [0, 1]]), (0.1, 0.9), ("a", "b")))
    assert montage(rng.random((3, 64)), 2, 'a "label"').count("&quot;") == 2
