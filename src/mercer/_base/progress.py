"""Progress and cancelling through one seam: long work announces its steps, anyone may listen.

A listener that raises stops the work at the next step; that is how to cancel.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Item = TypeVar("Item")

#: Called with the name of the stage, the steps done, and the steps in all (0 if not known).
Listener = Callable[[str, int, int], None]

_listener: ContextVar[Listener | None] = ContextVar("mercer_listener", default=None)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Send the progress of everything inside the block to ``listener``.

    Examples
    --------
    >>> import numpy as np, mercer
    >>> seen = []
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> with mercer.listen(lambda stage, done, total: seen.append(stage)):
    ...     model = mercer.KernelPCA(5, solver="davidson").fit(X)
    >>> "davidson" in seen
    True
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def current_listener() -> Listener | None:
    """Who listens here, if anyone does."""
    return _listener.get()


def announce(stage: str, done: int, total: int = 0) -> None:
    """Tell the listener, if there is one, how far a stage has come."""
    if (listener := _listener.get()) is not None:
        listener(stage, done, total)


def announced(stage: str, items: Sequence[Item]) -> Iterator[Item]:
    """The items, each announced before it is worked on: as the steps of a loop."""
    for done, item in enumerate(items):
        announce(stage, done, len(items))
        yield item
