"""``driveTrace/runs``, ``driveTrace/run``, ``driveTrace/runAt`` and ``textDocument/codeLens``: a
run over all its files in one workspace folder.

Every view starts with the verdict, adds that of the open file alone if it differs, and names the
file that decides.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice, product
from typing import NamedTuple, TypeAlias, cast
from urllib.parse import quote

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.authoring.values import STALE, Carried, clock
from drive_trace.features import LensOptions
from drive_trace.features.results import CannotMake, dumps, markup
from drive_trace.scorecard import render, run_score
from drive_trace.scorecard.card import ScoreCard
from drive_trace.scorecard.caveats import CaveatCode, LineRef, uncounted_lines
from drive_trace.scorecard.feed_state import FeedState, JoinedFeed
from drive_trace.scorecard.render import grading, in_short, outline
from drive_trace.scorecard.scoring import score_in
from drive_trace.text import document as doc
from drive_trace.text.quick import Frozen
from drive_trace.text.wording import plain, plural, printable
from drive_trace.trace.document import Point
from drive_trace.trace.line import FlaggedLine, Line, run_id_of, run_of
from drive_trace.trace.scope import Scope, scope_at
from drive_trace.trace.times import latest_recorded, sortable
from drive_trace.vocabulary import CORRECTNESS_FIELDS, EVENTS, GRADE, EventType, OneOfShape

# The grades that can be recorded for a run


def choices() -> dict[str, list[str]]:
    """The values of each component of a grade."""
    return {
        name: list(field.shape.meanings)
        for name, field in EVENTS[GRADE].fields.items()
        if field.nullable and isinstance(field.shape, OneOfShape)
    }


def verdicts() -> dict[str, str]:
    """The verdict of each grade in a few words: ``{"pass/pass/": "not computable — …"}``."""
    every = product(*((*values, None) for values in choices().values()))
    return {
        "/".join(value or "" for value in grade): run_score.headline(
            _gate(dict(zip(CORRECTNESS_FIELDS, grade, strict=True)))
        )
        for grade in every
    }


def consequence(values: Mapping[str, object]) -> str:
    """The verdict that a run would get; empty while a component is missing."""
    gate = _gate(values)
    return "" if gate.missing else f" → {gate.verdict.value.upper()}"


def _gate(values: Mapping[str, object]) -> run_score.Gate:
    return run_score.judge(run_score.Recorded(cast("Mapping[str, str | None]", values), "", "", 0))


# A run in all its files


_MOST_FILES = 8
"""The most files that a hover names."""
_LEFT_ALONE = "%/:?#@!$&'*+,;=~-._"
"""The characters of a URL that do not end a Markdown link."""


class JoinedRun(NamedTuple):
    """A run in all its files, seen from one of them."""

    run: run_score.RunScore
    """Over all files. The paths of its parts are the names of the traces for people."""
    here: run_score.RunScore | None
    """By the open file alone; None if that has no line of the run."""
    uris: Sequence[str]
    """The URIs of the parts, in the same order."""
    own_uri: str
    waiting: int | None = 0
    """How many traces of the folder are still unread; None if it has not been searched."""

    @property
    def headline(self) -> str:
        """The verdict in a few words, with “so far” while traces are unread."""
        return self._so_far(
            run_score.NOT_GRADED if self.run.gate.is_ungraded else self.run.headline
        )

    @property
    def full_headline(self) -> str:
        """The same with each missing input in full."""
        return self._so_far(self.run.headline)

    @property
    def title(self) -> str:
        """The verdict and what it is based on, then efficiency and rejected lines."""
        return render.lens_title(self.run, self._based)

    @property
    def lens(self) -> str:
        """The same in short, as what can be done with a run stands behind it: of the efficiency it
        has tokens alone, and it counts caveats if there are several.
        """
        efficiency, caveats = self.run.efficiency, render.unsaid(self.run)
        tokens = render.tokens_in_short(efficiency) if efficiency is not None else ()
        told = caveats if len(caveats) == 1 else [f"{len(caveats)} caveats"] * bool(caveats)
        phrases = (self._based, *tokens, in_short(self.run), *told)
        return " · ".join(filter(None, phrases))

    @property
    def _based(self) -> str:
        known = (self.headline, self._waiting, self.alone, self.decider)
        return " · ".join(filter(None, known))

    @property
    def tooltip(self) -> str:
        """The title, and what is missing."""
        no_signal = f"{run_score.NOT_GRADED} (no correctness signal)"
        is_ungraded = self.run.gate.is_ungraded
        return self.title.replace(run_score.NOT_GRADED, no_signal, 1) if is_ungraded else self.title

    def _so_far(self, verdict: str) -> str:
        return verdict if self.waiting == 0 else f"{verdict} so far"

    @property
    def alone(self) -> str | None:
        """The verdict by this file alone, if it differs."""
        if self.here is None or self.here.headline == self.run.headline:
            return None
        is_ungraded = self.here.gate.is_ungraded
        return f"this file alone: {'not graded' if is_ungraded else self.here.headline}"

    @property
    def decider(self) -> str | None:
        """The other file whose grade decides, if one does."""
        found = self._deciding
        if found is None or found[1] == self.own_uri or len(self.uris) == 1:
            return None
        # Two steps are enough to tell files apart. `$(` would begin an icon.
        name = plain("/".join(found[0].path.split("/")[-2:]), 60).replace("$(", "$ (")
        return f"decided by {name}"

    @property
    def supersedes(self) -> str | None:
        """The line of another file that counts in place of this file's grade."""
        found = self._deciding
        if found is None or found[1] == self.own_uri or found[0].correctness is None:
            return None
        return f"line {found[0].correctness.line} of {plain(found[0].path, 60)}"

    @property
    def lack(self) -> str | None:
        """Why the grades of all files are not known: some are still unread, or cannot be read."""
        unread = (each for each in self.run.caveats if each.code is CaveatCode.UNREAD_INPUT)
        return self._waiting or next((each.sentence(printable) for each in unread), None)

    @property
    def markdown(self) -> str:
        """The card of the run."""
        return doc.as_markdown(self.card)

    @property
    def card(self) -> list[doc.Block]:
        """The same as a document, with its files."""
        blocks = render.run_card(self.run, self.full_headline, self._line)
        if self._waiting:
            blocks.append(doc.Paragraph(doc.soft(f"{self._waiting}.")))
        if len(self.uris) > 1 or self.own_uri not in self.uris:
            blocks += self._files()
        return blocks

    @property
    def _waiting(self) -> str | None:
        if self.waiting is None:
            return "the workspace is not read yet"
        count = self.waiting
        return f"{plural(count, 'trace')} not read yet" if count else None

    @property
    def _deciding(self) -> tuple[run_score.RunInFile, str] | None:
        """The part whose grade counts, and its URI."""
        for part, uri in zip(self.run.parts, self.uris, strict=True):
            if part.correctness is not None and part.correctness == self.run.correctness:
                return part, uri
        return None

    def _line(self, at: LineRef) -> doc.Words:
        """A line of one of its files, as a link."""
        uris = dict(zip((part.path for part in self.run.parts), self.uris, strict=True))
        of = f" of {doc.name(at.path)}" if len(uris) > 1 else ""
        return doc.link(_address(uris[at.path], at.line), f"line {at.line}") + of

    def before_last(self, own: Sequence[run_score.Recorded]) -> Mapping[str, object] | None:
        """The grade that counted before the last one of this file, whose grades are ``own``; each
        component null where there was none. None where another file decides.
        """
        found = self._deciding
        if found is None or found[1] != self.own_uri or not own:
            return None
        others = (part.correctness for part in self.run.parts if part is not found[0])
        earlier = [*filter(None, others), *own[:-1]]
        before = latest_recorded(earlier, lambda grade: grade.ts)
        return dict(before.values) if before is not None else dict.fromkeys(choices())

    def _files(self) -> list[doc.Block]:
        """The deciding file first, then this one, then the others in their order."""
        deciding = self._deciding
        files = sorted(
            zip(self.run.parts, self.uris, strict=True),
            key=lambda each: (each != deciding, each[1] != self.own_uri),
        )
        count = len(files)
        alone = f"; {self.alone}" if self.alone else ""
        files_of = f"{plural(count, 'file')} of the workspace folder"
        items = []
        for part, uri in files[:_MOST_FILES]:
            own = " (this file)" if uri == self.own_uri else ""
            decides = ""
            if (part, uri) == deciding and part.correctness is not None:
                line = part.correctness.line
                decides = f", decides on {doc.link(_address(uri, line), f'line {line}')}"
            named = doc.named_link(_address(uri, part.first_line), part.path)
            items.append(f"{named}{own}: {_about_part(part)}{decides}")
        if count > _MOST_FILES:
            items.append(f"and {count - _MOST_FILES:,} more")
        joined = doc.soft(f"Joined over {files_of}{alone}.")
        return [doc.Paragraph(joined), doc.Bullets(items)]


