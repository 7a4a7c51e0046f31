"""Why a verdict, or a figure beside it, may be worth less than it seems: caveats, and the lines
that readers do not count.

A caveat is computed once, with the run's score, and shown wherever the verdict is shown. One that
*qualifies* could overturn the verdict: a CORRECT with it is never green, never bare, and fails
``--require-correct``.

Readers reject some lines, and do not know the types of others. Some of these look like a feed's:
somebody meant to grade a run, or to say what it cost. What the others are, nobody knows.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple, cast

from drive_trace.stopping import unless_stopped
from drive_trace.text.quick import Frozen
from drive_trace.text.wording import first_of, listed, numbered_lines, plain, plural
from drive_trace.trace import line as trace_line
from drive_trace.trace.line import FlaggedLine, Line, feed_named, feed_with_fields, time_in
from drive_trace.vocabulary import COST, GRADE
from drive_trace.vocabulary.slips import are_alike

# Lines that readers do not count

FEEDS = (GRADE, COST)
MOST = 3
"""A phrase names at most so many lines or files."""
MOST_STRAYS = 10
"""So many lines of a file whose run cannot be read are named at most, as every run names them."""
_LONGEST = 80


class Uncounted(Frozen, frozen=True, order=True):
    """A line that readers reject, or whose type they do not know."""

    line: int
    """From 1."""
    event_name: str | None
    """The line's event type, where it can be read."""
    run_id: str | None = None
    """The line's run, where it can be read."""
    feed: str | None = None
    """The feed that the line is of, or may be."""
    ts: str | None = None
    """When it was recorded, where that can be read."""
    is_alike: bool = False
    """Whether it only looks like a line of the feed: by its fields, or as its type is spelt."""
    is_unknown: bool = False
    """Whether its type is unknown; else readers reject it."""
    may_be_work: bool = True
    """Whether it may show work, and no other caveat of a grade has it."""
    path: str = ""


def uncounted_lines(lines: Iterable[Line], path: str = "") -> tuple[Uncounted, ...]:
    """What the scorecard needs to know of lines that readers reject, or do not know."""
    found = (_uncounted(line, line.order + 1) for line in cast("Iterable[FlaggedLine]", lines))
    return tuple(each._replace(path=path) if path else each for each in unless_stopped(found))


@lru_cache(maxsize=64)  # a long line that may be of many runs is read once
def _uncounted(line: FlaggedLine, number: int) -> Uncounted:
    text, name, is_unknown = line.text, line.event_name, not line.is_rejected
    if is_unknown:
        named, feed, run_id = None, meant_feed(line), line.run_id
        may_be_work = feed is None
    else:
        is_feed = name in FEEDS and not trace_line.names_several(text, "event_type")
        # Two events may stand on one line; else the names of all fields may tell the feed.
        named = name if is_feed else feed_named(text)
        feed, run_id = named or feed_with_fields(text), trace_line.named_run(line)
        may_be_work = feed is None or (feed == COST and not is_feed and name is not None)
    is_alike = feed is not None and named is None
    ts = time_in(text)
    return Uncounted(number, name, run_id, feed, ts, is_alike, is_unknown, may_be_work)


def meant_feed(line: FlaggedLine) -> str | None:
    """The feed that a line of an unknown type was most likely meant for, if any: its type is a slip
    of the feed's, or it has all fields of the feed.
    """
    return _meant_by(line.event_name or "") or feed_with_fields(line.text)


@lru_cache(maxsize=1024)
def _meant_by(name: str) -> str | None:
    word = name[:_LONGEST].lower().replace("_", "-")
    return next((feed for feed in FEEDS if _is_near(word, feed)), None)


def _is_near(word: str, feed: str) -> bool:
    # Compare the beginning by itself, too: many names end in "-recorded".
    first = feed.partition("-")[0]
    return are_alike(word[: len(first)], first) and are_alike(word, feed)


