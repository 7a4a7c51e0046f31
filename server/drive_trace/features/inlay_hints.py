"""``textDocument/inlayHint`` and ``inlayHint/resolve``: the meaning of numbers and ids."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.hover import about_value, is_off, measured
from drive_trace.features.markup import plain
from drive_trace.features.options import HintOptions
from drive_trace.features.positions import point_at
from drive_trace.features.referents import HoverOptions, Pointed, introduces, referent_of
from drive_trace.linter.edits import values_of as values_read
from drive_trace.text.escaping import printable
from drive_trace.text.spans import PositionEncoding
from drive_trace.text.wording import byte_size, compact, duration
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, event_of, run_of
from drive_trace.trace.places import Part, Place, pair_at
from drive_trace.trace.reading import values_of
from drive_trace.vocabulary import FieldType

MOST_LINES = 1000
"""Editors request what a window shows. Of a longer range, the first lines get hints."""
_DEFAULTS = HintOptions()
_SHORT_NAME = 24
_NUMBER = re.compile(r"\b[A-Z][0-9]{1,3}[a-z]?(?:\.[0-9]{1,3})?(?: R[0-9]{1,3})?\b")
_SHORT_NUMBER = 1000
_SHORT_SIZE = 10_000
"""Smaller numbers need no hint."""


def inlay_hints(
    analysis: Analysis,
    where: types.Range,
    encoding: PositionEncoding,
    options: HintOptions = _DEFAULTS,
    explained_later_of: str | None = None,
) -> list[types.InlayHint]:
    """The hints of the lines in a range. With the URI of an open trace, their explanations can be
    requested later.
    """
    document = analysis.document
    first = point_at(analysis, where.start, encoding).record
    last = point_at(analysis, where.end, encoding).record
    hints = []
    for record in islice(range(first, last + 1), MOST_LINES):
        line = document.lines[record]
        above = document.lines[record - 1] if record else None
        for place, label, field in sorted(_of_line(analysis, line, above, options)):
            position = types.Position(*document.position_of(Point(record, place), encoding))
            data = {"uri": explained_later_of, "order": line.order, "field": field}
            hint = types.InlayHint(position, label, padding_left=True)
            hint.data = data if explained_later_of is not None else None
            hints.append(hint)
    return hints


def resolve_hint(analysis: Analysis | None, hint: types.InlayHint) -> types.InlayHint:
    """A hint with its explanation. If its line has changed meanwhile, the hint stays as it is."""
    data = hint.data if isinstance(hint.data, dict) else {}
    order, name = data.get("order"), data.get("field")
    if analysis is None or not isinstance(name, str) or not isinstance(order, int):
        return hint
    lines = analysis.document.lines
    line = lines[order] if 0 <= order < len(lines) else None
    event = event_of(line) if line is not None else None
    field = event.fields.get(name) if event is not None else None
    if line is None or field is None:
        return hint
    value = _values(line).get(name)
    if str(hint.label) not in (_label(analysis, line, field, value, _DEFAULTS) or ""):
        return hint
    place = Place(Part.VALUE, (name,))
    about = about_value(
        Pointed(analysis, line, place, event, field, value, value is None, HoverOptions())
    )
    hint.tooltip = plain(about) if about is not None else None
    return hint


def _of_line(
    analysis: Analysis, line: Line, above: Line | None, options: HintOptions
) -> Iterator[tuple[int, str, str]]:
    """The hints of a line: the code point before each, its label and its field. What an id names
    is said where it is another than on the line above.
    """
    event = event_of(line)
    if event is None:
        return
    known = _values(above) if above is not None and run_of(above) == run_of(line) else {}
    for name, value in _values(line).items():
        field = event.fields.get(name)
        if field is None or not (field.unit or field.names) or introduces(event, field):
            continue
        if field.names and known.get(name) == value:
            continue
        label = _label(analysis, line, field, value, options)
        pair = pair_at(line.text, (name,)) if label else None
        if label and pair is not None and pair.value is not None:
            yield pair.value.end, label, name


def _values(line: Line) -> Mapping[str, object]:
    """The fields of a line, as far as it can be read."""
    if line.event is not None:
        return values_of(line)
    return values_read(line) if line.is_rejected else {}


def _label(
    analysis: Analysis, line: Line, field: FieldType, value: object, options: HintOptions
) -> str | None:
    if isinstance(value, str):
        found = referent_of(analysis, line, field, value) if options.names else None
        name = found.name_for(line) if found is not None else None
        return _short(name) if name else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    if field.unit == "milliseconds":
        return " · ".join(_times(analysis, line, field, value, options)) or None
    if field.unit == "tokens":
        return compact(value) if options.tokens and value >= _SHORT_NUMBER else None
    if field.unit == "bytes":
        return byte_size(value) if options.sizes and abs(value) >= _SHORT_SIZE else None
    return None


def _short(name: str) -> str:
    """The number that a plan gives a dispatch, if its name has one: ``D4``, ``D4 R1``."""
    number = _NUMBER.search(name)
    return number[0] if number else printable(name, _SHORT_NAME)


def _times(
    analysis: Analysis, line: Line, field: FieldType, value: int, options: HintOptions
) -> Iterator[str]:
    """A duration in hours and minutes, and the one by the timestamps if that is far from it."""
    if options.durations and value >= _SHORT_NUMBER:
        yield duration(value)
    found = measured(analysis, line) if options.clock else None
    if found is not None and field.name == "wall_clock_ms" and is_off(analysis, found):
        yield f"clock says {duration(found.measured_ms)}"
