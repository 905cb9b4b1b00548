"""Ctrl-C and SIGTERM that are answered within a second, whatever the work is doing.

Python runs signal handlers in the main thread, between two of its own instructions: during a long
call into LAPACK nothing would happen. So the work runs in a thread of its own, the main thread
waits, and a signal reaches the work as an exception at its next instruction, or as a question
where it has said how to ask. Files are closed and temporary ones removed on the way out; work that
does not react in time is left behind.
"""

import contextlib
import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

#: Seconds that the work has to clean up after a signal.
PATIENCE = 0.7


class Terminated(BaseException):
    """SIGTERM, as an exception: ``finally`` blocks remove temporary files on the way out."""


def _raise_terminated(_signum: int, _frame: object) -> None:
    raise Terminated


def interruptible(work: Callable[[], int], hurry: Callable[[BaseException], Any]) -> int:
    """The result of ``work()``, or the exception that it or a signal raised.

    The work runs in a thread, so that the main thread stays free for signals. ``hurry`` is called
    with the signal's exception if the work goes on in spite of it, or if a second signal comes, and
    should end the process.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()  # only the main thread gets signals
    task = _Task(work)
    # SIGINT is Python's KeyboardInterrupt already.
    previous = signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        task.start()
        task.done.wait()
    except (KeyboardInterrupt, Terminated) as error:
        if not task.stop(type(error)):
            hurry(error)
        raise
    finally:
        signal.signal(signal.SIGTERM, previous)
    if task.error is not None:
        raise task.error
    return task.status


@contextlib.contextmanager
def stopped_by(ask: Callable[[], None]) -> Iterator[None]:
    """A block that a signal ends by ``ask()``: an exception would break an event loop anywhere."""
    task = threading.current_thread()
    if not isinstance(task, _Task):
        yield
        return
    task.ask = ask
    try:
        yield
    finally:
        task.ask = None
    if task.asked is not None:
        raise task.asked


class _Task(threading.Thread):
    """Work in a thread, and its result."""

    def __init__(self, work: Callable[[], int]) -> None:
        super().__init__(name="mercer-command", daemon=True)
        self.work = work
        # Not join(): interrupted, it takes a running thread for one that has ended (Python 3.11).
        self.done = threading.Event()
        self.status = 0
        self.error: BaseException | None = None
        self.ask: Callable[[], None] | None = None
        self.asked: type[BaseException] | None = None

    def start(self) -> None:
        """Do the work elsewhere; here, where no thread can be started, as in a browser."""
        try:
            super().start()
        except RuntimeError:
            self.run()

    def run(self) -> None:
        """Do the work, and keep its result or its exception for the main thread."""
        try:
            self.status = self.work()
        except BaseException as error:
            self.error = error
        finally:
            self.done.set()

    def stop(self, kind: type[BaseException]) -> bool:
        """Raise ``kind`` in the work, wait a little, and say whether it has ended."""
        if self.ident is None:
            return True  # it has not begun
        try:
            if self.ask is None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self.ident), ctypes.py_object(kind)
                )
            else:
                self.asked = kind
                self.ask()
            return self.done.wait(PATIENCE)
        except (KeyboardInterrupt, Terminated):  # a second signal: wait no longer
            return False
