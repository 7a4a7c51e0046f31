"""What of the findings of a trace is told: a cause alone without what follows from it, and what a
rule finds again and again in a run once, with all places.

Every finding stays one, with its fixes: for a baseline, for counts, and where somebody points.
"""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from heapq import merge
from itertools import pairwise
from operator import attrgetter, itemgetter
from typing import NamedTuple

from drive_trace.json_text import ProblemKind, as_json
from drive_trace.linter.records import first_lines, kind_of
from drive_trace.linter.rule import Finding, Related
from drive_trace.linter.settings import Severity
from drive_trace.stopping import cached_property
from drive_trace.text.wording import listed
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line, run_of
from drive_trace.trace.places import Place, resolve
from drive_trace.vocabulary import DISPATCH


class Told(NamedTuple):
    """A finding that is told, in the words for all of it."""

    finding: Finding
    places: Sequence[Finding] = ()
    """The others that it sums up."""
    follows: Sequence[Finding] = ()
    """What is not told, as it follows from it or its places."""


_OFF_CLOCK = ("time-goes-back", "implausible-time", "malformed-timestamp", "duplicate-key")

ON: Mapping[str, Sequence[str]] = {
    "undeclared-field": ("missing-field",),
    "malformed-hash": ("empty-brief",),
    "invented-hash": ("empty-brief",),
    "hash-of-two-lengths": ("empty-brief",),
    "time-goes-back": ("duplicate-key", "implausible-time", "duplicate-event-id", "stale-verdict"),
    "work-after-close": ("stale-verdict", "duplicate-event-id"),
    "wall-clock-exceeds-timestamps": ("implausible-time",),
    "wall-clock-below-timestamps": (*_OFF_CLOCK, "event-after-end"),
    "rounds-exceed-dispatch": (
        *("wall-clock-exceeds-timestamps", "wall-clock-below-timestamps", "unknown-round"),
    ),
    "event-after-end": (
        *("unknown-round", "brief-disposition-mismatch", "repeated-brief", "duplicate-event-id"),
    ),
    "brief-disposition-mismatch": ("unknown-round",),
    "repeated-brief": ("brief-disposition-mismatch", "unknown-round"),
    "unknown-round": ("unknown-dispatch",),
    "unclosed-slice": ("slices-completed-mismatch",),
    "repeated-slice-index": ("repeated-slice-start",),
    "null-as-text": ("project-slug-mismatch", "unknown-dispatch", "unknown-round", "unknown-run"),
    "malformed-uuid": ("unknown-dispatch", "unknown-round"),
    "invented-id": ("unknown-dispatch", "unknown-round"),
    "amended-before-authored": ("malformed-path", "plan-path-is-spec"),
    "bytes-delta-mismatch": ("repeated-authoring", "impossible-bytes-delta", "duplicate-event-id"),
    "dispatch-count-mismatch": ("duplicate-event-id",),
    "superseded-feed": ("erased-verdict",),
    "repeated-end": ("duplicate-event-id",),
    "size-distribution-sum": ("dispatch-count-mismatch",),
    "plan-change-mismatch": ("dispatch-count-mismatch",),
    "duplicate-key": ("missing-field", "unsupported-schema-version"),
}
"""By what follows from them on one of its lines: the causes, which are at least as severe."""

WITHIN: Mapping[str, Sequence[str]] = {
    "event-after-end": ("time-goes-back",),
    "time-goes-back": ("round-number-gap",),
    "round-number-gap": ("unknown-round", "unknown-dispatch"),
    "brief-disposition-mismatch": ("unknown-dispatch",),
    "dispatch-without-brief": ("unknown-dispatch",),
    "unclosed-round": ("unknown-round", "unknown-dispatch"),
    "unclosed-dispatch": ("unknown-dispatch",),
    "unclosed-slice": ("slice-never-started", "repeated-slice-completion"),
}
"""The same, by what follows from them between the first and the last of its lines."""

OF: Mapping[str, Sequence[str]] = {
    "unknown-parent-dispatch": ("unknown-dispatch", "repeated-start"),
    "unknown-dispatch": ("repeated-start",),
    "unknown-round": ("repeated-start",),
    "unclosed-dispatch": ("repeated-end", "event-after-end"),
    "unclosed-round": ("repeated-end", "event-after-end"),
    "dispatch-without-brief": ("unknown-round",),
    "repeated-end": ("repeated-start",),
    "repeated-slice-start": ("repeated-slice-completion",),
    "round-number-gap": ("repeated-start",),
    "brief-disposition-mismatch": ("repeated-start",),
    "amended-before-authored": ("malformed-path",),
    "project-slug-mismatch": ("run-path-mismatch",),
}
"""The same, by what follows from one that marks the same value, or expects it, or starts the
dispatch of its line again.
"""

