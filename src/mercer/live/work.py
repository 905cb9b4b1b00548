"""What the worker process does: from a file to a model and the page that shows it."""

from __future__ import annotations

import json
import struct
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mercer._types import Estimator
from mercer.eigen import names_of
from mercer.estimators import load
from mercer.exceptions import MercerWarning, said
from mercer.live.model import LiveModel, describe
from mercer.live.page import pack
from mercer.live.tables import open_guessing, unpack_images
from mercer.live.wanted import Wanted
from mercer.plots._models import nameless_rows, rows_of
from mercer.rows import MemoryRows, Table, atomic_file, image_shape
from mercer.rows.files import names_text
from mercer.tables import TableEncoder, TableModel

MODEL = "model.mercer"
PAGE = "page.bin"


@dataclass(frozen=True)
class Job:
    """One piece of work.

    Attributes
    ----------
    source : Path
        Rows to fit, or a model to show.
    name : str
        What its owner calls it; shown, and nothing else.
    folder : Path
        Where the results go.
    wanted : Wanted, optional
        How to fit; without it the source is a model.
    """

    source: Path
    name: str
    folder: Path
    wanted: Wanted | None = None


def do(job: Job) -> None:
    """Do the work, and leave ``model.mercer`` and ``page.bin`` in the job's folder."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if job.wanted is None:
            model = load(job.source)
            live = show(model, title=job.name)
        else:
            table, encoder = read_table(job.source, job.wanted, job.folder)
            model, live = fit(table, job.wanted, encoder, title=job.name)
    notes = [said(one.message, "page") for one in caught if issubclass(one.category, MercerWarning)]
    live.facts["notes"] = list(dict.fromkeys([*live.facts["notes"], *notes]))
    job.folder.mkdir(exist_ok=True)
    model.save(job.folder / MODEL)
    with atomic_file(job.folder / PAGE) as file:
        file.write(payload(live))


def read_table(source: Path, wanted: Wanted, folder: Path) -> tuple[Table, TableEncoder | None]:
    """The rows of an upload, with their label; of a model its support points."""
    kind = source.suffix.lower()
    if kind == ".mercer":
        model = load(source)
        if isinstance(model, TableModel):
            return Table(MemoryRows(rows_of(model.model_, None))), model.encoder_
        names = names_of(model)
        rows = MemoryRows(rows_of(model, None), names if names is None else tuple(names))
        return Table(rows), None
    if kind == ".zip":
        source = unpack_images(source, folder / "images")
    return open_guessing(source, wanted.label, allow_nan=wanted.model == "missing")


def fit(
    table: Table, wanted: Wanted, encoder: TableEncoder | None = None, title: str | None = None
) -> tuple[Any, LiveModel]:
    """The fitted model, and the page of it with the rows of the table."""
    rows = table.rows
    X = rows[:]
    model = wanted.make(X).fit(MemoryRows(X, rows.columns))
    if wanted.model == "missing":
        X = model.impute(MemoryRows(X, rows.columns))
    with nameless_rows():
        live = describe(
            model,
            X,
            table.label,
            image_shape(rows.columns),
            names=rows.columns,
            title=title,
            encoder=encoder,
        )
    if encoder is None:
        return model, live
    live.facts["notes"].append(_words(encoder, next(iter(table.beside), None)))
    return TableModel.from_fitted(model, encoder), live


def _words(encoder: TableEncoder, label: str | None) -> str:
    """Which columns the model is made of, and which not."""
    left = encoder.left_out_
    words = [f"Learnt from {names_text([n for n in encoder.columns_ if n not in left])}."]
    if label is not None:
        words.append(f"Coloured by {label!r}, which is not learnt from.")
    words += [f"Left out: {name!r}, {why}." for name, why in list(left.items())[:5]]
    return " ".join(words)


def show(model: Estimator, title: str | None = None) -> LiveModel:
    """The page of a model alone, with its support points as rows."""
    return describe(model, images=image_shape(names_of(model)), title=title)


def payload(live: LiveModel) -> bytes:
    """A live model in one piece: length of the facts, the facts as JSON, the numbers."""
    facts, numbers = pack(live, level=1)
    text = json.dumps(facts).encode()
    return struct.pack("<I", len(text)) + text + numbers
