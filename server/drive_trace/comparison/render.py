"""A comparison for people: as text, Markdown and HTML. Here everything from a trace is escaped."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from drive_trace.comparison.answer import Comparison
from drive_trace.comparison.contents import Drawn, Name, Scale, Section, power, sections
from drive_trace.report.html import STYLE
from drive_trace.report.html.markup import Html, document, join, section, table, tag, untrusted
from drive_trace.text.escaping import code, code_in_cell, plain

_STYLE = """
.intervals{max-width:40rem}
.intervals line{stroke:var(--clock);stroke-width:2}
.intervals line.axis{stroke:var(--line);stroke-width:1}
.intervals line.same{stroke:var(--soft);stroke-dasharray:3}
.intervals rect{fill:var(--clock)}
"""
_LEFT, _WIDTH, _ROW = 190, 440, 22


def as_text(found: Comparison) -> str:
    """Tables with aligned columns."""
    lines = [power(found), "", f"Answer: {found.answer.words}"]
    lines += [f"  {plain(each.sentence, 500)}." for each in found.reasons]
    for each in sections(found):
        lines += ["", each.title, *(f"  {note}" for note in each.notes)]
        rows = [each.headers, *([_in(cell, plain) for cell in row] for row in each.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines += [f"  {'  '.join(map(str.ljust, row, widths)).rstrip()}" for row in rows]
    return "\n".join(lines)


def as_markdown(found: Comparison) -> str:
    """A comment on a pull request: what leads to the answer below it, folded."""
    lines = [power(found), "", f"# Drive Trace: {found.answer.words}", ""]
    lines += [
        f"- {reason.words}{f': {code(reason.names)}' if reason.names else ''}"
        for reason in found.reasons
    ]
    for number, each in enumerate(sections(found)):
        body = [*each.notes, "" if each.notes else None, *_markdown_table(each)]
        shown = [line for line in body if line is not None]
        if number:
            shown = [f"<details><summary>{each.title}</summary>", "", *shown, "", "</details>"]
        lines += ["", *shown]
    return "\n".join(lines)


def _markdown_table(each: Section) -> Iterator[str]:
    yield f"| {' | '.join(each.headers)} |"
    yield f"|{' --- |' * len(each.headers)}"
    for row in each.rows:
        yield f"| {' | '.join(_in(cell, code_in_cell) for cell in row)} |"


def _in(cell: str, escaped: Callable[[str], str]) -> str:
    return escaped(cell) if isinstance(cell, Name) else str(cell)


def as_html(found: Comparison, generator: str) -> str:
    """One file that loads nothing and runs nothing, with the intervals drawn."""
    reasons = [
        tag("li", each.words, *([": ", untrusted(each.names, 500)] if each.names else []))
        for each in found.reasons
    ]
    answer = tag("p", "Answer: ", tag("strong", found.answer.words), class_="headline")
    title = f"Drive Trace: {found.answer.words}"
    parts = [_html(number, each) for number, each in enumerate(sections(found))]
    header = tag("header", tag("p", power(found)), tag("h1", title), answer, tag("ul", reasons))
    footer = tag("footer", tag("p", f"Made by {generator}. This file loads nothing."))
    return document(STYLE + _STYLE, "", title, header, tag("main", parts), footer)


def _html(number: int, each: Section) -> Html:
    rows = [[untrusted(c) if isinstance(c, Name) else c for c in row] for row in each.rows]
    notes = [tag("p", note) for note in each.notes]
    drawn = [_intervals(each.title, each.drawn, each.scale)] if each.drawn else []
    shown = table(
        each.title, each.headers, rows, label=each.title, wide=range(1, len(each.headers))
    )
    return section(f"part-{number}", each.title, *notes, *drawn, shown)


def _intervals(title: str, drawn: Sequence[Drawn], scale: Scale) -> Html:
    """A line for each interval, and a square at its value."""
    first, last = _at(scale.marks[0], scale), _at(scale.marks[-1], scale)

    def x(value: float) -> float:
        share = (_at(value, scale) - first) / (last - first)
        return round(_LEFT + _WIDTH * min(max(share, 0.0), 1.0), 1)

    height = _ROW * (len(drawn) + 1)
    shapes = []
    for mark in scale.marks:
        kind = "same" if mark == scale.same else "axis"
        shapes.append(tag("line", x1=x(mark), x2=x(mark), y1=0, y2=height - _ROW, class_=kind))
        said = f"{mark:.2f}"
        shapes.append(
            tag("text", said, x=x(mark), y=height - 6, text_anchor="middle", class_="soft")
        )
    for number, each in enumerate(drawn):
        y = _ROW * number + _ROW / 2
        label = plain(each.label, 28)
        shapes.append(tag("text", label, x=_LEFT - 10, y=y + 4, text_anchor="end"))
        if each.interval is not None:
            low, high = each.interval
            shapes.append(tag("line", x1=x(low), x2=x(high), y1=y, y2=y))
        if each.value is not None:
            shapes.append(tag("rect", x=x(each.value) - 3, y=y - 3, width=6, height=6))
    box = f"0 0 {_LEFT + _WIDTH + 30} {height}"
    label = f"{title}: 95 % intervals, which the table below has"
    return tag("svg", join(shapes), viewBox=box, class_="intervals", role="img", aria_label=label)


def _at(value: float, scale: Scale) -> float:
    return math.log(value) if scale.is_ratio else value
