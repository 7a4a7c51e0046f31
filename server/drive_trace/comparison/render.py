"""A comparison for people: as text, Markdown and HTML."""

from __future__ import annotations

from drive_trace.comparison.answer import Comparison
from drive_trace.comparison.contents import lead, sections
from drive_trace.report.html import STYLE
from drive_trace.text import document as doc
from drive_trace.text.document import Html
from drive_trace.text.html import as_html, document, join, tag

HTML_STYLE = (
    STYLE
    + """
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
td.n{white-space:nowrap}
.intervals{width:100%;max-width:28rem}
.intervals text{paint-order:stroke;stroke:var(--bg);stroke-width:3px}
.intervals line{stroke:var(--clock);stroke-width:2}
.intervals line.axis{stroke:var(--line);stroke-width:1}
.intervals line.same{stroke:var(--soft);stroke-dasharray:3}
.intervals rect{fill:var(--clock)}
"""
)
_TITLE = "Drive Trace: candidate against baseline"


def as_text(found: Comparison) -> str:
    """Tables with aligned columns; at most 80 columns where names allow."""
    return doc.as_text([*lead(found, "Answer"), *sections(found)])


def as_markdown(found: Comparison) -> str:
    """A comment on a pull request: what leads to the answer below it, folded."""
    gate, *others = sections(found)
    folded = [each._replace(is_folded=True) for each in others]
    below = doc.as_markdown([gate, *folded], level=2, folds=True)
    return f"{doc.as_markdown(lead(found, 'Drive Trace'))}\n\n{below}"


def html_page(found: Comparison, generator: str) -> str:
    """One file that loads nothing and runs nothing, with the intervals drawn."""
    footer = tag("footer", tag("p", f"Made by {generator}. This file loads nothing."))
    return document(HTML_STYLE, "", f"Drive Trace: {found.answer.words}", html_body(found), footer)


def html_body(found: Comparison) -> Html:
    """What stands in such a page, which has :data:`HTML_STYLE`."""
    *power, answer = lead(found, "Answer")
    assert isinstance(answer, doc.Section)
    title = tag("h1", _TITLE)
    said = tag("p", "Answer: ", tag("strong", found.answer.words), class_="headline")
    header = tag("header", as_html(power), title, said, as_html(answer.blocks))
    return join([header, tag("main", as_html(sections(found)))])
