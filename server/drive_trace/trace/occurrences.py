"""Where a trace names a run, dispatch, round, slice, file or event. Lines that readers reject or do
not know are looked at as far as their text can be read.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from itertools import islice
from typing import NamedTuple

from drive_trace.json_text import strings_named
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import Span
from drive_trace.trace import line as trace_line
from drive_trace.trace.index import Index
from drive_trace.trace.line import DiagnosticKind, Line, earliest, run_id_of
from drive_trace.trace.places import Part, node_at, pair_at, path_at, syntax_of
from drive_trace.vocabulary import LIFETIMES, NAMING, WRITERS, Entity


class NamedEntity(NamedTuple):
    """Something that a trace names."""

    entity: Entity
    run: str | None
    """The run of the line that names it; ids count within it. None where that cannot be read."""
    value: str


class Role(StrEnum):
    """What a line does to what it names."""

    DECLARES = "declares"
    """It starts the dispatch, authors the file, is the run's first line."""
    WRITES = "writes"
    """It ends it, or amends the file."""
    READS = "reads"


class Occurrence(NamedTuple):
    """One place that names something."""

    line: Line
    span: Span
    """The string, with its quotes."""
    role: Role


_FIELDS = {
    entity: tuple(field for field, named in NAMING.items() if named is entity) for entity in Entity
}
_REFERRING = {
    entity: tuple(field for field in _FIELDS[entity] if field != lifetime.field)
    for entity, lifetime in LIFETIMES.items()
}
"""Fields by which one such thing names another: these look beyond their own run."""
_FAR = 2000
"""Lines, more than a window shows."""
_AUTHORS = frozenset(authoring for authoring, _ in WRITERS.values())


def named_at(line: Line, offset: int) -> tuple[NamedEntity, Span] | None:
    """What the string at a code point of a line names, and its span. A place right behind a string
    counts as well.
    """
    for at in (offset, offset - 1):
        found = _string_at(line, at)
        if found is not None:
            field, value, span = found
            return NamedEntity(NAMING[field], run_id_of(line), value), span
    return None


def _string_at(line: Line, offset: int) -> tuple[str, str, Span] | None:
    """The field, value and span of a string that names something. On a rejected line it may be
    anywhere, as in ``_spans``.
    """
    place = path_at(line.text, offset)
    if place is None or place.part is not Part.VALUE:
        return None
    path, root = place.path, syntax_of(line.text).root
    field, holder = path[-1], node_at(root, path[:-1])
    if field not in NAMING or holder is None or (len(path) > 1 and not line.is_rejected):
        return None
    for member in holder.members_named(str(field)):
        value = member.value
        if value is not None and value.span.start <= offset < value.span.end:
            is_string = isinstance(value.value, str)
            return (str(field), str(value.value), value.span) if is_string else None
    return None


def occurrences(index: Index, lines: Iterable[Line], named: NamedEntity) -> Iterator[Occurrence]:
    """Every place on some lines of a trace that names it."""
    first = first_of_run(index, named.value) if named.entity is Entity.RUN else None
    means = _means(index, named)
    for line in unless_stopped(lines):
        if _may_name(line, named.value) and means(trace_line.run_of(line)):
            spans = {
                span: field for field in _fields(line, named) for span in _spans(line, field, named)
            }
            for span in sorted(spans):
                role = Role.DECLARES if line is first else _role(line, named, spans[span])
                yield Occurrence(line, span, role)


