"""What was triaged is a ticket, and no ticket is named.

An input of the shape `linear-ticket` is a ticket, and `input_ref` names it. Without it nobody
finds what was asked for, and how often a ticket was triaged anew cannot be told: all verdicts
without a reference count as one input.

**Fix.** None is offered: the name of the ticket is not in the trace.

Examples:
EVENT{"event_type":"triage-verdict","input_shape":"linear-ticket","input_ref":null}
… a ticket was triaged, but none is named                                     ^^^^
--- What was asked in a chat has no ticket.
EVENT{"event_type":"triage-verdict","input_shape":"chat-ask","input_ref":null}
EVENT{"event_type":"triage-verdict","input_shape":"linear-ticket","input_ref":"SHOP-214"}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.finding(RULE, "a ticket was triaged, but none is named")


RULE = Rule(Severity.INFORMATION, _check, sums="")
