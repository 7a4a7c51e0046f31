"""Entities: what the rules that look across lines look at.

A line belongs to what its fields name: an event id, a run, a dispatch, a round,
a slice, a file. An edit rebuilds the entities of its lines, and the rules run
over these; a fresh trace is all of its entities. No entity grows with its
trace: a run, or a dispatch with 50,000 rounds, comes in parts, so that a
keystroke costs the same everywhere.

The docstring of a class lists exactly which lines make up such an entity. Its
:class:`EntityKind` says which entities a line belongs to and how one is built.
Where it would take long to build all of them, it also says which of a whole
trace can exist.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from drive_trace.trace.index import Index
from drive_trace.trace.line import RUN_POSITION, FlaggedLine, Line
from drive_trace.trace.mentions import mentioned, named_on
from drive_trace.trace.run_index import RunIndex
from drive_trace.vocabulary import EventType

MOST = 16
"""At most so many lines of each event get a finding that one line causes. Otherwise mending that
line would change the findings of a whole trace.
"""
RUN_FIELD = "project_run_id"


@dataclass(frozen=True, slots=True)
class WholeTrace:
    """A whole trace."""

    index: Index
    lines: Sequence[Line]

    def run(self, run_id: str) -> RunIndex | None:
        """The run with an id; None where there is none, and where the id is most likely a slip."""
        return None if run_id in self.index.slips else self.index.runs.get(run_id)


class Mention(NamedTuple):
    """A line that names something, when it comes or has gone."""

    line: Line
    field: str
    value: Any
    run: RunIndex
    """The line's run without the line if that has gone, else with it; or the one that it may mean.
    """
    trace: WholeTrace

    @property
    def event(self) -> EventType | None:
        """The line's event, if it is one of the run."""
        line = self.line
        is_own = line.event is not None and line.facts[RUN_POSITION] == self.run.run_id
        return line.event if is_own else None

    def is_a(self, *names: str) -> bool:
        """Whether the line is one of these events of the run."""
        event = self.event
        return event is not None and event.name in names


class EntityKind(NamedTuple):
    """How the entities of one class are found. Each has a key; of one that is a part of something
    larger, or is about a certain line, that is the line with which it begins.
    """

    fields: tuple[str, ...]
    """The fields that name what such entities are of; none where there is one of the whole trace,
    which is built anew with every edit.
    """
    keys: Callable[[Mention], Iterable[Hashable]]
    """The entities that can be other ones when a line comes that names something, or has gone."""
    build: Callable[[WholeTrace, Any], Iterable[tuple[Any, ...]]]
    """The entity with a key as the trace has it now, if it does."""
    whole: Callable[[WholeTrace], Iterable[tuple[Hashable, tuple[Any, ...]]]]
    """The entities of a whole trace with their keys."""


def mentions_of(trace: WholeTrace, line: Line, fields: Container[str]) -> Iterator[Mention]:
    """What a line names by some fields. Of one that is no event to readers, what can be read."""
    runs = trace.index.runs
    if line.event is not None:
        run = runs[line.run] if line.run in runs else RunIndex(line.run)
        for field, value in zip(line.event.keeps, line.facts, strict=True):
            if field in fields and value is not None:
                yield Mention(line, field, value, run, trace)
        meant = runs.get(trace.index.slips.get(run.run_id, ""))
        if meant is not None:
            for field, value in named_on(line):
                if field in fields:
                    yield Mention(line, field, value, meant, trace)
    elif isinstance(line, FlaggedLine) and line.run_id is not None and line.run_id in runs:
        for field, value in mentioned(line):
            if field in fields:
                yield Mention(line, field, value, runs[line.run_id], trace)


def kind_of(
    fields: tuple[str, ...],
    keys: Callable[[Mention], Iterable[Hashable]],
    build: Callable[[WholeTrace, Any], Iterable[tuple[Any, ...]]],
    among: Callable[[WholeTrace], Iterable[Hashable]] | None = None,
) -> EntityKind:
    """A kind whose entities are built one by one also where a trace is read whole: those of the
    keys that ``among`` gives, more than there are entities or as many; else those of each line,
    which takes long.
    """

    def whole(trace: WholeTrace) -> Iterator[tuple[Hashable, tuple[Any, ...]]]:
        for key in set(among(trace) if among is not None else keys_of_lines(kind, trace)):
            for entity in build(trace, key):
                yield key, entity

    kind = EntityKind(fields, keys, build, whole)
    return kind


def keys_of_lines(kind: EntityKind, trace: WholeTrace) -> Iterator[Hashable]:
    """The keys of all entities that some line of a trace belongs to."""
    if not kind.fields:
        yield ()
        return
    for line in trace.lines:
        for mention in mentions_of(trace, line, kind.fields):
            for key in kind.keys(mention):
                if key is not None:
                    yield key


def any_between(lines: Sequence[Line], start: Line | None, end: Line) -> bool:
    """Whether one of some lines stands between two others, or before one."""
    least = start.order if start is not None else float("-inf")
    return any(least < each.order < end.order for each in lines)
