"""Random right and wrong calls: a known status, one line of error, and nothing half-written."""

import contextlib
import io
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mercer as package
from mercer._base.catalogue import DENSITIES, KERNELS, PREIMAGES, SOLVERS, SPARSE_SOLVERS
from mercer.cli import main
from mercer.cli.run import mercer
from mercer.exceptions import ModelFileError
from tests.cli.conftest import NAMES, make_rows, write_csv
from tests.fuzz import ODD, cases, damaged, pick, run

MERCER = Path(sys.executable).with_name("mercer")
STATUSES = (0, 1, 2, 3, 4, 5, 130, 141)
COMMANDS = (
    "fit",
    "fit",
    "transform",
    "inverse",
    "denoise",
    "impute",
    "score",
    "novelty",
    "sample",
    "info",
    "convert",
    "plot",
    "fitt",
    "--version",
    "--nonsense",
)
DATA = (
    "train.csv",
    "test.csv",
    "labels.csv",
    "holes.csv",
    "x.npy",
    "two.npz",
    "x.parquet",
    "bad.csv",
    "bad.npy",
    "empty.csv",
    "none.csv",
    "images",
    "m.mercer",
    ".",
    "-",
    "",
    "a b;c.csv",
)
MODELS = (
    "m.mercer",
    "m.mercer",
    "n.mercer",
    "s.mercer",
    "bad.mercer",
    "none.mercer",
    "train.csv",
    ".",
    "",
)
TAME = ("train.csv", "test.csv", "x.npy", "x.parquet")
GOOD = {"novelty": "n.mercer", "sample": "s.mercer"}
OUTPUTS = (
    "out.csv",
    "out.npy",
    "out.npz",
    "out.parquet",
    "out.mercer",
    "out",
    "no/out.csv",
    "-",
    "out.png",
    "out.xls",
    "m.mercer",
    "images",
    "",
)
WORDS = (
    *NAMES,
    "kind",
    "age",
    "0",
    "1-2",
    "9",
    "-1",
    "1e999",
    "nan",
    "x;ls",
    "",
    "X",
    "ü",
    "auto",
    "0.9",
)
NUMBERS = tuple(map(str, (2, 3, 5, 0.5, 0.05, 1e-9, "scale", "median", "one", "", *ODD[:8])))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with data and models, good and bad, that every case gets a copy of."""
    folder = tmp_path_factory.mktemp("fuzz")
    X = make_rows(40)
    kind = np.where(X[:, 0] > 0, "right", "left")
    write_csv(folder / "train.csv", X)
    write_csv(folder / "test.csv", make_rows(9, seed=1))
    write_csv(folder / "labels.csv", X, label=kind)
    write_csv(folder / "holes.csv", np.where(np.eye(40, 4) > 0, np.nan, X))
    write_csv(folder / "a b;c.csv", X)
    np.save(folder / "x.npy", X)
    np.savez(folder / "two.npz", X=X, y=kind)
    (folder / "empty.csv").write_bytes(b"")
    for model in ("m", "n", "s"):
        extra = {"m": [], "n": ["--model", "novelty"], "s": ["--model", "generative"]}[model]
        call(
            ["fit", str(folder / "train.csv"), *extra, "-o", str(folder / f"{model}.mercer"), "-q"]
        )
    call(["convert", str(folder / "train.csv"), str(folder / "x.parquet")])
    scores = ["transform", str(folder / "m.mercer"), str(folder / "test.csv")]
    call([*scores, "-o", str(folder / "scores.csv")])
    rng = np.random.default_rng(0)
    for good, bad in (("train.csv", "bad.csv"), ("x.npy", "bad.npy"), ("m.mercer", "bad.mercer")):
        (folder / bad).write_bytes(damaged(rng, (folder / good).read_bytes()))
    from mercer.io.images import encode_png

    (folder / "images").mkdir()
    for i in range(6):
        image = rng.integers(0, 256, (4, 4), dtype=np.uint8)
        (folder / "images" / f"{i}.png").write_bytes(encode_png(image))
    return folder


def call(args):
    """Status, output and error of ``mercer ARGS`` in this process."""
    out, err = io.TextIOWrapper(io.BytesIO(), encoding="utf-8"), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = main(args)
    out.flush()
    return status, out.buffer.getvalue(), err.getvalue()


def spawn(args, cwd):
    """The same by the installed executable."""
    done = subprocess.run([MERCER, *args], cwd=cwd, input=b"", capture_output=True, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode()


def options_of(command):
    found = mercer.commands.get(command)
    return [] if found is None else [p for p in found.params if p.param_type_name == "option"]


def value_of(rng, option):
    """Mostly a value of the right kind."""
    known = {
        "--kernel": (*KERNELS, "matern:nu=2.5", "polynomial:degree=x", "gaussian:"),
        "--solver": (*SOLVERS, *SPARSE_SOLVERS),
        "--preimage": [*PREIMAGES],
        "--density": [*DENSITIES],
        "--model": ("kpca", "sparse", "novelty", "generative", "missing", "robust", "pca"),
        "--format": ("csv", "npy", "npz", "parquet", "xls"),
        "--output": OUTPUTS,
        "--checkpoint": ("state", "no/state", "train.csv", "."),
        "--landmarks": ("5", "20", "0", "x"),
        "--components": ("2", "0.9", "0", "1.5", "all", "100000"),
    }
    names = [name for name in option.opts if name in known]
    return pick(rng, known[names[0]] if names and rng.random() < 0.9 else (*WORDS, *NUMBERS))


def random_call(rng):
    """Half of them tame: files and values that belong together, so that the work itself is met."""
    tame = rng.random() < 0.5
    command = pick(rng, COMMANDS[:-3] if tame else COMMANDS)
    model = GOOD.get(command, "m.mercer") if tame else pick(rng, MODELS)
    data = pick(rng, TAME) if tame else pick(rng, DATA)
    output = f"out.{pick(rng, ('csv', 'npy', 'parquet'))}" if tame else pick(rng, OUTPUTS)
    args = {
        "fit": [data, "-o", "out.mercer"],
        "convert": [data, output],
        "info": [model],
        "sample": [model, "-o", output],
        "inverse": [model, "scores.csv" if tame else data],
        "plot": [pick(rng, ("scree", "embedding", "pie")), model, "-o", "out.png"],
    }.get(command, [model, data])
    args = [command, *args]
    if not tame and rng.random() < 0.2:
        args.pop(int(rng.integers(len(args))))
    options = [o for o in options_of(command) if o.name not in ("debug", "help", "output")]
    for _ in range(int(rng.integers(0, 3 if tame else 5)) if options else 0):
        option = pick(rng, options)
        args.append(pick(rng, option.opts))
        if not option.is_flag:
            args.append(value_of(rng, option))
    return args


def snapshot(folder):
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def check(args, status, err, before, after):
    """The law of the command line, for one call."""
    assert status in STATUSES, (args, status, err)
    assert "Traceback" not in err, (args, err)
    assert "fault of mercer" not in err, (args, err)
    errors = [line for line in err.splitlines() if line.startswith("mercer: error:")]
    if status in (1, 2, 3, 4):
        assert len(errors) == 1, (args, err)
        assert err.splitlines()[-1] == errors[0], (args, err)
        assert after == before or "--resume" in args, (args, set(after) ^ set(before))
    else:
        assert not errors, (args, status, err)
    new = {name for name in after if after[name] != before.get(name)}
    assert not [name for name in new if Path(name).name.startswith(".")], (args, new)


def check_written(args, folder, before, after):
    for name in after:
        if name.endswith(".mercer") and after[name] != before.get(name):
            try:
                package.load(folder / name)
            except ModelFileError as error:
                raise AssertionError(f"{args}: {name} cannot be loaded: {error}") from error
        if name.endswith(".npy") and after[name] != before.get(name):
            np.load(folder / name, allow_pickle=False)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seeds", cases(40, 1000))
def test_random_calls(seeds, place, tmp_path, monkeypatch):
    before = snapshot(place)
    folder = tmp_path / "work"

    def case(rng):
        args = random_call(rng)
        shutil.copytree(place, folder)
        monkeypatch.chdir(folder)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"")))
        try:
            status, _, err = call(args)
            after = snapshot(folder)
            check(args, status, err, before, after)
            if status == 0:
                check_written(args, folder, before, after)
        except SystemExit as error:
            raise AssertionError(f"{args}: {error!r}") from error
        finally:
            monkeypatch.chdir(tmp_path)
            shutil.rmtree(folder)

    run(seeds, case, "tests/cli/test_fuzz.py -k random_calls")


@pytest.mark.parametrize("seeds", cases(2, 15))
def test_random_calls_of_the_executable(seeds, place, tmp_path):
    before = snapshot(place)
    folder = tmp_path / "work"

    def case(rng):
        args = random_call(rng)
        if any("\0" in arg for arg in args):
            return
        shutil.copytree(place, folder)
        try:
            status, _, err = spawn(args, folder)
            check(args, status, err, before, snapshot(folder))
        finally:
            shutil.rmtree(folder)

    run(seeds, case, "tests/cli/test_fuzz.py -k executable")
