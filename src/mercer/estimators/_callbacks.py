"""Progress for the callbacks of scikit-learn 1.9 and later, which older versions do not have."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TypeVar

from mercer._progress import current_listener, listen
from mercer._types import Estimator

Method = TypeVar("Method")


class CallbackSupportMixin:
    """Without callbacks."""


def with_callbacks(method: Method) -> Method:
    """Leave the method as it is."""
    return method


if not TYPE_CHECKING:  # scikit-learn ships no types
    with suppress(ImportError):  # before 1.9
        from sklearn.callback import CallbackSupportMixin, with_callbacks

__all__ = ["CallbackSupportMixin", "steps_to_callbacks", "with_callbacks"]


@contextmanager
def steps_to_callbacks(estimator: Estimator) -> Iterator[None]:
    """Tell the estimator's callbacks of every step that is announced inside the block.

    Each step is one task of unknown total. A callback that raises cancels the fit, as a listener
    does; a request to stop early is not granted, because half a spectrum is no result.
    """
    watched = hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")
    if not watched:
        yield
        return
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator)
    outer = current_listener()

    def step(stage: str, done: int, total: int) -> None:
        if outer is not None:
            outer(stage, done, total)
        task = root.subcontext(task_name=stage)
        task.call_on_fit_task_begin(estimator=estimator)
        task.call_on_fit_task_end(estimator=estimator)

    with listen(step):
        yield
    root.call_on_fit_task_end(estimator=estimator)
