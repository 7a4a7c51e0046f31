"""A line that was committed to git was changed, removed or moved.

A trace is append-only: what was recorded stays as it is, and what came later stands below. In a
git checkout, this rule compares the trace with the last commit, `HEAD`, and for
`drive-trace check --history` with all commits that changed it: a line was changed, is gone, or
stands in another order. A verdict that is changed without a trace of it is worth nothing.

A line may be laid out anew, and the copy of a line may go. A line that readers reject may be
mended, but no word of a feed's line: what it was meant to say decides a verdict. Lines that were
put in between are not reported. Lines that were changed in the same way are one finding, as where a
run was given another id. Lines of a feed are all told; of the others 16 places, and a last one that
counts the rest.

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
--- One change of several lines is one finding.
EVENT{"event_type":"dispatch-start","project_run_id":"shop"}
… line 1 of HEAD; 1 more line in the same way         ^^^^
EVENT{"event_type":"dispatch-end","project_run_id":"shop"}
=> Put back the 2 lines as they were committed
EVENT{"event_type":"dispatch-start","project_run_id":"cart"}
EVENT{"event_type":"dispatch-end","project_run_id":"cart"}
@head
EVENT{"event_type":"dispatch-start","project_run_id":"cart"}
EVENT{"event_type":"dispatch-end","project_run_id":"cart"}
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

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import cast

from drive_trace.linter import rule
from drive_trace.linter.courses import MOST
from drive_trace.linter.edits import Edit, Fix, Fixes, Level
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import common_start
from drive_trace.text.wording import are, printable
from drive_trace.trace.history import Fate, Rewriting

_FIELD = 16
"""So many characters before a change tell its field."""
_LONGEST = 600
"""The most characters that are shown of an old line."""


def _check(trace: rule.WholeTrace) -> rule.Findings:
    changes = [*_changes(trace).values()]
    count = sum(same[0].is_feed for same in changes) + MOST
    for number, same in enumerate(changes[:count], 1):
        more = sum(map(len, changes[count:])) if number == count else 0
        yield _finding(trace.lines, same, more)


def _changes(trace: rule.WholeTrace) -> Mapping[tuple[str, str], Sequence[Rewriting]]:
    """The rewritings that are told together, by what the first line was, and has become."""
    kept, history = trace.index.kept, trace.index.history
    if _changes not in kept:  # the fix of each finding asks
        found = defaultdict[object, list[Rewriting]](list)
        texts = (line.text for line in unless_stopped(trace.lines))
        rewritings = history.rewritings(texts) if history else ()
        for each in sorted(rewritings, key=lambda each: not each.is_feed):
            found[_change(each, trace.lines)].append(each)
        kept[_changes] = {
            (same[0].text, trace.lines[same[0].new or 0].text): same for same in found.values()
        }
    return cast("Mapping[tuple[str, str], Sequence[Rewriting]]", kept[_changes])


def _change(each: Rewriting, lines: Sequence[rule.Line]) -> object:
    """What lines have in common that are told together: where they were removed; or how they were
    changed, in which field, which is said of each line of a feed.
    """
    if each.fate is not Fate.CHANGED or each.is_feed or each.new is None:
        return each.fate is Fate.REMOVED, each.new
    new = lines[each.new].text.removesuffix("\r")
    was, part = _changed(new, each.text), _changed(each.text, new)
    before = new[max(0, part.start - _FIELD) : part.end]
    return each.version.commit, before, each.text[was.start : was.end]


def _finding(lines: Sequence[rule.Line], same: Sequence[Rewriting], more: int = 0) -> rule.Finding:
    """What became of lines that stood at one place, or were changed in one way."""
    first = same[0]
    is_changed = first.fate is Fate.CHANGED
    related = []
    for each in same[:MOST]:
        line = lines[each.new or 0]
        text = line.text.removesuffix("\r")
        where = _changed(each.text, text) if is_changed else rule.type_or_line(line)
        of = f"before {each.version.short}" if each.version.commit else "of HEAD"
        said = f"line {each.old + 1} {of}: {printable(each.text, _LONGEST)}"
        related.append((line, where, said))
    alike = f"; {rule.plural(len(same) - 1, 'more line')} in the same way" * (len(same) > 1)
    what = f"; so it is with {rule.plural(more, 'more line')} of no feed" * bool(more)
    message = f"{_told(same)}{alike * is_changed}{what}"
    line, where, _ = related[0]
    expected = first.text if is_changed else None
    return RULE.finding(line, where, message, *related, expected=expected)


def _told(same: Sequence[Rewriting]) -> str:
    first, version, count = same[0], same[0].version, len(same)
    said = printable(version.subject)
    by = f"commit {version.short}" + f" ({said})" * bool(said)
    of = f" of {printable(version.path)}" * bool(version.path)
    number = min(each.old for each in same if each.version is version) + 1
    if first.fate is Fate.REMOVED:
        where = "below" if first.new is not None else "above"
        what = f"{rule.plural(count, 'line')} {where} this one {are(count)} gone, which"
        has = f"stood from line {number} on{of} before {by}"
        return f"{what} {has if version.commit else f'HEAD has from line {number} on'}"
    how = f"by {by}, before which it was line {number}{of}"
    how = how if version.commit else f"since it was committed, as line {number} of HEAD"
    return f"this line was {first.fate} {how}"


def _changed(old: str, new: str) -> rule.Span:
    """The part of a line that is another one than before."""
    start = common_start(old, new)
    end = common_start(old[start:][::-1], new[start:][::-1])
    return rule.Span(start, len(new) - end)


def _fixes(finding: rule.Finding, trace: rule.WholeTrace) -> Fixes:
    if finding.expected is not None:
        same = _changes(trace)[str(finding.expected), finding.line.text]
        lines = [trace.lines[each.new or 0] for each in same]
        spans = (rule.Span(0, len(line.text.removesuffix("\r"))) for line in lines)
        what = f"{len(lines):,} lines as they were" if len(lines) > 1 else "line as it was"
        edits = tuple(map(Edit, lines, spans, (each.text for each in same)))
        yield Fix(f"Put back the {what} committed", Level.BY_HAND, edits)


RULE = rule.Rule(rule.Severity.WARNING, _check, fixes_around=_fixes)
