"""Where a trace names a run, dispatch, round, slice, file or event: valid lines by the index,
broken ones and those outside the vocabulary as far as their text shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, cast

from drive_trace.text import Span
from drive_trace.trace.index import Index, earliest
from drive_trace.trace.line import Line, LineSet, OddLine, Status
from drive_trace.trace.mentions import strings_named
from drive_trace.trace.places import Part, node_at, pair_at, path_at, syntax_of
from drive_trace.vocabulary import EVENTS, LIFETIMES, NAMING, WRITERS, Entity


class Named(NamedTuple):
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


class _Source(NamedTuple):
    """Lines that may name something, and in which field."""

    lines: Sequence[Line]
    field: str


RUN_FIELD = next(name for name, entity in NAMING.items() if entity is Entity.RUN)
_EVENT_FIELD = next(name for name, entity in NAMING.items() if entity is Entity.EVENT)
_FIELDS = {
    entity: tuple(field for field, named in NAMING.items() if named is entity) for entity in Entity
}
_REFERRING = {
    entity: tuple(field for field in _FIELDS[entity] if field != lifetime.field)
    for entity, lifetime in LIFETIMES.items()
}
"""Fields by which one such thing names another: these look beyond their own run."""
_AUTHORS = frozenset(authoring for authoring, _ in WRITERS.values())


def named_at(line: Line, offset: int) -> tuple[Named, Span] | None:
    """What the string at a code point of a line names, and where it stands."""
    place = path_at(line.text, offset)
    if place is None or place.part is not Part.VALUE or not isinstance(place.path[-1], str):
        return None
    entity = NAMING.get(place.path[-1])
    node = node_at(syntax_of(line.text).root, place.path)
    if entity is None or node is None or not isinstance(node.value, str):
        return None
    return Named(entity, run_id_of(line), node.value), node.span


def run_id_of(line: Line) -> str | None:
    """The run that a line names, as far as its text shows."""
    if line.event is not None:
        return line.run
    known = cast("OddLine", line).run_id
    if known is None and line.status is not Status.BLANK:
        known = next((value for value, _ in strings_named(line.text, RUN_FIELD)), None)
    return known


def occurrences(index: Index, named: Named) -> list[Occurrence]:
    """Every place that names it, in the order of the trace."""
    return _found(named, index, _sources(index, named))


def occurrences_near(index: Index, named: Named, line: Line, most: int) -> list[Occurrence]:
    """At most so many of the lines that name it, around one: what a window can show."""
    half = most // 2
    sources = [
        _Source(_around(source.lines, line, half), source.field)
        for source in _sources(index, named)
    ]
    found = _found(named, index, sources)
    place = sum(each.line.order < line.order for each in found)
    return found[max(0, place - half) : place + half]


def declarations(index: Index, named: Named) -> list[Occurrence]:
    """What starts it; a file that nothing authors was first amended, a run begins with its first
    line.
    """
    if named.entity is Entity.RUN:
        first = _first_of_run(index, named.value)
        return _found(named, index, [_Source([first], RUN_FIELD)]) if first is not None else []
    sources = _sources(index, named, only_declaring=True)
    found = [each for each in _found(named, index, sources) if each.role is Role.DECLARES]
    if found or named.entity is not Entity.PATH:
        return found
    written = [each for each in occurrences(index, named) if each.role is Role.WRITES]
    return written[:1]


def _sources(index: Index, named: Named, *, only_declaring: bool = False) -> Iterator[_Source]:
    entity, value = named.entity, named.value
    if entity is Entity.RUN:
        run = index.runs.get(value)
        yield _Source(run.lines if run is not None else (), RUN_FIELD)
        yield _Source(index.rejected.get(value, ()), RUN_FIELD)
    elif entity is Entity.EVENT:
        yield _Source(index.event_ids.of(value), _EVENT_FIELD)
    elif entity is Entity.PATH:
        yield from _of_path(index, value, only_declaring=only_declaring)
    else:
        yield from _of_lifetime(index, named, only_declaring=only_declaring)
    if not only_declaring:
        yield from (_Source(index.unknown, field) for field in _FIELDS[entity])


def _of_path(index: Index, path: str, *, only_declaring: bool) -> Iterator[_Source]:
    for name, event in EVENTS.items():
        for field in _FIELDS[Entity.PATH]:
            if field in event.fields and (name in _AUTHORS or not only_declaring):
                yield _Source(index.table(name, field).of(path), field)
    for run_id in index.rejected:
        for field in _FIELDS[Entity.PATH] if run_id is not None else ():
            yield _Source(index.unread_naming(run_id or "", field, path), field)


def _of_lifetime(index: Index, named: Named, *, only_declaring: bool) -> Iterator[_Source]:
    of, value = LIFETIMES[named.entity], named.value
    homes = dict.fromkeys(homes_of(index, named)).keys()
    names = (of.opener,) if only_declaring else of.members
    for home in homes:
        run = index.runs.get(home)
        if run is not None:
            yield from (_Source(run.table(name, of.field).of(value), of.field) for name in names)
        yield _Source(index.unread_naming(home, of.field, value), of.field)
    if only_declaring:
        return
    for field in _REFERRING[named.entity]:
        referring = index.table(of.opener, field).of(value)
        at_home = {
            run_id: not homes.isdisjoint(homes_of(index, named._replace(run=run_id)))
            for run_id in {line.run for line in referring}
        }
        yield _Source(LineSet(line for line in referring if at_home[line.run]), field)
        for run_id in index.rejected:
            if run_id is not None:
                yield _Source(index.unread_naming(run_id, field, value), field)


def homes_of(index: Index, named: Named) -> Sequence[str]:
    """The runs in which a dispatch, round or slice goes by its id: that of the line which names
    it, if it is known there, else those that start it.
    """
    of, value, own = LIFETIMES[named.entity], named.value, named.run
    run = index.runs.get(own) if own is not None else None
    if run is not None and any(run.table(name, of.field).of(value) for name in of.members):
        return (run.run_id,)
    if own is not None and index.unread_naming(own, of.field, value):
        return (own,)
    elsewhere = index.table(of.opener, of.field).of(value)
    return tuple(dict.fromkeys(line.run for line in elsewhere)) or ((own,) if own else ())


def _first_of_run(index: Index, run_id: str) -> Line | None:
    run = index.runs.get(run_id)
    rejected = index.rejected.get(run_id)
    return earliest((run.first_line if run else None, rejected.first if rejected else None))


def _found(named: Named, index: Index, sources: Iterable[_Source]) -> list[Occurrence]:
    first = _first_of_run(index, named.value) if named.entity is Entity.RUN else None
    found = [
        Occurrence(line, span, Role.DECLARES if line is first else _role(line, named, field))
        for lines, field in sources
        for line in lines
        for span in _spans(line, field, named)
    ]
    # A line that readers do not know can be found by its run as well as among all of its kind.
    once = {(each.line.order, each.span): each for each in found}
    return [once[place] for place in sorted(once)]


def _spans(line: Line, field: str, named: Named) -> Iterable[Span]:
    if line.event is not None:
        pair = pair_at(line.text, (field,))
        return (pair.value,) if pair is not None and pair.value is not None else ()
    if named.value not in line.text and "\\" not in line.text:
        return ()
    if line.status is Status.UNKNOWN and named.entity in LIFETIMES and run_id_of(line) != named.run:
        return ()
    return [span for value, span in strings_named(line.text, field) if value == named.value]


def _role(line: Line, named: Named, field: str) -> Role:
    name = line.event.name if line.event is not None else cast("OddLine", line).event_name
    event = EVENTS.get(name or "")
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


def _around(lines: Sequence[Line], line: Line, half: int) -> Sequence[Line]:
    if not isinstance(lines, LineSet) or len(lines) <= 2 * half:
        return lines
    place = lines.position(line)
    return lines[max(0, place - half) : place + half]
