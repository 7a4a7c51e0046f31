"""The rounds of a dispatch are not numbered one after the other.

The rounds of a dispatch are numbered 1, 2, 3 … in the order in which they start. A number that
does not follow is a slip, or a round was not recorded: which round was the first decides the
first-pass acceptance.

The rule is silent where a rejected or unknown line of the dispatch stands between the two rounds,
or where a round is started again (`repeated-start`).

**Fix.** The number that follows, as a suggestion: a round may be missing instead.

Examples:
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-start","round_id":"R2","round_number":3}
… expected 2 after the round on line 2; found 3                 ^
=> Replace with 2
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
--- One slip is told once.
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-start","round_id":"R2","round_number":5}
… expected 2 after the round on line 2; found 5                 ^
EVENT{"event_type":"round-start","round_id":"R3","round_number":3}
=> Replace with 2
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
EVENT{"event_type":"round-start","round_id":"R3","round_number":3}
--- A round whose start readers reject may be the first.
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"round-start","round_id":"R1","round_number":0}
EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
--- Each dispatch counts its own rounds.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1","round_number":1}
EVENT{"event_type":"round-start","dispatch_id":"D2","round_id":"R2","round_number":1}
EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R3","round_number":2}
"""

from typing import cast

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Finding, Findings, Line, Rule, Run, Severity, shown
from drive_trace.trace.run import any_between
from drive_trace.vocabulary import DISPATCH, ROUND

_NUMBER = "round_number"


def _check(run: Run) -> Findings:
    for dispatch_id, starts in run.table(ROUND.opener, DISPATCH.field).items():
        previous, expected, instead = None, 1, 1
        for line in starts:
            number = cast("int", line.fact(_NUMBER))
            follows = number in {expected, instead}
            if not (follows or _is_again(run, line)) and _is_expected(
                run, dispatch_id, previous, line
            ):
                before = previous or run.open_at(DISPATCH, dispatch_id, line)
                yield _finding(line, previous, expected, before)
            # Of a number that is a slip, the next round is right to go on from what it should be.
            instead = number + 1 if follows else expected + 1
            previous, expected = line, number + 1


def _is_expected(run: Run, dispatch_id: object, previous: Line | None, line: Line) -> bool:
    """Whether the rounds above are known, so that the next number is."""
    if previous is None:
        is_known = bool(run.of(DISPATCH.opener, DISPATCH.field, dispatch_id))
    else:
        is_known = not _is_again(run, previous)
    in_doubt = run.in_doubt(DISPATCH.field, dispatch_id)
    return is_known and not any_between(in_doubt, previous, line)


def _is_again(run: Run, line: Line) -> bool:
    """Whether the round was started above already."""
    return run.of(ROUND.opener, ROUND.field, line.fact(ROUND.field))[0] is not line


def _finding(line: Line, previous: Line | None, expected: int, before: Line | None) -> Finding:
    found = shown(line.fact(_NUMBER))
    if previous is None:
        message = f"the first round of a dispatch has number 1; found {found}"
        started = [(before, DISPATCH.field, "the dispatch starts here")] if before else []
        return RULE.finding(line, _NUMBER, message, *started, expected=expected)
    after = (f"expected {shown(expected)} after the round on line ", previous, f"; found {found}")
    round_before = (previous, _NUMBER, "the round before it in the dispatch")
    return RULE.finding(line, _NUMBER, after, round_before, expected=expected)


RULE = Rule(
    Severity.WARNING,
    _check,
    fixes=replace_with_expected,
    distrusts="rounds_per_dispatch",
    sums="rounds do not count up",
)
