"""Ways through score space."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mercer.exceptions import DataError
from mercer.generative import along_component, largest_step, straight_line


def test_a_line_has_even_steps_and_its_ends(rng):
    a, b = rng.standard_normal((2, 5))
    path = straight_line(a, b, 7)
    assert_allclose(path[[0, -1]], [a, b])
    assert_allclose(np.diff(path, axis=0), np.tile((b - a) / 6, (6, 1)))
    assert_allclose(largest_step(path), 1)


def test_float32_stays(rng):
    a, b = rng.standard_normal((2, 5)).astype(np.float32)
    assert straight_line(a, b, 3).dtype == np.float32
    assert along_component(a, 0, np.ones(5, np.float32), 1.0, 3).dtype == np.float32


def test_a_component_moves_alone(rng):
    start, deviations = rng.standard_normal(4), rng.random(4)
    path = along_component(start, 2, deviations, (-1.0, 3.0), 5)
    assert_allclose(path[:, [0, 1, 3]], np.tile(start[[0, 1, 3]], (5, 1)))
    assert_allclose(path[:, 2], start[2] + deviations[2] * np.array([-1, 0, 1, 2, 3]))
    assert_allclose(along_component(start, 2, deviations, 2.0, 5)[2], start)


def test_largest_step():
    assert largest_step(np.array([[0.0], [1.0], [1.0], [4.0]])) == pytest.approx(9 / 4)
    assert largest_step(np.zeros((4, 2))) == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"steps": 1}, "steps=1"),
        ({"steps": 2.0}, "steps=2.0"),
        ({"component": 3}, "from 0 to 2"),
        ({"component": -1}, "from 0 to 2"),
        ({"component": 0.5}, "component=0.5"),
        ({"span": 0.0}, "span=0.0"),
        ({"span": (1.0, 1.0)}, "two different"),
        ({"span": (0, 1, 2)}, "span="),
        ({"span": np.inf}, "span=inf"),
        ({"span": None}, "span=None"),
        ({"span": "ab"}, "span='ab'"),
    ],
)
def test_mistakes_are_named(change, message):
    arguments = {"component": 0, "span": 1.0, "steps": 3, **change}
    with pytest.raises(DataError, match=message):
        along_component(np.zeros(3), deviations=np.ones(3), **arguments)
