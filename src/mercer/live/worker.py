"""Fits in processes of their own: the server answers meanwhile, and cancelling is certain.

``scipy.linalg.eigh`` holds Python's lock, and no signal reaches a thread in LAPACK; a process can
be ended at any moment.
"""

import asyncio
import contextlib
import json
import multiprocessing
import os
import struct
import threading
import time
import warnings
import zipfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from mercer._base.machine import LONG, size_text, time_text
from mercer._base.progress import announce, listen
from mercer._base.types import Estimator
from mercer.estimators import MissingKernelPCA, load
from mercer.exceptions import DataError, MercerError, MercerWarning, said
from mercer.io import Choice, Table, atomic_file, image_shape
from mercer.io.files import decoding
from mercer.live.model import MOST_CLASSES, LiveModel, describe
from mercer.live.page import pack
from mercer.live.protocol import MOST_NUMBERS, Wanted
from mercer.model import names_of
from mercer.model.model import of_vectors
from mercer.plots._base import rows_of
from mercer.plots._tables import nameless_rows
from mercer.points.source import MemoryRows
from mercer.tables import Category, Date, TableEncoder
from mercer.tables.opening import Opened, Opening
from mercer.tables.reading import TABLES

#: Endings of files that are accepted.
ENDINGS = (*TABLES, ".npy", ".npz", ".zip", ".mercer")
MOST_IMAGES = 100_000


def open_guessing(path: Path, request: Wanted) -> Opened:
    """A table in memory, as ``mercer fit`` opens it, with the column that colours the map.

    ``request.label`` names the one that is not learnt from, "" means none, and None the first of
    few categories, which is learnt from as others are.
    """
    model = MissingKernelPCA() if request.model == "missing" else None
    opened = Opening(choice=Choice(label=request.label or None), model=model).of_file(path)
    n, d = opened.table.rows.shape
    if n * d > MOST_NUMBERS:
        size = f"{n:,} × {d:,} numbers, and a page takes {MOST_NUMBERS:,}"
        raise DataError(f"'{path.name}' has {size}; fit it by 'mercer fit', and explore the model.")
    table, encoder = opened.table.loaded(), opened.encoder
    if request.label is None and encoder and (guess := _first_classes(encoder)) is not None:
        classes = encoder.decode(table.rows[:])[guess]
        known = ["" if value is None else str(value) for value in classes.tolist()]
        table = replace(table, beside={guess: np.array(known), **table.beside})
    return replace(opened, table=table)


def _first_classes(encoder: TableEncoder) -> str | None:
    """A column of few categories."""
    for name, column in encoder.used_.items():
        if isinstance(column, Category) and column.width <= MOST_CLASSES:
            return name
    return None


def unpack_images(path: Path, folder: Path) -> Path:
    """The PNG images of a zip archive in ``folder``, under numbers: no name of it is used."""
    with decoding(Path(path.name), "zip archive"), zipfile.ZipFile(path) as archive:
        entries = [e for e in archive.infolist() if e.filename.lower().endswith(".png")]
        entries.sort(key=lambda entry: entry.filename)
        size = sum(entry.file_size for entry in entries)
        if not entries or len(entries) > MOST_IMAGES or size > 8 * MOST_NUMBERS:
            most = f"from 1 to {MOST_IMAGES:,}, of at most {8 * MOST_NUMBERS >> 20} MB"
            inside = f"{len(entries):,} PNG images of {size >> 20:,} MB"
            raise DataError(f"'{path.name}' holds {inside}; give {most}.")
        for i, entry in enumerate(entries):
            entry.filename = f"{i:06}.png"
            archive.extract(entry, folder)
    return folder


#: What columns are called that are not numbers.
KINDS: dict[type, str] = {Category: "category", Date: "date"}
#: Most columns that are listed, and lines on columns above the map.
MOST_LISTED, MOST_NOTES = 200, 8


