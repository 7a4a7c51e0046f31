"""A line that was committed to git was changed, removed or moved.

A trace is append-only: what was recorded stays as it is, and what came later stands below. In a
git checkout, this rule compares the trace with the last commit, `HEAD`, and for
`drive-trace check --history` with all commits that changed it: a line was changed, is gone, or
stands in another order. A verdict that is changed without a trace of it is worth nothing.

A line may be laid out anew, and the copy of a line may go. A line that readers reject may be
mended, but no word of a feed's line: what it was meant to say decides a verdict. Lines that were
put in between are not reported. Lines of a feed are all told; of the others 16 places, and a last
one that counts the rest.

Outside of a git checkout, of a file that is not committed, and where git does not respond within
10 seconds, the rule is silent, unless `--history` asks for more. It runs `git cat-file`, in `check`
once for all traces of a repository, and nothing that the repository names, and never asks the
network. An editor looks at `HEAD` again when a trace is opened or saved.

**Fix.** The line as it was committed, as a suggestion.

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

from drive_trace.linter.courses import MOST
from drive_trace.linter.edits import Edit, Fix, Fixes, Level
from drive_trace.linter.rule import (
    Finding,
    Findings,
    Line,
    Rule,
    Severity,
    Span,
    WholeTrace,
    plural,
    type_or_line,
)
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import common_start
from drive_trace.text.wording import are, printable
from drive_trace.trace.history import Fate, Rewriting

_LONGEST = 600
"""The most characters that are shown of an old line."""


def _check(trace: WholeTrace) -> Findings:
    history = trace.index.history
    texts = (line.text for line in unless_stopped(trace.lines))
    found = history.rewritings(texts) if history else ()
    by_place: dict[tuple[bool, int | None], list[Rewriting]] = {}
    for each in sorted(found, key=lambda each: not each.is_feed):
        by_place.setdefault((each.fate is Fate.REMOVED, each.new), []).append(each)
    places = [*by_place.values()]
    count = sum(same[0].is_feed for same in places) + MOST
    for number, same in enumerate(places[:count], 1):
        more = sum(map(len, places[count:])) if number == count else 0
        yield _finding(trace.lines, same, more)


def _finding(lines: Sequence[Line], same: Sequence[Rewriting], more: int = 0) -> Finding:
    """What became of lines that stood at one place."""
    first = same[0]
    line = lines[first.new or 0]
    text = line.text.removesuffix("\r")
    is_changed = first.fate is Fate.CHANGED
    where = _changed(first.text, text) if is_changed else type_or_line(line)
    names = (f"before {each.version.short}" if each.version.commit else "of HEAD" for each in same)
    related = [
        (line, where, f"line {each.old + 1} {of}: {printable(each.text, _LONGEST)}")
        for each, of in zip(same[:MOST], names, strict=False)
    ]
    what = f"; so it is with {plural(more, 'more line')} of no feed" * bool(more)
    message = f"{_told(same)}{what}"
    return RULE.finding(line, where, message, *related, expected=first.text if is_changed else None)


def _told(same: Sequence[Rewriting]) -> str:
    first, version, count = same[0], same[0].version, len(same)
    said = printable(version.subject)
    by = f"commit {version.short}" + f" ({said})" * bool(said)
    of = f" of {printable(version.path)}" * bool(version.path)
    number = min(each.old for each in same if each.version is version) + 1
    if first.fate is Fate.REMOVED:
        where = "below" if first.new is not None else "above"
        what = f"{plural(count, 'line')} {where} this one {are(count)} gone, which"
        has = f"stood from line {number} on{of} before {by}"
        return f"{what} {has if version.commit else f'HEAD has from line {number} on'}"
    how = f"by {by}, before which it was line {number}{of}"
    how = how if version.commit else f"since it was committed, as line {number} of HEAD"
    return f"this line was {first.fate} {how}"


def _changed(old: str, new: str) -> Span:
    """The part of a line that is another one than before."""
    start = common_start(old, new)
    end = common_start(old[start:][::-1], new[start:][::-1])
    return Span(start, len(new) - end)


def _fixes(finding: Finding) -> Fixes:
    if finding.expected is not None:
        whole = Span(0, len(finding.line.text.removesuffix("\r")))
        edit = Edit(finding.line, whole, str(finding.expected))
        yield Fix("Put back the line as it was committed", Level.BY_HAND, (edit,))


RULE = Rule(Severity.WARNING, _check, fixes=_fixes)
