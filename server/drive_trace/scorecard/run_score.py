"""What the scorecard says of a run, with the gate that decides its verdict: plain data, made by
``scoring.py``. It can be kept as JSON.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from drive_trace.scorecard.caveats import Caveat, CaveatCode, Uncounted
from drive_trace.scorecard.measures import Efficiency, Provenance, RunFacts
from drive_trace.text.quick import Frozen
from drive_trace.text.wording import are, listed, plural, short_hash
from drive_trace.trace.line import Line
from drive_trace.vocabulary import CORRECTNESS_FIELDS, ENVELOPE

if TYPE_CHECKING:  # most traces are scored without, and it takes long to load
    from drive_trace.grading.judgements import Gating, Judgement
else:
    Gating: TypeAlias = Any
    Judgement: TypeAlias = Any


class Recorded(Frozen, frozen=True):
    """An event of a feed."""

    values: Mapping[str, str | int | float | None]
    """Its components."""
    ts: str
    path: str
    line: int
    """From 1."""


def recorded_in(line: Line, path: str = "") -> Recorded:
    """What an event of a feed records."""
    assert line.event is not None
    values: dict[str, Any] = {
        name: line.fact(name) for name in line.event.fields if name not in ENVELOPE
    }
    return Recorded(values, line.text_fact("ts"), path, line.order + 1)


# Tier 1: the correctness gate

NO_SIGNAL = "external correctness signal"
"""What is missing where no correctness-recorded event was appended."""

NOT_GRADED = "not computable: not graded"
"""The verdict then, where there is little room to name the input."""


class Verdict(StrEnum):
    """What the gate says of a run. Null outranks fail."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NOT_COMPUTABLE = "not-computable"


class Gate(msgspec.Struct, frozen=True):
    """The verdict with its reasons."""

    verdict: Verdict
    missing: tuple[str, ...]
    """What is missing, in the order mechanical, qa, intent."""
    failed: tuple[str, ...]
    """The components recorded as fail, whatever the verdict."""
    uncounted: str | None = None
    """What became of the lines of a run without a valid event: ``all 38 lines rejected``."""

    @property
    def is_ungraded(self) -> bool:
        """Whether nothing is known against the run but that nobody graded it."""
        return self.missing == (NO_SIGNAL,) and self.uncounted is None


def judge(recorded: Recorded | None, uncounted: str | None = None) -> Gate:
    """Apply the gate to the correctness event that counts; for ``uncounted`` see :class:`Gate`."""
    if recorded is None:
        return Gate(Verdict.NOT_COMPUTABLE, (NO_SIGNAL,), (), uncounted)
    missing = tuple(name for name in CORRECTNESS_FIELDS if recorded.values[name] is None)
    failed = tuple(name for name in CORRECTNESS_FIELDS if recorded.values[name] == "fail")
    if missing:
        return Gate(Verdict.NOT_COMPUTABLE, missing, failed)
    return Gate(Verdict.INCORRECT if failed else Verdict.CORRECT, (), failed)


def headline(gate: Gate) -> str:
    """The verdict in a few words: ``not computable — missing: qa, intent``."""
    if gate.verdict is Verdict.CORRECT:
        return "CORRECT"
    if gate.verdict is Verdict.INCORRECT:
        return f"INCORRECT — {', '.join(gate.failed)} failed"
    if gate.uncounted is not None:
        return f"not computable: {gate.uncounted}"
    return f"not computable — missing: {', '.join(gate.missing)}"


def cause(gate: Gate) -> str:
    """Why the verdict is what it is, in a few words: ``missing: qa, intent``."""
    if gate.verdict is Verdict.CORRECT:
        return f"{listed(CORRECTNESS_FIELDS)} passed"
    return gate.uncounted or headline(gate).partition(" — ")[2]


