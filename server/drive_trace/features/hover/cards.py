"""The scorecard of the run that a token belongs to."""

from __future__ import annotations

from drive_trace.features.hover.pointed import Pointed
from drive_trace.features.joined_runs import JoinedRun, of_one_file
from drive_trace.text.escaping import code
from drive_trace.trace.occurrences import run_id_of
from drive_trace.vocabulary import GRADE


def card(at: Pointed) -> str | None:
    """The run's scorecard over all its files: on every token of a feed event, and on any run id."""
    event = at.event
    if at.place.path != ("project_run_id",) and (event is None or not event.is_feed):
        return None
    run_id = run_id_of(at.line)
    if run_id is None:
        return None
    run, joined = at.analysis.score_run(run_id), at.options.joined
    if joined is None and run is not None:
        joined = of_one_file(run, at.options.uri)
    if joined is None:
        said = "**not computable — missing: external correctness signal**"
    else:
        said = joined.markdown
    if run is None:
        said += f"\n\nNo valid event of run {code(run_id)} stands in this trace."
    return said + _standing(at, joined)


def _standing(at: Pointed, joined: JoinedRun | None) -> str:
    """Of a feed's line that does not count: why."""
    line, event = at.line, at.line.event
    if line.is_rejected:
        return "\n\nThis line is rejected: it counts for nothing."
    if event is None or not event.is_feed:
        return ""
    following = at.analysis.index.runs[line.run].events(event.name).after(line)
    if following is not None:
        return f"\n\nThis event counts no more: {at.link(following)} supersedes it."
    other = joined.supersedes if joined is not None and event.name == GRADE else None
    return f"\n\nThis event counts no more: {code(other)} supersedes it." if other else ""
