"""`mercer demo` as users run it: the installed executable, in a folder of their own."""

import os
import resource
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

MERCER = Path(sys.executable).with_name("mercer")
TIMEOUT = 120
SVG = "{http://www.w3.org/2000/svg}"


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


def test_demo_prints_the_spectrum_and_writes_a_picture(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for word in ("Spectrum", "eigenvalue", "share", "kernel", "components", "solver", "residual"):
        assert word in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["mercer-demo"]
    assert [path.name for path in (tmp_path / "mercer-demo").iterdir()] == ["embedding.svg"]
    picture = ElementTree.parse(tmp_path / "mercer-demo" / "embedding.svg").getroot()
    rows, panels, classes = 1797, 2, 10
    expected = panels * (rows + classes) + classes
    assert picture.tag == f"{SVG}svg"
    assert len(picture.findall(f".//{SVG}circle")) == expected


def test_demo_into_another_folder_twice(tmp_path):
    """The second run, on a terminal without Unicode, replaces the picture by an equal one."""
    first = run("demo", "--output", "a/b", cwd=tmp_path)
    before = (tmp_path / "a" / "b" / "embedding.svg").read_text(encoding="utf-8")
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    second = run("demo", "--output", "a/b", cwd=tmp_path, env=ascii_only)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    assert (tmp_path / "a" / "b" / "embedding.svg").read_text(encoding="utf-8") == before
    assert not (tmp_path / "mercer-demo").exists()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["demo", "--colour"], ["--colour", "mercer demo --help"]),
        (["demo", "extra"], ["extra", "mercer demo --help"]),
        (["dmeo"], ["dmeo", "mercer --help"]),
        (["--nonsense"], ["--nonsense", "mercer --help"]),
        (["demo", "--output"], ["--output", "--help"]),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(tmp_path, args, words):
    done = run(*args, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert_one_line(done.stderr, *words)
    assert not list(tmp_path.iterdir())


def test_output_that_is_a_file(tmp_path):
    (tmp_path / "taken").write_text("mine")
    done = run("demo", "--output", "taken", cwd=tmp_path)
    assert done.returncode == 2
    assert_one_line(done.stderr, "taken", "file")
    assert (tmp_path / "taken").read_text() == "mine"


def test_output_that_cannot_be_made_is_refused_before_the_fit(tmp_path):
    (tmp_path / "taken").write_text("mine")
    begin = time.monotonic()
    done = run("demo", "--output", "taken/below", cwd=tmp_path)
    assert done.returncode == 1
    assert_one_line(done.stderr, "taken/below", "--output")
    assert time.monotonic() - begin < 10


def test_debug_adds_the_traceback_and_keeps_the_last_line(tmp_path):
    (tmp_path / "taken").write_text("mine")
    done = run("demo", "--debug", "--output", "taken/below", cwd=tmp_path)
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("mercer: error: ")


def test_a_full_disk_keeps_the_old_picture(tmp_path):
    folder = tmp_path / "mercer-demo"
    folder.mkdir()
    (folder / "embedding.svg").write_text("old")

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = run("demo", cwd=tmp_path, preexec_fn=limit)
    assert done.returncode == 1
    assert_one_line(done.stderr, "error")
    assert [path.name for path in folder.iterdir()] == ["embedding.svg"]
    assert (folder / "embedding.svg").read_text() == "old"


@pytest.mark.parametrize("args", [["demo"], ["--help"]])
def test_a_closed_pipe_is_quiet(tmp_path, args):
    process = start(*args, cwd=tmp_path)
    process.stdout.close()
    assert process.wait(TIMEOUT) == 141
    assert process.stderr.read() == ""
    process.stderr.close()


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "SIGTERM"]
)
@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_signals_end_it_at_once(tmp_path, number, status, delay):
    process = start("demo", cwd=tmp_path)
    while not (tmp_path / "mercer-demo").exists():
        assert process.poll() is None
        time.sleep(0.005)
    time.sleep(delay)
    process.send_signal(number)
    begin = time.monotonic()
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == status, out + err
    assert_one_line(err)
    assert time.monotonic() - begin < 10  # a second on an idle machine
    assert not list((tmp_path / "mercer-demo").iterdir())
