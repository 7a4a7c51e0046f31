"""A line is not what the record beside the trace says.

Whatever appends to a trace (`emit`, `record`, `tokens`, `gate`, `judge`, `hook`, `reconstruct`, an
editor on request) keeps a record beside it, `trace.jsonl.provenance.ndjson`: which event was
appended, by the digest of what it says, and in which order. So a line that was dropped, changed,
copied or moved later is told, also where no git has it.

A line may be laid out anew. A line that was typed or pasted has no entry in the record, nor has
the last event of a writer that was killed: neither is told. Lines of two branches that were merged
may stand in any order. At most 16 places are marked. A record of which entries are missing or
cannot be read is told on the first line, but for one that a writer could not end.

Commit the record beside the trace, with `*.provenance.ndjson merge=union` in `.gitattributes`.
Where git tracks the trace and not the record, another branch brings another trace to the same
record: it says nothing then.

The record is no proof: it can be forged like any file, and takes no other finding away. Without it
the rule is silent. Whoever has mended a recorded line by hand, and stands by it, deletes the
record: the next event begins another one. An editor looks at it when a trace is opened or saved.

**Fix.** None is offered: the record has no text of what was changed.

Examples:
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"correctness-recorded","qa":"pass"}
                   ^^^^^^^^^^^^^^^^^^^^^^ … is not what was recorded
@recorded
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"correctness-recorded","qa":"fail"}
---
EVENT{"event_type":"dispatch-end","result":"failed"}
                   ^^^^^^^^^^^^^^ … a line below this one is gone: "correctness-recorded"
@recorded
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"correctness-recorded","qa":"fail"}
---
EVENT{"event_type":"correctness-recorded","event_id":"d95bafc8-f2a4-427b-9cf4-bb99f4bea973"}
                   ^^^^^^^^^^^^^^^^^^^^^^ … was recorded below line 3
EVENT{"event_type":"triage-verdict","event_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90"}
EVENT{"event_type":"dispatch-end","event_id":"cd613e30-d8f1-4adf-91b7-584a2265b1f5"}
EVENT{"event_type":"triage-verdict","event_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90"}
                   ^^^^^^^^^^^^^^^^ … copy of line 2
@recorded
EVENT{"event_type":"triage-verdict"}
EVENT{"event_type":"dispatch-end"}
EVENT{"event_type":"correctness-recorded"}
--- What was never recorded stands below or between; white space may be another.
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"correctness-recorded","qa":"fail"}
EVENT{"event_type":"correctness-recorded","qa":"pass"}
@recorded
EVENT{"event_type":"dispatch-end","result":"failed"}
EVENT{"event_type":"correctness-recorded","qa":"fail"}
"""

from itertools import islice

from drive_trace.linter.courses import MOST
from drive_trace.linter.rule import Findings, Rule, Severity, WholeTrace, shown, type_or_line
from drive_trace.trace.provenance import Fate

_WHAT: dict[Fate, tuple[str, ...]] = {
    "gone": ("a line below this one is gone",),
    "changed": ("this line is not what was recorded",),
    "copied": ("this line is a copy of line ", "the line that was recorded"),
    "contradicted": ("this line has other values and the id of line ", "the line with its id"),
    "moved": ("this line was recorded below line ", "the line above it, when it was recorded"),
}
"""What is said of a line, and of the other one that it names."""


def _check(trace: WholeTrace) -> Findings:
    damage, first = trace.index.record_damage, trace.lines[0]
    if damage is not None:
        what = f"the record of where the events come from is damaged: {damage}"
        yield RULE.finding(first, type_or_line(first), f"{what}; some of them may be gone")
    for fate, entry, line, beside in islice(trace.index.unrecorded, MOST):
        what, *why = _WHAT[fate]
        at = line or beside or first
        origin = f": {shown(entry.event_type)} of {shown(entry.ts)}, from {shown(entry.writer)}"
        if beside is not None and why:
            related = (beside, type_or_line(beside), why[0])
            yield RULE.finding(at, type_or_line(at), (what, beside, origin), related)
        else:
            what = what if line or beside else what.replace("below", "above")
            yield RULE.finding(at, type_or_line(at), f"{what}{origin}")


RULE = Rule(Severity.WARNING, _check)