OF_RUN: Mapping[str, Sequence[str]] = dict.fromkeys(
    {
        *("time-goes-back", "event-after-end", "work-after-close", "stale-verdict"),
        *("brief-disposition-mismatch", "round-number-gap", "bytes-delta-mismatch"),
        *("dispatch-count-mismatch", "amended-before-authored", "slice-never-started"),
        *("completed-unsatisfied", "unclosed-dispatch", "unclosed-round", "unclosed-slice"),
        *("superseded-feed", "erased-verdict"),
    },
    ("newest-first",),
)
"""The same, by what follows from one in the whole run."""

MISSING = {
    *("unknown-dispatch", "unknown-round", "unknown-parent-dispatch", "round-number-gap"),
    *("dispatch-without-brief", "brief-disposition-mismatch", "amended-before-authored"),
    *("unclosed-round", "unclosed-dispatch", "unclosed-slice", "slice-never-started"),
    *("final-retro-missing", "slices-completed-mismatch"),
}
"""What misses something that may stand on a rejected line: one that has the id as a word, wherever
that is, or stands between the lines of the finding, or right above them.
"""
_NAMED_BY = {"final-retro-missing": "mandatory-final", "slices-completed-mismatch": "merged"}
"""By what misses a line that has no id of its own: a word that stands on that line."""
_MOST_SAID = 3
"""Of one line, so many messages are told as one."""
_MOST_SUMMED = 500
"""In so many lines, what was done to each line is told as one."""
_WORD = re.compile(r"[\w./-]+")
_APART = bytes(each if _WORD.match(chr(each)) else ord(" ") for each in range(128)).ljust(256)


class _Causes:
    """Findings from which others of their run may follow."""

    def __init__(self, found: Sequence[Finding]) -> None:
        self._found = found

    def on(self, finding: Finding) -> Finding | None:
        """One on a line of a finding."""
        return next(filter(None, map(self._on.get, _lines_of(finding))), None)

    @cached_property
    def _on(self) -> Mapping[Line, Finding]:
        return {line: each for each in reversed(self._found) for line in _lines_of(each)[::-1]}

    def of(self, finding: Finding) -> Finding | None:
        """One that marks the same value, or expects it, or starts its line's dispatch again."""
        found = self._by_value.get(_marked(finding))
        if found is None and self._found[0].rule.code == "repeated-start":
            found = self._by_value.get(as_json(finding.line.fact(DISPATCH.field)))
        return found

    @cached_property
    def _by_value(self) -> Mapping[str, Finding]:
        meant = {as_json(each.expected): each for each in self._found if each.expected is not None}
        return meant | {_marked(each): each for each in self._found}

    def within(self, finding: Finding, above: int = 0) -> Finding | None:
        """One between the lines of a finding, or so many lines above them."""
        orders, (known, found) = [line.order for line in _lines_of(finding)], self._placed
        place = bisect_left(known, min(orders) - above)
        return found[place] if place < len(known) and known[place] <= max(orders) else None

    @cached_property
    def _placed(self) -> tuple[Sequence[int], Sequence[Finding]]:
        touched = [(line.order, each) for each in self._found for line in _lines_of(each)]
        touched.sort(key=itemgetter(0))
        return [each[0] for each in touched], [each[1] for each in touched]

    def of_run(self, _: Finding) -> Finding:
        """The first one."""
        return self._found[0]


_LOOKS = ((ON, _Causes.on), (WITHIN, _Causes.within), (OF, _Causes.of), (OF_RUN, _Causes.of_run))


class _OnUnreadLines:
    """The findings on lines that readers reject, or keep apart."""

    def __init__(
        self, found: Iterable[Finding], missed: Iterable[Finding], lines: Iterable[Line]
    ) -> None:
        by_run = defaultdict[str | None, list[Finding]](list)
        words = {*map(_word_of, missed)}
        self._naming: dict[str, Finding] = {}
        by_line, each = {each.line: each for each in found}, None
        for line in lines if words else ():
            # What is wrong with an object over several lines is found on the first one.
            each = by_line.get(line, each)
            if each is None or line.order > (each.last or each.line).order:
                continue
            if line is each.line and line.is_rejected:
                by_run[run_of(line)].append(each)
            self._naming.update(dict.fromkeys(words.intersection(_words_of(line.text)), each))
        self._causes = cache(lambda run_id: _Causes(by_run[run_id]))

    def cause_of(self, finding: Finding, run_id: str | None) -> Finding | None:
        """The one on a line that may have what a finding misses."""
        near = (self._causes(each).within(finding, above=1) for each in (run_id, None))
        return self._naming.get(_word_of(finding)) or next(filter(None, near), None)


