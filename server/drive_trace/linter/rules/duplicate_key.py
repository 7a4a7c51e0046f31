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
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Part, Place, Rule, Severity
from drive_trace.text.wording import printable
from drive_trace.trace.places import pair_at


def _check(subject: LineDiagnostic) -> Findings:
    diagnostic = subject.diagnostic
    name = printable(str(diagnostic.path[-1]))
    message = f"`{name}` stands again later in this object: this value is dead, the last one counts"
    dead, live = (Place(Part.KEY, diagnostic.path, at) for at in (diagnostic.occurrence, -1))
    yield subject.finding(RULE, message, dead, (live, f"this `{name}` counts"))


def _fixes(finding: Finding) -> Fixes:
    text, (path, dead) = finding.line.text, (finding.cause.path, finding.cause.occurrence)
    edit = delete_member(finding.line, path, dead)
    if edit is not None:
        pairs = (pair_at(text, path, dead), pair_at(text, path))
        values = {text[slice(*pair.value)] for pair in pairs if pair and pair.value}
        # Where the pair that counts says something else, somebody may look for this value.
        level = Level.SAFE if len(values) == 1 else Level.BY_HAND
        yield Fix(f"Delete the dead `{printable(str(path[-1]))}`", level, (edit,))


RULE = Rule(Severity.WARNING, _check, fixes=_fixes, unnecessary=True)
