"""How a call is refused: on one line, with the cause and a remedy."""

import re

import pytest

from mercer import KernelPCA


def refused(error, words, rows, model=None, method="fit"):
    """The call raises, on one line, with these words in it and something that can be done."""
    with pytest.raises(error) as caught:
        getattr(KernelPCA(2) if model is None else model, method)(rows)
    message = str(caught.value)
    assert "\n" not in message, message
    assert re.search(words, message), message
    remedies = (
        "give|use|remove|fill|scale|encode|convert|reshape|flatten|raise|mend|fix|must return"
    )
    assert re.search(remedies, message, re.IGNORECASE), f"no remedy: {message}"
    return caught.value
