"""Findings as diagnostics, ``textDocument/codeAction`` and its fixes, and the changes of a whole
file, as ``textDocument/formatting`` and ``textDocument/rangeFormatting``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import Any, NamedTuple, TypeAlias

from attrs import asdict
from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.authoring import drafts, fixing
from drive_trace.features import results
from drive_trace.linter.rule import Finding, Level, Related
from drive_trace.linter.settings import DEFAULTS, RuleSettings, Severity
from drive_trace.linter.told import tell
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import PositionEncoding, Span, units_before
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line
from drive_trace.trace.places import resolve
from drive_trace.trace.reading import laid_out

# Diagnostics


SOURCE = "drive-trace"
_UNNECESSARY = 1
_INFORMATION = 3
_MOST_RELATED = 20
"""So many other places does a diagnostic name; all are marked themselves."""


class DiagnosticOptions(NamedTuple):
    """How diagnostics are made for one client."""

    uri: str
    encoding: PositionEncoding
    most: int
    """The most findings that are shown."""
    url_of: Callable[[str], str | None]
    """Gives the URL of a rule's page by the rule's code."""
    members: frozenset[str] = frozenset({"relatedInformation", "codeDescription", "tags"})
    """The optional members that the client reads."""
    rules: RuleSettings = DEFAULTS
    """The settings of the rules."""


class DiagnosticMaker:
    """Makes a document's diagnostics, and keeps the last ones, which several may ask for."""

    def __init__(self, analysis: Analysis, options: DiagnosticOptions) -> None:
        self.analysis = analysis
        self.options = options
        self._view = results.View(analysis, options.encoding)
        self._last: tuple[object, bytes] = (None, b"")

    def as_json(self, near: Line | None = None) -> bytes:
        """The JSON text of the list of diagnostics; ``near`` is the line of the last edit."""
        analysis, most = self.analysis, self.options.most
        document, last = analysis.document, analysis.document.lines[-1]
        left_out = max(0, analysis.finding_count - most)
        place = analysis.found.lines.position(near) if left_out and near is not None else 0
        # Only at the end of the file does the protocol count a `\r` as the end of a line.
        odd_end = last if last.text.endswith("\r") else None
        state = (analysis.found.revision, document.shape, place, odd_end)
        if state != self._last[0]:
            store = analysis.found
            found = [
                each for line, count in store.select(most, near) for each in store.of(line)[:count]
            ]
            made = self._diagnostics(found)
            if left_out:
                made.append(self._more(left_out))
            self._last = (state, results.dumps(made))
        return self._last[1]

    def _diagnostics(self, found: Sequence[Finding]) -> list[dict[str, object]]:
        """What is told of some findings, in their order. The other places of one are hints, but for
        lines that readers reject: each is marked, and has its fix.
        """
        analysis = self.analysis
        told = [*tell(found, analysis.index, analysis.severity_of)]
        places = {id(each): one.finding.line for one in told for each in one.places}
        silent = {id(each) for one in told for each in one.follows}
        firsts = iter(told)
        made = []
        for each in found:
            if id(each) in places:
                made.append(self._diagnostic(each))
                if each.line is places[id(each)] or analysis.severity_of(each) > Severity.ERROR:
                    made[-1]["severity"] = int(Severity.HINT)
            elif id(each) not in silent:
                first = next(firsts)
                others = (Related(*other[1:4]) for other in first.places[:_MOST_RELATED])
                related = (*first.finding.related, *others)
                made.append(self._diagnostic(first.finding._replace(related=related)))
        return made

    def _diagnostic(self, finding: Finding) -> dict[str, object]:
        rule, members = finding.rule, self.options.members
        diagnostic: dict[str, object] = {
            "range": _range_of(self._view, finding),
            "severity": int(self.analysis.severity_of(finding)),
            "code": rule.code,
            "source": SOURCE,
            "message": self.analysis.message(finding.message),
        }
        url = self.options.url_of(rule.code) if "codeDescription" in members else None
        if url is not None:
            diagnostic["codeDescription"] = {"href": url}
        if rule.unnecessary and "tags" in members:
            diagnostic["tags"] = [_UNNECESSARY]
        if finding.related and "relatedInformation" in members:
            diagnostic["relatedInformation"] = [
                *map(self._related, finding.related[:_MOST_RELATED])
            ]
        return diagnostic

    def _related(self, related: Related) -> dict[str, object]:
        line, encoding = related.line, self.options.encoding
        other = self.analysis.other_file(line)
        if other is None:
            uri, where = self.options.uri, _range_of(self._view, related)
        else:  # where lines are taken to end with records
            number = self.analysis.document.number(line)
            ends = (
                units_before(line.text, each, encoding)
                for each in resolve(line.text, related.place)
            )
            start, end = ({"line": number, "character": each} for each in ends)
            uri, where = other.uri, {"start": start, "end": end}
        location = {"uri": uri, "range": where}
        return {"location": location, "message": self.analysis.message(related.message)}

    def _more(self, left_out: int) -> dict[str, object]:
        lines = self.analysis.document.lines
        end = Span(len(lines[-1].text), len(lines[-1].text))
        return {
            "range": results.plain_range(self._view, len(lines) - 1, end),
            "severity": _INFORMATION,
            "code": "more-findings",
            "source": SOURCE,
            "message": f"{left_out:,} more findings are not shown here; "
            "`drive-trace check` prints them all",
        }


