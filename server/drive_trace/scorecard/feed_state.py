"""What the files of a run say of one of its feeds, for writers that add to it.

The last *valid* event of a feed counts, as a whole. Lines that readers reject or do not know never
count, but somebody may have meant them to.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple, cast

import msgspec

from drive_trace.scorecard.caveats import Uncounted, meant_feed, uncounted_lines, uncounted_phrases
from drive_trace.scorecard.run_lines import newest_grade
from drive_trace.scorecard.run_score import Recorded, RunScore, recorded_in
from drive_trace.text.quick import Frozen
from drive_trace.trace.index import Index
from drive_trace.trace.joined import may_be_after
from drive_trace.trace.line import FlaggedLine, runs_named
from drive_trace.trace.reading import values_of
from drive_trace.trace.run import Run, in_order
from drive_trace.trace.times import is_later, latest_recorded
from drive_trace.vocabulary import ENVELOPE, GRADE, EventType


class FeedState(Frozen, frozen=True):
    """What a trace says of one run's feed."""

    path: str
    knows_run: bool
    """Whether the trace has a valid event of the run."""
    counted: Recorded | None
    """The last valid event of the feed."""
    uncounted: tuple[Uncounted, ...]
    """Lines that readers drop and that are of the run's feed, or may be, as where two events were
    written on one line; then lines of unknown types that look like the feed, and are the run's, or
    may be.
    """
    agent_id: str | None
    """The orchestrator's session, as all events of the run have it that name one; None where they
    name several.
    """
    copies: Sequence[int] = ()
    """See :attr:`RunInFile.copies`."""
    newest: tuple[int, str] | None = None
    """See :attr:`RunInFile.newest_grade`."""

    def is_below(self, each: Uncounted) -> bool:
        """Whether a line stands below the event that counts."""
        return self.counted is None or each.line > self.counted.line


class Doubt(NamedTuple):
    """A line that may be later than the event that counts, and says something else."""

    path: str
    phrase: str
    """What is wrong with it, without a full stop."""
    is_event: bool
    """Whether it is a valid event of another file."""


class JoinedFeed(msgspec.Struct, frozen=True):
    """What all files of a run say of its feed."""

    own: FeedState
    """That of the file which is added to."""
    files: Sequence[FeedState]
    """All of them, that file too, in the order in which they are joined."""

    @property
    def deciding(self) -> FeedState:
        """The file whose event counts for the run: the one with the latest ``ts``, the later file
        on a tie; that which is added to where none has any.
        """
        having = [(each, each.counted.ts) for each in self.files if each.counted is not None]
        latest = latest_recorded(having, lambda pair: pair[1])
        return latest[0] if latest is not None else self.own

    @property
    def counted(self) -> Recorded | None:
        """The event that counts for the run."""
        return self.deciding.counted

    def superseded(self, run: RunScore | None, feed: str) -> str | None:
        """Why nothing is merged where the run's score counts another event: the one with the
        latest ``ts`` is a copy.
        """
        counted = self.counted
        scored = run if run is None else run.correctness if feed == GRADE else run.tokens
        if counted is None or scored is None or counted.values == scored.values:
            return None
        return (
            f"the {feed} with the latest ts is a copy of one that another file of the run replaces "
            "further down; name every component"
        )

    def outranking(self, ts: str) -> FeedState | None:
        """The file whose event would still count if one of that moment were added now."""
        added = self.own._replace(counted=Recorded({}, ts, "", 0))
        files = [added if each is self.own else each for each in self.files]
        decider = JoinedFeed(added, files).deciding
        return decider if decider is not added else None

    @property
    def doubts(self) -> Sequence[Doubt]:
        """Why what counts for the run may not be the latest that somebody meant to record."""
        decider, counted = self.deciding, self.counted
        found: list[Doubt] = []
        for state in self.files:
            uncounted = state.uncounted
            if counted is not None:
                uncounted = tuple(
                    each
                    for each in uncounted
                    if may_be_after(
                        each.ts,
                        counted.ts,
                        is_below=state.is_below(each),
                        is_latest=state is decider,
                        grades=each.feed == GRADE,
                    )
                )
                found += _rival(state, counted)
                found += _disorder(state, counted)
            phrases = uncounted_phrases(uncounted)
            found += [Doubt(state.path, phrase, is_event=False) for phrase in phrases]
        return found


def _rival(state: FeedState, counted: Recorded) -> Iterator[Doubt]:
    """Another file's event that may be later than the one that counts."""
    own = state.counted
    if own is None or own.values == counted.values or is_later(counted.ts, own.ts):
        return
    phrase = f"line {own.line} may be later than what counts, and differs"
    yield Doubt(state.path, phrase, is_event=True)


def _disorder(state: FeedState, counted: Recorded) -> Iterator[Doubt]:
    """Why what counts may not be the latest of the file's own events."""
    if counted is state.counted and counted.line in state.copies:
        phrase = f"line {counted.line} is a copy of an earlier line"
        yield Doubt(state.path, phrase, is_event=True)
    if state.newest is not None and is_later(state.newest[1], counted.ts):
        yield Doubt(state.path, f"line {state.newest[0]} has a later ts than it", is_event=True)


def feed_state(index: Index, feed: EventType, run_id: str, path: str = "") -> FeedState:
    """What a trace says of a run's feed; ``path`` is how it is called in what is shown."""
    run = index.runs.get(run_id)
    counted = run.events(feed.name).last if run is not None else None
    dropped = cast("Sequence[FlaggedLine]", in_order(chain.from_iterable(index.rejected.values())))
    unknown = cast("Sequence[FlaggedLine]", index.unknown)
    uncounted = [line for line in dropped if _may_be_of_feed(index, line, feed, run_id)]
    uncounted += [
        line
        for line in unknown
        if _may_be_of_run(index, line, run_id) and meant_feed(line) == feed.name
    ]
    return FeedState(
        path,
        run is not None,
        recorded_in(counted) if counted is not None else None,
        uncounted_lines(uncounted),
        _agent_of(run) if run is not None else None,
        [line.order + 1 for line in index.repeats(run_id)],
        newest_grade(run) if run is not None and feed.name == GRADE else None,
    )


def mentions(index: Index, run_id: str) -> bool:
    """Whether a trace has a line of a run, or one that may be of it and that no reader counts."""
    uncounted = chain(index.unknown, *index.rejected.values())
    return run_id in index.runs or any(run_id in line.text for line in uncounted)


def _may_be_of_run(index: Index, line: FlaggedLine, run_id: str) -> bool:
    """Whether a line names the run, or none, or in a file of the run one without a valid event."""
    names = {line.run_id, *runs_named(line)} - {None}
    is_stray = not names or (run_id in index.runs and names.isdisjoint(index.runs))
    return is_stray or run_id in names or run_id in line.text


def _may_be_of_feed(index: Index, line: FlaggedLine, feed: EventType, run_id: str) -> bool:
    """Whether a rejected line is of the run's feed, or may hold something of it."""
    signs = (feed.name, *(f'"{name}"' for name in feed.fields if name not in ENVELOPE))
    is_of_feed = line.event_name == feed.name or any(sign in line.text for sign in signs)
    return is_of_feed and _may_be_of_run(index, line, run_id)


def _agent_of(run: Run) -> str | None:
    """See :attr:`FeedState.agent_id`. A blank name is nobody's."""
    agents = {values_of(line)["orchestrator_agent_id"] for line in run.lines}
    named = [each for each in agents if isinstance(each, str) and each.strip()]
    return named[0] if len(named) == 1 else None
