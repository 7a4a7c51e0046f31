"""What a view says, apart from how it is written: the one model of reports, cards and comparisons.

A document is a list of blocks: paragraphs, lists, tables, figures, and sections of these. It is
built once, and written as text or as Markdown here, and as HTML by :mod:`drive_trace.text.html`.
(JSON is data, not a document.)

Blocks hold *words*. These are ordinary strings, so that f-strings and joins work. What is not our
own in them, or stands out, is *marked*: it stands between noncharacters of Unicode. No text from a
stranger can have these, as :func:`name` spells whatever is not printable. So a name is made
harmless for a terminal or a runner when it is marked, and for Markdown or HTML when it is written,
and nowhere else.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple, TypeAlias

import msgspec

from drive_trace.text.quick import Frozen
from drive_trace.text.spans import terminal_columns
from drive_trace.text.wording import code, plain

# Words

Words: TypeAlias = str
_START, _NEXT, _END = "\ufdd0", "\ufdd1", "\ufdd2"
_MARK = re.compile(f"{_START}([a-z]+){_NEXT}([^{_NEXT}]*){_NEXT}([^{_END}]*){_END}")


class Mark(NamedTuple):
    """A marked part of words."""

    kind: str
    """``name``, ``quoted``, ``strong``, ``soft``, ``chip``, ``link`` or ``named`` (a link that is a
    name).
    """
    target: str
    """Where a link leads: an id on the page, or a URL. Of a chip, the standing that colours it."""
    text: str


def _marked(kind: str, text: str, target: str = "") -> Words:
    return f"{_START}{kind}{_NEXT}{target}{_NEXT}{text}{_END}"


def name(text: str, most: int = 200) -> Words:
    """Text from a stranger, as a trace or a path, cut to so many characters."""
    return _marked("name", plain(text, most))


def quoted(text: str, most: int = 200) -> Words:
    """The same of a sentence or a command, which ends where its quotes do."""
    return _marked("quoted", plain(text, most))


def strong(text: Words) -> Words:
    """Our own words, to be seen first."""
    return _marked("strong", text)


def soft(text: Words) -> Words:
    """Our own words on what follows."""
    return _marked("soft", text)


def chip(text: Words, standing: str) -> Words:
    """A verdict, in the colour of its standing where there are colours."""
    return _marked("chip", text, standing)


def link(target: str, text: Words) -> Words:
    """Our own words that lead to an element of the page, given its id, or in Markdown to a URL."""
    return _marked("link", text, target)


def named_link(target: str, text: str, most: int = 200) -> Words:
    """A name that does so; one that leads nowhere without a target."""
    shown = plain(text, most) or "(empty)"
    return _marked("named", shown, target) if target else _marked("name", shown)


def pieces(words: Words) -> Iterator[str | Mark]:
    """Words, in parts that are marked or not."""
    done = 0
    for found in _MARK.finditer(words):
        if found.start() > done:
            yield words[done : found.start()]
        yield Mark(found[1], found[2], found[3])
        done = found.end()
    if done < len(words):
        yield words[done:]


def outside_marks(words: Words, change: Callable[[str], Words]) -> Words:
    """Words whose parts that are not marked are changed."""
    return "".join(
        _marked(each.kind, each.text, each.target) if isinstance(each, Mark) else change(each)
        for each in pieces(words)
    )


def unmarked(words: Words) -> str:
    """Words for a terminal."""
    return _MARK.sub(lambda found: f"“{found[3]}”" if found[1] == "quoted" else found[3], words)


# Blocks


class Html(str):
    """Markup, safe to be put into other markup as it is. Only :mod:`drive_trace.text.html` makes
    it; as a block it is something that only a page can show.
    """

    __slots__ = ()


class Paragraph(msgspec.Struct, frozen=True):
    """A sentence or more."""

    words: Words
    is_warning: bool = False


class Bullets(msgspec.Struct, frozen=True):
    """A list."""

    items: Sequence[Words]


class Code(msgspec.Struct, frozen=True):
    """Commands, a line each: these are copied, so that none is wrapped."""

    lines: Sequence[str]


class Lines(msgspec.Struct, frozen=True):
    """A cell of several lines, or one that is sorted by a figure and not by what it says: last of
    all by NaN.
    """

    lines: Sequence[Words]
    order: float | None = None


Cell: TypeAlias = Words | Lines


class Table(Frozen, frozen=True):
    """Rows under headers; the first cell of a row names it. As text it needs no headers."""

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    label: str = ""
    """What a screen reader calls it, where the section's title does not tell it from others."""
    numbers_from: int | None = None
    """The first column of figures, from 0: then all that follow are, ..."""
    numbers_before: float = math.inf
    """... or those before this one."""
    wide: Sequence[int] = ()
    """The columns of sentences."""
    left_out: int = 0
    """How many more rows there are."""
    what: str = "rows"
    """What these are."""
    is_sortable: bool = False

    def is_figure(self, column: int) -> bool:
        """Whether it is a column of figures."""
        return self.numbers_from is not None and self.numbers_from <= column < self.numbers_before


