"""The scorecard of the run that a token belongs to."""

from __future__ import annotations

from drive_trace.features.hovering.pointed import Pointed
from drive_trace.scorecard.render import card_markdown, code
from drive_trace.trace.occurrences import run_id_of


def card(at: Pointed) -> str | None:
    """The run's scorecard: on every token of a feed event, and on any run id."""
    event = at.event
    if at.place.path != ("project_run_id",) and (event is None or not event.is_feed):
        return None
    run_id = run_id_of(at.line)
    if run_id is None:
        return None
    run = at.analysis.score_run(run_id)
    if run is not None:
        said = card_markdown(run)
    else:
        said = (
            "**not computable — missing: external correctness signal**\n\n"
            f"No valid event of run {code(run_id)} stands in this trace."
        )
    said += _standing(at)
    return f"{said}\n\n{at.options.elsewhere}" if at.options.elsewhere else said


def _standing(at: Pointed) -> str:
    """Of a feed's line that does not count: why."""
    line, event = at.line, at.line.event
    if line.is_rejected:
        return "\n\nThis line is rejected: it counts for nothing."
    if event is None or not event.is_feed:
        return ""
    following = at.analysis.index.runs[line.run].events(event.name).after(line)
    if following is None:
        return ""
    return f"\n\nThis event counts no more: {at.link(following)} supersedes it."