def _range_of(view: results.View, found: Finding | Related) -> results.PlainRange:
    """A finding's place, from its own line to the last that it is about."""
    number, text = view.document.number(found.line), found.line.text
    start, end = (Point(number, min(each, len(text))) for each in resolve(text, found.place))
    last = found.last if isinstance(found, Finding) else None
    if last is not None:
        end = Point(view.document.number(last), len(last.text.rstrip("\r")))
    return results.plain_between(view, start, end)


# Code actions


FIX_ALL = "fixAll"
_MOST_LINES = 200
"""The most lines of a selection whose findings are fixed."""
_MOST_FINDINGS = 100
"""The most findings with fixes in a menu. One line can have a hundred thousand findings."""


FIX_ALL_KIND = "source.fixAll.driveTrace"
FORMAT_KIND = "source.format.driveTrace"
RECORD_KIND = "refactor.driveTrace.record"
CLOSE_KIND = "refactor.driveTrace.close"
FILL_KIND = "refactor.driveTrace.fill"
_OWN_KINDS = FIX_ALL_KIND, FORMAT_KIND, RECORD_KIND, CLOSE_KIND, FILL_KIND
KINDS = (types.CodeActionKind.QuickFix.value, *_OWN_KINDS)
"""Every kind that is offered."""


class FixAll(NamedTuple):
    """All safe fixes, or those of one rule. They are made on a copy of the trace, which takes as
    long as opening it.
    """

    rule: str | None = None


Changes: TypeAlias = "results.JsonText | Sequence[results.TextChange] | results.CannotMake"
"""What an action does: text edits, or what they are made of."""


class Offer(NamedTuple):
    """A code action without its edit. When it is picked, the offers of its line are made again, and
    the one with its kind and its id is carried out: a client only keeps its place and its title.
    """

    title: str
    kind: str
    record: int
    """The number of its line."""
    make: Callable[[drafts.Stamp], Changes] | FixAll
    """What it does, with an id and a time for a new event."""
    id: str = ""
    """What distinguishes it from the other offers of its kind for the line."""
    disabled: str | None = None
    """Why it cannot be picked now, if it cannot."""
    mends: Finding | None = None
    """The finding whose fix it is."""
    is_preferred: bool = False
    """Whether it is what most likely was meant."""


def picked(offers: Iterable[Offer], data: Mapping[str, Any]) -> Offer | results.CannotMake:
    """The offer that somebody has picked, or why it cannot be: it may be gone by now, or do
    something else than its title said.
    """
    of_kind = [each for each in offers if each.kind == data["kind"]]
    disabled = next((each.disabled for each in of_kind if each.disabled is not None), None)
    if disabled is not None:
        return results.CannotMake(disabled)
    # Not by its title: dispatches of one name have offers of one title.
    found = next((each for each in of_kind if each.id == data["id"]), None)
    if found is None:
        return results.CannotMake("This has changed meanwhile: ask again.")
    if data.get("title", found.title) != found.title:
        now = f"would now be “{found.title}”: ask again."
        return results.CannotMake(f"This has changed meanwhile, and {now}")
    return found