def what_would_change_it(gate: Gate) -> str:
    """What has to be recorded for another verdict, in one sentence."""
    failed, missing = listed(gate.failed), listed(gate.missing)
    if gate.verdict is Verdict.CORRECT:
        return "A later correctness-recorded with a fail or a null in it would change the verdict."
    if gate.verdict is Verdict.INCORRECT:
        return (
            f"It becomes CORRECT only when {failed} "
            f"{are(len(gate.failed))} recorded again as pass"
            f"{', with the other components repeated' if len(gate.failed) < 3 else ''}."
        )
    if gate.uncounted is not None:
        return "Repair its lines: no reader counts one of them as they are."
    if gate.is_ungraded:
        return "Record mechanical, qa and intent: the run is CORRECT when all three pass."
    if gate.failed:
        return (
            f"Recording {missing} alone cannot make it CORRECT: {failed} failed, "
            "and must be recorded again."
        )
    return (
        f"It becomes CORRECT when {missing} {are(len(gate.missing))} recorded "
        f"as pass, and INCORRECT on a fail"
        f"{'; the other components must be repeated' if len(gate.missing) < 3 else ''}."
    )


# A run

QUALIFIED = "qualified"
STANDINGS = {
    str(Verdict.CORRECT): "CORRECT",
    QUALIFIED: "CORRECT with caveats",
    str(Verdict.INCORRECT): "INCORRECT",
    str(Verdict.NOT_COMPUTABLE): "not computable",
}
"""How many runs have each standing is said in these words."""


def standings_in_short(counts: Mapping[str, int]) -> str:
    """``1 CORRECT · 1 INCORRECT``, given how many runs have each standing."""
    some = ((counts.get(name, 0), words) for name, words in STANDINGS.items())
    return " · ".join(f"{count:,} {words}" for count, words in some if count)


class RunInFile(Frozen, frozen=True):
    """What one file has of a run."""

    path: str
    first_line: int
    """From 1."""
    event_count: int = 0
    correctness: Recorded | None = None
    """The file's own last grade."""
    tokens: Recorded | None = None
    """The same of the token feed."""
    last: str | None = None
    """``ts`` of the last event."""
    rejected: tuple[Uncounted, ...] = ()
    strays: tuple[Uncounted, ...] = ()
    """The last of the file's rejected feed lines that may be this run's: they name none, or one
    without a valid event in the file.
    """
    stray_count: int = 0
    """How many such lines there are."""
    unknown: tuple[Uncounted, ...] = ()
    """Lines of unknown types that name the run; the last of the file's that look like a feed's and
    may be of any run, too.
    """
    copies: tuple[int, ...] = ()
    """The lines, from 1, that are copies of one above them in the file."""
    copied: tuple[int, ...] = ()
    """These and the lines whose events an earlier file has; empty where no file of the run has
    events of another.
    """
    newest_grade: tuple[int, str] | None = None
    """The line and ``ts`` of the file's grade with the latest moment, if it is not the last one."""
    other_count: int = 0
    """How many of its events are of no feed."""


class FileHistory(Frozen, frozen=True):
    """What git vouches for of a file."""

    path: str
    since: str
    """The hash of the commit from which on that is known; empty where it was never committed."""
    commits: int
    """How many have changed the file."""
    uncommitted: int
    """How many of its lines were never committed."""
    rewritten: int
    """How many of its lines are not as they were recorded, or where, of whatever run."""
    mended: int
    """How many of its lines that readers rejected commits mended, or took out."""

    @property
    def words(self) -> str:
        """``append-only since 1a2b3c4d5e (38 commits)``, or how many lines are not."""
        if not self.since:
            return "never committed to git"
        how = f"{plural(self.rewritten, 'line')} rewritten" if self.rewritten else "append-only"
        new = f"; {plural(self.uncommitted, 'line')} not committed" if self.uncommitted else ""
        since = f"{how} since {short_hash(self.since)} ({plural(self.commits, 'commit')})"
        mended = f", but for {plural(self.mended, 'mended rejected line')}" * bool(self.mended)
        return f"{since}{mended}{new}"


