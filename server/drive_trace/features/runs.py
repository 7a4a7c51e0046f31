"""``driveTrace/runs``, ``run`` and ``runAt``: runs and their verdicts, for views of editors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.joined_runs import JoinedRun
from drive_trace.features.markup import markup
from drive_trace.scorecard.card import ScoreCard
from drive_trace.scorecard.render import caveats, not_read
from drive_trace.text.escaping import printable
from drive_trace.trace.document import Point
from drive_trace.trace.occurrences import run_id_of
from drive_trace.trace.structure import scope_at


class RunFile(NamedTuple):
    """A trace that holds a part of a run."""

    uri: str
    name: str
    """How people know it."""
    line: int
    """The run's first one, from 0."""
    events: int
    findings: int
    """On the lines of the run."""
    correctness: Mapping[str, object] | None
    """What the trace alone says of it, by component."""


def run_json(said: JoinedRun, folder: str | None, files: Sequence[RunFile]) -> dict[str, object]:
    """A run over all its files; its folder is named where the workspace has several."""
    return {
        **_told(said),
        "folder": folder,
        "findings": sum(each.findings for each in files),
        "files": [each._asdict() for each in files],
    }


def said_of_runs(card: ScoreCard, *, is_final: bool) -> Iterator[str]:
    """All verdicts in a few words, as `score` says them, and what could not be read."""
    if card.runs:
        yield card.headline if is_final else f"{card.headline} so far"
    yield from not_read(card, printable)


def run_near(analysis: Analysis, point: Point) -> str | None:
    """The run at a point; on a line that names none, the run that an event there would be of."""
    lines = analysis.document.lines
    known = run_id_of(lines[point.record])
    return known or scope_at(analysis.index, lines, point.record).run_id


def graded_json(said: JoinedRun) -> dict[str, object]:
    """A run with what counts of its grades."""
    recorded = said.run.correctness
    return {**_told(said), "correctness": dict(recorded.values) if recorded is not None else None}


def run_at_json(said: JoinedRun, kind: types.MarkupKind) -> dict[str, object]:
    """A run with its card, as asked of one of its files."""
    return {**_told(said), "alone": said.alone, "card": markup(said.markdown, kind).value}


def _told(said: JoinedRun) -> dict[str, object]:
    """A run in words; its label is its id as it may be shown."""
    return {
        "runId": said.run.run_id,
        "label": printable(said.run.run_id),
        "verdict": str(said.run.gate.verdict),
        "earned": said.run.is_earned and said.waiting == 0,
        "headline": said.headline,
        "title": said.title,
        "caveats": [*caveats(said.run, printable)],
    }
