"""A unified diff of a trace before and after its fixes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

import click

from drive_trace.text.escaping import cells
from drive_trace.text.spans import Span, exact
from drive_trace.trace.line import Line

_CONTEXT = 3
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}
_HEADS = ("+++", "---")
_NOTHING = Span(0, 0)
_NO_NEWLINE = "\\ No newline at end of file\n"


class _ChangedLines(NamedTuple):
    """Lines ``[start, stop)`` of before became lines ``[new_start, new_stop)``."""

    start: int
    stop: int
    new_start: int
    new_stop: int


def unified_diff(path: str, before: Sequence[Line], after: Sequence[Line]) -> Iterator[str]:
    """The diff's lines, each with its newline, as :func:`encode_exactly` takes them.

    What stayed is known by its :class:`Line`, so that nothing has to be compared with everything.
    """
    old, new = _texts(before), _texts(after)
    changes = _trimmed(_changes(before, after, old, new), old, new)
    hunks = _hunks(changes)
    if hunks:
        yield f"--- {path}\n"
        yield f"+++ {path}\n"
    for hunk in hunks:
        start = max(0, hunk[0].start - _CONTEXT)
        stop = min(len(old), hunk[-1].stop + _CONTEXT)
        new_start = hunk[0].new_start - (hunk[0].start - start)
        new_stop = hunk[-1].new_stop + (stop - hunk[-1].stop)
        yield f"@@ -{_range(start, stop)} +{_range(new_start, new_stop)} @@\n"
        at = start
        for change in hunk:
            yield from _marked(" ", old[at : change.start])
            yield from _marked("-", old[change.start : change.stop])
            yield from _marked("+", new[change.new_start : change.new_stop])
            at = change.stop
        yield from _marked(" ", old[at:stop])


def _texts(lines: Sequence[Line]) -> list[str]:
    *whole, last = (exact(line.text) for line in lines)
    return [f"{text}\n" for text in whole] + ([last] if last else [])


def _changes(
    before: Sequence[Line], after: Sequence[Line], old: Sequence[str], new: Sequence[str]
) -> Iterator[_ChangedLines]:
    place_of = {line: place for place, line in enumerate(before[: len(old)])}
    at = new_at = 0
    for new_place, line in enumerate(after[: len(new)]):
        place = place_of.get(line)
        # The last line stays the same also where it gets its newline.
        if place is not None and old[place] == new[new_place]:
            if place > at or new_place > new_at:
                yield _ChangedLines(at, place, new_at, new_place)
            at, new_at = place + 1, new_place + 1
    if at < len(old) or new_at < len(new):
        yield _ChangedLines(at, len(old), new_at, len(new))


def _trimmed(
    changes: Iterable[_ChangedLines], old: Sequence[str], new: Sequence[str]
) -> Iterator[_ChangedLines]:
    """Without lines that were read again and are the same as before."""
    for change in changes:
        before = old[change.start : change.stop]
        after = new[change.new_start : change.new_stop]
        head = _alike(before, after)
        tail = _alike(before[head:][::-1], after[head:][::-1])
        if head + tail < max(len(before), len(after)):
            yield _ChangedLines(
                change.start + head,
                change.stop - tail,
                change.new_start + head,
                change.new_stop - tail,
            )


def _alike(some: Sequence[str], others: Sequence[str]) -> int:
    """How many lines, or characters, at the start of two texts are the same."""
    count = 0
    for one, other in zip(some, others, strict=False):
        if one != other:
            break
        count += 1
    return count


def _hunks(changes: Iterable[_ChangedLines]) -> list[list[_ChangedLines]]:
    """Changes whose contexts meet, together."""
    hunks: list[list[_ChangedLines]] = []
    for change in changes:
        if hunks and change.start - hunks[-1][-1].stop <= 2 * _CONTEXT:
            hunks[-1].append(change)
        else:
            hunks.append([change])
    return hunks


def _range(start: int, stop: int) -> str:
    """As GNU diff writes it: an empty range names the line before it."""
    count = stop - start
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line
        if not line.endswith("\n"):
            yield f"\n{_NO_NEWLINE}"


def coloured(diff: Iterable[str]) -> Iterator[str]:
    """The lines for a person to look at: without what a terminal obeys, and with a mark on what
    changed within a line.
    """
    for is_change, lines in groupby(diff, lambda line: line[0] in "+-" and line[:3] not in _HEADS):
        together = list(lines)
        spans = _changed_spans(together) if is_change else {}
        for line in together:
            yield _coloured(line, spans.get(line, _NOTHING))


def _changed_spans(lines: Sequence[str]) -> dict[str, Span]:
    """What differs within each line and the one in its place, where there are as many of both."""
    old = [each for each in lines if each.startswith("-")]
    new = [each for each in lines if each.startswith("+")]
    spans = {}
    for one, other in zip(old, new, strict=True) if len(old) == len(new) else ():
        head = 1 + _alike(one[1:], other[1:])
        tail = _alike(one[head:][::-1], other[head:][::-1])
        spans[one], spans[other] = Span(head, len(one) - tail), Span(head, len(other) - tail)
    return spans


def _coloured(line: str, changed: Span) -> str:
    shown, colour = line[:1] + cells(line[1:].removesuffix("\n")), _COLOURS.get(line[0])
    parts = shown[: changed.start], shown[changed.start : changed.end], shown[changed.end :]
    return "".join(
        click.style(part, fg=colour, reverse=True if number == 1 else None)
        for number, part in enumerate(parts)
        if part
    )
