"""The façade that editors and commands call: text in, findings out.

One :class:`Analysis` serves a keystroke and a batch alike: an edit re-reads the
lines that it touches and re-runs the rules over the entities those lines belong
to, and a fresh analysis is the edit that puts in the whole text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from drive_trace.linter.edits import capped
from drive_trace.linter.engine import FindingStore, fixes_in_its_file
from drive_trace.linter.rule import Finding, Fix, Message, Related, WholeTrace
from drive_trace.linter.settings import DEFAULTS, RuleSettings, Severity
from drive_trace.linter.told import Told, tell
from drive_trace.text.spans import Spot, records_of
from drive_trace.text.wording import printable
from drive_trace.trace.document import Document, Point
from drive_trace.trace.history import History
from drive_trace.trace.index import Index
from drive_trace.trace.joined import JoinedFile, JoinedFiles, sharing
from drive_trace.trace.line import Line, LineStatus, run_of
from drive_trace.trace.places import resolve
from drive_trace.trace.provenance import ProvenanceRecord
from drive_trace.trace.reading import read_lines

_MANY = 2000
"""After an edit of more lines the analysis starts over, which costs less than line by line."""


class Analysis:
    """A trace's text with its findings and scores, kept up to date through edits."""

    def __init__(
        self,
        text: str | Sequence[str],
        settings: RuleSettings = DEFAULTS,
        path: str | None = None,
        recorded: Sequence[str] | None = None,
        provenance: ProvenanceRecord | None = None,
    ) -> None:
        """Read a trace, given as its text or as its records without their newlines. Rules may look
        at its ``path``, and at the records that it had when it was ``recorded`` last; rules and the
        score at the record of its ``provenance``.
        """
        records = records_of(text) if isinstance(text, str) else text
        self.document = Document(records, read_lines)
        self.settings = settings
        """By what it is judged."""
        self._known = History(head=recorded), provenance
        self._joined: tuple[JoinedFiles, int] | None = None
        self.score_revision = 0
        """Changes when an edit may have changed a verdict, a figure or what was rejected."""
        self._take_in(path)

    def edit(self, start: Point, end: Point, text: str) -> tuple[list[str], Sequence[str]]:
        """Put ``text`` in place of what stands between two points. Returns the texts of the records
        that this changes, before and after.
        """
        document = self.document
        splice = document.splice(start, end, text)
        removed = document.lines[splice.first : splice.stop]
        before = [line.text for line in removed]
        self.score_revision += any(map(_counts, removed))
        if len(removed) + len(splice.texts) > _MANY or self._joined is not None:
            document.apply(splice)
            if self._joined is not None:
                files, file = self._joined
                self._joined = files.with_lines(file, document.lines), file
            self._take_in(self.index.path)
            self.score_revision += 1
            return before, splice.texts
        self.index.remove(removed)
        self._store.forget(removed)
        added = document.apply(splice)
        self.index.add(added)
        self._store.learn(added)
        self.score_revision += any(map(_counts, added))
        return before, splice.texts

    def join(self, files: JoinedFiles | None, file: int = 0) -> bool:
        """Judge the runs of the trace with their lines in other files from now on; ``file`` is the
        number of the trace among all of them. None: judge what stands here alone. Gives whether
        that may be news.
        """
        if files is None and self._joined is None:
            return False
        self._joined = (files, file) if files is not None else None
        self._judge_all(self.settings)
        return True

    def use(self, settings: RuleSettings) -> None:
        """Judge by other settings from now on."""
        self._judge_all(settings)
        self.settings = settings

    def expect_edits(self) -> None:
        """Build now what the first edit, or the next look at closed traces, would else build."""
        _ = self.index.ids, self.index.uncounted, self.document.is_divided

    def _take_in(self, path: str | None) -> None:
        self.index = Index(self.document.lines, path, finds_slips=True)
        self._note_recorded()
        self._judge_all(self.settings)

    def compare_with(self, history: History, provenance: ProvenanceRecord | None = None) -> bool:
        """Judge by what was committed of the trace, and by the record of its ``provenance``. Gives
        whether that is news.
        """
        known = history, provenance
        if known == self._known:
            return False
        self.score_revision += provenance != self._known[1]
        self._known = known
        self._note_recorded()
        self._store.learn(())
        return True

    def _note_recorded(self) -> None:
        self.index.history, self.index.provenance = self._known

    def _judge_all(self, settings: RuleSettings) -> None:
        lines = self.document.lines
        self._store = FindingStore(self.index, lines, settings, self._joined)

    # Findings

    @property
    def found(self) -> FindingStore:
        """Its findings as it is now."""
        return self._store.judged()

    def findings(self) -> Iterator[Finding]:
        """Every finding, by line and then by where on it."""
        for line in (found := self.found).lines:
            yield from found.of(line)

    def told(self) -> Iterator[Told]:
        """What of the findings is told: each cause and each run of one rule once."""
        return tell(self.findings(), self.index, self.severity_of)

    def findings_of(self, line: Line) -> Sequence[Finding]:
        """The findings of one line, by where on it."""
        return self.found.of(line)

    def first_line(self, line: Line) -> Line:
        """The first line of the object that this line goes on with, else the line itself."""
        return self.found.first_line(line)

    @property
    def finding_count(self) -> int:
        """How many findings there are."""
        return self.found.total

    def findings_by_run(self) -> Mapping[str | None, int]:
        """How many findings each run has on its lines. Those of lines that name no run are the
        run's where the trace has only one, else nobody's: they stand under None.
        """
        by_rule = self.told_by_rule()
        return Counter({run_id: codes.total() for run_id, codes in by_rule.items()})

    def told_by_rule(self) -> Mapping[str | None, Counter[str]]:
        """The same by the codes of the rules, of the runs that have some: every place that is
        told, as by ``check --statistics``.
        """
        places = (found for each in self.told() for found in (each.finding, *each.places))
        return self._by_run((found.line, [found.rule.code]) for found in places)

    def findings_by_rule(self) -> Mapping[str | None, Counter[str]]:
        """The same with what only follows from another finding."""
        found = self.found
        return self._by_run((line, found.codes_of(line)) for line in found.lines)

    def _by_run(
        self, codes: Iterable[tuple[Line, Sequence[str]]]
    ) -> Mapping[str | None, Counter[str]]:
        counts = defaultdict[str | None, Counter[str]](Counter)
        for line, of_line in codes:
            counts[run_of(line)].update(of_line)
        runs = {*self.index.runs, *counts} - {None}
        if len(runs) == 1 and None in counts:
            counts[runs.pop()].update(counts.pop(None))
        return counts

    @property
    def hidden_count(self) -> int:
        """How many more findings there are that a baseline knows already."""
        return self.found.hidden_total

    def severity_of(self, finding: Finding) -> Severity:
        """How severe a finding is by the settings."""
        return self.settings.severity(finding.rule) or finding.rule.severity

    def where(self, finding: Finding | Related) -> Spot:
        """The place of a finding."""
        span = resolve(finding.line.text, finding.place)
        return Spot(self.document.number(finding.line), span)

    def message(self, message: Message) -> str:
        """A message with the current numbers of its lines, and the files of those in others."""
        if isinstance(message, str):
            return message
        return "".join(
            self._line_in_words(part) if isinstance(part, Line) else part for part in message
        )

    def _line_in_words(self, line: Line) -> str:
        other = self.other_file(line)
        number = str(self.line_number(line))
        return number if other is None else f"{number} of {printable(other.path, 4096)}"

    def other_file(self, line: Line) -> JoinedFile | None:
        """The file that a finding's line stands in; None for this trace itself."""
        if self._joined is None:
            return None
        files, file = self._joined
        found = files.file_of.get(line, files.files[file])
        return found if found is not files.files[file] else None

    def fixes(self, finding: Finding) -> list[Fix]:
        """The fixes of a finding; none in a file that is no text."""
        rule = finding.rule
        if self.index.is_binary or (finding.diagnostic is not None and finding.diagnostic.more):
            return []
        is_joined = self._joined is not None
        fixes = list(fixes_in_its_file(finding) if is_joined else rule.fixes(finding))
        if rule.fixes_around is not None:
            fixes += rule.fixes_around(finding, WholeTrace(self.document.lines, self.index))
        by_hand = rule.code in self.settings.unfixable
        return [capped(fix, by_hand=by_hand) for fix in fixes]

    def line_number(self, line: Line) -> int:
        """A line's number from 1, counted in records."""
        return self.document.number(line) + 1


def join_all(paths: Sequence[str], analyses: Sequence[Analysis]) -> None:
    """Have each trace judged with the lines that its runs have in the others, in their order."""
    indexes = (analysis.index for analysis in analyses)
    for group in sharing([{*index.runs, *index.uncounted} for index in indexes]):
        if len(group) > 1:
            lines = [analyses[each].document.lines for each in group]
            named = zip((paths[each] for each in group), lines, strict=True)
            joined = JoinedFiles([JoinedFile(*each) for each in named])
            for file, each in enumerate(group):
                analyses[each].join(joined, file)


def _counts(line: Line) -> bool:
    """Whether the scorecard depends on what a line says."""
    event = line.event
    if event is None:
        return line.status is not LineStatus.BLANK
    return bool(event.is_feed or event.is_work or event.opens or event.closes)
