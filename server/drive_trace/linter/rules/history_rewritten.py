"""A line that was committed to git was changed or removed.

A trace is append-only: what was recorded stays as it is, and what came later stands below. In a
git checkout, this rule compares the trace with the last commit, `HEAD`: a line that `HEAD` has was
changed, or is gone. A verdict that is changed without a trace of it is worth nothing.

A line may be laid out anew, and the copy of a line may go. A line that readers reject may be
mended, but one of a feed: what it was meant to say decides a verdict. Lines that were put in
between are not reported. A moved line is still there. At most 16 places are marked.

Outside of a git checkout, of a file that is not committed, and where git does not respond within
10 seconds, the rule is silent. It runs `git cat-file`, in `check` once for all traces of a
repository, and nothing that the repository names, and never asks the network. An editor looks at
`HEAD` again when a trace is opened or saved.

**Fix.** The line as `HEAD` has it, as a suggestion.

Examples:
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"triage-verdict","input_ref":null}
EVENT{"event_type":"correctness-recorded","qa":"pass"}
… changed since it was committed, as line 3     ^^^^
=>
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"triage-verdict","input_ref":null}
EVENT{"event_type":"correctness-recorded","qa":"fail"}
@head
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"triage-verdict","input_ref":null}
EVENT{"event_type":"correctness-recorded","qa":"fail"}
---
EVENT{"event_type":"dispatch-end","result":"failed"}
                   ^^^^^^^^^^^^^^ … 2 lines below this one are gone
@head
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"triage-verdict","input_ref":null}
EVENT{"event_type":"correctness-recorded","qa":"fail"}
--- What is new stands below; the copy of a line may go, and so may white space.
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"triage-verdict","input_ref":null}
EVENT{"event_type":"correctness-recorded","qa":"fail"}
EVENT{"event_type":"correctness-recorded","qa":"pass"}
@head
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"triage-verdict","input_ref":null}
EVENT{"event_type":"correctness-recorded","qa":"fail"}
"""

from collections.abc import Sequence
from itertools import islice

from drive_trace.json_text import compacted, first_string
from drive_trace.linter.edits import Edit, Fix, Fixes, Level
from drive_trace.linter.phases import MOST
from drive_trace.linter.rule import (
    Explained,
    Finding,
    Findings,
    Line,
    Place,
    Rule,
    Severity,
    Span,
    WholeTrace,
    plural,
)
from drive_trace.text.escaping import printable
from drive_trace.trace.index import Gap, RecordedLines
from drive_trace.trace.line import feed_named, feed_with_fields
from drive_trace.trace.reading import read_exactly

_ID = "event_id"
_MOST = 600
"""The most characters that are shown of an old line."""


def _check(trace: WholeTrace) -> Findings:
    if (recorded := trace.index.recorded) is not None:
        for gap in islice(recorded.gaps(), MOST):
            yield from _of_gap(trace, recorded, gap)


def _of_gap(trace: WholeTrace, recorded: RecordedLines, gap: Gap) -> Findings:
    """The findings on what became of lines that were recorded below each other. What only looks
    different is none, nor a rejected line that was mended.
    """
    above = _line_with(trace, recorded.texts[gap.first - 1]) if gap.first else None
    start = above.order + 1 if above is not None else 0
    beside = [each for each in trace.lines[start : start + MOST] if not recorded.has(each)]
    gone, size = list[int](), min(gap.size, MOST)
    for place in range(gap.first, gap.first + size):
        old = recorded.texts[place]
        line = _instead_of(trace, recorded, old, beside)
        if line is None:
            if not _may_be_mended(old):
                gone.append(place)
        elif compacted(old) != compacted(line.text) and not _may_be_mended(old):
            yield _changed_line(line, old, place + 1)
    count = len(gone) + gap.size - size
    if count:
        first = gone[0] if gone else gap.first + size
        line = above or trace.lines[0]
        yield _gone(line, recorded.texts[first], first + 1, count, is_below=above is not None)


def _changed_line(line: Line, old: str, number: int) -> Finding:
    message = f"this line was changed since it was committed, as line {number} of HEAD"
    place = _changed(old, line.text.removesuffix("\r"))
    return RULE.finding(line, place, message, _recorded(line, place, old, number), expected=old)


def _gone(line: Line, old: str, number: int, count: int, *, is_below: bool) -> Finding:
    where, are = "below" if is_below else "above", "is" if count == 1 else "are"
    message = (
        f"{plural(count, 'line')} {where} this one {are} gone, which HEAD has from line {number} on"
    )
    place = Place.value("event_type")
    span = Span(0, len(line.text.removesuffix("\r")))
    at = place if line.event is not None else span
    return RULE.finding(line, at, message, _recorded(line, at, old, number))


def _recorded(line: Line, place: Place | Span, old: str, number: int) -> Explained:
    return (line, place, f"line {number} of HEAD: {printable(old, _MOST)}")


def _line_with(trace: WholeTrace, text: str) -> Line | None:
    lines = trace.index.with_id(first_string(text, _ID))
    return next((each for each in lines if each.text.removesuffix("\r") == text), None)


def _instead_of(
    trace: WholeTrace, recorded: RecordedLines, old: str, beside: Sequence[Line]
) -> Line | None:
    """The line that stands for one that was recorded: it has the same id, wherever it stands, or
    beside it if readers reject it.
    """
    event_id = first_string(old, _ID)
    if event_id is None:
        return None
    lines = [each for each in trace.index.with_id(event_id) if not recorded.has(each)]
    # Where several have the id, one of them may be the line as it was, laid out anew.
    same = compacted(old)
    alike = (each for each in lines[:MOST] if compacted(each.text) == same)
    odd = (
        each for each in beside if each.event is None and first_string(each.text, _ID) == event_id
    )
    return next(alike, None) or next(iter(lines), None) or next(odd, None)


def _may_be_mended(old: str) -> bool:
    is_feed = feed_named(old) is not None or feed_with_fields(old) is not None
    return not is_feed and read_exactly(old).is_rejected


def _changed(old: str, new: str) -> Span:
    """The part of a line that is another one than before."""
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    return Span(start, len(new) - end)


def _alike(one: str, other: str) -> int:
    """How many characters at the start are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _fixes(finding: Finding) -> Fixes:
    if finding.expected is not None:
        whole = Span(0, len(finding.line.text.removesuffix("\r")))
        edit = Edit(finding.line, whole, str(finding.expected))
        yield Fix("Put back the line that HEAD has", Level.BY_HAND, (edit,))


RULE = Rule(Severity.WARNING, _check, fixes=_fixes)
