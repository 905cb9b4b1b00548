"""Bounds on a fit that might never end: on its products, its passes, and its processor time."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mercer._base.progress import listen


class Unbounded(BaseException):
    """A fit went beyond its bounds. No ``Exception``: nothing on the way out may swallow it."""


@contextmanager
def bounded(seconds: float, steps: dict[str, int]) -> Iterator[Counter[str]]:
    """Stop the work inside after so many seconds of the processor, or steps of a stage.

    Yields the steps counted so far, by stage. Processor time, because a busy machine is no fault of
    the fit; it is watched in the main thread only, as signals are.
    """
    seen: Counter[str] = Counter()

    def count(stage: str, done: int, total: int) -> None:
        seen[stage] += 1
        if seen[stage] > steps.get(stage, seen[stage]):
            raise Unbounded(f"over {steps[stage]} steps of {stage}")

    def stop(signum: int, frame: Any) -> None:
        raise Unbounded(f"over {seconds:g} s of processor time ({dict(seen)})")

    watched = threading.current_thread() is threading.main_thread()
    if watched:
        before = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with listen(count):
            yield seen
    finally:
        if watched:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)