def occurrences_near(
    index: Index, lines: Sequence[Line], named: NamedEntity, line: Line, most: int
) -> list[Occurrence]:
    """At most ``most`` of the places that name it, around a line: what a window can show. Lines
    that are further away than ``_FAR`` are not looked at.
    """
    place = line.order
    before, behind = lines[max(0, place - _FAR) : place], lines[place : place + _FAR]
    above = islice(occurrences(index, reversed(before), named), most // 2)
    below = islice(occurrences(index, behind, named), most // 2)
    return sorted((*above, *below), key=lambda each: (each.line.order, each.span))


def declarations(index: Index, lines: Sequence[Line], named: NamedEntity) -> list[Occurrence]:
    """What starts it. A run begins with its first line, and a file that no event authors begins
    where it was first amended.
    """
    if named.entity is Entity.RUN:
        first = first_of_run(index, named.value)
        lines = [first] if first is not None else []
    every = [*occurrences(index, lines, named)]
    found = [each for each in every if each.role is Role.DECLARES]
    if found or named.entity is not Entity.PATH:
        return found
    return [each for each in every if each.role is Role.WRITES][:1]


def taken(index: Index, lines: Sequence[Line], named: NamedEntity, value: str) -> Occurrence | None:
    """A place that would name the same thing if that had this value as its id."""
    if named.entity is Entity.RUN:
        return next(occurrences(index, lines, NamedEntity(Entity.RUN, value, value)), None)
    for run_id in runs_of(index, named) or (named.run,):
        other = NamedEntity(named.entity, run_id, value)
        is_elsewhere = runs_of(index, other) not in ((), (run_id,))
        for each in occurrences(index, lines, other):
            if not is_elsewhere or run_id_of(each.line) == run_id:
                return each
    return None


def _means(index: Index, named: NamedEntity) -> Callable[[str | None], bool]:
    """Whether a line of a run means this one by its id, and not one of its own run."""
    if named.entity not in LIFETIMES:
        return lambda _: True
    runs = runs_of(index, named)

    @cache
    def means(run_id: str | None) -> bool:
        if run_id is None:
            return len(runs) <= 1
        theirs = runs_of(index, named._replace(run=run_id))
        return theirs == runs or not set(theirs).isdisjoint(runs)

    return means


def runs_of(index: Index, named: NamedEntity) -> Sequence[str]:
    """The runs in which a dispatch, round or slice goes by its id: that of the line which names
    it, if it is known there, else those that start it, else those that name it as their own on
    rejected lines; none if it is only referred to.
    """
    of, value, own = LIFETIMES[named.entity], named.value, named.run
    run = index.runs.get(own) if own is not None else None
    if run is not None and any(run.of(name, of.field, value) for name in of.members):
        return (run.run_id,)
    if own is not None and index.unread_naming(own, of.field, value):
        return (own,)
    starts = index.having(of.opener, of.field, value)
    if starts:
        return tuple(dict.fromkeys(line.run for line in starts))
    return tuple(
        run_id
        for run_id in index.rejected
        if run_id is not None and index.unread_naming(run_id, of.field, value)
    )


def first_of_run(index: Index, run_id: str) -> Line | None:
    """The first line of a run, be it a rejected one."""
    run = index.runs.get(run_id)
    rejected = index.rejected.get(run_id)
    return earliest((run.lines[0] if run else None, rejected.first if rejected else None))


def _may_name(line: Line, value: str) -> bool:
    """Whether a line may name something with this value, as most do not."""
    if line.event is not None:
        return value in line.facts
    return value in line.text or "\\" in line.text


def _fields(line: Line, named: NamedEntity) -> Iterable[str]:
    """The fields by which a line can name it: of an event that readers know, its own."""
    event = trace_line.event_of(line)
    return (each for each in _FIELDS[named.entity] if event is None or each in event.fields)


def _spans(line: Line, field: str, named: NamedEntity) -> Iterable[Span]:
    text, value = line.text, named.value
    if line.event is None:
        spans = [span for found, span in strings_named(text, field) if found == value]
        if line.is_rejected or not spans:
            return spans
    elif line.fact(field) != value:
        return ()
    if any(diagnostic.kind is DiagnosticKind.DUPLICATE_KEY for diagnostic in line.diagnostics):
        root = syntax_of(text).root
        nodes = [each.value for each in root.members_named(field)] if root is not None else []
        return [node.span for node in nodes if node is not None and node.value == value]
    pair = pair_at(text, (field,))
    if pair is None or pair.value is None:
        return ()
    written = text[slice(*pair.value)]
    return (pair.value,) if written[0] == '"' and json.loads(written) == value else ()


def _role(line: Line, named: NamedEntity, field: str) -> Role:
    event = trace_line.event_of(line)
    if named.entity is Entity.EVENT:
        return Role.DECLARES
    if event is None:
        return Role.READS
    if named.entity is Entity.PATH:
        if field not in WRITERS:
            return Role.READS
        return Role.DECLARES if event.name in _AUTHORS else Role.WRITES
    if field in _REFERRING.get(named.entity, ()):
        return Role.READS
    if event.opens is named.entity and named.entity is not Entity.RUN:
        return Role.DECLARES
    return Role.WRITES if event.closes is named.entity else Role.READS