Joined: TypeAlias = Callable[[str], JoinedRun | None]
"""Gives a run over all its files by its id; None if no other file is known."""


def nothing_joined(_: str) -> None:
    """No other file is known of any run."""


def of_one_file(run: run_score.RunScore, uri: str = "") -> JoinedRun:
    """A run of which no other file is known."""
    return JoinedRun(run, run, [uri for _ in run.parts], uri)


def _about_part(part: run_score.RunInFile) -> str:
    events = plural(part.event_count, "event")
    if part.correctness is None:
        return f"{events}, not graded"
    values = part.correctness.values
    graded = ", ".join(f"{name} {value or 'not recorded'}" for name, value in values.items())
    return f"{events}, {graded}"


def _address(uri: str, line: int) -> str:
    return f"{quote(uri, safe=_LEFT_ALONE, errors='replace')}#L{line}"


# ``driveTrace/runs``, ``run`` and ``runAt``


class RunFile(NamedTuple):
    """A trace with a part of a run."""

    uri: str
    name: str
    """The name that people see."""
    line: int
    """The run's first one, from 0."""
    events: int
    findings: int | None
    """On the lines of the run; None where nobody has counted them."""
    correctness: Mapping[str, object] | None
    """The grade by this trace alone, by component."""


class ListedRun(Frozen, frozen=True):
    """A run over all its files as a list shows it, but for where these are."""

    text: bytes
    """The JSON text of what is said of it, with the moment of its last event in a form that sorts,
    without the bracket at the end.
    """
    gate: run_score.Gate
    standing: str
    correctness: bool | None
    """None if no grade counts: all that a headline of many runs asks for."""

    def as_json(self, folder: str | None, files: Sequence[RunFile]) -> bytes:
        """Its JSON text, with its folder if the workspace has several."""
        counts = [each.findings for each in files if each.findings is not None]
        findings = sum(counts) if len(counts) == len(files) else None
        told = {"folder": folder, "findings": findings, "files": [each._asdict() for each in files]}
        return b"%b,%b" % (self.text, dumps(told)[1:])


