"""scikit-learn's callbacks hear of every step, beside mercer's own listeners."""

import numpy as np
import pytest

import mercer
from mercer import KernelPCA

pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")


class Recorder:
    def __init__(self):
        self.tasks = []

    def setup(self, estimator, context):
        self.tasks.append("setup")

    def teardown(self, estimator, context):
        self.tasks.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.tasks.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        return False


class Canceller(Recorder):
    def on_fit_task_begin(self, estimator, context):
        if context.task_name == "davidson":
            raise InterruptedError


def test_callbacks_and_listeners_hear_the_same_steps(rng):
    X, recorder, heard = rng.standard_normal((400, 3)), Recorder(), []
    model = KernelPCA(4, solver="davidson", random_state=0).set_callbacks(recorder)
    with mercer.listen(lambda stage, done, total: heard.append(stage)):
        model.fit(X)
    assert recorder.tasks == ["setup", "fit", *heard, "teardown"]
    assert heard
    np.testing.assert_allclose(
        model.eigenvalues_, KernelPCA(4, solver="davidson", random_state=0).fit(X).eigenvalues_
    )


def test_a_callback_that_raises_cancels(rng):
    callback = Canceller()
    model = KernelPCA(4, solver="davidson").set_callbacks(callback)
    with pytest.raises(InterruptedError):
        model.fit(rng.standard_normal((400, 3)))
    assert callback.tasks[-1] == "teardown"
    assert not hasattr(model, "subspace_")
