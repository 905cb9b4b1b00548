"""Shared fixtures, and threads divided among the test processes."""

import os
import sys
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import scipy.linalg  # noqa: F401  so that SciPy's BLAS is loaded when the threads are limited
from threadpoolctl import threadpool_limits

WORKERS = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0"))
if WORKERS:
    # Two processes that both use every core run several times slower than two that share them.
    share = max(1, (os.cpu_count() or 1) // WORKERS)
    threadpool_limits(share)
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, str(share))  # for the programs that tests start
# A test that draws must never look for a screen.
os.environ.setdefault("MPLBACKEND", "Agg")

ROOT = Path(__file__).resolve().parents[1]

# Deadlines measure the machine, not the code; fixed examples make a failure repeat.
hypothesis.settings.register_profile("mercer", deadline=None, derandomize=True)
hypothesis.settings.load_profile("mercer")


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(20260101)


def pytest_runtest_teardown() -> None:
    """Close all figures; matplotlib warns of more than twenty. A fixture would upset hypothesis."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the real data sets, named by MERCER_DATA (default: beside the project).

    A test that needs it is skipped where it is absent, and fails there if MERCER_REQUIRE_DATA is
    set, so that CI cannot lose those tests unnoticed.
    """
    folder = ROOT / os.environ.get("MERCER_DATA", "../shared/data")
    if not (folder / "usps.npz").is_file():
        reason = f"no real data in {folder}; set MERCER_DATA to the folder that holds usps.npz"
        if os.environ.get("MERCER_REQUIRE_DATA"):
            pytest.fail(reason)
        pytest.skip(reason)
    return folder.resolve()
