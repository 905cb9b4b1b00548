"""Remedies in the words of the place: every phrase that is translated is still said."""

import ast
from pathlib import Path

import pytest

import mercer
from mercer._remedies import COMMAND_LINE, PAGE, in_words_of_the_command_line

ROOT = Path(mercer.__file__).parent


def said():
    """All texts of the library; what is filled in stands as a zero byte."""
    for path in ROOT.rglob("*.py"):
        if path.name == "_remedies.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                yield "".join(str(getattr(part, "value", "\0")) for part in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value


@pytest.fixture(scope="module")
def texts():
    return "\n".join(said())


@pytest.mark.parametrize("phrase", [*COMMAND_LINE, *PAGE])
def test_a_phrase_that_nobody_says_is_not_translated(phrase, texts):
    assert phrase in texts


def test_a_scale_is_an_option():
    said = "scale='std': these columns have no names; scale them before."
    assert in_words_of_the_command_line(said).startswith("--scale std: these")
