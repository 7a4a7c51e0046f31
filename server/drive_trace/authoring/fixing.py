"""Fixing all of a trace that can be fixed, for the command line and for fix-all in editors.

Fixes are tried as edits of the open analysis, and taken back if anything gets worse: those of all
lines together, then those of half of the lines, down to one fix.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from typing import NamedTuple

import msgspec

from drive_trace.analysis import Analysis
from drive_trace.linter.rule import Edit, Finding, Level
from drive_trace.scorecard.run_score import Verdict, judge, recorded_in
from drive_trace.text.spans import BrokenText, Span, replace_spans
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, run_of
from drive_trace.vocabulary import GRADE

_MOST_PASSES = 10
"""A second pass takes what the first one made fixable elsewhere; more are hardly ever needed."""
_MOST_ROUNDS = 100
"""How often lines are fixed again in one pass, as those whose mistakes touch each other."""

_Key = tuple[object, ...]


class _RecordEdit(NamedTuple):
    """An edit of a record by its number, which stays when its line is read again."""

    record: int
    span: Span
    text: str


class _FixEdits(NamedTuple):
    """What a fix does."""

    code: str
    key: _Key
    """Names the fix, by the text of its line, also when other lines have changed."""
    safe: bool
    edits: tuple[_RecordEdit, ...]


_Batch = tuple[int, Sequence[_FixEdits]]
"""A record, and changes of it that do not touch each other."""


def fix_all(analysis: Analysis, *, suggestions: bool = False, rule: str | None = None) -> int:
    """Apply the fixes of a trace, and return how many findings they removed.

    Safe fixes alone, unless ``suggestions`` are wanted too: those that can be made in bulk, and
    that remove their finding. A safe fix is made whatever it uncovers; a suggestion is not made if
    it would leave more findings than before, unless readers take the line for it. No fix is made
    after which a run is CORRECT that was not, and none of a line with bytes that are not UTF-8.
    Fixing again changes nothing more. With a ``rule``, only what it finds is fixed.
    """
    fixed = 0
    for _ in range(_MOST_PASSES):
        before = fixed
        for with_suggestions in [False, True] if suggestions else [False]:
            done, refused = set[Line](), set[_Key]()
            for _ in range(_MOST_ROUNDS):
                batches = [
                    *_batches(analysis, done, refused, suggestions=with_suggestions, rule=rule)
                ]
                if not batches:
                    break
                fixed += _try(analysis, batches, refused)
        if fixed == before:
            break
    return fixed


def withheld(analysis: Analysis) -> Counter[str]:
    """How many findings that are told keep a fix that would have been made, by the reason; of what
    is fixed.
    """
    found: Counter[str] = Counter()
    for fixable in _fixable(analysis):
        if any(isinstance(each.line.text, BrokenText) for each in fixable):
            found["lines with bytes that are not UTF-8 stay as they are"] += 1
        elif any(fix.safe for each in fixable for fix in analysis.fixes(each)):
            found["what would make a run CORRECT is left to a person"] += 1
    return found


def with_fixes(analysis: Analysis) -> Counter[Level]:
    """How many findings that are told have a fix, by the level of the one made most readily."""
    return Counter(
        min((fix.level for each in places for fix in analysis.fixes(each)), key=[*Level].index)
        for places in _fixable(analysis)
    )


def _fixable(analysis: Analysis) -> Iterator[Sequence[Finding]]:
    """Of each finding that is told, the places with a fix."""
    for told in analysis.told():
        places = [each for each in (told.finding, *told.places) if analysis.fixes(each)]
        if places:
            yield places


def _batches(
    analysis: Analysis, done: set[Line], refused: set[_Key], *, suggestions: bool, rule: str | None
) -> Iterator[_Batch]:
    """The changes of each line that do not touch each other, nor those of another line, from the
    end, so that the numbers of the lines to come stay. Lines without any are ``done``.
    """
    taken = set[int]()
    lines = dict.fromkeys(finding.line for finding in analysis.findings())
    for line in reversed([each for each in lines if each not in done]):
        record = line.order
        changes = _changes(analysis, record, suggestions=suggestions, rule=rule)
        batch = _apart((each for each in changes if each.key not in refused), record)
        records = {edit.record for change in batch for edit in change.edits}
        if not batch:
            done.add(line)
        elif taken.isdisjoint(records):
            taken |= records
            yield record, batch


def _try(analysis: Analysis, batches: Sequence[_Batch], refused: set[_Key]) -> int:
    """Apply as many changes as make nothing worse, and return how many those are.

    Where they do not all, the halves are tried; of one line no more once some were made: the
    others' places hold no longer. A change that does not alone is refused.
    """
    if _make_if_better(analysis, batches):
        return sum(len(batch) for _, batch in batches)
    half = len(batches) // 2
    if half:
        return _try(analysis, batches[:half], refused) + _try(analysis, batches[half:], refused)
    ((record, batch),) = batches
    if len(batch) == 1:
        refused.add(batch[0].key)
        return 0
    halves = batch[: len(batch) // 2], batch[len(batch) // 2 :]
    return next(filter(None, (_try(analysis, [(record, each)], refused) for each in halves)), 0)


def _make_if_better(analysis: Analysis, batches: Sequence[_Batch]) -> bool:
    """Make changes of some records, and take all of them back unless each makes progress."""
    total = analysis.finding_count
    before = [_RecordState.of(analysis, record, 1) for record, _ in batches]
    made = _Made.by(analysis, batches)
    gain, count = total - analysis.finding_count, sum(len(batch) for _, batch in batches)
    for (record, batch), was in zip(batches, before, strict=True):
        now = _RecordState.of(analysis, *made.place_of(record))
        if not _is_progress(batch, gain - count + len(batch), was, now):
            made.undo(analysis)
            return False
    return True


def _changes(
    analysis: Analysis, record: int, *, suggestions: bool, rule: str | None
) -> Iterator[_FixEdits]:
    """The fix to try for each finding of a line."""
    number = analysis.document.number
    for finding in analysis.findings_of(analysis.document.lines[record]):
        if rule is not None and finding.rule.code != rule:
            continue
        fixes = analysis.fixes(finding)
        fix = next((fix for fix in fixes if fix.safe), None)
        if fix is None and suggestions and fixes:
            fix = next((fix for fix in fixes if fix.level is Level.IN_BULK), None)
        if fix is not None:
            if any(_loses_bytes(analysis, edit) for edit in fix.edits):
                continue
            edits = (_RecordEdit(number(line), span, text) for line, span, text in fix.edits)
            code = finding.rule.code
            key = (finding.line.text, code, finding.place, fix.title)
            yield _FixEdits(code, key, fix.safe, tuple(sorted(edits)))


def _loses_bytes(analysis: Analysis, edit: Edit) -> bool:
    """Whether an edit would rewrite a record that has bytes which are not UTF-8: what was meant by
    them would be lost for good.
    """
    line, (start, end), text = edit
    if isinstance(line.text, BrokenText):
        return True
    takes_next = end > len(line.text) and (start > 0 or text) and not text.endswith("\n")
    after = analysis.line_number(line)
    lines = analysis.document.lines
    return bool(takes_next and after < len(lines) and isinstance(lines[after].text, BrokenText))


def _apart(changes: Iterable[_FixEdits], record: int) -> Sequence[_FixEdits]:
    """Those of a line's changes that do not touch each other; one that changes other lines too
    is made alone.
    """
    batch: list[_FixEdits] = []
    taken: list[Span] = []
    for change in changes:
        if any(edit.record != record for edit in change.edits):
            return batch or [change]
        spans = [edit.span for edit in change.edits]  # a line has few: it keeps 100 diagnostics
        if all(a.end < b.start or b.end < a.start for a in spans for b in taken):
            batch.append(change)
            taken += spans
    return batch


class _RecordState(msgspec.Struct, frozen=True):
    """The findings and verdicts of some records."""

    codes: Counter[str]
    """How many findings of each rule."""
    rejected: int
    """How many of the records readers reject."""
    events: int
    """How many they take for events."""
    correct: frozenset[str]
    """The runs that they belong to, as far as that can be read, and that are CORRECT."""

    @classmethod
    def of(cls, analysis: Analysis, record: int, size: int) -> _RecordState:
        lines = analysis.document.lines[record : record + size]
        findings = (each for line in lines for each in analysis.findings_of(line))
        codes = Counter(each.rule.code for each in findings)
        runs = {run_of(line) for line in lines if line.event is None or line.event.is_feed}
        correct = frozenset(run for run in runs if run is not None and _is_correct(analysis, run))
        rejected = sum(line.is_rejected for line in lines)
        return cls(codes, rejected, sum(line.event is not None for line in lines), correct)


def _is_correct(analysis: Analysis, run_id: str) -> bool:
    # Its whole score would cost what the run is long, for each line that is fixed.
    run = analysis.index.runs.get(run_id)
    grade = run.events(GRADE).last if run is not None else None
    return grade is not None and judge(recorded_in(grade)).verdict is Verdict.CORRECT


def _is_progress(
    batch: Sequence[_FixEdits], gain: int, before: _RecordState, after: _RecordState
) -> bool:
    """Whether changes may stay that took away ``gain`` findings of the trace.

    Safe ones take away their own findings, whatever they uncover. A suggestion must, too. Alone it
    may lead to others in its stead, where readers take the line for it: either fewer lines are
    rejected after a suggestion, or more are events, or fewer findings are left and the line is
    JSON, so that there is an end.
    """
    if not after.correct <= before.correct:
        return False  # no tool grades a run CORRECT: a person does
    own = Counter(change.code for change in batch)
    if all(change.safe for change in batch):
        are_gone = all(after.codes[code] <= before.codes[code] - own[code] for code in own)
        return are_gone or gain >= 0 or after.rejected < before.rejected
    is_read = after.rejected < before.rejected or after.events > before.events
    is_json = not after.codes["invalid-json"]
    if len(batch) == 1 or not (is_json or is_read):
        return is_read or (is_json and gain > 0)
    return gain >= len(batch) and after.codes <= before.codes - own


class _Made(msgspec.Struct, frozen=True):
    """Fixes that were made, from the first record that they are about to the last."""

    first: int
    before: Sequence[str]
    """The records as they were, each with its newline."""
    after: Sequence[str]
    """What each of them became: one record, several, or none."""
    places: Sequence[int]
    """Where each of them is now, and where what follows them is."""
    parts: Sequence[slice]
    """Which of them are edited together: what is between lines with broken bytes, which no text
    gives back.
    """

    @classmethod
    def by(cls, analysis: Analysis, batches: Sequence[_Batch]) -> _Made:
        """Make the edits of some changes. One that ends behind a line's end takes its newline."""
        edits = sorted(edit for _, batch in batches for change in batch for edit in change.edits)
        records = [*(record for record, _ in batches), *(edit.record for edit in edits)]
        first, lines = min(records), analysis.document.lines
        some = lines[first : max(records) + 1]
        before = [each.text + "\n" * (each is not lines[-1]) for each in some]
        after = list(before)
        for record, same in groupby(edits, lambda edit: edit.record):
            spans = [(edit.span, edit.text) for edit in same]
            after[record - first] = replace_spans(before[record - first], spans)
        grown = (1 + n.count("\n") - w.count("\n") for w, n in zip(before, after, strict=True))
        broken = [at for at, each in enumerate(some) if isinstance(each.text, BrokenText)]
        parts = [slice(at + 1, to) for at, to in pairwise([-1, *broken, len(some)])]
        made = cls(first, before, after, [*accumulate(grown, initial=first)], parts)
        made._replace_in(analysis, range(first, max(records) + 1), before, after)
        return made

    def place_of(self, record: int) -> tuple[int, int]:
        """Where one of the records is now, and how many it has become."""
        place, after = self.places[record - self.first : record - self.first + 2]
        return place, after - place

    def undo(self, analysis: Analysis) -> None:
        """Put the old text back."""
        self._replace_in(analysis, self.places, self.after, self.before)

    def _replace_in(
        self, analysis: Analysis, places: Sequence[int], old: Sequence[str], new: Sequence[str]
    ) -> None:
        for part in reversed(self.parts):
            text, by = "".join(old[part]), "".join(new[part])
            if text != by:
                first = places[part.start]
                end = Point(first + text.count("\n"), len(text) - (text.rfind("\n") + 1))
                analysis.edit(Point(first, 0), end, by)
