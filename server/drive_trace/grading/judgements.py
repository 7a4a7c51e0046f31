"""The record of the judging: one JSON object a call of a model, or a gate that was run, in a file
beside the trace.

It says what a verdict rests on: who judged, on what, and how far that judge was calibrated; or
which commands ended how. The trace itself has the verdict alone, as readers know it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import Annotated, Literal, TypeAlias, get_args

import msgspec

from drive_trace.grading.calibration import AGREEMENT, Calibration, Count
from drive_trace.grading.prompts import ModelAnswer, hash_of, read_answer
from drive_trace.text.codec import bounded
from drive_trace.text.wording import listed
from drive_trace.trace.times import sortable

Ordinal: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=99)]
Sha256: TypeAlias = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$", max_length=64)]
Share: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=1)]
Outcome: TypeAlias = Literal["pass", "fail"]


class Judge(msgspec.Struct, frozen=True, kw_only=True):
    """Which judge: what has to stay the same for a calibration to hold."""

    model: str
    """The model's id as it is asked for."""
    prompt_version: str
    rubric_hash: Sha256
    schema_held: bool | None = None
    """Whether the provider took a JSON Schema for the reply; None where nobody recorded that."""

    def differs(self, other: Judge) -> tuple[str, ...]:
        """What is known of both and not the same, in words."""
        names = {
            "model": "model",
            "prompt_version": "prompt",
            "rubric_hash": "rubric",
            "schema_held": "form of reply (a JSON Schema, or none)",
        }
        both = ((word, getattr(self, name), getattr(other, name)) for name, word in names.items())
        return tuple(word for word, *said in both if None not in said and said[0] != said[1])


class Calibrated(Calibration, frozen=True, kw_only=True):
    """What a judge was worth when it was held against people's labels: the table, from which all
    figures follow, and what it was made with. Nothing that the file claims beside it is believed.
    """

    calibration_version: Literal["1"] = "1"
    ts: str
    judge: Judge
    labelling_rule: str | None = None
    """SHA-256 of the rule that people labelled by; None where none was named."""

    def lacks_of(self, judge: Judge, rule: str | None = None) -> tuple[str, ...]:
        """Why a judge is not calibrated by this, if labels follow a ``rule``; each in one sentence
        without its full stop.
        """
        changed = [f"its calibration is of another {word}" for word in judge.differs(self.judge)]
        if rule is not None and self.labelling_rule != hash_of(rule):
            changed.append("its labels follow another rule")
        return (*changed, *self.lacks)


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a model. All texts are untrusted."""

    judgement_version: Literal["1"] = "1"
    ts: str
    """When the reply came."""
    project_run_id: str
    component: Literal["intent"] = "intent"
    judge: Judge
    model: str | None = None
    """The model as its provider reports it."""
    prompt_hash: Sha256
    """Of the prompt with zeros in place of the call's nonce."""
    acceptance_hash: Sha256
    diff_hash: Sha256
    range: str | None = None
    """The commits of the diff, as they were given."""
    reply: str | None = None
    """None where there was none."""
    verdict: Outcome | None = None
    why: str | None = None
    """Why there is no verdict."""
    reasons: tuple[str, ...] = ()
    judging: str
    """An id that all calls for one verdict have."""
    repeats: Ordinal = 1
    """How often the judge was to be asked, as of ``--repeat``: only a unanimous verdict counts."""
    repeat: Ordinal = 1
    """Which of these this is."""
    attempt: Ordinal = 1
    """Which time the same was asked, as the reply before was malformed."""
    worked: Count | None = None
    """So many events of the run were work when it was asked."""
    commit: str | None = None
    """The commit of the working tree, where it is known."""
    clean: bool | None = None
    """Whether the tree was as in that commit, apart from traces."""
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cost_usd: Annotated[float, msgspec.Meta(ge=0)] | None = None
    agreement: Share | None = None
    """How often the judge agreed with people."""
    agreement_interval: tuple[Share, Share] | None = None

    @property
    def can_be_true(self) -> bool:
        """Whether the judge's figures pass the gate that they had to pass, and its verdict is what
        the reply says. Reads the whole reply.
        """
        low, high = self.agreement_interval or (0.0, 1.0)
        if self.agreement is None:
            fits = self.agreement_interval is None
        else:
            fits = AGREEMENT <= low <= self.agreement <= high
        if self.verdict is None or not fits:
            return fits
        answer = read_answer(self.reply or "", self.component, get_args(Outcome))
        return answer == ModelAnswer((self.verdict,), self.reasons)


class Command(msgspec.Struct, frozen=True):
    """A command of a gate."""

    command: str
    exit_code: int | None
    """None where one before it failed, and it did not run."""


class ReportFile(msgspec.Struct, frozen=True):
    """A report of a test run, in whose place a command was run elsewhere."""

    path: str
    """As it was named; ``-`` is standard input."""
    digest: Sha256
    """SHA-256 of its content."""


class Gating(msgspec.Struct, frozen=True, kw_only=True):
    """One run of a gate. All texts are untrusted."""

    gate_version: Literal["1"] = "1"
    ts: str
    """When it ended."""
    began: str
    project_run_id: str
    component: Literal["mechanical", "qa"]
    outcome: Outcome
    commands: tuple[Command, ...] = ()
    """In their order."""
    reports: tuple[ReportFile, ...] = ()
    cases: Count | None = None
    """How many cases of the reports ran."""
    failed: Count | None = None
    skipped: Count | None = None
    stale: bool = False
    """Whether it is not known to be later than the run's last work, and was accepted."""
    worked: Count | None = None
    """So many events of the run were work when it began."""
    commit: str | None = None
    """The commit of the working tree, where it is known."""
    clean: bool | None = None
    """Whether the tree was as in that commit, apart from traces."""
    tool: str
    """The version of Drive Trace."""

    @property
    def words(self) -> str:
        """What it was: ``make lint and make test``, or the names of the reports."""
        return listed([each.command for each in self.commands] or [r.path for r in self.reports])

    @property
    def kind(self) -> str:
        """The same, without the folders of reports, which each run has of its own."""
        names = [re.split(r"[/\\]", each.path)[-1] for each in self.reports]
        return listed(names) if names else self.words


