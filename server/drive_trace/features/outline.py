"""The structure of a trace: runs, their slices, dispatches and rounds, and the lines in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.tasks import Task, in_batches
from drive_trace.trace.line import Line, Status, event_of
from drive_trace.trace.structure import Home, homes
from drive_trace.vocabulary import Entity


class Leaf(NamedTuple):
    """A line that starts nothing."""

    line: Line
    record: int
    """The line's number from 0."""


class Node:
    """A run, slice, dispatch or round, and what is in it."""

    __slots__ = ("children", "closer", "entity", "first", "home", "last", "opener", "value")

    def __init__(self, entity: Entity, value: str, home: Home, record: int) -> None:
        self.entity = entity
        self.value = value
        """Its id."""
        self.home = home
        """What its first line stands in."""
        self.opener: Leaf | None = None
        """The line that starts it, valid or rejected; a run has none, its first line is like any
        other.
        """
        self.closer: Line | None = None
        """The last line that ends it; a rejected one if there is no valid one."""
        self.first = self.last = record
        """The records from its first line to its last; lines of others can stand between."""
        self.children: list[Node | Leaf] = []


Outline = Sequence["Node | Leaf"]
"""The runs of a trace, and the lines that belong to none."""


def outline(analysis: Analysis) -> Task[Outline]:
    """The runs of a trace, and the lines that belong to none, each with what is in it."""
    lines = analysis.document.lines
    roots: list[Node | Leaf] = []
    nodes: dict[tuple[int, int, str], Node] = {}
    known, chain = Home(None), list[Node]()
    within = enumerate(zip(lines, homes(analysis.index, lines), strict=True))
    for batch in in_batches(within):
        for record, (line, home) in batch:
            if line.status is Status.BLANK:
                continue
            if home is not known:
                known, chain = home, _chain(roots, nodes, home, chain, record)
            if not chain:
                roots.append(Leaf(line, record))
                continue
            for node in chain:
                node.last = record
            _put(chain[-1], Leaf(line, record))
        yield
    return roots


def containers(roots: Sequence[Node | Leaf]) -> Iterator[Node]:
    """Every run, slice, dispatch and round, each before what is in it."""
    for root in roots:
        if isinstance(root, Node):
            yield root
            yield from containers(root.children)


def _chain(
    roots: list[Node | Leaf],
    nodes: dict[tuple[int, int, str], Node],
    home: Home,
    before: Sequence[Node],
    record: int,
) -> list[Node]:
    """The nodes of what a line stands in, outermost first; made where they are new. ``before``
    are those of the line before, which are mostly the same.
    """
    chain: list[Node] = []
    for level, value in enumerate(home):
        if value is None:
            continue
        place = len(chain)
        entity = _LEVELS[level]
        if place < len(before) and before[place].entity is entity and before[place].value == value:
            chain.append(before[place])
            continue
        before = ()
        key = (id(chain[-1]) if chain else 0, level, value)
        node = nodes.get(key)
        if node is None:
            node = nodes[key] = Node(entity, value, home, record)
            (chain[-1].children if chain else roots).append(node)
        chain.append(node)
    return chain


def _put(node: Node, leaf: Leaf) -> None:
    event, entity = event_of(leaf.line), node.entity
    if event is not None and entity is not Entity.RUN:
        if event.opens is entity and node.opener is None:
            node.opener = leaf
            return
        if event.closes is entity and (leaf.line.event is not None or _is_rejected(node.closer)):
            node.closer = leaf.line
    node.children.append(leaf)


def _is_rejected(line: Line | None) -> bool:
    return line is None or line.event is None


_LEVELS = (Entity.RUN, Entity.SLICE, Entity.DISPATCH, Entity.ROUND)
