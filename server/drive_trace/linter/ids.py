"""What the rules about dispatches and rounds have in common."""

from __future__ import annotations

from collections.abc import Iterable

from drive_trace.linter.edits import as_json, replace_value
from drive_trace.linter.rule import Finding, Fix, Level, shown
from drive_trace.trace.index import Run
from drive_trace.trace.line import Line
from drive_trace.trace.places import Part, Place
from drive_trace.vocabulary import LIFETIMES, Entity, Lifetime
from drive_trace.vocabulary.slips import nearest

_DISPATCH = LIFETIMES[Entity.DISPATCH]
_LATEST = 24
"""So many of the latest starts are looked through for the id that was meant."""
_END = 4
"""A slip leaves the beginning or the end of an id as it was, so many characters at least."""


def id_place(of: Lifetime) -> Place:
    """Where an event names its dispatch, round or slice."""
    return Place(Part.VALUE, (of.field,))


def nearest_started(run: Run, of: Lifetime, line: Line, name: str) -> str | None:
    """The id that a wrong one is most likely a slip of: of what was started last before a line."""
    starts = run.events(of.opener)
    place = starts.position(line)
    ids = [start.text_fact(of.field) for start in starts[max(0, place - _LATEST) : place]]
    ids = [each for each in ids if each != name]
    likely = [each for each in ids if each[:_END] == name[:_END] or each[-_END:] == name[-_END:]]
    return nearest(name, reversed(likely)) if likely else None


def replace_id(finding: Finding, of: Lifetime, field: str) -> Iterable[Fix]:
    """Suggests the nearest id for one that was never started."""
    line = finding.line
    assert finding.run is not None
    found = nearest_started(finding.run, of, line, line.text_fact(field))
    if found is not None:
        edit = replace_value(line, (field,), as_json(found))
        yield Fix(f"Replace with {shown(found)}", Level.BY_HAND, (edit,))
