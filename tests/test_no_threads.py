"""A Python in a browser has no threads, and neither `fcntl` nor `resource`: twenty operations."""

import json
import subprocess
import sys

import pytest

TAKEN_AWAY = """
import sys, threading, tempfile
from pathlib import Path

def refuse(*_, **__):
    raise RuntimeError("can't start new thread")

threading.Thread.start = refuse
sys.modules["fcntl"] = sys.modules["resource"] = None

import numpy as np
import mercer
from mercer.kernels import Gaussian

folder = Path(tempfile.mkdtemp())
X = np.random.default_rng(0).normal(size=(60, 3))
Q = X[:7] + 0.1
Y = Q.copy()
Y[0, 1] = np.nan
frame = {"age": [31.0, 52.0, 24.0, 47.0, 38.0] * 6, "city": ["Oslo", "Rome", "Bonn"] * 10}
"""
CSV = 'np.savetxt(folder / "x.csv", X, delimiter=",", header="a,b,c", comments=""); '
SHELL = "from mercer.cli import main; "
OPERATIONS = {
    "fit": "mercer.KernelPCA(3).fit(X)",
    "dense": "mercer.KernelPCA(3, solver='dense').fit(X)",
    "davidson": "mercer.KernelPCA(3, solver='davidson').fit(X)",
    "landmarks": "mercer.KernelPCA(3, solver='landmarks').fit(X)",
    "transform": "mercer.KernelPCA(3).fit(X).transform(Q)",
    "inverse_transform": "m = mercer.KernelPCA(3).fit(X); m.inverse_transform(m.transform(Q))",
    "denoise": "mercer.KernelPCA(3).fit(X).denoise(Q)",
    "impute": "mercer.KernelPCA(3).fit(X).impute(Y)",
    "score": "mercer.KernelPCA(3).fit(X).score(Q)",
    "tune": "mercer.KernelPCA(3).tune(X, noise=0.3)",
    "relevance": "mercer.KernelPCA(3).fit(X).relevance()",
    "novelty": "mercer.KernelNovelty().fit(X).p_values(Q)",
    "sample": "mercer.GenerativeKernelPCA(3).fit(X).sample(5)",
    "missing": "mercer.MissingKernelPCA().fit(np.vstack([X, Y]))",
    "sparse": "mercer.SparseKernelPCA().fit(X)",
    "incremental": "mercer.IncrementalKernelPCA(3, kernel=Gaussian(gamma=0.3)).partial_fit(X)",
    "save and load": "mercer.load(mercer.KernelPCA(3).fit(X).save(folder / 'm.mercer'))",
    "table": "mercer.TableModel(mercer.KernelPCA(2)).fit(frame).denoise(frame)",
    "live page": "mercer.KernelPCA(3).fit(X).to_html(folder / 'm.html')",
    "command line": CSV + SHELL + "assert main(['fit', str(folder / 'x.csv'), '-o', "
    "str(folder / 'c.mercer')]) in (0, None)",
}


RUN = """
import json
outcomes = {}
for name, code in json.loads(sys.argv[1]).items():
    try:
        exec(code)
        outcomes[name] = "works"
    except BaseException as error:
        outcomes[name] = repr(error)
(Path(sys.argv[2])).write_text(json.dumps(outcomes))
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of each, in one process that has nothing else."""
    path = tmp_path_factory.mktemp("browser") / "outcomes.json"
    command = [sys.executable, "-c", TAKEN_AWAY + RUN, json.dumps(OPERATIONS), str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads(path.read_text())


@pytest.mark.parametrize("name", OPERATIONS)
def test_works_where_no_thread_can_be_started(name, outcomes):
    assert outcomes[name] == "works"
