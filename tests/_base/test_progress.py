"""Work announces its steps, and who listens may stop it."""

import pytest

from mercer._base.progress import announced, listen


def test_a_loop_announces_each_step_before_it_is_done():
    seen = []
    with listen(lambda *step: seen.append(step)):
        for item in announced("letters", "abc"):
            seen += [item]
    assert seen == [("letters", 0, 3), "a", ("letters", 1, 3), "b", ("letters", 2, 3), "c"]


def test_a_listener_that_raises_stops_the_loop():
    def impatient(stage, done, total):
        if done == 1:
            raise KeyboardInterrupt

    steps = announced("letters", "abc")
    with listen(impatient):
        assert next(steps) == "a"
        with pytest.raises(KeyboardInterrupt):
            next(steps)