def listed(joined: JoinedRun) -> ListedRun:
    """A run as a list shows it."""
    run = joined.run
    moments = (sortable(part.last) for part in run.parts if part.last is not None)
    told = {**_run_summary(joined), "last": max(filter(None, moments), default=None)}
    return ListedRun(dumps(told)[:-1], run.gate, run.standing, run.correctness is not None or None)


def headlines_of(card: ScoreCard, *, is_final: bool) -> Iterator[str]:
    """All verdicts in a few words, as `score` prints them, and the unreadable traces."""
    if card.runs:
        yield card.headline if is_final else f"{card.headline} so far"
    yield from map(doc.unmarked, render.not_read(card))


def run_near(analysis: Analysis, point: Point) -> str | None:
    """The run at a point. On a line that names none, the run of an event that were added there."""
    lines = analysis.document.lines
    known = run_id_of(lines[point.record])
    return known or scope_at(analysis.index, lines, point.record).run_id


def graded_json(joined: JoinedRun, grades: Sequence[run_score.Recorded]) -> dict[str, object]:
    """A run with the grade that counts, the one that counted before it, and the verdict of each
    grade that can be recorded. ``grades`` are those of the file.
    """
    recorded = joined.run.correctness
    counted = recorded.values if recorded is not None else None
    return {
        **_run_summary(joined),
        "correctness": dict(counted) if counted is not None else None,
        "before": joined.before_last(grades),
        "verdicts": verdicts(),
    }


