"""What pages show as printed is what their code prints."""

import contextlib
import io
import re

import pytest

from tests.conftest import ROOT

FOLDER = ROOT / "docs" / "howto"
PAGES = ("compare", "monitoring", "noisy_rows", "pipeline", "progress", "reproduce")
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:e[-+]\d+)?")


def agree(shown: str, printed: str) -> bool:
    """The same words, and numbers that rounding or another machine may have moved."""
    words = [" ".join(NUMBER.sub("#", text).split()) for text in (shown, printed)]
    pairs = zip(*(map(float, NUMBER.findall(text)) for text in (shown, printed)), strict=True)
    near = (abs(a - b) <= max(0.2 * abs(b), 0.02) for a, b in pairs)
    return words[0] == words[1] and all(near)


@pytest.mark.parametrize("page", PAGES)
def test_printed_output_is_what_the_code_prints(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    names, shown_blocks = {"__name__": "page"}, 0
    for code, shown in BLOCK.findall((FOLDER / f"{page}.md").read_text(encoding="utf-8")):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, f"{page}.md", "exec"), names)
        assert agree(shown, out.getvalue()), (code, shown, out.getvalue())
        shown_blocks += bool(shown)
    assert shown_blocks >= 3


def test_agree_tells_words_and_numbers():
    assert agree("rate 5.0% of 871\n", "rate  5.4% of 870")
    assert not agree("rate 5.0%", "rate 9.0%")
    assert not agree("fitted: False", "fitted: True")
    assert not agree("[1. 2.]", "[1. 2. 3.]")