def rejected_phrase(rejected: Sequence[Uncounted], others: str | None = None) -> str | None:
    """``1 correctness line rejected (line 12), not counted``; None where nothing was. ``others``
    stands before lines that are of no feed.
    """
    if not rejected:
        return None
    if others is None:
        others = "other " * any(each.feed is not None for each in rejected)
    kinds = {GRADE: "correctness line", COST: "token line", None: f"{others}line"}
    phrases = []
    for feed, kind in kinds.items():
        lines = [each.line for each in rejected if each.feed == feed]
        if lines:
            phrases.append(f"{plural(len(lines), kind)} rejected ({numbered_lines(lines, MOST)})")
    return f"{', '.join(phrases)}, not counted"


def uncounted_phrase(rejected: int, unknown: int) -> str:
    """What became of the lines of a run of which readers count none: ``all 38 lines rejected``."""
    count = rejected + unknown
    kinds = ["rejected"] * bool(rejected)
    kinds += ["of unknown types" if count > 1 else "of an unknown type"] * bool(unknown)
    which = f"all {count:,} lines" if count > 1 else "its only line is"
    return f"{which} {' or '.join(kinds)}"


def lookalike_phrase(found: Iterable[Uncounted]) -> str | None:
    """``line 12 of an unknown type looks like correctness-recorded; it does not count``; None where
    nothing was found.
    """
    phrases = []
    for feed in (COST, GRADE):
        lines = [each.line for each in found if each.feed == feed]
        if len(lines) == 1:
            line = f"line {lines[0]} of an unknown type looks"
            phrases.append(f"{line} like {feed}; it does not count")
        elif lines:
            named = f"lines {first_of(lines, MOST)} of unknown types look"
            phrases.append(f"{named} like {feed}; they do not count")
    return "; ".join(phrases) or None


def uncounted_phrases(found: Sequence[Uncounted]) -> list[str]:
    """Both phrases, as far as there are such lines."""
    rejected, unknown = ([e for e in found if e.is_unknown is each] for each in (False, True))
    return [*filter(None, (rejected_phrase(rejected), lookalike_phrase(unknown)))]


# Caveats


class CaveatCode(StrEnum):
    """What a caveat is about. Users meet these in JSON: they are added to, never renamed."""

    STALE = "stale"
    UNREAD_INPUT = "unread-input"
    REJECTED_GRADE = "rejected-grade"
    LOOKALIKE_GRADE = "lookalike-grade"
    CONTRADICTING_GRADES = "contradicting-grades"
    UNCALIBRATED_JUDGE = "uncalibrated-judge"
    JUDGE_NOT_AS_ASKED = "judge-not-as-asked"
    JUDGE_OF_OWN_FAMILY = "judge-of-own-family"
    GRADED_WITHOUT_EVIDENCE = "graded-without-evidence"
    GRADED_AT_ANOTHER_COMMIT = "graded-at-another-commit"
    STALE_REPORT = "stale-report"
    CONTRADICTED_BY_GATE = "contradicted-by-gate"
    REJECTED_COST = "rejected-cost"
    LOOKALIKE_COST = "lookalike-cost"
    REJECTED_LINE = "rejected-line"
    COPIED_EVENTS = "copied-events"
    CONFLICTING_EVENT_ID = "conflicting-event-id"
    UNRECORDED_CHANGE = "unrecorded-change"
    PARTIAL_COVERAGE = "partial-coverage"
    REWRITTEN_HISTORY = "rewritten-history"
    MERGE_CONFLICT = "merge-conflict"


ALWAYS_QUALIFY = {
    CaveatCode.STALE,
    CaveatCode.UNREAD_INPUT,
    CaveatCode.JUDGE_NOT_AS_ASKED,
    CaveatCode.STALE_REPORT,
    CaveatCode.CONTRADICTED_BY_GATE,
    CaveatCode.MERGE_CONFLICT,
}
"""These could overturn the verdict, wherever they are found; ``docs/caveats.md`` says when others
could.
"""
NEVER_QUALIFY = {
    CaveatCode.UNCALIBRATED_JUDGE,
    CaveatCode.JUDGE_OF_OWN_FAMILY,
    CaveatCode.REJECTED_COST,
    CaveatCode.LOOKALIKE_COST,
    CaveatCode.REJECTED_LINE,
    CaveatCode.CONFLICTING_EVENT_ID,
    CaveatCode.PARTIAL_COVERAGE,
}


class LineRef(NamedTuple):
    """A line of a trace."""

    path: str
    line: int
    """From 1."""


