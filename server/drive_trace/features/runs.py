"""``driveTrace/runs``, ``run`` and ``runAt``: runs and their verdicts, for views of editors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lsprotocol import types

from drive_trace.api import Analysis
from drive_trace.features.elsewhere import Elsewhere, elsewhere_markdown, elsewhere_short
from drive_trace.features.markup import markup
from drive_trace.rules.base import printable
from drive_trace.scorecard.card import RunScore, score_run
from drive_trace.scorecard.render import card_markdown, lens_title
from drive_trace.scorecard.summary import RunSummary
from drive_trace.trace.document import Point
from drive_trace.trace.occurrences import run_id_of
from drive_trace.trace.scope import scope_at


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


def run_json(run: RunScore, files: Sequence[RunFile]) -> dict[str, object]:
    """A run as all traces of the workspace have it."""
    return {
        **_told(run),
        "findings": sum(each.findings for each in files),
        "files": [each._asdict() for each in files],
    }


def run_near(analysis: Analysis, point: Point) -> str | None:
    """The run at a point; on a line that names none, the run that an event there would be of."""
    lines = analysis.document.lines
    known = run_id_of(lines[point.record])
    return known or scope_at(analysis.index, lines, point.record).run_id


def graded_json(part: RunSummary) -> dict[str, object]:
    """A run as one trace has it, with what the trace says of its correctness."""
    grade = dict(part.correctness.values) if part.correctness is not None else None
    return {**_told(score_run([part])), "correctness": grade}


def run_at_json(run: RunScore, said: Elsewhere | None, kind: types.MarkupKind) -> dict[str, object]:
    """A run as one trace has it, with its card, and what other traces say of it."""
    card = [card_markdown(run), elsewhere_markdown(said) if said is not None else None]
    return {
        **_told(run),
        "elsewhere": elsewhere_short(said) if said is not None else None,
        "card": markup("\n\n---\n\n".join(filter(None, card)), kind).value,
    }


def _told(run: RunScore) -> dict[str, object]:
    """A run in words; its label is its id as it may be shown."""
    return {
        "runId": run.run_id,
        "label": printable(run.run_id),
        "verdict": str(run.gate.verdict),
        "headline": run.headline,
        "title": lens_title(run),
    }
