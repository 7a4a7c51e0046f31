"""A brief's disposition is not what the hashes of its dispatch say.

`brief_disposition` says how a brief relates to the earlier ones of its dispatch: the first is
`initial`, one with the hash of an earlier one is a `reissue`, any other is `amended`. Where the
hashes say otherwise, brief stability is counted wrong.

They are compared only where every brief of the dispatch has a sha256 in 64 hexadecimal digits, no
rejected or unknown line of the run names the dispatch, and the trace has its start.

**Fix.** What the hashes say, as a suggestion: the hash may be the wrong one.

Examples:
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"brief-issued","brief_disposition":"initial"}
EVENT{"event_type":"brief-issued","brief_disposition":"amended"}
… it has the hash of the brief on line 2              ^^^^^^^^^
=> Replace with "reissue"
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"brief-issued","brief_disposition":"initial"}
EVENT{"event_type":"brief-issued","brief_disposition":"reissue"}
---
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"brief-issued","brief_disposition":"amended","brief_content_hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
… it is the first brief of its dispatch               ^^^^^^^^^
EVENT{"event_type":"brief-issued","brief_disposition":"initial","brief_content_hash":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}
… its hash is a new one                               ^^^^^^^^^
=>
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"brief-issued","brief_disposition":"initial","brief_content_hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
EVENT{"event_type":"brief-issued","brief_disposition":"initial","brief_content_hash":"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}
--- Strings that are no hashes cannot be compared.
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"brief-issued","brief_content_hash":"pending"}
EVENT{"event_type":"brief-issued","brief_content_hash":"pending"}
"""

from collections.abc import Sequence

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Finding, Findings, Line, Rule, Run, Severity, shown
from drive_trace.vocabulary import DISPATCH, Form


def _check(run: Run) -> Findings:
    for dispatch_id, briefs in run.table("brief-issued", DISPATCH.field).items():
        if len(briefs) == 1 and briefs[0].fact("brief_disposition") == "initial":
            continue  # as nearly all
        starts = run.of(DISPATCH.opener, DISPATCH.field, dispatch_id)
        found = [*_of_dispatch(briefs, starts)] if starts and run.meant is None else []
        hashes = (brief.text_fact("brief_content_hash") for brief in briefs)
        if found and all(each in Form.HASH for each in hashes):  # others cannot be compared
            yield from found if not run.in_doubt(DISPATCH.field, dispatch_id) else ()


def _of_dispatch(briefs: Sequence[Line], starts: Sequence[Line]) -> Findings:
    latest_with: dict[str, Line] = {}
    for line in briefs:
        content = line.text_fact("brief_content_hash").lower()
        same = latest_with.get(content)
        first = briefs[0] if line is not briefs[0] else None
        expected = "initial" if first is None else "amended" if same is None else "reissue"
        is_copy = same is not None and line.is_copy_of(same)  # duplicate-event-id says it
        if line.fact("brief_disposition") != expected and not is_copy:
            yield _finding(line, first, same, expected, starts)
        latest_with[content] = line


def _finding(
    line: Line, first: Line | None, same: Line | None, expected: str, starts: Sequence[Line]
) -> Finding:
    field, hash_ = "brief_disposition", "brief_content_hash"
    related = (starts[0], DISPATCH.field, "the dispatch starts here")
    why: tuple[str | Line, ...] = ("it is the first brief of its dispatch",)
    if same is not None:
        related = (same, hash_, "the same hash here")
        why = ("it has the hash of the brief on line ", same)
    elif first is not None:
        related = (first, hash_, "the dispatch's first brief")
        why = ("its hash is a new one among the dispatch's briefs, which start on line ", first)
    message = (f'expected "{expected}", found {shown(line.fact(field))}: ', *why)
    return RULE.finding(line, field, message, related, expected=expected)


RULE = Rule(
    Severity.WARNING, _check, fixes=replace_with_expected, sums="dispositions disagree with hashes"
)
