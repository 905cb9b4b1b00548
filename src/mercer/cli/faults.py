"""From an exception to one line for the user and an exit status."""

import ast
import csv
import errno
import io
import re
import shlex

import click

from mercer.cli.usage import usage_in_plain_words

__all__ = ["Failure", "describe", "exit_status", "in_words_of_the_command_line"]


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
    if isinstance(error, ValueError | TypeError) and _raised_on_purpose(error):
        return in_words_of_the_command_line(str(error))
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


def in_words_of_the_command_line(message: str) -> str:
    """Remedies that name what Python has name what can be typed here instead."""
    for name, option in _WORDS.items():
        message = message.replace(name, option)
    message = re.sub(rf"\bdrop=(\[(?:{_TEXT}|, )*\])", _drop_option, message)
    message = re.sub(rf"\b(drop|label|array)=({_TEXT})", _name_option, message)
    message = re.sub(rf"TableEncoder\(kinds={{({_TEXT}): '(\w+)'}}\)", _kind_option, message)
    message = re.sub(r"\b(drop|label|array|columns)=", r"--\1", message)
    message = re.sub(r"^(?:n_)?(components|width|gamma|sigma)=", r"--\1 ", message)
    return re.sub(r"--image-shape (.*)\(1, (\d+)\)", r"--image-shape \1--image-shape 1x\2", message)


#: A text as Python writes it.
_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""

#: What the library says → what can be typed at a shell.
_WORDS = {
    "Fill them with impute, fit TableModel(MissingKernelPCA(...)), or": "Fit with --model missing, "
    "fill them in by a model of other rows ('mercer impute MODEL DATA'), or",
    "make such values NaN and fit MissingKernelPCA": "leave the field empty and fit with --model "
    "missing",
    "choose others by open_rows(path, columns=...) of mercer.rows, or fit a TableModel to "
    "read_table(path) of mercer.tables": "or choose others with --columns",
    "as a table might; fit a model to it first": "as a table might; fit a model to it first, "
    "'mercer fit DATA'. MODEL comes before DATA",
    "give a table with text to TableModel(KernelPCA(...)), from mercer, or use FunctionKernel for "
    "objects": "leave such columns out with --drop",
    "TableEncoder(name='category')": "--category NAME (or --number, --date)",
    "uncertainty() measures it": "'mercer relevance MODEL --intervals' measures it",
    "impute them first": "fill them in first by 'mercer impute MODEL DATA'",
    "choose their number by tune(X, noise=...), or give n_components": "choose their number by "
    "'mercer tune DATA', or fit with --components N",
    "or a level of noise": "or a level by --noise",
    "give the level that you expect": "give the level that you expect by --noise",
    "rows[:n]": "fewer rows",
    "by positive=, or give -1 for new and 1 for normal rows (or 1 and 0), and some of each": "by "
    "--positive",
    "image_shape=(height, width)": "--image-shape HEIGHTxWIDTH",
    "give (height, width) or (height, width, 3)": "give HEIGHTxWIDTH or HEIGHTxWIDTHx3",
    "image_shape=": "--image-shape ",
    "give a KernelNovelty, or KernelNovelty.from_fitted(model, X)": "fit one with 'mercer fit DATA "
    "--model novelty'",
    "fit KernelNovelty to all of them": "fit all of them with 'mercer fit DATA --model novelty'",
    "use GenerativeKernelPCA": "fit one with 'mercer fit DATA --model generative'",
    "raise max_iter, or use fewer components": "fit with fewer --components",
    "raise max_iter": "choose another --solver, such as dense",
    "see imputations(X).converged, or use fewer components or a wider kernel": "fit with fewer "
    "--components or a larger --width",
    "by impute or MissingKernelPCA": "by 'mercer impute MODEL DATA', or fit with '--model missing'",
    "draw the KernelPCA of the same rows": "draw one of the same rows, 'mercer fit DATA'",
    "fit again, or see ContributionsDisplay": "fit again, with --columns",
    "fit SparseKernelPCA, or compress(model, n_kernels)": "fit one with 'mercer fit DATA --model "
    "sparse'",
    "give a KernelPCA.": "fit one with 'mercer fit DATA'.",
    "use a radial kernel such as Gaussian()": "fit with --kernel gaussian",
    "give these rows as X": "name their file as DATA",
    "(a Gaussian's gamma='median')": "(--gamma median)",
    "use preimage='auto', 'gradient', or 'nearest' for any kernel": "fit with --preimage auto",
}


def _drop_option(found: re.Match[str]) -> str:
    names = ast.literal_eval(found[1])
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)  # as --drop reads them
    return f"--drop {shlex.quote(line.getvalue())}"


def _name_option(found: re.Match[str]) -> str:
    return f"--{found[1]} {shlex.quote(ast.literal_eval(found[2]))}"


def _kind_option(found: re.Match[str]) -> str:
    return f"--{found[2]} {shlex.quote(ast.literal_eval(found[1]))}"


def _raised_on_purpose(error: Exception) -> bool:
    from mercer.exceptions import MercerError

    return isinstance(error, MercerError)
