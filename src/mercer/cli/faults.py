"""From an exception to one line for the user and an exit status."""

import errno

import click

from mercer.cli.usage import usage_in_plain_words


class Failure(click.ClickException):
    """A command failed for a reason that its message explains, with a remedy."""


def describe(error: Exception) -> str:
    """One line that names the cause and what to do next."""
    if isinstance(error, click.UsageError):
        path = error.ctx.command_path if error.ctx else "mercer"
        message = usage_in_plain_words(error)
        stop = "" if message.endswith((".", "?")) else "."
        return f"{message}{stop} Try '{path} --help'."
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, MemoryError):
        return "out of memory. Use fewer rows, or a solver that streams, such as 'landmarks'."
    if isinstance(error, OSError) and error.strerror:
        return _describe_os_error(error)
    if isinstance(error, ImportError):
        return str(error)
    if isinstance(error, ValueError):
        from mercer.exceptions import MercerError, said  # late, as below

        if isinstance(error, MercerError):
            return said(error, "shell")
    return (
        f"unexpected {type(error).__name__}: {error}. This is a fault of mercer: "
        "run again with --debug and report what it prints."
    )


def exit_status(error: Exception) -> int:
    """The exit status for an error, by the table in :mod:`mercer.cli.run`."""
    if isinstance(error, click.ClickException):
        return error.exit_code  # 2 for wrong usage, 1 otherwise
    if not isinstance(error, ValueError):
        return 1
    # Imported late: this loads scikit-learn, which a mistyped option should not wait for.
    from mercer.exceptions import ConvergenceError, DataError, ModelFileError

    statuses = ((DataError, 3), (ModelFileError, 4), (ConvergenceError, 5))
    return next((status for kind, status in statuses if isinstance(error, kind)), 1)


def _describe_os_error(error: OSError) -> str:
    remedies = {
        errno.ENOSPC: "Free some space, or write to another disk",
        errno.EDQUOT: "Free some space, or write to another disk",
        errno.ENOENT: "Check the name",
        errno.EACCES: "Choose a place that you may use",
        errno.EROFS: "Choose a place that can be written to",
    }
    where = f" '{error.filename}'" if error.filename is not None else ""
    remedy = remedies.get(error.errno or 0, "Check the path and try again")
    return f"{error.strerror}:{where}. {remedy}." if where else f"{error.strerror}. {remedy}."
