"""The rounds of a dispatch claim more time than the dispatch.

The rounds of a dispatch follow each other within it, so that together they cannot take longer
than the dispatch. Where they claim to, some of these durations were guessed. Unlike the rules on
one duration, this needs no timestamps: it holds in a trace that was written afterwards, too. In one
that was not, most often `wall-clock-exceeds-timestamps` warns of the round that is wrong as well.

Of a round that ends twice the last end counts. Only dispatches with one end are looked at.

**Fix.** None is offered: which of the durations is wrong, only the writer knows.

Examples:
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"round-end","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a","wall_clock_ms":7200000}
EVENT{"event_type":"round-end","round_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90","wall_clock_ms":1800000}
EVENT{"event_type":"dispatch-end","dispatch_id":"77ce3f13-a067-4f13-a4e0-93dbae3137ae","wall_clock_ms":3525000}
… its 2 rounds together claim 2h 30m            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"round-end","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a","wall_clock_ms":7200000}
EVENT{"event_type":"round-end","round_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90","wall_clock_ms":1800000}
EVENT{"event_type":"dispatch-end","wall_clock_ms":8999000}
---
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"dispatch-end","dispatch_id":"77ce3f13-a067-4f13-a4e0-93dbae3137ae","wall_clock_ms":840000}
… but 1 round of it claims 2h 30m               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"round-end","wall_clock_ms":9000000}
"""

from typing import cast

from drive_trace.linter.courses import CLAIM, TOLERANCES
from drive_trace.linter.rule import Findings, Line, Rule, Run, Severity
from drive_trace.text.wording import duration
from drive_trace.vocabulary import DISPATCH, ROUND


def _check(run: Run, *, tolerance_ms: float, tolerance_percent: float) -> Findings:
    started = run.table(DISPATCH.opener, DISPATCH.field)
    of_rounds = run.table(ROUND.closer, DISPATCH.field)
    for dispatch_id, (end, *more) in run.table(DISPATCH.closer, DISPATCH.field).items():
        ends, starts = of_rounds.get(dispatch_id), started.get(dispatch_id)
        if more or ends is None or starts is None or starts[0].order > end.order:
            continue
        rounds = [*{each.fact(ROUND.field): each for each in ends}.values()]
        total, claimed = sum(map(_claimed, rounds)), _claimed(end)
        excess = total - claimed
        if excess > tolerance_ms and 100 * excess > tolerance_percent * claimed:
            count = len(rounds)
            what = "1 round of it claims" if count == 1 else f"its {count} rounds together claim"
            message = f"this dispatch claims {duration(claimed)}, but {what} {duration(total)}"
            claims = [(each, CLAIM, "what a round claims") for each in rounds[:4]]
            of_dispatch = (end, CLAIM, "what the dispatch claims")
            yield RULE.finding(end, DISPATCH.field, message, of_dispatch, *claims)


def _claimed(end: Line) -> int:
    return cast("int", end.fact(CLAIM))


RULE = Rule(
    Severity.INFORMATION,
    _check,
    options=TOLERANCES,
    sums="dispatches claim less time than their rounds",
)