def run_at_json(joined: JoinedRun, kind: types.MarkupKind) -> dict[str, object]:
    """A run with its card, seen from one of its files."""
    return {
        **_run_summary(joined),
        "alone": joined.alone,
        "card": markup(joined.markdown, kind).value,
    }


def _run_summary(joined: JoinedRun) -> dict[str, object]:
    """A run with its verdict and what happened in it; the label is its id, escaped."""
    said = [*outline(joined.run), doc.as_text(grading(joined.run))]
    return {
        "runId": joined.run.run_id,
        "label": printable(joined.run.run_id),
        "verdict": str(joined.run.gate.verdict),
        "earned": joined.run.is_earned and joined.waiting == 0,
        "headline": joined.headline,
        "title": joined.tooltip,
        "short": in_short(joined.run),
        "outline": [doc.unmarked(each) for each in said if each],
        "caveats": [each.sentence(printable) for each in joined.run.caveats],
    }


# What counts of its feeds


def feed_at(scope: Scope, name: str, joined: Joined) -> JoinedFeed | CannotMake:
    """What counts of a feed at a place, or why that cannot be known: other files of the run may
    hold events that nobody has read.
    """
    counted, rejected = scope.feeds.get(name), scope.rejected_feed(name)
    own = FeedState(
        "",
        scope.run is not None,
        run_score.recorded_in(counted) if counted is not None else None,
        uncounted_lines((rejected,)) if isinstance(rejected, FlaggedLine) else (),
        scope.agent_id,
    )
    run = joined(scope.run_id) if scope.run_id is not None else None
    return with_others(own, name, run)


def with_others(own: FeedState, name: str, run: JoinedRun | None) -> JoinedFeed | CannotMake:
    """What counts of a feed over all files of a run, given the state of this one."""
    if run is None:
        return JoinedFeed(own, (own,))
    if run.lack is not None:
        return CannotMake(f"What other files say of the run is not known; {run.lack}.")
    parts = [*zip(run.run.parts, run.uris, strict=True)]
    own = own._replace(path=next((part.path for part, uri in parts if uri == run.own_uri), ""))
    files = [own if uri == run.own_uri else _feed_of(part, name) for part, uri in parts]
    return JoinedFeed(own, files if own in files else [*files, own])


def carried_at(scope: Scope, event: EventType, now: str, joined: Joined) -> Carried | None:
    """The values that the next event of a feed repeats; None for other events, and where they
    cannot be known.
    """
    feed = feed_at(scope, event.name, joined) if event.is_feed else None
    if feed is None or isinstance(feed, CannotMake) or feed.doubts:
        return None
    counted = feed.counted
    if counted is None:
        return Carried({}, "")
    is_grade = event.name == GRADE and scope.run_id is not None
    run = joined(cast("str", scope.run_id)) if is_grade else None
    stale = run.run.stale if run is not None else None
    is_own = feed.deciding is feed.own
    if scope.is_stale(event.name) or (stale is not None and (stale.others or not is_own)):
        return Carried({}, STALE)
    where = f" in {printable(feed.deciding.path)}" if not is_own else ""
    note = f"as recorded at {clock(counted.ts, now)}{where}"
    return Carried(counted.values, note)


def _feed_of(part: run_score.RunInFile, name: str) -> FeedState:
    counted: run_score.Recorded | None = part.correctness if name == GRADE else part.tokens
    odd = (*part.rejected, *part.strays, *part.unknown)
    uncounted = tuple(each for each in odd if each.feed == name)
    newest = part.newest_grade if name == GRADE else None
    known = bool(part.event_count)
    return FeedState(part.path, known, counted, uncounted, None, part.copies, newest)