def asks_for(only: object, kind: str) -> bool:
    """Whether a request includes a kind, which is empty for all. One that names no kinds includes
    all.
    """
    kinds = only if isinstance(only, list | tuple) else None
    wanted = [str(getattr(each, "value", each)) for each in kinds or ()]
    return kinds is None or any(one in ("", kind) or kind.startswith(f"{one}.") for one in wanted)


def names(only: object, kind: str) -> bool:
    """Whether a request names a kind, or a group that it is in."""
    return asks_for(only, kind) and not asks_for(only, "")


# Quick fixes


def fix_offers(view: results.View, found: Iterable[Finding], only: object) -> list[Offer]:
    """Quick fixes, the most likely of each finding first."""
    kind, number = types.CodeActionKind.QuickFix.value, view.document.number
    if not asks_for(only, kind):
        return []
    offers = []
    for finding in islice(found, _MOST_FINDINGS):
        record, span = view.analysis.where(finding)
        for place, fix in enumerate(view.analysis.fixes(finding)):
            changes = [results.TextChange.within(number(e.line), e.span, e.text) for e in fix.edits]
            make = partial(_unchanged, changes)
            id_ = f"{finding.rule.code} {span.start} {place}"
            is_preferred = place == 0 and (fix.safe or fix.is_preferred)
            offer = Offer(fix.title, kind, record, make, id_, None, finding, is_preferred)
            offers.append(offer)
    return offers


def _unchanged(changes: Sequence[results.TextChange], _: drafts.Stamp) -> Changes:
    return changes


def touched(view: results.View, params: types.CodeActionParams) -> Iterator[Finding]:
    """The findings that a request names, or whose place its range touches; a hundred at most."""
    named = _named(view, params.context.diagnostics)
    found = chain(_touched(view, params.range), named)
    return islice(
        {id(each): each for each in islice(found, 2 * _MOST_FINDINGS)}.values(), _MOST_FINDINGS
    )


def _named(view: results.View, diagnostics: object) -> Iterator[Finding]:
    """The findings of some diagnostics that are as they were."""
    given = diagnostics if isinstance(diagnostics, list | tuple) else ()
    for each in given[:_MOST_FINDINGS]:
        start = results.point_at(view, each.range.start)
        for finding in view.analysis.findings_of(view.lines[start.record])[:_MOST_FINDINGS]:
            if same([each], view, finding):
                yield finding


def _touched(view: results.View, where: types.Range) -> Iterator[Finding]:
    start = results.point_at(view, where.start)
    end = results.point_at(view, where.end)
    last = min(end.record, start.record + _MOST_LINES)
    # What is wrong with an object over several lines is said on its first.
    first = view.analysis.first_line(view.lines[start.record])
    begin = view.document.number(first)
    for record in (*([begin] if begin < start.record else ()), *range(start.record, last + 1)):
        for finding in view.analysis.findings_of(view.lines[record]):
            span = view.analysis.where(finding).span
            stop = Point(record, span.end)
            if finding.last is not None:
                stop = Point(view.document.number(finding.last), len(finding.last.text))
            if Point(record, span.start) <= end and stop >= start:
                yield finding


def same(
    diagnostics: object, view: results.View, finding: Finding
) -> list[types.Diagnostic] | None:
    """Those of some diagnostics that are of a finding; None if there is none."""
    given = diagnostics if isinstance(diagnostics, list | tuple) else ()
    of_rule = [each for each in given if each.code == finding.rule.code]
    where = _range_of(view, finding) if of_rule else None
    return [each for each in of_rule if asdict(each.range) == where] or None


# A whole file


def source_offers(
    view: results.View, record: int, only: object, *, has_safe_fix: bool
) -> list[Offer]:
    """Fix-all and formatting. If the request names no kind: fix-all, beside a safe fix."""
    fix = Offer("Fix all that can be fixed safely", FIX_ALL_KIND, record, FixAll())
    layout = Offer("Lay out all lines", FORMAT_KIND, record, lambda _: format_document(view))
    is_wanted = names(only, FIX_ALL_KIND) or (asks_for(only, FIX_ALL_KIND) and has_safe_fix)
    return [fix] * is_wanted + [layout] * names(only, FORMAT_KIND)


