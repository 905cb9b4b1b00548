"""``mercer convert``: a table in another format, or a model as ONNX."""

from pathlib import Path

import click

from mercer.cli.options import Output, Reading, reads, speaks


@click.command(short_help="Write a table or a model in another format.")
@click.argument("source", type=click.Path(allow_dash=True))
@click.argument("target", type=click.Path(allow_dash=True))
@click.option("--force", is_flag=True, help="Replace an existing TARGET.")
@reads
@speaks
def convert(
    source: str, target: str, force: bool, reading: Reading, as_json: bool, quiet: bool
) -> None:
    """Write SOURCE as TARGET; the endings say what they are.

    A model file (.mercer) becomes an ONNX graph (.onnx), for programs that have neither Python nor
    mercer. A table, or a folder of PNG images, becomes any other kind of table.
    """
    output = Output(None if target == "-" else Path(target), force, reading.format)
    if Path(source).suffix == ".mercer":
        done = _convert_model(source, output)
    else:
        done = _convert_table(source, reading, output, quiet=quiet)
    from mercer.cli.tables import tell

    tell(output, source, as_json=as_json, **done)


def _convert_model(source: str, output: Output) -> dict[str, int]:
    from mercer import export_onnx
    from mercer.cli.models import load_model
    from mercer.cli.tables import check_target

    if output.path is None or output.path.suffix.lower() != ".onnx":
        raise click.UsageError("a model is converted to a file that ends in .onnx")
    check_target(output.path, force=output.force)
    export_onnx(load_model(source), output.path)
    return {"bytes": output.path.stat().st_size}


def _convert_table(source: str, reading: Reading, output: Output, *, quiet: bool) -> dict[str, int]:
    from mercer.cli.tables import check_output, located, open_input, write_output
    from mercer.tables.frames import columns_table
    from mercer.tables.opening import read_mixed

    # Standard input can be read once.
    with located(source, reading) as path:
        frame = read_mixed(path, reading.choice())
        if frame is not None:
            check_output(output, list(frame.columns), labelled=True)
            write_output(output, columns_table(frame.make(frame.columns)), quiet=quiet)
            return {"rows": len(frame), "columns": len(frame.columns)}
        with open_input(str(path), reading, allow_nan=True) as table:
            check_output(output, table.rows.columns, labelled=bool(table.beside))
            write_output(output, table, quiet=quiet)
        return {"rows": table.rows.shape[0], "columns": table.rows.shape[1]}
