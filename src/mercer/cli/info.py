"""``info`` and ``convert``: what a model file holds, and tables and models in other formats."""

from pathlib import Path
from typing import Any

import click

import mercer
from mercer.cli import options
from mercer.cli.models import existing, load_model
from mercer.cli.options import command, console, frames, opening, option, tables


@command("Show what a model file contains.")
def info(model: str = options.MODEL) -> None:
    """Describe the model file MODEL: what it is, how it was made, and what takes up space.

    Every checksum is compared; nothing that the file says is run.
    """
    path = existing(model)  # before the library is loaded

    from dataclasses import asdict

    from mercer.io.model_file import describe

    facts = describe(path)
    if not console.as_json(asdict(facts)):
        _print(facts)


def _print(facts: Any) -> None:
    from mercer._base.machine import size_text

    most = tables.SHOWN
    lines = {name: text for name, text in facts.parameters.items() if text != "None"}
    fitted = facts.fitted.items()
    lines |= {name: x for name, x in fitted if not x.startswith("array") and len(x) < 200}
    if facts.class_name.endswith("TableModel"):
        lines["columns"] = "\n".join(mercer.load(facts.path).encoder_.describe(most=most))
    lines["data"] = ", ".join(f"{name} {str(x)[:16]}" for name, x in (facts.data or {}).items())
    libraries = [f"{name} {version}" for name, version in facts.libraries.items()]
    lines["written"] = ", ".join([f"{facts.created_at}, format {facts.version}", *libraries])
    title = f"{facts.class_name}: {facts.path}, {size_text(facts.n_bytes)}, checksums agree"
    console.summary(title, {name: text for name, text in lines.items() if text})
    arrays = {
        tensor.name: f"{' × '.join(f'{side:,}' for side in tensor.shape)} {tensor.dtype}, "
        f"{size_text(tensor.n_bytes)}"
        for tensor in facts.tensors[:most]
    }
    if rest := facts.tensors[most:]:
        total = sum(tensor.n_bytes for tensor in rest)
        arrays[f"{len(rest)} more"] = size_text(total)
    console.summary("Arrays", arrays)


@command("Write a table or a model in another format.")
def convert(
    *,
    source: str = options.DATA,
    target: str = options.DATA,
    force: bool = option("Replace an existing TARGET."),
    reading: options.Reading,
) -> None:
    """Write SOURCE as TARGET; the endings say what they are.

    A model file (.mercer) becomes an ONNX graph (.onnx), for programs that have neither Python nor
    mercer. A table, or a folder of PNG images, becomes any other kind of table.
    """
    output = options.Output(target, force, reading.format)
    if Path(source).suffix == ".mercer":
        done = _convert_model(source, output)
    else:
        done = _convert_table(source, reading, output)
    tables.report(output, source, **done)


def _convert_model(source: str, output: options.Output) -> dict[str, int]:
    if output.path is None or output.path.suffix.lower() != ".onnx":
        raise click.UsageError("a model is converted to a file that ends in .onnx")
    tables.check_target(output.path, force=output.force)
    mercer.export_onnx(load_model(source), output.path)
    return {"bytes": output.path.stat().st_size}


def _convert_table(source: str, reading: options.Reading, output: options.Output) -> dict[str, int]:
    # Standard input can be read once.
    with tables.located(source, reading) as look:
        frame = opening.read_mixed(look, reading.choice())
        if frame is not None:
            tables.check_output(output, list(frame.columns), labelled=True)
            tables.write_output(output, frames.columns_table(frame.make(frame.columns)))
            return {"rows": len(frame), "columns": len(frame.columns)}
        with tables.open_input(str(look.path), reading, allow_nan=True) as table:
            tables.check_output(output, table.rows.columns, labelled=bool(table.beside))
            tables.write_output(output, table)
        return {"rows": table.rows.shape[0], "columns": table.rows.shape[1]}
