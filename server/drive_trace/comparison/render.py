"""A comparison for people: as text, Markdown and HTML. Here everything from a trace is escaped."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest

from drive_trace.comparison.answer import Comparison
from drive_trace.comparison.contents import Name, Section, power, sections
from drive_trace.report.html import STYLE
from drive_trace.report.html.markup import (
    Html,
    document,
    join,
    section,
    table,
    tag,
    untrusted,
)
from drive_trace.text.escaping import code, code_in_cell, plain
from drive_trace.text.wording import wrapped

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
_MOST_OF_A_TABLE = 12_000
"""Characters in Markdown: a comment on GitHub has at most 65,536."""
_LEFT, _WIDTH, _ROW = 20, 320, 34
_IN_FIGURE = re.compile(r"(?<=[,<]) ")


def as_text(found: Comparison) -> str:
    """Tables with aligned columns; at most 80 columns where names allow."""
    lines = [line for each in power(found) for line in wrapped(each, "")]
    lines += [*([""] if lines else []), f"Answer: {found.answer.words}"]
    for reason in found.reasons:
        lines += wrapped(f"{plain(reason.sentence, 500)}.")
    for each in sections(found):
        lines += ["", each.title]
        for note in each.notes:
            lines += wrapped(note)
        rows = _rows(each, plain)
        if each.numbers_from is not None:  # what stands within a figure is not wrapped
            rows = [[_IN_FIGURE.sub("\u00a0", cell) for cell in row] for row in rows]
        lines += _aligned([each.headers, *rows])
    return "\n".join(lines).replace("\u00a0", " ")


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of at most 80 columns where its longest words allow."""
    columns = [*zip(*rows, strict=True)]
    least = [max(len(word) for cell in each for word in cell.split(" ")) for each in columns]
    least[-1] = min(least[-1], 30)  # what overflows there, as a path, moves nothing
    widths = [max(map(len, each)) for each in columns]
    for _ in range(sum(widths) + 2 * len(widths) - 80):
        widest = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        widths[widest] = max(widths[widest] - 1, least[widest])
    for row in rows:
        cells = [
            wrapped(cell, "", width, "") or [""] for cell, width in zip(row, widths, strict=True)
        ]
        for line in zip_longest(*cells, fillvalue=""):
            yield f"  {'  '.join(map(str.ljust, line, widths)).rstrip()}"


def as_markdown(found: Comparison) -> str:
    """A comment on a pull request: what leads to the answer below it, folded."""
    lines = [line for each in power(found) for line in (each, "")]
    lines += [f"# Drive Trace: {found.answer.words}", ""]
    lines += [
        f"- {reason.words}{f': {code(reason.names)}' if reason.names else ''}"
        for reason in found.reasons
    ]
    for number, each in enumerate(sections(found)):
        notes = [*(f"- {note}" for note in each.notes), *([""] if each.notes else [])]
        shown = ["", *notes, *_markdown_table(each), ""]
        if number:
            lines += ["", f"<details><summary>{each.title}</summary>", *shown, "</details>"]
        else:
            lines += ["", f"## {each.title}", *shown]
    return "\n".join(lines)


def _markdown_table(each: Section) -> Iterator[str]:
    yield f"| {' | '.join(each.headers)} |"
    yield f"|{' --- |' * len(each.headers)}"
    room = _MOST_OF_A_TABLE
    for at, row in enumerate(_rows(each, code_in_cell)):
        line = f"| {' | '.join(row)} |"
        room -= len(line)
        if room < 0:
            yield f"\n… and {len(each.rows) - at:,} more: the JSON has them all."
            return
        yield line


def _rows(each: Section, escaped: Callable[[str], str]) -> list[list[str]]:
    return [
        [escaped(cell) if isinstance(cell, Name) else cell for cell in row] for row in each.rows
    ]


def as_html(found: Comparison, generator: str) -> str:
    """One file that loads nothing and runs nothing, with the intervals drawn."""
    footer = tag("footer", tag("p", f"Made by {generator}. This file loads nothing."))
    return document(HTML_STYLE, "", f"Drive Trace: {found.answer.words}", html_body(found), footer)


def html_body(found: Comparison) -> Html:
    """What stands in such a page, which has :data:`HTML_STYLE`."""
    reasons = [
        tag("li", each.words, *([": ", untrusted(each.names, 500)] if each.names else []))
        for each in found.reasons
    ]
    answer = tag("p", "Answer: ", tag("strong", found.answer.words), class_="headline")
    parts = [_html(number, each) for number, each in enumerate(sections(found))]
    said = [tag("p", each) for each in power(found)]
    header = tag("header", *said, tag("h1", _TITLE), answer, tag("ul", reasons))
    return join([header, tag("main", parts)])


def _html(number: int, each: Section) -> Html:
    notes = [tag("p", note) for note in each.notes]
    drawn = [_intervals(each)] if each.drawn else []
    label, numbers_from = f"{each.title}, table", each.numbers_from
    rows = _rows(each, lambda name: untrusted(name, 200))
    shown = table(each.title, each.headers, rows, label=label, numbers_from=numbers_from)
    return section(f"part-{number}", each.title, *notes, *drawn, shown)


def _intervals(part: Section) -> Html:
    """A line for each interval below its name, and a square at its value."""
    far = part.farthest
    marks = (0, 0.5, 1) if far is None else (1 / far, 1, far)

    def x(value: float) -> float:
        share = value if far is None else (math.log(value, far) + 1) / 2
        return round(_LEFT + _WIDTH * min(max(share, 0.0), 1.0), 1)

    bottom = _ROW * len(part.drawn)
    shapes = []
    for at in marks:
        kind = "axis" if far is None or at != 1 else "same"
        shapes.append(tag("line", x1=x(at), x2=x(at), y1=0, y2=bottom, class_=kind))
        said, y = f"{at:.2f}", bottom + 14
        shapes.append(tag("text", said, x=x(at), y=y, text_anchor="middle", class_="soft"))
    for number, each in enumerate(part.drawn):
        y = _ROW * number + 24
        shapes.append(tag("text", plain(each.label, 50), x=_LEFT, y=y - 10))
        if each.interval is not None:
            low, high = each.interval
            shapes.append(tag("line", x1=x(low), x2=x(high), y1=y, y2=y))
        if each.value is not None:
            shapes.append(tag("rect", x=x(each.value) - 3, y=y - 3, width=6, height=6))
    box = f"0 0 {2 * _LEFT + _WIDTH} {bottom + 20}"
    label = f"{part.title}: 95 % intervals, which the table below has"
    return tag("svg", join(shapes), viewBox=box, class_="intervals", role="img", aria_label=label)