class Section(Frozen, frozen=True):
    """Blocks under a heading."""

    title: Words
    blocks: Sequence[Block]
    id: str = ""
    """Of the heading, on a page."""
    is_folded: bool = False
    """Whether a reader unfolds it. Then its title is no heading."""


Block: TypeAlias = "Paragraph | Bullets | Code | Table | Section | Html"


def more(count: int, what: str) -> str | None:
    """A sentence on what is not shown; None if all is."""
    return f"… and {count:,} more {what}: the JSON report has them all." if count > 0 else None


def _joined(cell: Cell) -> Words:
    return cell if isinstance(cell, str) else "; ".join(cell.lines)


# As text

_IN_FIGURE = re.compile(r"(?<=[,<]) ")
_FIGURE = re.compile(r"[−+]?[\d,.]+|n/a")
"""What is aligned at the right, where all of a column is so."""


Paint: TypeAlias = Callable[[str, str], str]
"""Gives a text the colours of its role: the standing of a chip, ``heading`` or ``warning``.

Green is for the standing ``correct`` and for nothing else.
"""


def as_text(blocks: Iterable[Block], width: int = 80, paint: Paint = lambda text, _: text) -> str:
    """For a terminal of ``width`` columns: aligned, and wrapped where names allow."""
    return "\n".join(_text(blocks, "", width, paint)).replace("\u00a0", " ")