def plan_of(table: Table, encoder: TableEncoder | None, model: Estimator) -> dict[str, Any]:
    """Rows, columns with their kinds, why some are left out, the column of classes, and the solver.

    The solver only where the model chooses one, with what it takes.
    """
    label = next(iter(table.beside), None)
    kinds, left = dict.fromkeys(table.rows.columns or (), "number"), {}
    if encoder is not None:
        kinds = {name: KINDS.get(type(c), "number") for name, c in encoder.columns_.items()}
        left = encoder.left_out_
    learnt = label in kinds
    if label is not None:
        kinds.setdefault(label, "category")
    columns = [
        {"name": str(name), "kind": kind, "left_out": left.get(name)}
        for name, kind in islice(kinds.items(), MOST_LISTED)
    ]
    facts = {"rows": table.rows.shape[0], "columns": columns, "label": label, "labelLearnt": learnt}
    if hasattr(model, "plan"):
        plan = model.plan(table.rows)
        needs = {"memory": size_text(plan.bytes), "seconds": plan.seconds}
        time = time_text(plan.seconds) if plan.seconds else ""
        facts["solver"] = {"name": plan.name, "time": time, **needs}
    return facts


MODEL = "model.mercer"
PAGE = "page.bin"


@dataclass(frozen=True)
class Job:
    """One piece of work: rows to fit as ``wanted`` says, or, without it, a model to show."""

    source: Path
    name: str  #: what its owner calls it; shown, and nothing else
    folder: Path  #: where the results go
    wanted: Wanted | None = None


def do(job: Job, show_plan: Callable[[dict[str, Any]], None] = lambda _: None) -> bool:
    """Do the work, and leave ``model.mercer`` and ``page.bin`` in the job's folder.

    ``show_plan`` is called with what the fit would do, before it begins. Where that would take
    long, and the page wants to be asked, nothing else is done, and the answer is False.
    """
    announce(f"reading {job.name}", 0)
    with warnings.catch_warnings(record=True, action="always") as caught:
        if job.wanted is None:
            model = load(job.source)
            live = describe(model, images=image_shape(names_of(model)), title=job.name)
        else:
            opened = open_upload(job.source, job.wanted, job.folder)
            estimator = job.wanted.make(opened.table.rows[:])
            plan = plan_of(opened.table, opened.encoder, estimator)
            show_plan(plan)
            if job.wanted.ask and plan.get("solver", {}).get("seconds", 0) > LONG:
                return False
            announce("fitting", 0)
            model, live = fit(opened, job.wanted, title=job.name)
    notes = [said(one.message, "page") for one in caught if issubclass(one.category, MercerWarning)]
    announce("writing the page", 0)
    live.facts["notes"] = list(dict.fromkeys([*live.facts["notes"], *notes]))
    job.folder.mkdir(exist_ok=True)
    model.save(job.folder / MODEL)
    with atomic_file(job.folder / PAGE) as file:
        file.write(payload(live))
    return True


def open_upload(source: Path, request: Wanted, folder: Path) -> Opened:
    """The rows of an upload, with their label; of a model its support points."""
    kind = source.suffix.lower()
    if kind == ".mercer":
        model = load(source)
        encoder, names = vars(model).get("encoder_"), names_of(model)
        named = None if encoder is not None or names is None else tuple(names)
        rows = MemoryRows(rows_of(of_vectors(model), None), named)
        return Opened(Table(rows), encoder, vars(model).get("filler_"))
    if kind == ".zip":
        source = unpack_images(source, folder / "images")
    return open_guessing(source, request)


