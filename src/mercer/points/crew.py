"""Who computes tiles: threads of this process, or workers behind an executor (PEP 3148).

What workers need again and again, packed rows above all, is *shared*: it stays with them. A worker
that lacks it (a new one, or one that has come after a crash) says so and is sent it with the task.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from mercer._base.machine import one_blas_thread, thread_map
from mercer._base.progress import announce
from mercer._base.types import Array
from mercer.exceptions import NumericalWarning, warn

#: Tasks that wait at an executor that does not tell how many workers it has.
AHEAD = 32


class Crew(ABC):
    """Calls of functions of this library, whose arguments may be handles of what workers hold."""

    @abstractmethod
    def share(self, values: Sequence[Any]) -> list[Any]:
        """Handles of values that stay with the workers."""

    @abstractmethod
    def keep(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """Handles of ``function(*arguments)`` for each row of the columns; results stay there."""

    @abstractmethod
    def map(self, function: Callable[..., Any], *columns: Sequence[Any]) -> Iterator[Any]:
        """``function(*arguments)`` for each row of the columns, in order."""

    def lend(self, values: Sequence[Any]) -> list[Any]:
        """Handles of values for the tasks of one pass."""
        return list(values)

    def add(
        self,
        function: Callable[..., tuple[Array, Array]],
        places: Sequence[tuple[int, int]],
        *columns: Sequence[Any],
    ) -> Iterator[tuple[int, Array]]:
        """Parts of sums with the place of each: two for each row, at its two places."""
        results = zip(places, self.map(function, *columns), strict=True)
        for done, ((i, j), (first, second)) in enumerate(results):
            announce("tiles", done + 1, len(places))
            yield i, first
            if i != j:
                yield j, second


class Threads(Crew):
    """The threads of this process, which have everything."""

    def share(self, values: Sequence[Any]) -> list[Any]:
        return list(values)

    def keep(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        rows = list(zip(*columns, strict=True))
        return thread_map(lambda arguments: function(*arguments), rows)

    def map(self, function: Callable[..., Any], *columns: Sequence[Any]) -> Iterator[Any]:
        return iter(self.keep(function, *columns))


class Workers(Crew):
    """Those of any ``concurrent.futures.Executor``: process pools, loky, MPI, dask's.

    An executor that breaks, because a worker was killed, is left: what is missing is computed here,
    with a warning, and the result is the same.
    """

    def __init__(self, executor: Executor) -> None:
        self.executor: Executor | None = executor
        self._session = uuid.uuid4().hex
        self._shared: dict[_Handle, Any] = {}

    def share(self, values: Sequence[Any]) -> list[Any]:
        first = len(self._shared)
        handles = [_Handle(self._session, first + i) for i in range(len(values))]
        self._shared.update(zip(handles, values, strict=True))
        return list(handles)

    def keep(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        # An executor keeps no results: what is asked for again is computed again.
        return [_Later(function, arguments) for arguments in zip(*columns, strict=True)]

    def map(self, function: Callable[..., Any], *columns: Sequence[Any]) -> Iterator[Any]:
        rows = list(zip(*columns, strict=True))
        waiting = iter(range(len(rows)))
        flying: dict[Future[Any], int] = {}
        done: dict[int, Any] = {}
        try:
            for turn in range(len(rows)):
                while turn not in done:
                    for i in islice(waiting, max(0, self._ahead - len(flying))):
                        flying[self._submit(function, rows[i], {})] = i
                    self._collect(function, rows, flying, done)
                yield done.pop(turn)
        finally:
            for future in flying:
                future.cancel()

    @property
    def _ahead(self) -> int:
        return 2 * getattr(self.executor, "_max_workers", AHEAD // 2)

    def _collect(
        self,
        function: Callable[..., Any],
        rows: list[Any],
        flying: dict[Future[Any], int],
        done: dict[int, Any],
    ) -> None:
        """Wait for the next results; send again, with what was missing, what came back without."""
        for future in wait(flying, return_when=FIRST_COMPLETED).done:
            i = flying.pop(future)
            try:
                result = future.result()
            except BrokenExecutor as error:
                self._leave(error)
                result = self._here(function, rows[i])
            if isinstance(result, _Missing):
                needed = {handle: self._shared[handle] for handle in _handles(rows[i])}
                flying[self._submit(function, rows[i], needed)] = i
            else:
                done[i] = result

    def _submit(
        self, function: Callable[..., Any], arguments: Any, needed: dict[_Handle, Any]
    ) -> Future[Any]:
        if self.executor is not None:
            try:
                return self.executor.submit(_run, function, arguments, needed)
            except BrokenExecutor as error:
                self._leave(error)
        future: Future[Any] = Future()
        future.set_result(self._here(function, arguments))
        return future

    def _here(self, function: Callable[..., Any], arguments: Any) -> Any:
        return function(*_resolved(arguments, self._shared))

    def _leave(self, error: BrokenExecutor) -> None:
        if self.executor is not None:
            what = f"the executor broke ({type(error).__name__}: {error})"
            warn(
                f"{what}; the rest is computed in this process. Give a new executor.",
                NumericalWarning,
            )
        self.executor = None


class _Handle(NamedTuple):
    """Something shared, by the fit that it belongs to and its number."""

    session: str
    number: int


@dataclass(frozen=True)
class _Later:
    """A call that is made where its result is needed."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class _Missing:
    """What a worker answers that lacks something shared."""


#: In a worker: what the fit that it works for has shared.
_held: dict[_Handle, Any] = {}


def _run(function: Callable[..., Any], arguments: Any, needed: dict[_Handle, Any]) -> Any:
    """In a worker: the call, or that something is missing."""
    for handle in needed:
        for old in [known for known in _held if known.session != handle.session]:
            _held.pop(old, None)
    _held.update(needed)
    if any(handle not in _held for handle in _handles(arguments)):
        return _Missing()
    with one_blas_thread():
        return function(*_resolved(arguments, _held))


def _handles(arguments: Any) -> Iterator[_Handle]:
    for argument in arguments:
        if isinstance(argument, _Handle):
            yield argument
        elif isinstance(argument, _Later):
            yield from _handles(argument.arguments)


def _resolved(arguments: Any, held: dict[_Handle, Any]) -> list[Any]:
    resolved = []
    for argument in arguments:
        if isinstance(argument, _Handle):
            argument = held[argument]
        elif isinstance(argument, _Later):
            argument = argument.function(*_resolved(argument.arguments, held))
        resolved.append(argument)
    return resolved