def rule_offers(analysis: Analysis, findings: Sequence[Finding], only: object) -> list[Offer]:
    """Fixing all that a rule finds in the file, for each rule with a safe fix here, and findings
    elsewhere, as far as that is quickly told.
    """
    kind = types.CodeActionKind.QuickFix.value
    safe = (each for each in findings if any(fix.safe for fix in analysis.fixes(each)))
    codes = dict.fromkeys(each.rule.code for each in safe)
    if not codes or not asks_for(only, kind):
        return []
    found = Counter(each.rule.code for each in islice(analysis.findings(), _MOST_FINDINGS))
    is_long = analysis.finding_count > _MOST_FINDINGS
    return [
        Offer(f"Fix all of {code} in the file", kind, 0, FixAll(code))
        for code in codes
        if is_long or found[code] > 1
    ]


def safe_fixes(
    records: Sequence[str], settings: RuleSettings, path: str | None, rule: str | None = None
) -> list[results.TextChange]:
    """The changes of all safe fixes, or of those of one rule. They are tried on a copy, which takes
    as long as opening a trace.
    """
    analysis = Analysis(records, settings, path)
    before = list(analysis.document.lines)
    fixing.fix_all(analysis, rule=rule)
    return list(_differences(before, analysis.document.lines))


def _differences(before: Sequence[Line], after: Sequence[Line]) -> Iterator[results.TextChange]:
    """The changes from one list of lines to another. A line that stayed is the same object."""
    kept = set(map(id, after)) & set(map(id, before))
    old = new = 0
    while old < len(before) or new < len(after):
        first, begin = old, new
        while old < len(before) and id(before[old]) not in kept:
            old += 1
        while new < len(after) and id(after[new]) not in kept:
            new += 1
        texts = [line.text for line in after[begin:new]]
        if texts != [line.text for line in before[first:old]]:
            yield _replacement(before, first, old, texts)
        old, new = old + 1, new + 1


def _replacement(
    before: Sequence[Line], first: int, stop: int, texts: Sequence[str]
) -> results.TextChange:
    if stop - first == len(texts) == 1:
        return results.of_record(first, before[first].text, texts[0])
    if stop < len(before):
        return results.TextChange(
            Point(first, 0), Point(stop, 0), "".join(f"{text}\n" for text in texts)
        )
    end = Point(stop - 1, len(before[stop - 1].text))
    if texts:
        return results.TextChange(Point(first, 0), end, "\n".join(texts))
    return results.TextChange(Point(first - 1, len(before[first - 1].text)), end, "")


# Formatting


def format_document(view: results.View) -> results.JsonText:
    """The edits that format every line, a list of ``TextEdit``."""
    lines = view.lines
    changes = _compacted(view.analysis, 0, len(lines))
    return results.as_edits(view, changes)


def format_range(view: results.View, where: types.Range) -> results.JsonText:
    """The edits that format the lines that a range touches, a list of ``TextEdit``."""
    start, end = (results.point_at(view, each) for each in (where.start, where.end))
    # A selection of whole lines ends before the first character of the next one.
    is_before = end.offset == 0 and end.record > start.record
    stop = end.record + (not is_before)
    changes = _compacted(view.analysis, start.record, stop)
    return results.as_edits(view, changes)


def _compacted(analysis: Analysis, first: int, stop: int) -> Iterator[results.TextChange]:
    for record, line in enumerate(unless_stopped(analysis.document.lines[first:stop]), first):
        text = laid_out(line)
        if text != line.text:
            yield results.of_record(record, line.text, text)
        elif line.is_rejected:
            yield from _of_broken(analysis, line, stop)


def _of_broken(analysis: Analysis, line: Line, stop: int) -> Iterator[results.TextChange]:
    """One record over several lines, or several on one: each gets a line of its own."""
    number = analysis.document.number
    for fix in chain.from_iterable(map(analysis.fixes, analysis.findings_of(line)[:1])):
        last = fix.edits[-1].line
        if fix.is_layout and fix.level is not Level.BY_HAND and number(last) < stop:
            end = Point(number(last), len(last.text.removesuffix("\r")))
            yield results.TextChange(Point(number(line), 0), end, fix.edits[0].text)
