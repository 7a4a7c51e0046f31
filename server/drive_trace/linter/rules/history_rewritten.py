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

from drive_trace.linter.edits import Edit, Fix, Fixes, Level
from drive_trace.linter.phases import MOST
from drive_trace.linter.rule import (
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
from drive_trace.text.wording import are
from drive_trace.trace.history import Fate, Rewriting, Version, rewritings

_LONGEST = 600
"""The most characters that are shown of an old line."""


def _check(trace: WholeTrace) -> Findings:
    versions = trace.index.recorded
    found = rewritings(versions, [line.text for line in trace.lines]) if versions else ()
    by_place: dict[tuple[bool, int | None], list[Rewriting]] = {}
    for each in sorted(found, key=lambda each: not each.is_feed):
        by_place.setdefault((each.fate is Fate.REMOVED, each.new), []).append(each)
    feeds = [same for same in by_place.values() if same[0].is_feed]
    others = [*by_place.values()][len(feeds) :]
    *told, last = (*feeds, *others[:MOST]) or (None,)
    yield from (_finding(trace.lines, same) for same in told if same is not None)
    if last is not None:
        yield _finding(trace.lines, last, more=sum(map(len, others[MOST:])))


def _finding(lines: Sequence[Line], same: Sequence[Rewriting], more: int = 0) -> Finding:
    """What became of lines that stood at one place."""
    first = same[0]
    line = lines[first.new or 0]
    text = line.text.removesuffix("\r")
    at = Place.value("event_type") if line.event is not None else Span(0, len(text))
    is_changed = first.fate is Fate.CHANGED
    where = _changed(first.text, text) if is_changed else at
    related = [
        (line, where, f"line {each.old + 1} {_of(each.version)}: {printable(each.text, _LONGEST)}")
        for each in same[:MOST]
    ]
    message = _gone(same) if first.fate is Fate.REMOVED else _altered(same)
    message += f"; so it is with {plural(more, 'more line')} of no feed" if more else ""
    return RULE.finding(line, where, message, *related, expected=first.text if is_changed else None)


def _altered(same: Sequence[Rewriting]) -> str:
    first, number = same[0], same[0].old + 1
    how = f"since it was committed, as line {number} of HEAD"
    if first.version.commit:
        how = f"by {_name(first.version)}, before which it was line {number}"
    more = len(same) - 1
    return f"this line was {first.fate} {how}" + f", and {plural(more, 'more time')}" * bool(more)


def _gone(same: Sequence[Rewriting]) -> str:
    version, count = same[0].version, len(same)
    where = "below" if same[0].new is not None else "above"
    number = min(each.old for each in same if each.version is version) + 1
    what = f"{plural(count, 'line')} {where} this one {are(count)} gone, which"
    if not version.commit:
        return f"{what} HEAD has from line {number} on"
    more = len({each.version.commit for each in same}) - 1
    others = f" and {plural(more, 'other commit')}" * bool(more)
    return f"{what} stood from line {number} on before {_name(version)}{others}"


def _name(version: Version) -> str:
    said = printable(version.subject)
    return f"commit {version.short}" + f" ({said})" * bool(said)


def _of(version: Version) -> str:
    return f"before {version.short}" if version.commit else "of HEAD"


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
        yield Fix("Put back the line as it was committed", Level.BY_HAND, (edit,))


RULE = Rule(Severity.WARNING, _check, fixes=_fixes)
