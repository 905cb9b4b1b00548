"""``score``, ``novelty`` and ``relevance``: what a model says about rows, and about variables."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

import mercer
from mercer._base.types import Estimator
from mercer.cli import options
from mercer.cli.models import check_able, load_model
from mercer.cli.options import command, console, learnt, one_of, option, tables

#: New rows that are explained, the newest ones.
MOST_EXPLAINED = 1000
#: Rows that are compared with those of the fit; more might not fit into memory.
MOST_COMPARED = 200_000


@command("Measure how well a model restores rows.")
def score(
    *, model: str = options.MODEL, data: str = options.DATA, reading: options.Reading
) -> None:
    """Measure how well MODEL restores the rows of DATA after noise was added to them.

    On rows that the model has not seen, so that models of different kernels can be compared: the
    score is minus the mean squared error, in input space, that is left of noise with half the
    standard deviation of the rows, and more is better. Beside it stands how far clean rows are
    from their reconstructions, which is less for every wider kernel and every further component:
    what a model keeps, and no way to choose one.
    """
    fitted = load_model(model, "score", "reconstruct")
    with tables.open_input(data, reading, model=fitted) as table, console.progress():
        result = mercer.selection.assess(learnt.of_vectors(fitted), table)
    if console.as_json(asdict(result)):
        return
    lines = {
        "rows": f"{result.rows:,}",
        "score": f"{result.score:.6g} (minus the mean squared error after denoising; "
        f"{result.noise_left:.1%} of noise with standard deviation {result.noise:.4g})",
        "kept": f"{result.root_mean_square_error:.6g} (root mean square error per entry of clean "
        "rows from their scores)",
        "feature space": f"{result.reconstruction_error:.6g} (mean squared distance)",
    }
    console.summary(f"{type(learnt.of_vectors(fitted)).__name__} on {data}", lines)


#: Measured on 300 rows of four columns, normal ones and ones with long tails.
_RATE = "far beyond the others; of clean rows about 2 % are, with long tails up to 11 %"


@command("Measure how new each row is to the model.")
def novelty(
    *,
    model: str = options.MODEL,
    data: str = options.DATA,
    normal: str | None = option(
        "Normal rows that the model has not seen, to give any model a threshold.",
        metavar="FILE",
        type=click.Path(exists=True),
    ),
    false_alarm_rate: float | None = option(
        "With --normal: the share of normal rows that may be called new.  [default: 0.05]",
        type=options.RATE,
    ),
    why: bool = option("Also write which columns make a row new, each with its share."),
    outliers: bool = option(
        "Find outliers among the rows of DATA themselves, with a model like MODEL fitted to them."
    ),
    reading: options.Copying,
    output: options.Output,
) -> None:
    """Score the rows of DATA by how new they are to MODEL.

    Writes each row's score (larger is newer), its p-value, and whether it is new, and prints which
    columns make the newest rows stand out. A model that was fitted without '--model novelty' has
    no threshold: give it one with --normal, or use the scores alone.
    """
    from sklearn.base import clone

    from mercer._base.numbers import counted

    if false_alarm_rate is not None and normal is None:
        raise click.UsageError("--false-alarm-rate needs --normal; the model has its own rate")
    fitted = load_model(model)
    detector = learnt.of_vectors(fitted)
    new: int | None = None
    if not hasattr(detector, "score_samples"):
        check_able(model, fitted, "reconstruction_error")
    tables.check_output(output, ["score"], labelled=reading.beside)
    if normal is not None:
        detector = _calibrate(fitted, normal, reading, false_alarm_rate or 0.05)
    if outliers and not hasattr(detector, "p_values"):
        raise click.UsageError("--outliers needs a model that was fitted with '--model novelty'")
    with tables.open_input(data, reading, model=fitted) as table, console.progress():
        if outliers:
            detector = clone(detector).set_params(contamination="auto").fit(table.rows)
        judged = mercer.novelty.judge(detector, table)
        if hasattr(detector, "p_values"):
            new = int(judged.beside["new"].sum())
            reasons = _reasons(detector, table, judged, columns_of(fitted, table))
            ids = judged.beside.get(reading.id or "")
            place = _place_of(fitted, table, data, reading) if ids is None else ids.__getitem__
            _remark_on_newest(judged, reasons, place)
            if why:
                judged = replace(judged, beside=_beside(judged, reasons))
            if detector.contamination is None:
                _remark_on_seen_rows(detector, table)
    tables.write_output(output, judged)
    called = "without verdicts: --normal FILE sets a threshold" if new is None else f"{new:,} new"
    if outliers:
        called = f"{counted(new or 0, 'outlier')}, {_RATE}"
    text = f"{counted(len(judged.rows), 'row')}, {called}"
    if output.path is None:
        console.remark(text)
    tables.report(output, text, rows=len(judged.rows), new=new)


def _remark_on_seen_rows(detector: Any, table: Any) -> None:
    from mercer.model import model_of

    rows, model = table.rows, model_of(detector)
    if len(rows) <= MOST_COMPARED and model.was_fitted_to(rows, rows[:]):
        console.remark(
            "these are the rows that the model was fitted to, which look less new to it than "
            "others: p-values and verdicts are meant for other rows. To find outliers among these, "
            "add --outliers."
        )


def columns_of(fitted: Estimator, table: Any) -> list[str]:
    """The column behind each entry of the vectors that the model sees."""
    if isinstance(fitted, learnt.OnTables):
        return list(fitted.encoder_.groups_)
    return list(table.rows.columns or map(str, range(table.rows.shape[1])))


def _beside(judged: Any, reasons: Any) -> dict[str, Any]:
    """The columns beside the scores, with ``why`` after the verdict."""
    beside = judged.beside_of(["why"])
    return {"new": beside.pop("new"), "why": reasons, **beside}


def _reasons(detector: Any, table: Any, judged: Any, columns: list[str]) -> Any:
    """In words, the columns that make the newest rows new; empty for other rows."""
    import numpy as np

    places, score = np.flatnonzero(judged.beside["new"]), judged.rows[:][:, 0]
    why = np.full(len(score), "", dtype=object)
    able = hasattr(detector, "contributions") and not detector.score_.subspace.points.is_sparse
    if len(places) and able:
        places = np.sort(places[np.argsort(-score[places])[:MOST_EXPLAINED]])
        rows = mercer.io.MemoryRows(table.rows[places], table.rows.columns)
        why[places] = top_columns(detector.contributions(rows), columns)
    return why.astype(str)


def top_columns(contributions: Any, columns: Sequence[str]) -> list[str]:
    """``mass 61 %, bill 20 %`` for each row: the columns that do most of it, three at most."""
    import numpy as np

    parts, names = np.maximum(contributions, 0.0), sorted({*columns})
    sums = np.array([parts[:, np.array(columns) == name].sum(axis=1) for name in names])
    shares = sums / np.maximum(sums.sum(axis=0), np.finfo(float).tiny)
    lines = []
    for share in shares.T:
        best = [k for k in np.argsort(-share, kind="stable")[:3] if share[k] >= 0.05]
        lines.append(", ".join(f"{names[k]} {share[k]:.0%}" for k in best) or "no column alone")
    return lines


def _place_of(
    fitted: Estimator, table: Any, data: str, reading: options.Reading
) -> Callable[[int], str]:
    """What a row is called: the line of a text file, or else its number."""
    if not isinstance(fitted, learnt.OnTables):
        return table.rows.place  # type: ignore[no-any-return]
    from mercer.io.look import TEXT, Look

    look = Look(Path(data), reading.header_row)
    first = look.dialect.line if look.kind in TEXT else 0
    return lambda row: f"{'line' if first else 'row'} {first + row}"


def _remark_on_newest(judged: Any, why: Any, place: Callable[[int], str]) -> None:
    """The newest rows and why, the newest first."""
    score, p = judged.rows[:].T[:2]
    for i in (-score).argsort(kind="stable")[: min(5, int((why != "").sum()))]:
        console.remark(f"{place(int(i))}: p = {p[i]:.2g}, by {why[i]}")


def _calibrate(fitted: Estimator, normal: str, reading: options.Reading, rate: float) -> Any:
    if hasattr(fitted, "p_values"):
        raise click.UsageError("--normal: the model has a threshold already")
    with tables.open_input(normal, replace(reading, keep=(), id=None), model=fitted) as table:
        inner = learnt.of_vectors(fitted)
        return mercer.KernelNovelty.from_fitted(inner, table.rows, false_alarm_rate=rate)


@command("Show which variables matter in each component.")
def relevance(
    *,
    model: str = options.MODEL,
    data: str | None = options.OPTIONAL_DATA,
    unit: str = one_of(
        "Shares in each component; per standard deviation of a variable; per unit of it; or the "
        "squared correlation of score and variable.",
        *("share", "std", "raw", "correlation"),
    ),
    intervals: bool = option("Also show what another sample of rows would give (95 %)."),
    reading: options.Reading,
    output: options.Output,
) -> None:
    """Measure how much each variable matters in each component of MODEL, over the rows of DATA.

    Without DATA the rows or landmarks that the model keeps are taken. The columns of the table are
    the components, all of them together, and the reconstruction error: which variables carry what
    the model cannot explain.
    """
    if intervals and unit != "share":
        raise click.UsageError("--intervals are available for shares only; leave --unit out")
    fitted = load_model(model, "relevance", "sensitivity")
    tables.check_output(output, ["overall"], labelled=True)
    inner = learnt.of_vectors(fitted)
    groups = None if inner is fitted else fitted.encoder_.groups_
    if groups is not None and intervals:
        raise click.UsageError("--intervals are for variables; a model of tables has groups")
    if hasattr(inner, "set_output"):
        inner.set_output(transform="default")
    with console.progress(), tables.open_if_named(data, reading, fitted) as table:
        rows = None if table is None else table.rows
        sure = inner.uncertainty(rows) if intervals else None
        measured = inner.relevance(rows, unit=unit, groups=groups)
        made = _table(measured, sure)  # the intervals need the rows, too
    tables.write_output(output, made)
    known = {} if sure is None else {"advice": sure.advice}
    if not console.asked_for("json"):
        for line in [*measured.describe(), *known.get("advice", ())]:
            console.remark(line)
    count = len(measured.names)
    tables.report(output, f"{count:,} variables", variables=count, **known)


def _table(measured: Any, sure: Any) -> Any:
    """A row for each variable: each component, all together, the error, and any limits."""
    import numpy as np

    names = [f"component {k}" for k in range(len(measured.components))] + ["overall", "error"]
    columns = measured.table.T
    if sure is not None:
        for word, limits in (("low", sure.relevance.low), ("high", sure.relevance.high)):
            names += [f"component {k} {word}" for k in range(len(limits))]
            columns = np.hstack([columns, limits.T])
    rows = mercer.io.MemoryRows(columns, names)
    return mercer.io.Table(rows, {"variable": np.array(measured.names)})
