"""Fits in processes of their own: the server answers meanwhile, and cancelling is certain.

``scipy.linalg.eigh`` holds Python's lock, and no signal reaches a thread in LAPACK; a process can
be ended at any moment.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from mercer.exceptions import MercerError, said
from mercer.live.work import Job, do

#: Processes that fit at the same time, for all pages together.
MOST_FITS = 2
#: Seconds between two reports of progress.
PAUSE = 0.1

Tell = Callable[[str, int, int], None]


class Pool:
    """At most two processes that fit; one that is done waits for the next job.

    Attributes
    ----------
    running, most, done : int
        Fits now, at most so far, and finished: what tests look at.
    """

    def __init__(self) -> None:
        self._free: list[_Worker] = []
        self._places = asyncio.Semaphore(MOST_FITS)
        self.running = self.most = self.done = 0

    async def run(self, job: Job, tell: Tell) -> None:
        """Do a job; a cancelled task ends the process that does it."""
        async with self._places:
            worker = self._free.pop() if self._free else _Worker()
            self.running += 1
            self.most = max(self.most, self.running)
            try:
                await worker.run(job, tell)
                self._free.append(worker)
                self.done += 1
            except MercerError:
                if worker.alive:
                    self._free.append(worker)
                else:
                    worker.end()
                raise
            except BaseException:
                worker.end()
                raise
            finally:
                self.running -= 1

    def warm(self) -> None:
        """Start a process now, so that the first fit need not wait for its imports."""
        if not self._free and not self.running:
            self._free.append(_Worker())

    def close(self) -> None:
        """End the processes that wait."""
        while self._free:
            self._free.pop().end()


class Desk:
    """The fits of one page: one in flight, and of all that come meanwhile the latest.

    Parameters
    ----------
    work : coroutine function of a request
        Is called for one request at a time.
    """

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = work
        self._next: Any = None
        self._task: asyncio.Task[None] | None = None

    def ask(self, request: Any) -> None:
        """Do this next; a request that still waits is forgotten."""
        self._next = request
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._go())

    async def cancel(self) -> None:
        """Stop what runs, and forget what waits."""
        self._next = None
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _go(self) -> None:
        while self._next is not None:
            request, self._next = self._next, None
            await self._work(request)


class _Worker:
    """A process that does jobs, one after the other."""

    def __init__(self) -> None:
        # Spawned: a fork of a process with threads may wait forever for one of their locks.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    @property
    def alive(self) -> bool:
        return self._process.is_alive()

    async def run(self, job: Job, tell: Tell) -> None:
        self._pipe.send(job)
        while True:
            try:
                kind, *values = await asyncio.to_thread(self._pipe.recv)
            except (EOFError, OSError):
                raise MercerError(
                    "the fit's process ended, perhaps for want of memory; take fewer rows, or fit "
                    "by 'mercer fit', and explore the model."
                ) from None
            if kind == "progress":
                tell(*values)
            elif kind == "done":
                return
            else:
                raise MercerError(values[0])

    def end(self) -> None:
        self._process.terminate()  # the pipe ends, and with it the thread that reads
        self._process.join(2)
        if self._process.is_alive():
            self._process.kill()


def _serve(pipe: Connection) -> None:
    """The life of a worker process."""
    from mercer import listen

    threading.Thread(target=_leave_with_parent, daemon=True).start()
    last = 0.0

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > PAUSE:
            last = time.monotonic()
            pipe.send(("progress", stage, done, total))

    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        try:
            with listen(tell):
                do(job)
            pipe.send(("done",))
        except MercerError as error:
            pipe.send(("problem", said(error, "page")))
        except MemoryError:
            pipe.send(("problem", "there is not enough memory for this fit; take fewer rows."))
        except Exception as error:
            text = f"unexpected {type(error).__name__}: {error}. This is a fault of mercer."
            pipe.send(("problem", text))


def _leave_with_parent() -> None:
    """A server that was killed must not leave fits behind."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
