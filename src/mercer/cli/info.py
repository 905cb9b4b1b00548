"""``mercer info``: what a model file holds, without making the model."""

from typing import TYPE_CHECKING

import click

from mercer.cli.options import model_argument, speaks

if TYPE_CHECKING:
    from mercer.model_file import ModelInfo

SHOWN = 12


@click.command(short_help="What a model file holds.")
@model_argument
@speaks
def info(model: str, as_json: bool, quiet: bool) -> None:  # noqa: ARG001  nothing to be quiet about
    """Describe the model file MODEL: what it is, how it was made, and what takes the space.

    Every checksum is compared; nothing that the file says is run.
    """
    from dataclasses import asdict

    from mercer.cli.console import print_json
    from mercer.cli.models import existing
    from mercer.model_file import describe

    facts = describe(existing(model))
    if as_json:
        print_json(asdict(facts))
    else:
        _print(facts)


def _print(facts: "ModelInfo") -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from mercer import load
    from mercer._memory import size_text
    from mercer.cli.console import Terminal, summary

    lines = {name: text for name, text in facts.parameters.items() if text != "None"}
    lines |= {
        name: text
        for name, text in facts.fitted.items()
        if not text.startswith("array") and len(text) < 200
    }
    if facts.class_name.endswith("TableModel"):
        lines["columns"] = "\n".join(load(facts.path).encoder_.describe(most=SHOWN))
    if facts.data is not None:
        shown = {name: str(value)[:16] for name, value in facts.data.items()}
        lines["data"] = ", ".join(f"{name} {text}" for name, text in shown.items())
    lines["written"] = f"{facts.created_at}, format {facts.version}, " + ", ".join(
        f"{name} {version}" for name, version in facts.libraries.items()
    )
    size = size_text(facts.n_bytes)
    summary(f"{facts.class_name}: {facts.path}, {size}, checksums agree", lines)
    table = Table(box=SIMPLE_HEAD)
    for name in ("array", "shape", "type", "size"):
        table.add_column(name, justify="right" if name == "size" else "left")
    for tensor in facts.tensors[:SHOWN]:
        shape = " × ".join(f"{side:,}" for side in tensor.shape)
        table.add_row(tensor.name, shape, str(tensor.dtype), size_text(tensor.n_bytes))
    if len(facts.tensors) > SHOWN:
        rest = facts.tensors[SHOWN:]
        total = size_text(sum(tensor.n_bytes for tensor in rest))
        table.add_row(f"{len(rest)} more", "", "", total)
    Terminal(highlight=False).print(table)