def _words_of(text: str) -> list[str]:
    """The words of a line, wherever they stand."""
    if not text.isascii():
        return _WORD.findall(text)
    # As the pattern finds them, and in half the time: of a bad trace each line is looked at.
    return text.encode().translate(_APART).decode().split()


def _word_of(finding: Finding) -> str:
    """The word by which a line may have what a finding misses."""
    marked = _marked(finding)
    word = marked.strip('"') if marked.startswith('"') else ""
    return _NAMED_BY.get(finding.rule.code, word)


def tell(
    findings: Iterable[Finding], index: Index, severity_of: Callable[[Finding], Severity]
) -> Iterator[Told]:
    """What is told of the findings of a trace, given in the order in which it shall be told."""
    found = [*findings]
    cause_of = _consequences(found, index, severity_of)
    # A trace may have a million findings: little is kept of those that are told by themselves.
    first: dict[Hashable, Finding] = {}
    summed: dict[int, Finding] = {}
    places, follows = (defaultdict[int, list[Finding]](list) for _ in range(2))
    is_array = any(
        each.line.text.startswith(("[", "]")) or _ends_array(each)
        for each in found
        if each.diagnostic is not None
    )
    begins = first_lines(found, is_array=is_array)
    # What is told as one is told by the most severe.
    for each in sorted(found, key=severity_of):
        key = begins.get(id(each)) or _key(each, index.slips, is_array=is_array)
        if key != id(each) and id(each) not in cause_of:
            head = first.setdefault(key, each)
            if head is not each:
                summed[id(each)] = head
                places[id(head)].append(each)
    for each in found if cause_of else ():
        cause = each
        while id(cause) in cause_of:
            cause = cause_of[id(cause)]
        if cause is not each:
            follows[id(summed.get(id(cause), cause))].append(each)
    for each in found:
        if id(each) not in cause_of and id(each) not in summed:
            told = Told(each, places.get(id(each), ()), follows.get(id(each), ()))
            yield _worded(told, index, is_over_lines=id(each) in begins)


def _consequences(
    found: Sequence[Finding], index: Index, severity_of: Callable[[Finding], Severity]
) -> Mapping[int, Finding]:
    by_rule = defaultdict[tuple[str, str | None], list[Finding]](list)
    for each in found:
        by_rule[each.rule.code, run_of(each.line)].append(each)
    missed = [each for each in found if each.rule.code in MISSING]
    unread = (each for each in found if missed and each.line.event is None)
    severe = (each for each in unread if severity_of(each) <= Severity.WARNING)
    lines = merge(index.unknown, *index.rejected.values(), key=attrgetter("order"))
    rejected = _OnUnreadLines(severe, missed, lines)
    cause_of: dict[int, Finding] = {}
    causes = cache(lambda of: _Causes(by_rule[of]))
    note = partial(_note, cause_of, severity_of)
    marks = [each for each in found if kind_of(each) is ProblemKind.MERGE_CONFLICT]
    sides = set[int]()
    for mark, following in pairwise(marks):
        if not following.line.text.startswith("<"):
            sides.update(range(mark.line.order, following.line.order))
    known = (each for each in found if sides and each.diagnostic is None)
    of_sides = (each for each in known if any(line.order in sides for line in _lines_of(each)))
    note(of_sides, _Causes(marks).within)
    for (code, run_id), some in by_rule.items():
        for table, look in _LOOKS:
            for cause in table.get(code, ()):
                if (cause, run_id) in by_rule:
                    note(some, partial(look, causes((cause, run_id))))
        if code in MISSING:
            note(some, partial(rejected.cause_of, run_id=run_id))
    return cause_of


def _note(
    cause_of: dict[int, Finding],
    severity_of: Callable[[Finding], Severity],
    found: Iterable[Finding],
    cause: Callable[[Finding], Finding | None],
) -> None:
    """Note the cause of each finding, which is at least as severe; of what is told as one for a
    value, that of the first.
    """
    first: dict[Hashable, Finding | None] = {}
    for each in found:
        key = _key(each) if each.rule.sums_by == "value" else id(each)
        if key not in first:
            first[key] = cause(each)
        if (given := first[key]) and severity_of(given) <= severity_of(each):
            cause_of[id(each)] = given


