"""From an exception to one line for the user and an exit status; wrong usage in plain words."""

import errno
import json
import re
from pathlib import Path

import click


def instead_of(kind: str, name: str) -> str:
    """What to type instead of ``"commands"`` or ``"options"`` that people try; "" if not known."""
    text = Path(__file__).with_name("neighbours.json").read_text(encoding="utf-8")
    return str(json.loads(text)[kind].get(name.lower(), ""))


def usage_in_plain_words(error: click.UsageError) -> str:
    """click's message, made more helpful for the most frequent mistakes."""
    message = error.format_message()
    context = error.ctx or click.Context(click.Command("mercer"))
    if isinstance(error, click.NoSuchOption):
        name = error.option_name
        ours = instead_of("options", name)
        if ours.startswith("'") or _has_option(context.command, ours):
            return f"No such option '{name}'; it is {ours}."
        commands = getattr(context.find_root().command, "commands", {})
        others = [f"'mercer {key}'" for key in commands if _has_option(commands[key], name)]
        where = ", ".join(others[:3])
        return f"No such option '{name}'; that is an option of {where}." if where else message
    first = context.params.get("model")
    lacks = isinstance(error, click.MissingParameter) and not _has_option(
        context.command, "--model"
    )
    if lacks and first and not first.endswith(".mercer"):
        return f"{message} MODEL comes before DATA: '{context.command_path} MODEL {first}'."
    # Of other mistakes click keeps only the words.
    if extra := re.search(r"Got unexpected extra arguments? \((.*)\)", message):
        return f"{extra[0]}{_extra(context.command, extra[1])}"
    message = re.sub(r"is not a valid float( range)?", "is not a number", message)
    message = re.sub(r"is not a valid integer( range)?", "is not a whole number", message)
    message = re.sub(r"not in the range x>=(\S+?)\.?$", r"too small; give \1 or more", message)
    return re.sub(r"not in the range x>(\S+?)\.?$", r"too small; give more than \1", message)


def _extra(command: click.Command, argument: str) -> str:
    """What an argument too many may have been."""
    first = argument.split()[0]
    if first.isdigit() and _has_option(command, "--count"):
        return f"; a number of rows is -n {first}"
    if Path(first).exists():
        return "; give one file at a time, or one pattern in quotes, such as 'rows-*.csv'"
    if _has_option(command, "--columns") and not Path(first).suffix:
        return f"; names of columns are joined by commas: --columns NAME,{first}"
    return f"; what is written is named by -o {first}" if _has_option(command, "--output") else ""


def _has_option(command: click.Command, name: str) -> bool:
    return any(name in option.opts for option in command.params)


class Failure(click.ClickException):
    """A command failed for a reason that its message explains, with a remedy."""


class NoModelFile(Failure):
    """There is no such model file."""

    exit_code = 4


def describe(error: Exception) -> tuple[str, int]:
    """One line that names the cause and what to do next; the status of :mod:`mercer.cli.run`."""
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "mercer"
        message = usage_in_plain_words(error)
        stop = "" if message.endswith((".", "?")) else "."
        return f"{message}{stop} Try '{path} --help'.", error.exit_code
    if isinstance(error, click.ClickException):
        return error.format_message(), error.exit_code
    if isinstance(error, MemoryError):
        return "out of memory. Use fewer rows, or a solver that streams, such as 'landmarks'.", 1
    if isinstance(error, OSError) and error.strerror:
        where = f": '{error.filename}'" if error.filename is not None else ""
        remedy = _REMEDIES.get(error.errno or 0, "Check the path and try again")
        return f"{error.strerror}{where}. {remedy}.", 1
    if isinstance(error, ImportError):
        return str(error), 1
    if isinstance(error, ValueError):
        # Imported late, since it loads scikit-learn: a mistyped option should be answered at once.
        from mercer.exceptions import MercerError, said

        if isinstance(error, MercerError):
            kinds = [kind.__name__ for kind in type(error).__mro__]
            return said(error, "shell"), max(_STATUSES.get(kind, 1) for kind in kinds)
    bug = "a bug in mercer: run again with --debug and report what it prints"
    return f"unexpected {type(error).__name__}: {error}. This is {bug}.", 1


_STATUSES = {"DataError": 3, "ModelFileError": 4, "ConvergenceError": 5}
_REMEDIES = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Free some space, or write to another disk"),
    errno.ENOENT: "Check the name",
    errno.EACCES: "Choose a place where you have permission",
    errno.EROFS: "Choose a place that can be written to",
}
