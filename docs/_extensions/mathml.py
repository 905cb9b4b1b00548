"""Formulas as MathML, written at build time: the pages need no script from another machine."""

import re
from html import escape
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)

# What docutils does not know: sizes of delimiters (MathML stretches them by itself), and dots.
SYNONYMS = {r"\\(big|Big|bigg|Bigg)(?![a-zA-Z])": "", r"\\dots(?![a-zA-Z])": r"\\ldots"}


def setup(app: Any) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_convert(node, as_block=False))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="formula">{_convert(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def _convert(node: nodes.Element, *, as_block: bool) -> str:
    tex = node.astext()
    for pattern, known in SYNONYMS.items():
        tex = re.sub(pattern, known, tex)
    try:
        return tex2mathml(tex, as_block=as_block)
    except MathError as error:
        logger.warning("%s In: %s", error, node.astext(), location=node)
        return f"<code>{escape(node.astext())}</code>"
