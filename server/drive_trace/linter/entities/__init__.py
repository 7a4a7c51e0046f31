"""Entities: what the rules that look across lines look at.

A line belongs to what its fields name: an event id, a run, a dispatch, a round,
a slice, a file. After an edit the entities of its lines are built anew, and the
rules run over these; a whole trace is judged by building all of its entities.
No entity grows with its trace: a run, or a dispatch with 50,000 rounds, comes
in parts, so that a keystroke costs the same everywhere.

The docstring of a class lists exactly which lines make up such an entity. Its
:class:`EntityKind` says which entities a line belongs to, how one is built, and,
where to build all of them would take long, which of a whole trace can exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drive_trace.linter.entities import dispatches, phases, runs
from drive_trace.linter.entities.kind import EntityKind

KINDS: Mapping[type[tuple[Any, ...]], EntityKind] = {
    **phases.KINDS,
    **dispatches.KINDS,
    **runs.KINDS,
}
"""Every kind of entity of a trace."""
