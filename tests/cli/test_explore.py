"""``mercer explore`` as a process: its address, how it stops, and what it refuses."""

import concurrent.futures
import contextlib
import http.client
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")

MERCER = Path(sys.executable).with_name("mercer")


@pytest.mark.parametrize(
    ("number", "status"),
    [
        pytest.param(signal.SIGINT, 130, id="ctrl-c"),
        pytest.param(signal.SIGTERM, 143, id="term", marks=pytest.mark.slow),
    ],
)
def test_serves_until_it_is_stopped(tmp_path, number, status):
    """The printed address works, the same without its token does not; nothing is left behind."""
    (tmp_path / "x.csv").write_text("a,b\n1,2\n3,4\n5,7\n")
    folder = tmp_path / "temporary"
    folder.mkdir()
    server = subprocess.Popen(
        [MERCER, "explore", "x.csv", "--no-browser"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    try:
        url = server.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert b"live.js" in answer.read()
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url.partition("?")[0], timeout=60)
        assert refused.value.code == 403
        refused.value.close()
        assert len(list(folder.iterdir())) == 1
        with _busy(url):  # it is stopped in the middle of an answer
            server.send_signal(number)
            _, said = server.communicate(timeout=60)
    finally:
        server.kill()
        server.wait()
    assert server.returncode == status
    assert "Traceback" not in said
    assert not list(folder.iterdir())


@contextlib.contextmanager
def _busy(url):
    """Ask for the page again and again until the end of the block."""
    over = threading.Event()

    def ask():
        while not over.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException):
                urllib.request.urlopen(url, timeout=1).close()

    with concurrent.futures.ThreadPoolExecutor(3) as pages:
        for _ in range(3):
            pages.submit(ask)
        time.sleep(0.3)
        try:
            yield
        finally:
            over.set()


def test_what_is_refused(mercer, tmp_path):
    mercer.fails("explore", "--host", "0.0.0.0", status=2, words=["--token"])
    mercer.fails("explore", "--host", "0.0.0.0", "--token", "short", status=3, words=["16"])
    mercer.fails("explore", tmp_path / "none.csv", status=1, words=["none.csv"])
