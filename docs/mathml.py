"""Formulas as MathML, which browsers draw by themselves: no script, no picture, no network.

Sphinx's own renderer loads a script from another host when the page is read. Docutils, on which
Sphinx stands, already knows how to turn LaTeX into MathML; this extension only connects the two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from docutils import nodes  # type: ignore[import-untyped]  # docutils ships no types
from docutils.utils.math import MathError, latex2mathml, unichar2tex  # type: ignore[import-untyped]  # the same
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)


def converted(node: nodes.Element, *, block: bool) -> str:
    """Return the formula as MathML, or warn and return nothing."""
    formula = node.astext().translate(unichar2tex.uni2tex_table)
    try:
        return str(latex2mathml.tex2mathml(formula, as_block=block))
    except MathError as error:
        logger.warning("%s: %s", error, formula, location=node, type="mathml")
        return ""


def visit_inline(translator: HTML5Translator, node: nodes.Element) -> NoReturn:
    translator.body.append(converted(node, block=False))
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.Element) -> NoReturn:
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append(converted(node, block=True))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer(
        "mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
