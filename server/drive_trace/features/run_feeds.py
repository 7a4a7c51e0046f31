"""What counts of a run's feeds at a place of an open trace, over all files of the run in the
workspace folder. The open trace counts as the editor has it.
"""

from __future__ import annotations

from functools import cache

from drive_trace.authoring.values import STALE, Carried, Carrying, clock
from drive_trace.features.code_actions import CannotMake
from drive_trace.features.runs import Joined, JoinedRun
from drive_trace.scorecard.feed_state import (
    FeedState,
    FileFeed,
    JoinedFeed,
    of_one_file,
)
from drive_trace.scorecard.run_score import Recorded, RunInFile, recorded_in
from drive_trace.scorecard.uncounted import rejected_lines
from drive_trace.text.escaping import printable
from drive_trace.trace.line import FlaggedLine
from drive_trace.trace.scope import Scope
from drive_trace.vocabulary import GRADE


def feed_at(scope: Scope, name: str, joined: Joined) -> JoinedFeed | CannotMake:
    """What counts of a feed at a place, or why that cannot be known: other files of the run may
    hold events that nobody has read.
    """
    counted, rejected = scope.feeds.get(name), scope.rejected_feed(name)
    own = FeedState(
        scope.run is not None,
        recorded_in(counted) if counted is not None else None,
        rejected_lines((rejected,)) if isinstance(rejected, FlaggedLine) else (),
        (),
        scope.agent_id,
    )
    run = joined(scope.run_id) if scope.run_id is not None else None
    return with_others(own, name, run)


def with_others(own: FeedState, name: str, run: JoinedRun | None) -> JoinedFeed | CannotMake:
    """What counts of a feed over all files of a run, given the state of this one."""
    if run is None:
        return of_one_file(own)
    if run.lack is not None:
        return CannotMake(f"What other files say of the run is not known; {run.lack}.")
    files, is_found = [], False
    for part, uri in zip(run.run.parts, run.uris, strict=True):
        is_own = uri == run.own_uri
        is_found |= is_own
        files.append(FileFeed(part.path, own if is_own else _feed_of(part, name)))
    return JoinedFeed(own, files if is_found else [*files, FileFeed("", own)])


def carrying(joined: Joined) -> Carrying:
    """Gives the values that the next event of a feed repeats."""
    joined = cache(joined)  # called for each field

    def carried(scope: Scope, name: str, now: str) -> Carried | None:
        feed = feed_at(scope, name, joined)
        if isinstance(feed, CannotMake):
            return None
        decider = feed.deciding
        if decider is None or decider.state.counted is None:
            return Carried({}, "", has_newer_rejected=bool(feed.doubts))
        run = joined(scope.run_id) if name == GRADE and scope.run_id is not None else None
        stale = run.run.stale if run is not None else None
        is_own = decider.state is feed.own
        if scope.is_stale(name) or (stale is not None and (stale.others or not is_own)):
            return Carried({}, STALE, has_newer_rejected=bool(feed.doubts))
        counted = decider.state.counted
        where = f" in {printable(decider.path)}" if not is_own else ""
        note = f"as recorded at {clock(counted.ts, now)}{where}"
        return Carried(counted.values, note, has_newer_rejected=bool(feed.doubts))

    return carried


def _feed_of(part: RunInFile, name: str) -> FeedState:
    counted: Recorded | None = part.correctness if name == GRADE else part.tokens
    rejected = tuple(each for each in (*part.rejected, *part.strays) if each.feed == name)
    alike = tuple(each for each in part.unknown if each.meant == name)
    newest = part.newest_grade if name == GRADE else None
    return FeedState(bool(part.event_count), counted, rejected, alike, None, part.copies, newest)