ILLEGIBLE = "no line of it names a run"
"""Why a file is not read that has lines and no run."""
CHANGED = "changed while runs were joined"
"""Why the lines of a file are not known that has been read."""


LONGEST_REASON = 600
_REASONS = 20
"""A sentence has so many."""


class Unread(NamedTuple):
    """An input that could not be read at all."""

    path: str
    reason: str
    """In a few words, as ``permission denied``; without the path."""


class Gone(str):
    """Why something is not read that a commit has, and how it is had again. Untrusted."""

    __slots__ = ()


def lack(unread: Sequence[Unread]) -> str:
    """How much of what is needed there is not: ``1 input not read``."""
    gone = sum(isinstance(each.reason, Gone) for each in unread)
    said = [f"lines of {plural(gone, 'file')} are gone"] * bool(gone)
    return listed([f"{plural(len(unread) - gone, 'input')} not read"] * (len(unread) > gone) + said)


def by_reason(unread: Sequence[Unread]) -> Mapping[str, Sequence[str]]:
    """The paths of inputs, by their reasons."""
    reasons = dict.fromkeys(each.reason for each in unread)
    return {reason: [each.path for each in unread if each.reason == reason] for reason in reasons}


class Omitted(Frozen, frozen=True):
    """What a search of folders came upon and did not read."""

    files: tuple[Unread, ...] = ()
    """Each with its reason."""
    missed: tuple[Unread, ...] = ()
    """Those of them that may hold a part of any run, and that nobody has excluded."""
    libraries: tuple[str, ...] = ()
    """The folders of libraries, which are not searched."""

    def sentence(self, name: Callable[..., str] = plain) -> str:
        """All of it on one line, without a full stop; ``name`` writes a path."""
        said = [
            f"{first_of([*map(name, s)], 5)}: {name(why, LONGEST_REASON)}"
            if isinstance(why, Gone)
            else f"{why}: {first_of([*map(name, s)], 5)}"
            for why, s in by_reason(self.files).items()
        ]
        said[_REASONS:] = [f"and {len(said) - _REASONS:,} more"] * (len(said) > _REASONS)
        may_name = any(not isinstance(each.reason, Gone) for each in self.missed)
        hint = " (name a path to read it, or leave it out with --exclude)" if may_name else ""
        return f"{len(self.files):,} left out: {'; '.join(said)}{hint}" if self.files else ""

    def as_json(self) -> dict[str, object]:
        """The keys of it in JSON."""
        return {
            "left_out": len(self.files),
            "left_out_files": [each._asdict() for each in self.files],
            "unsearched_libraries": self.libraries,
        }


NOTHING_OMITTED = Omitted()


class Caveat(Frozen, frozen=True):
    """One caveat of one run."""

    code: CaveatCode
    short: str
    """In a few words, to stand behind the verdict: ``stale: 3 events after the grade``."""
    message: str
    """One sentence, without its full stop, apart from the files that :meth:`sentence` names.
    Nothing in it comes from a trace.
    """
    qualifies: bool
    """Whether it could overturn the verdict."""
    lines: tuple[LineRef, ...] = ()
    """The lines that it is about."""
    path: str = ""
    """The one file that it is about, where the message does not say so. Untrusted."""
    others: tuple[str, ...] = ()
    """Further files, to be named behind the message. Untrusted."""

    def sentence(self, name: Callable[[str], str] = str) -> str:
        """The message with its files, as ``name`` writes them."""
        phrases = f"{name(self.path)}: {self.message}" if self.path else self.message
        return f"{phrases} {' and '.join(map(name, self.others))}" if self.others else phrases


def make_caveat(  # noqa: PLR0913 - the parts of a caveat
    code: CaveatCode,
    short: str,
    more: str = "",
    *,
    holds: bool = False,
    lines: Sequence[LineRef] = (),
    path: str = "",
    others: Iterable[str] = (),
) -> Caveat:
    """A caveat, whose message has ``more`` behind what is said in short; ``holds`` where the
    condition holds under which its code qualifies. It names the first few of ``others``.
    """
    named = tuple(dict.fromkeys(others))[:MOST]
    qualifies = code in ALWAYS_QUALIFY or (code not in NEVER_QUALIFY and holds)
    return Caveat(code, short, short + more, qualifies, tuple(lines), path, named)
