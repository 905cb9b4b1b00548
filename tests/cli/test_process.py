"""The installed executable: pipes, signals, full disks, and fits that are stopped and resumed."""

import gzip
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mercer as package
from mercer import KernelPCA
from mercer.solvers import Landmarks
from tests.cli.conftest import make_rows, write_csv

MERCER = Path(sys.executable).with_name("mercer")
TIMEOUT = 120
LONG = ("--landmarks", "250", "--components", "5", "--width", "1.5")


def run(*args, cwd, status=0, **options):
    options = {"capture_output": True, "timeout": TIMEOUT, "cwd": cwd, **options}
    done = subprocess.run([MERCER, *map(str, args)], **options)
    assert done.returncode == status, done
    return done


def start(*args, cwd, **options):
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [MERCER, *map(str, args)], cwd=cwd, stdout=pipe, stderr=pipe, text=True, **options
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a table, a model, and a file whose fit takes a while."""
    folder = tmp_path_factory.mktemp("place")
    write_csv(folder / "train.csv", make_rows())
    run("fit", "train.csv", "--components", 5, "-q", cwd=folder)
    rng = np.random.default_rng(0)
    np.save(folder / "long.npy", rng.standard_normal((500_000, 8)).astype(np.float32))
    return folder


def test_from_pipe_to_pipe(place):
    """The model's default name; CSV in, NumPy out, and the same through a shell's pipe."""
    assert (place / "train.mercer").is_file()
    expected = KernelPCA(5, random_state=0).fit(make_rows()).transform(make_rows())
    table = (place / "train.csv").read_bytes()
    done = run("transform", "train.mercer", "-", cwd=place, input=table)
    found = np.loadtxt(done.stdout.decode().splitlines()[1:], delimiter=",")
    np.testing.assert_array_equal(found, expected)
    first = f"{MERCER} convert train.csv - --format npy"
    line = f"{first} | {MERCER} denoise train.mercer - --format npy > x.npy"
    restored = subprocess.run(
        ["sh", "-c", line], cwd=place, timeout=TIMEOUT, check=True, capture_output=True
    )
    assert restored.stderr == b""
    np.testing.assert_array_equal(
        np.load(place / "x.npy"), KernelPCA(5, random_state=0).fit(make_rows()).denoise(make_rows())
    )


def test_a_reader_that_goes_away(place):
    process = start("transform", "train.mercer", "train.csv", cwd=place)
    process.stdout.close()
    assert process.wait(TIMEOUT) == 141
    assert process.stderr.read() == ""
    process.stderr.close()


def test_nothing_on_standard_input(place):
    pytest.importorskip("pty")
    import pty

    _, terminal = pty.openpty()
    done = run("transform", "train.mercer", "-", cwd=place, status=2, stdin=terminal)
    assert b"nothing is piped" in done.stderr
    os.close(terminal)


def test_completion(place):
    environment = {**os.environ, "_MERCER_COMPLETE": "bash_source"}
    script = run(cwd=place, env=environment).stdout.decode()
    assert "complete" in script
    environment = {
        **os.environ, "_MERCER_COMPLETE": "bash_complete", "COMP_WORDS": "mercer fit --mo",
        "COMP_CWORD": "2",
    }  # fmt: skip
    assert "--model" in run(cwd=place, env=environment).stdout.decode()


def full_disk():
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))


@pytest.mark.parametrize(
    ("args", "old"),
    [
        (["fit", "train.csv", "-o", "{}.mercer", "--force", "-q"], ".mercer"),
        (["transform", "train.mercer", "train.csv", "-o", "{}.csv", "--force"], ".csv"),
    ],
    ids=["fit", "transform"],
)
def test_a_full_disk_keeps_the_old_file(place, args, old):
    target = place / f"kept{old}"
    target.write_text("old")
    before = sorted(path.name for path in place.iterdir())
    args = [arg.format("kept") for arg in args]
    done = run(*args, cwd=place, status=1, preexec_fn=full_disk)
    assert done.stderr.startswith(b"mercer: error: File too large")
    assert done.stderr.count(b"\n") == 1
    assert target.read_text() == "old"
    assert sorted(path.name for path in place.iterdir()) == before


def test_a_device_that_is_full(place):
    """Both when standard output is one, and (in tests/cli/test_writing.py) as a named output."""
    with Path("/dev/full").open("wb") as device:
        streams = {"capture_output": False, "stdout": device, "stderr": subprocess.PIPE}
        done = run("transform", "train.mercer", "train.csv", cwd=place, status=1, **streams)
    assert b"No space left" in done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_refused_before_the_fit(place):
    locked = place / "locked"
    locked.mkdir(mode=0o555, exist_ok=True)
    begin = time.monotonic()
    done = run("fit", "long.npy", *LONG, "-o", "locked/m.mercer", cwd=place, status=1)
    assert b"locked" in done.stderr
    assert time.monotonic() - begin < 5


def test_two_writers_of_one_output(place):
    """Whoever is last wins; the file is never a mixture."""
    processes = [
        start(
            "transform", "train.mercer", "train.csv", "-o", "both.csv", "--force", "-q", cwd=place
        )
        for _ in range(2)
    ]
    assert [process.wait(TIMEOUT) for process in processes] == [0, 0]
    for process in processes:
        process.communicate()
    found = np.loadtxt(place / "both.csv", delimiter=",", skiprows=1)
    expected = KernelPCA(5, random_state=0).fit(make_rows()).transform(make_rows())
    np.testing.assert_array_equal(found, expected)
    assert not [path for path in place.iterdir() if path.name.startswith(".")]


def wait_for(path, process):
    begin = time.monotonic()
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - begin < TIMEOUT
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)],
    ids=["Ctrl-C", "SIGTERM", "SIGKILL"],
)
def test_a_stopped_fit_is_resumed(mercer, place, tmp_path, number, status):
    target, state = tmp_path / "m.mercer", tmp_path / "m.mercer.checkpoint"
    process = start("fit", "long.npy", *LONG, "-o", target, cwd=place)
    wait_for(state, process)
    time.sleep(0.05)
    process.send_signal(number)
    begin = time.monotonic()
    err = process.communicate(timeout=TIMEOUT)[1]
    assert time.monotonic() - begin < 5  # a second on an idle machine
    assert process.returncode == status, err
    # Whoever is killed while it saves leaves a hidden file, until the fit is done.
    left = [path.name for path in tmp_path.iterdir() if status > 0 or path.name[0] != "."]
    assert left == [state.name]
    (tmp_path / f".{state.name}.{'0' * 32}").touch()
    if status > 0:
        assert "--resume" in err
        assert "Traceback" not in err
    data = place / "long.npy"
    mercer.fails("fit", data, *LONG, "-q", "-o", target, status=1, words=["--resume"])
    mercer.fails(
        "fit", data, *LONG[:-1], 3, "-q", "-o", target, "--resume", status=3, words=["other data"]
    )
    mercer("fit", data, *LONG, "-o", target, "--resume", "-q")
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    np.testing.assert_array_equal(package.load(target).subspace_.coef, whole_fit(place))


def test_a_near_exact_fit_is_resumed(mercer, tmp_path):
    """The products of its passes are kept, too."""
    rows = np.random.default_rng(0).standard_normal((9000, 4))
    np.save(tmp_path / "rows.npy", rows)
    options = ("--raw", "--components", 4, "--solver", "davidson", "--seed", 0, "-q")
    target, state = tmp_path / "m.mercer", tmp_path / "m.mercer.checkpoint"
    process = start("fit", "rows.npy", *options, "-o", target, cwd=tmp_path)
    wait_for(state, process)
    process.kill()
    process.communicate(timeout=TIMEOUT)
    data = tmp_path / "rows.npy"
    mercer.fails("fit", data, *options, "-o", target, status=1, words=["--resume"])
    mercer("fit", data, *options, "-o", target, "--resume")
    mercer("fit", data, *options, "-o", tmp_path / "whole.mercer")
    assert not state.exists()
    resumed, whole = (package.load(path) for path in (target, tmp_path / "whole.mercer"))
    np.testing.assert_array_equal(resumed.subspace_.coef, whole.subspace_.coef)


_whole = {}


def whole_fit(place):
    """The coefficients of the fit that nobody stopped, by the Python API."""
    if not _whole:
        from mercer.kernels import Gaussian

        model = KernelPCA(5, kernel=Gaussian(width=1.5), solver=Landmarks(250), random_state=0)
        _whole["coef"] = model.fit(place / "long.npy").subspace_.coef
    return _whole["coef"]


def test_ctrl_c_twice(place, tmp_path):
    process = start("fit", "long.npy", *LONG, "-o", tmp_path / "m.mercer", cwd=place)
    wait_for(tmp_path / "m.mercer.checkpoint", process)
    process.send_signal(signal.SIGINT)
    time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    out, err = process.communicate(timeout=TIMEOUT)
    assert process.returncode == 130, out + err
    assert "Traceback" not in err
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize("source", ["-", "rows.csv.gz"])
def test_a_killed_command_leaves_no_unpacked_file(place, tmp_path, source):
    """What is piped in, or unpacked, lies in a temporary file; gigabytes of it stayed for good."""
    text = b"a,b,c\n" + b"1.25,2.5,%d\n" * 3 % (1, 2, 3)
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text))
    os.mkfifo(tmp_path / "out.csv")  # nobody reads it, so that the command waits
    process = start(
        "convert",
        source,
        "out.csv",
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    process.stdin.write(text.decode())
    process.stdin.close()
    process.stdin = None
    wait_until(lambda: list(tmp_path.glob("mercer-*/*.csv")))
    process.kill()
    process.communicate(timeout=TIMEOUT)
    wait_until(lambda: not list(tmp_path.glob("mercer-*")))


def wait_until(condition):
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_python_m_mercer():
    done = subprocess.run(
        [sys.executable, "-m", "mercer", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("mercer, version ")
