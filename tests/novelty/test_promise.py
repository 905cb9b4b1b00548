"""The promise of novelty detection by simulation; ``python -m benchmarks calibration`` has more."""

import pytest

from benchmarks.calibration import CALIBRATIONS, DATA, RATES, simulate


def check(draw, n, calibration, fits, measure="reconstruction"):
    cells = simulate(draw, n, calibration, fits, measure)
    for rate in RATES:
        assert cells[rate].verdict(rate) == "kept", (rate, cells[rate])
        assert cells[rate].flagged == cells[rate].rare


@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("n", [10, 20])
def test_few_rows(n, calibration):
    """Ten rows asked for 10 % used to be flagged at 36 %, twenty at 31 % (``split``)."""
    check(DATA["continuous"], n, calibration, fits=30)


@pytest.mark.slow
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("calibration", CALIBRATIONS)
@pytest.mark.parametrize("n", [10, 20, 50, 200])
def test_every_cell(n, calibration, data):
    check(DATA[data], n, calibration, fits=200 if n < 200 else 60)


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["hotelling", "combined"])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize(("n", "calibration"), [(20, "auto"), (50, "cross"), (50, "split")])
def test_measures_with_t_squared(n, calibration, data, measure):
    check(DATA[data], n, calibration, 200, measure)