# Lenses


MOST_LENSES = 500
"""The most lenses of a file. Editors lay out each of them."""
_MOST_BROKEN = 64
"""How many broken lines can be the first one of a run."""
SHOW_RUN = "driveTrace.showRun"
_OF_RUN = "run"
_OF_GRADE = "event"
DEFAULTS = LensOptions()


def code_lenses(
    analysis: Analysis, uri: str, options: LensOptions = DEFAULTS
) -> list[types.CodeLens]:
    """The places of lenses. Their titles are made when they come into view."""
    index = analysis.index
    grades = index.runs_in_order if options.grades else ()
    graded = chain.from_iterable(run.events(GRADE) for run in grades)
    rejected = (
        line
        for line in index.rejected_feeds
        if isinstance(line, FlaggedLine) and line.event_name == GRADE and options.grades
    )
    runs = chain(
        ((run.run_id, run.lines[0]) for run in index.runs_in_order),
        ((run_id, lines[0]) for run_id, lines in index.uncounted.items()),
    )
    wanted = chain(
        (
            (_top_of(analysis, line), line, _OF_RUN, run_id)
            for run_id, line in (runs if options.runs else ())
        ),
        ((line, line, _OF_GRADE, run_of(line)) for line in chain(graded, rejected)),
    )
    document = analysis.document
    lenses = []
    for over, line, kind, run_id in islice(wanted, MOST_LENSES):
        start = types.Position(document.protocol_line(document.number(over)), 0)
        data = {"uri": uri, "runId": run_id or "", "kind": kind, "order": line.order}
        lenses.append(types.CodeLens(types.Range(start, start), data=data))
    return sorted(lenses, key=lambda lens: lens.range.start.line)


def resolve_lens(
    analysis: Analysis | None, lens: types.CodeLens, joined: Joined = nothing_joined
) -> types.CodeLens:
    """A lens with its title, or with a note that the line has changed meanwhile."""
    data = lens.data if isinstance(lens.data, dict) else {}
    run_id, uri = str(data.get("runId", "")), str(data.get("uri", ""))
    title = _lens_title(analysis, data, run_id, joined) if analysis is not None else None
    can_show = title is not None and analysis is not None and analysis.index.names(run_id)
    lens.command = types.Command(
        title=title or "the trace has changed",
        command=SHOW_RUN if can_show else "",
        tooltip="Show the page of this run" if can_show else None,
        arguments=[{"uri": uri, "runId": run_id}] if can_show else None,
    )
    return lens


def _lens_title(
    analysis: Analysis, data: dict[str, object], run_id: str, joined: Joined
) -> str | None:
    here = score_in(analysis.index, run_id)
    run = (joined(run_id) or of_one_file(here)) if here is not None else None
    if data.get("kind") == _OF_RUN:
        return run.lens if run is not None else None
    order = data.get("order")
    if not isinstance(order, int):
        return None
    if analysis.index.rejected_feeds.at(order) is not None:
        return "rejected, not counted"
    if run is None or run_id not in analysis.index.runs:
        return None
    feed = analysis.index.runs[run_id].events(GRADE)
    line, last = feed.at(order), feed.last
    if line is None or last is None:
        return None
    if run.supersedes is not None:
        return f"superseded by {run.supersedes}"
    if line is not last:
        return f"superseded by line {analysis.line_number(last)}"
    return f"decides: {run.headline}"


def _top_of(analysis: Analysis, first: Line) -> Line:
    """Where the lens of a run stands: over its first line. What is broken above that may be the
    first line, which somebody is writing in.
    """
    lines, index = analysis.document.lines, analysis.index
    rejected = index.rejected.get(run_of(first))
    if rejected and rejected[0].order < first.order:
        first = rejected[0]
    place = analysis.document.number(first)
    for line in lines[max(0, place - _MOST_BROKEN) : place][::-1]:
        if not line.is_rejected or run_of(line) is not None:
            break
        first = line
    return first
