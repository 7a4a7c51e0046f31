r"""A key stands twice; only the last one counts.

A key stands twice in one object. The last one counts; the earlier value is dead, and a person
may take it for the real one.

**Fix.** The dead pair is deleted. That is safe where it says what the other one says; another value
may be the one that was meant.

Examples:
EVENT{"event_type":"dispatch-end","result":"failed","result":"completed"}
                                  ^^^^^^^^ … this value is dead
=> Delete the dead `result`
EVENT{"event_type":"dispatch-end","result":"completed"}
---
EVENT{"event_type":"dispatch-end","result":"failed","result":"failed"}
                                  ^^^^^^^^
=>
EVENT{"event_type":"dispatch-end","result":"failed"}
---
EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":2,"L":0,"XL":0}}
---
EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"S":2,"M":2,"L":0,"XL":0}}
                                                                 ^^^
=>
EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":2,"M":2,"L":0,"XL":0}}
--- Keys are compared by what they say, not by how they are written.
EVENT{"event_type":"dispatch-end","resul\u0074":"failed","result":"completed"}
                                  ^^^^^^^^^^^^^
=>
EVENT{"event_type":"dispatch-end","result":"completed"}
---
EVENT{"event_type":"slice-started","slice_slug":"result","linear_ref":"result"}
"""

from drive_trace.linter.edits import Fix, Fixes, Level, delete_member
from drive_trace.linter.rule import (
    Finding,
    Findings,
    Line,
    LineDiagnostic,
    Part,
    Place,
    Rule,
    Severity,
)
from drive_trace.text.escaping import printable
from drive_trace.trace.line import Diagnostic
from drive_trace.trace.places import pair_at


def _check(subject: LineDiagnostic) -> Findings:
    diagnostic = subject.diagnostic
    name = printable(str(diagnostic.path[-1]))
    message = f"`{name}` stands again later in this object: this value is dead, the last one counts"
    dead, live = (Place(Part.KEY, diagnostic.path, at) for at in (diagnostic.occurrence, -1))
    yield subject.finding(RULE, message, dead, (live, f"this `{name}` counts"))


def _fixes(finding: Finding) -> Fixes:
    line, diagnostic = finding.line, finding.cause
    edit = delete_member(line, diagnostic.path, diagnostic.occurrence)
    if edit is not None:
        name = printable(str(diagnostic.path[-1]))
        yield Fix(f"Delete the dead `{name}`", _level(line, diagnostic), (edit,))


def _level(line: Line, diagnostic: Diagnostic) -> Level:
    """Safe where the pair that counts says the same; another value somebody may look for."""
    dead = pair_at(line.text, diagnostic.path, diagnostic.occurrence)
    live = pair_at(line.text, diagnostic.path)
    texts = {line.text[slice(*pair.value)] for pair in (dead, live) if pair and pair.value}
    return Level.SAFE if len(texts) == 1 else Level.BY_HAND


RULE = Rule(Severity.WARNING, _check, fixes=_fixes, unnecessary=True)