def _lines_of(finding: Finding) -> list[Line]:
    """The lines of the trace itself that a finding is about."""
    lines = [finding.line] if finding.last is None else [finding.line, finding.last]
    if finding.joined is None:
        return lines + [each.line for each in finding.related]
    there = finding.joined[0]
    both = zip(finding.related, there.related, strict=True)
    return lines + [each.line for each, at in both if at.line.file == there.line.file]


def _marked(finding: Finding) -> str:
    text = finding.line.text
    span = resolve(text, finding.place)
    return text[span.start : span.end]


def _ends_array(finding: Finding) -> bool:
    """Whether a bracket behind a record is all that is wrong."""
    return kind_of(finding) is ProblemKind.TEXT_AFTER and _marked(finding) == "]"


def _key(finding: Finding, slips: Mapping[str, str] = {}, *, is_array: bool = False) -> Hashable:
    """What findings share that are told as one, given the runs that are meant by the slips of their
    ids; ``is_array`` says whether the trace may be one.
    """
    rule, line, diagnostic = finding.rule, finding.line, finding.diagnostic
    if rule.sums is None or (diagnostic is not None and diagnostic.more):
        return id(finding)
    if diagnostic is not None and diagnostic.problem is not None:
        slip = _slip(finding, diagnostic.problem.kind, is_array=is_array)
        if slip is not None:
            return rule.code, slip
    if rule.sums_by == "line":
        if len(line.diagnostics) > 1:
            return rule.code, line
        # What was done to each line, as a prefix with its number. The places of one are held at
        # once: of a bad trace that is long, the rest is told singly.
        is_one = line.order < _MOST_SUMMED
        return (rule.code, re.sub(r"\d+", "0", str(finding.message))) if is_one else id(finding)
    place = finding.place if rule.sums_by != "run" else None
    field = place.path[-1:] if isinstance(place, Place) else ()
    value = rule.sums_by == "value" and _marked(finding)
    run_id = run_of(line)
    return rule.sums or rule.code, slips.get(run_id or "", run_id), field, value


def _slip(finding: Finding, kind: ProblemKind, *, is_array: bool) -> ProblemKind | None:
    """The one slip, over many lines, that a line which is no record is a part of."""
    text = finding.line.text
    # An object that begins here, and ends neither here nor below, lacks its end.
    is_whole = finding.last is not None or not text.lstrip().startswith("{")
    is_part = is_array and (
        (kind is ProblemKind.SPREAD_OBJECT and is_whole)
        or kind is ProblemKind.TRAILING_COMMA
        or _ends_array(finding)
    )
    # As of a log that was pasted into it.
    is_text = kind is ProblemKind.UNEXPECTED and "{" not in text and "}" not in text
    if is_part:
        return ProblemKind.ARRAY
    if finding.last is not None:  # as of all objects that are printed, or wrapped, over lines
        return ProblemKind.SPREAD_OBJECT
    return kind if is_text or kind is ProblemKind.ARRAY else None


def _worded(told: Told, index: Index, *, is_over_lines: bool) -> Told:
    """With what follows on its line beside what explains it, and in the words for all places."""
    first, places, follows = told
    if follows:
        of_line = (each for each in follows if each.line is first.line)
        beside = (Related(each.line, each.place, each.message) for each in of_line)
        first = first._replace(related=(*first.related, *beside))
    rule, count = first.rule, 1 + len(places)
    if places:
        run = index.runs.get(run_of(first.line) or "")
        total = sum(len(run.events(name)) for name in rule.sums_among) if run is not None else 0
        of = f" of {total:,}" if total >= count else ""
        message = first.message if isinstance(first.message, tuple) else (first.message,)
        more = f", and at {count - 1:,} more place{'s' * (count > 2)}"
        words = Counter(each.rule.sums_as for each in (first, *places) if rule.sums_as)
        ways = [f"{words[each]:,} {each}" if len(words) > 1 else f"all {each}" for each in words]
        what = f"{rule.sums}{', ' * bool(ways)}{listed(ways)}"
        parts = (f"{count:,}{of} {what}: ", *message, more)
        if is_over_lines:
            parts = (*message, " (up to line ", places[-1].line, ")")
        elif rule.sums_by == "line" and places[-1].line is first.line:
            said = [str(each.message) for each in (first, *places)]
            said[_MOST_SAID:] = [f"and {count - _MOST_SAID:,} more"] * (count > _MOST_SAID)
            parts = ("; ".join(said),)
        elif not rule.sums:
            parts = (*message, more, f" ({count:,}{of})" * bool(of))
        first = first._replace(message=parts)
    return Told(first, places, follows)
