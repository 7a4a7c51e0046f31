"""A round was accepted although its review filed findings.

A round whose verdict is `satisfied` was accepted. Findings that were filed all the same were
either left open on purpose, or mended within the round; or the verdict should be
`another-round-needed`, and the first-pass acceptance is counted too high.

**Fix.** None is offered: only the reviewer knows which of the two is right.

Examples:
EVENT{"event_type":"round-end","verdict":"satisfied","findings_filed":2}
… the round is `satisfied`, but its review filed 2 findings           ^
---
EVENT{"event_type":"round-end","verdict":"satisfied","findings_filed":0}
EVENT{"event_type":"round-end","round_id":"R2","verdict":"stop-condition","findings_filed":2}
"""

from typing import cast

from drive_trace.linter.rule import Findings, Rule, Run, Severity, shown


def _check(run: Run) -> Findings:
    for line in run.events("round-end"):
        filed = cast("int", line.fact("findings_filed"))
        if filed and line.fact("verdict") == "satisfied":
            message = f"the round is `satisfied`, but its review filed {shown(filed)}"
            message += " finding" if filed == 1 else " findings"
            yield RULE.finding(line, "findings_filed", message)


RULE = Rule(Severity.HINT, _check, sums="")