class RunScore(Frozen, frozen=True):
    """One run, judged."""

    run_id: str
    parts: tuple[RunInFile, ...]
    """What each file has of it."""
    correctness: Recorded | None
    """The grade that counts."""
    tokens: Recorded | None
    gate: Gate
    measured: Efficiency
    """What the run cost, whatever its verdict; see :attr:`efficiency`."""
    caveats: tuple[Caveat, ...] = ()
    """Why the verdict or its figures may be worth less than they seem."""
    provenance: Provenance = Provenance()
    """How its events were written, in all files together."""
    started: str | None = None
    """``ts`` of its first project-started."""
    closed: str | None = None
    """``ts`` of its first project-closed."""
    facts: RunFacts = RunFacts()
    """What its events say happened, in all files together."""
    judgement: Judgement | None = None
    """What the intent rests on; None if that is not known, see :func:`scoring.among`."""
    has_record: bool = False
    """Whether there is a record of its judging beside its files."""
    history: tuple[FileHistory, ...] = ()
    """What git vouches for of its files, where somebody asks."""
    gates: Mapping[str, Gating] = {}
    """By component the gate that the grade rests on, as a record beside the files says."""
    was_gated: bool = False
    """Whether a gate of it is recorded, whatever that came to."""
    models: tuple[str, ...] = ()
    """Those that its dispatches were started on, sorted. Untrusted."""
    gated: tuple[str, ...] = ()
    """The components that a gate decided, as the record of where events come from says."""
    failing: tuple[str, ...] = ()
    """The components whose latest recorded gate came to something else than the grade says."""
    has_unreadable_record: bool = False
    """Whether a part of the record of its judging cannot be read."""

    @property
    def verdict(self) -> Verdict:
        """What the gate says."""
        return self.gate.verdict

    @property
    def qualifying(self) -> tuple[Caveat, ...]:
        """The caveats that could overturn the verdict."""
        return tuple(each for each in self.caveats if each.qualifies)

    @property
    def stale(self) -> Caveat | None:
        """That the run went on after it was graded."""
        return next((each for each in self.caveats if each.code is CaveatCode.STALE), None)

    @property
    def is_earned(self) -> bool:
        """Whether the run is CORRECT, and no caveat qualifies that: only then may it be green."""
        return self.verdict is Verdict.CORRECT and not self.qualifying

    @property
    def standing(self) -> str:
        """For colours and icons: the verdict, or ``qualified`` for a CORRECT that is not earned."""
        if self.verdict is Verdict.CORRECT and not self.is_earned:
            return QUALIFIED
        return str(self.verdict)

    @property
    def word(self) -> str:
        """The headline, without the reason where the verdict is not CORRECT."""
        return self.headline if self.verdict is Verdict.CORRECT else STANDINGS[self.standing]

    @property
    def headline(self) -> str:
        """The verdict in a few words; a CORRECT is followed by what qualifies it."""
        phrase = headline(self.gate)
        if self.verdict is Verdict.CORRECT and self.qualifying:
            return f"{phrase}, but {'; '.join(each.short for each in self.qualifying)}"
        return phrase

    @property
    def efficiency(self) -> Efficiency | None:
        """Tier 2: only a CORRECT run has it."""
        return self.measured if self.verdict is Verdict.CORRECT else None

    @property
    def event_count(self) -> int:
        """The valid events in all files; copies count."""
        return sum(part.event_count for part in self.parts)

    @property
    def rejected(self) -> tuple[Uncounted, ...]:
        """The run's rejected lines, file by file."""
        return tuple(rejected for part in self.parts for rejected in part.rejected)

    @property
    def unknown(self) -> tuple[Uncounted, ...]:
        """Its lines of unknown types, file by file."""
        return tuple(each for part in self.parts for each in part.unknown)