def wrapped(text: str, indent: str = "  ", width: int = 80, hanging: str = "  ") -> list[str]:
    """A sentence in lines of at most ``width`` columns; names and figures stay whole. All but the
    first have the ``hanging`` indent, too.
    """
    if len(indent) + len(text) <= width and text.isprintable() and text[-1:] > " ":
        return [indent + text]
    return textwrap.wrap(
        text,
        width=width,
        initial_indent=indent,
        subsequent_indent=indent + hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _text(blocks: Iterable[Block], indent: str, width: int, paint: Paint) -> Iterator[str]:
    is_first = True
    for each in blocks:
        match each:
            case Paragraph(words, is_warning):
                lines = wrapped(f"{'! ' * is_warning}{unmarked(words)}", indent, width)
                yield from (paint(line, "warning") if is_warning else line for line in lines)
            case Bullets(items):
                for item in items:
                    yield from wrapped(unmarked(item), indent or "  ", width)
            case Code(commands):
                yield from (f"{indent}  {plain(command, 2000)}" for command in commands)
            case Table():
                rows = _aligned(each, width - len(indent), paint)
                yield from (f"{indent}{row}".rstrip() for row in rows)
                yield from wrapped(more(each.left_out, each.what) or "", indent, width)
            case Section(title, inner):
                yield from ([] if is_first else [""])
                yield f"{indent}{unmarked(title)}"
                yield from _text(inner, f"{indent}  ", width, paint)
        is_first = False


def _aligned(table: Table, width: int, paint: Paint) -> Iterator[str]:
    """A table of at most so many columns where its longest words allow."""
    rows = [[unmarked(_joined(cell)) for cell in row] for row in table.rows]
    roles = [[_role(_joined(cell)) for cell in row] for row in table.rows]
    if table.numbers_from is not None:  # what stands within a figure is not wrapped
        rows = [[_IN_FIGURE.sub("\u00a0", cell) for cell in row] for row in rows]
    if table.headers:
        rows.insert(0, [*table.headers])
        roles.insert(0, ["heading"] * len(table.headers))
    columns = [*zip(*rows, strict=True)]
    figures = [
        table.is_figure(at) and all(map(_FIGURE.fullmatch, each[1:]))
        for at, each in enumerate(columns)
    ]
    least = [max(map(terminal_columns, " ".join(each).split(" "))) for each in columns]
    least[-1] = min(least[-1], 30)  # what overflows there, as a path, stands below
    widths = [max(map(terminal_columns, each)) for each in columns]
    for _ in range(sum(widths) + 2 * len(widths) - width):
        widest = max(range(len(widths)), key=lambda at: (widths[at] > least[at], widths[at]))
        widths[widest] = max(widths[widest] - 1, least[widest])
    before = sum(widths[:-1]) + 2 * len(widths[:-1])
    for row, roles_of in zip(rows, roles, strict=True):
        cells = [[*_in_column(cell, most)] or [""] for cell, most in zip(row, widths, strict=True)]
        for line in zip_longest(*cells, fillvalue=""):
            shown = []
            for each, most, is_figure, role in zip(line, widths, figures, roles_of, strict=True):
                room = " " * (most - terminal_columns(each))
                text = paint(each, role) if role and each else each
                shown.append(f"{room}{text}" if is_figure else f"{text}{room}")
            if before and before + terminal_columns(line[-1]) > width:
                yield from ["  ".join(shown[:-1])] * any(line[:-1])
                shown = ["", "", shown[-1]]
            yield "  ".join(shown)


def _in_column(cell: str, width: int) -> Iterator[str]:
    """The lines of a cell. What is to stay whole, and is wider than the column, does not."""
    for line in wrapped(cell, "", width, ""):
        yield from wrapped(line.replace("\u00a0", " "), "", width, "")


def _role(words: Words) -> str:
    """The standing of words that begin with a verdict."""
    first = next(pieces(words), "")
    return first.target if isinstance(first, Mark) and first.kind == "chip" else ""


# As Markdown

_MOST_OF_A_TABLE = 12_000
"""Characters: a comment on GitHub has at most 65,536."""


def as_markdown(blocks: Iterable[Block], level: int = 1, *, folds: bool = False) -> str:
    """As Markdown, whose sections have headings of this level and below. Where it ``folds``, so do
    the outermost sections that a reader unfolds.
    """
    return "\n\n".join(_markdown(blocks, level, folds=folds))


def _markdown(blocks: Iterable[Block], level: int, *, folds: bool) -> Iterator[str]:
    """Pieces that stand apart by an empty line."""
    for each in blocks:
        match each:
            case Paragraph(words, is_warning):
                yield f"{'⚠ ' * is_warning}{_inline_markdown(words)}"
            case Bullets(items) if items:
                yield "\n".join(f"- {_inline_markdown(item)}" for item in items)
            case Code(commands):
                yield "\n".join(["```", *(plain(command, 2000) for command in commands), "```"])
            case Table():
                yield from _markdown_table(each)
            case Section(title, inner, is_folded=True) if folds:
                # GitHub reads Markdown in an element only behind an empty line.
                from html import escape  # noqa: PLC0415 - a scorecard folds nothing

                yield f"<details><summary>{escape(unmarked(title))}</summary>"
                yield from _markdown(inner, level, folds=False)
                yield "</details>"
            case Section(title, inner):
                yield f"{'#' * level} {_inline_markdown(title)}"
                yield from _markdown(inner, level + 1, folds=folds)


def _inline_markdown(words: Words) -> str:
    """Words within a line of Markdown."""
    return "".join(_markdown_mark(one) if isinstance(one, Mark) else one for one in pieces(words))


def _markdown_mark(mark: Mark) -> str:
    kind, target, text = mark
    if kind in {"name", "named", "quoted"}:
        text = code(text, len(text))
    if kind in {"link", "named"}:
        return f"[{text}]({target})" if "://" in target else text
    return {"strong": f"**{text}**", "chip": f"**{text}**", "soft": f"*{text}*"}.get(kind, text)


def _markdown_table(table: Table) -> Iterator[str]:
    rules = ["---:" if table.is_figure(at) else "---" for at in range(len(table.headers))]
    lines = [f"| {' | '.join(cells)} |" for cells in (table.headers, rules)]
    room = _MOST_OF_A_TABLE
    for row in table.rows:
        # A bar divides even code.
        cells = (_inline_markdown(_joined(cell)).replace("|", "\\|") for cell in row)
        lines.append(f"| {' | '.join(cells)} |")
        room -= len(lines[-1])
        if room < 0:
            lines.pop()
            break
    yield "\n".join(lines)
    cut = more(table.left_out + len(table.rows) + 2 - len(lines), table.what)
    if cut:
        yield f"*{cut}*"
