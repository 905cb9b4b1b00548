"""How long a fit is estimated to take, and a budget of time that ``Auto`` keeps to."""

import numpy as np
import pytest

from mercer import KernelPCA
from mercer._base import machine
from mercer._base.machine import time_text
from mercer.exceptions import DataError
from mercer.solvers import Auto, Davidson, Dense, Lanczos, Landmarks, davidson, lanczos, landmarks


@pytest.fixture(autouse=True)
def two_cores(monkeypatch):
    for module in (machine, davidson, lanczos, landmarks):
        monkeypatch.setattr(module, "n_threads", lambda: 2)


def of_size(n, d, dtype=np.float64):
    return np.broadcast_to(np.zeros(1, dtype), (n, d))


#: Rows, columns, and the seconds that 20 components took on two cores (docs: benchmarks).
MEASURED = [(2_000, 64, 0.077), (5_000, 64, 0.15), (10_000, 64, 0.38), (20_000, 64, 1.4)]
MEASURED += [(5_000, 784, 0.34), (10_000, 784, 0.87), (100_000, 10, 28.4)]


@pytest.mark.parametrize(("n", "d", "seconds"), MEASURED)
def test_the_estimate_is_right_within_a_factor_of_three(n, d, seconds):
    found = KernelPCA(20).plan(of_size(n, d)).seconds
    assert seconds / 3 < found < 3 * seconds


@pytest.mark.parametrize("solver", [Dense(), Lanczos(), Davidson(), Landmarks(500)], ids=repr)
def test_more_rows_take_longer(solver):
    few, many = (KernelPCA(20, solver=solver).plan(of_size(n, 10)).seconds for n in (2_000, 4_000))
    assert 0 < few < many


def test_a_budget_of_time_takes_landmarks_and_then_fewer_of_them():
    X = of_size(100_000, 10)
    plans = [KernelPCA(20, solver=Auto(seconds=s)).plan(X) for s in (100, 10, 2)]
    assert [plan.name for plan in plans] == ["Davidson", "Landmarks", "Landmarks"]
    assert [plan.solver.get_params().get("m") for plan in plans] == [None, 1000, 500]
    assert all(plan.seconds <= s for plan, s in zip(plans, (100, 10, 2), strict=True))
    assert plans[2].reason.count("Davidson would take about 22 s") == 1
    assert plans[2].reason.endswith("500 to stay within 2 s")


def test_where_nothing_fits_the_error_says_what_to_do():
    with pytest.raises(DataError, match="fewer rows") as caught:
        KernelPCA(20, solver=Auto(seconds=0.01)).plan(of_size(100_000, 10))
    assert "100 landmarks of 100000 rows" in str(caught.value)


def test_a_fit_within_its_budget_is_the_one_that_was_planned():
    X = np.random.default_rng(0).standard_normal((1_500, 3))
    model = KernelPCA(5, solver=Auto(seconds=0.003), random_state=0).fit(X)
    assert model.report_.solver == "Landmarks"
    assert "Lanczos would take less than a second" in model.report_.reason


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.3, "less than a second"),
        (22.4, "about 22 s"),
        (240, "about 4 min"),
        (2e4, "about 5.6 h"),
    ],
)
def test_times_as_people_say_them(seconds, text):
    assert time_text(seconds) == text
