"""What an error advises, in the words of the place where a person reads it.

The library speaks of arguments and classes. At a shell and on a page nobody can write these; here
stands what can be typed or chosen there instead.
"""

from __future__ import annotations

import ast
import csv
import io
import re
import shlex

__all__ = ["COMMAND_LINE", "PAGE", "in_words_of_the_command_line", "in_words_of_the_page"]

#: What the library says → what can be typed at a shell.
COMMAND_LINE = {
    "Fill them with impute, fit TableModel(MissingKernelPCA(...)), or": "Fit with 'mercer fit DATA "
    "--model missing', fill them in by a model of other rows ('mercer impute MODEL DATA'), or",
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
    " (calibration='cross' takes all rows, 'split' a quarter), or ask for ": ", or ask for "
    "--false-alarm-rate ",
    "fit again with n_components=": "fit again with --components ",
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
    "or read it by spooled(stream) of mercer.rows": "or give '-' in its place, and '< FILE' at the "
    "end",
    "read its numbers in blocks by open_rows of mercer.rows": "leave out columns of text by 'cut', "
    "and it is read in blocks",
    "use preimage='auto', 'gradient', or 'nearest' for any kernel": "fit with --preimage auto",
}

#: What the library says → what can be chosen on a page.
PAGE = {
    "Fill them with impute, fit TableModel(MissingKernelPCA(...)), or": "Choose the estimator "
    "'With missing values', or",
    "fill them in by impute or MissingKernelPCA": "choose the estimator 'With missing values'",
    "fill it in by impute or MissingKernelPCA": "choose the estimator 'With missing values'",
}

#: A text as Python writes it.
_TEXT = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""


def in_words_of_the_command_line(message: str) -> str:
    """Remedies that name what Python has name what can be typed at a shell instead."""
    for name, option in COMMAND_LINE.items():
        message = message.replace(name, option)
    message = re.sub(rf"\bdrop=(\[(?:{_TEXT}|, )*\])", _drop_option, message)
    message = re.sub(rf"\b(drop|label|array)=({_TEXT})", _name_option, message)
    message = re.sub(rf"TableEncoder\(kinds={{({_TEXT}): '(\w+)'}}\)", _kind_option, message)
    message = re.sub(r"\bscale='(\w+)'", r"--scale \1", message)
    message = re.sub(r"\b(drop|label|array|columns)=", r"--\1", message)
    message = re.sub(r"^(?:n_)?(components|width|gamma|sigma)=", r"--\1 ", message)
    return re.sub(r"--image-shape (.*)\(1, (\d+)\)", r"--image-shape \1--image-shape 1x\2", message)


def in_words_of_the_page(message: str) -> str:
    """Remedies that name what Python has name what can be chosen on the page instead."""
    for name, choice in PAGE.items():
        message = message.replace(name, choice)
    return message


def _drop_option(found: re.Match[str]) -> str:
    names = ast.literal_eval(found[1])
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)  # as --drop reads them
    return f"--drop {shlex.quote(line.getvalue())}"


def _name_option(found: re.Match[str]) -> str:
    return f"--{found[1]} {shlex.quote(ast.literal_eval(found[2]))}"


def _kind_option(found: re.Match[str]) -> str:
    return f"--{found[2]} {shlex.quote(ast.literal_eval(found[1]))}"