Verdicts: TypeAlias = Sequence[tuple[str, Sequence[Judgement] | Gating]]
"""The calls for each verdict on a run, and its gates, each with its moment; by time. No calls stand
for lines that cannot be read, which may be of any run.
"""
_JUDGEMENT = bounded(msgspec.json.Decoder(Judgement).decode)
_GATING = bounded(msgspec.json.Decoder(Gating).decode)
_CALIBRATED = bounded(msgspec.json.Decoder(Calibrated).decode)


def read_calibrated(text: str) -> Calibrated:
    """Read a calibration. Raises ValueError for what is none."""
    try:
        return _CALIBRATED(text)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def to_record(judgement: Judgement | Calibrated | Gating) -> str:
    """A line of a file, without its end."""
    return msgspec.json.encode(judgement).decode()


def read_judgements(records: Iterable[str]) -> tuple[list[Judgement], list[Gating], int]:
    """The judgements and the gates of a file, and how many of its lines are neither."""
    found = [*map(_read, filter(str.strip, records))]
    calls = [each for each in found if isinstance(each, Judgement)]
    return calls, [each for each in found if isinstance(each, Gating)], found.count(None)


def _read(record: str) -> Judgement | Gating | None:
    for decode in (_JUDGEMENT, _GATING):
        with suppress(ValueError, RecursionError):
            return decode(record)
    return None


class Judgements:
    """The judgements of a record that came to a verdict, and its gates."""

    def __init__(
        self,
        judgements: Iterable[Judgement] = (),
        gates: Iterable[Gating] = (),
        *,
        is_whole: bool = True,
    ) -> None:
        """``is_whole`` where all of the record can be read."""
        self._unreadable: Verdicts = () if is_whole else (("", ()),)
        self._by_run: dict[str, list[tuple[str, Sequence[Judgement] | Gating]]] = {}
        """By time."""
        for gate in gates:
            if (at := sortable(gate.ts)) is not None:
                self._by_run.setdefault(gate.project_run_id, []).append((at, gate))
        for calls in judgings(judgements):
            last, at = calls[-1], sortable(calls[-1].ts)
            if at is not None and verdict_of(calls) is not None:
                own = self._by_run.setdefault(last.project_run_id, [])
                own.append((at, calls))
        for own in self._by_run.values():
            own.sort(key=itemgetter(0))

    def on(self, run_id: str) -> Verdicts:
        """Those on a run."""
        return (*self._unreadable, *self._by_run.get(run_id, ()))


def rests_on(verdicts: Iterable[Verdicts], verdict: object, ts: str) -> Judgement | None:
    """Which judgement a grade rests on, of those beside all files of its run: the last call for the
    latest verdict that is not later than the grade, if that says the same. None where there is
    none, or where what is recorded cannot be true: then nobody knows who judged.
    """
    calls = next((each for each in _until(verdicts, ts) if not isinstance(each, Gating)), ())
    # Replies are read only here, of the one judgement that is shown.
    fits = calls and calls[-1].verdict == verdict and all(each.can_be_true for each in calls)
    return calls[-1] if fits else None


def gates_of(
    verdicts: Iterable[Verdicts], values: Mapping[str, object], ts: str
) -> Mapping[str, Gating]:
    """By component the gate that a grade rests on: the latest one that is not later than the grade,
    if it came to the same.
    """
    latest: dict[str, Gating] = {}
    for each in _until(verdicts, ts):
        if isinstance(each, Gating):
            latest.setdefault(each.component, each)
    found = ((name, latest.get(name)) for name in values)
    return {name: each for name, each in found if each and each.outcome == values[name]}


def against(verdicts: Iterable[Verdicts], values: Mapping[str, object]) -> tuple[str, ...]:
    """The components whose latest gate, also one after the grade, came to something else than a
    grade says.
    """
    gates = (each for _, each in sorted(chain(*verdicts), key=itemgetter(0)))
    latest: dict[str, object] = {
        each.component: each.outcome for each in gates if isinstance(each, Gating)
    }
    return tuple(n for n, value in values.items() if value and latest.get(n, value) != value)


def _until(verdicts: Iterable[Verdicts], ts: str) -> Sequence[Sequence[Judgement] | Gating]:
    """What is not later than a grade, the latest first."""
    own, graded = sorted(chain(*verdicts), key=itemgetter(0)), sortable(ts)
    at = bisect_right(own, graded, key=itemgetter(0)) if graded is not None else 0
    return [each for _, each in reversed(own[:at])]


def judgings(judgements: Iterable[Judgement]) -> Sequence[Sequence[Judgement]]:
    """The calls that were made for one verdict, together, in their order."""
    calls: dict[tuple[str, str], list[Judgement]] = {}
    for each in judgements:
        calls.setdefault((each.project_run_id, each.judging), []).append(each)
    return list(calls.values())


def verdict_of(calls: Sequence[Judgement]) -> str | None:
    """What the calls for one verdict come to: None unless each round has one, and all the same."""
    said = {each.repeat: each.verdict for each in calls}
    if said.keys() != set(range(1, calls[-1].repeats + 1)) or len(set(said.values())) > 1:
        return None
    return calls[-1].verdict
