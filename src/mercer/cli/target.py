"""The model file that a command writes."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mercer._types import Estimator

if TYPE_CHECKING:
    from mercer.tables import TableEncoder


model_output = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The model file to write.  [default: the data's name with .mercer]",
)


#: Endings that other programs would open, in vain.
_OTHERS = {".csv", ".tsv", ".txt", ".npy", ".npz", ".mtx", ".parquet", ".feather", ".xlsx"}
_OTHERS |= {".json", ".jsonl", ".png", ".svg", ".pdf", ".jpg", ".html", ".onnx", ".pkl", ".zarr"}


def target_of(data: str, output: Path | None) -> Path:
    """The model file to write, by the name of the data if none is given."""
    if output is not None and str(output) != "-":
        if output.suffix.lower() in _OTHERS:
            raise click.UsageError(
                f"a model is not a {output.suffix} file; name it {output.with_suffix('.mercer')}"
            )
        return output
    if data == "-" or output is not None:
        raise click.UsageError("a model is written to a file; name it with --output")
    from mercer.rows.compressed import plain_name

    return Path(plain_name(Path(data).resolve()).stem + ".mercer")


def save_to(target: Path, model: Estimator, encoder: "TableEncoder | None") -> None:
    """Write the model, with the encoder of its table if it has one."""
    if encoder is not None:
        from mercer.tables import TableModel

        model = TableModel.from_fitted(model, encoder)
    model.save(target)