def fit(opened: Opened, request: Wanted, title: str | None = None) -> tuple[Any, LiveModel]:
    """The fitted model, and the page of it with the rows of the table."""
    table, encoder, rows = opened.table, opened.encoder, opened.table.rows
    model = request.make(rows[:]).fit(rows)
    X = model.impute(rows) if request.model == "missing" else rows[:]
    look: dict[str, Any] = {"names": rows.columns, "title": title, "encoder": encoder}
    with nameless_rows():
        live = describe(model, X, table.label, image_shape(rows.columns), **look)
    coloured = [f"Coloured by {label!r}." for label in list(table.beside)[:1]]
    notes = [*opened.describe(most=MOST_NOTES)[:MOST_NOTES], opened.note, *coloured]
    live.facts["notes"] += dict.fromkeys(said(note, "page") for note in notes if note)
    return opened.whole(model), live


def payload(live: LiveModel) -> bytes:
    """A live model in one piece: length of the facts, the facts as JSON, the numbers."""
    facts, numbers = pack(live, level=1)
    text = json.dumps(facts).encode()
    return struct.pack("<I", len(text)) + text + numbers


#: Processes that fit at the same time, for all pages together.
MOST_FITS = 2
#: Seconds between reports of progress.
PAUSE = 0.1

#: Said of a process that has gone.
_ENDED = (
    "the fit's process ended, perhaps for want of memory; take fewer rows, or fit by 'mercer fit', "
    "and explore the model."
)

#: What a page hears of a fit: ``stage``, ``done`` and ``total``, and once the ``plan``.
Words = dict[str, Any]


class Pool:
    """At most two processes that fit; one that is done waits for the next job."""

    def __init__(self) -> None:
        self._free: list[_Worker] = []
        self._places = asyncio.Semaphore(MOST_FITS)
        self.running = 0

    async def run(self, job: Job, say: Callable[[Words], Awaitable[None]]) -> Words:
        """Do a job, and say how it goes; a cancelled task ends the process that does it.

        What it returns is why there is no result, if there is none: a problem, or that the fit
        waits for a yes.
        """
        async with self._places:
            worker = self._free.pop() if self._free else _Worker()
            self.running += 1
            try:
                worker.pipe.send(job)
                while True:
                    words: Words = await asyncio.to_thread(worker.pipe.recv)
                    if "stage" not in words:
                        self._free.append(worker)
                        return words
                    await say(words)
            except (EOFError, OSError):
                return {"problem": _ENDED}
            finally:
                self.running -= 1
                if worker not in self._free:
                    worker.end()

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

    ``work`` is a coroutine function, called for one request at a time.
    """

    def __init__(self, work: Callable[..., Awaitable[None]]) -> None:
        self._work = work
        self._next: tuple[Any, ...] | None = None
        self._task: asyncio.Task[None] | None = None

    def ask(self, *request: Any) -> None:
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
            await self._work(*request)


class _Worker:
    """A process that does jobs, one after the other."""

    def __init__(self) -> None:
        # Spawned: a fork of a process with threads may wait forever for one of their locks.
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def end(self) -> None:
        self._process.kill()  # this ends the pipe, and with it the thread that reads from it
        self._process.join()


def _serve(pipe: Connection) -> None:
    """The life of a worker process."""
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    last, before = 0.0, ""

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last, before
        if stage != before or time.monotonic() - last > PAUSE:
            last, before = time.monotonic(), stage
            pipe.send({"stage": stage, "done": done, "total": total})

    with contextlib.suppress(EOFError):  # the server has gone
        while True:
            job = pipe.recv()
            with listen(tell):
                pipe.send(_attempt(job, lambda plan: pipe.send({"stage": "planned", "plan": plan})))


def _attempt(job: Job, show_plan: Callable[[dict[str, Any]], None]) -> Words:
    """Do a job; why there is no result, if there is none."""
    try:
        return {} if do(job, show_plan) else {"waits": True}
    except MercerError as error:
        return {"problem": said(error, "page")}
    except MemoryError:
        return {"problem": "there is not enough memory for this fit; take fewer rows."}
    except Exception as error:
        text = f"unexpected {type(error).__name__}: {error}. This is a bug in mercer."
        return {"problem": text}


def _leave_with_parent() -> None:
    """A server that was killed must not leave fits behind."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
