"""Whatever somebody says of an event: it is filled in, and nothing contradicts it, or refused."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Refused, Stamp
from drive_trace.authoring.emitting import Wanted, fill
from drive_trace.scorecard.scoring import ScoredTrace
from drive_trace.vocabulary import ENVELOPE, EVENTS, OneOfShape

JUNK = (None, True, -1, 2**70, 1.5, float("inf"), "", "\ud800", "🚀\n", [], ["x"], {}, [[[]]])
BROKEN = ('{"event_type":"round-end"', "[]", '{"event_type":"dispatch-start","dispatch_id":7}')
LEFT_OUT = {"dispatch_id", "round_id", "slice_slug", "parent_dispatch_id", "wall_clock_ms"}
LEFT_OUT |= {"round_number", "slice_index", "slices_completed", "bytes_delta", "brief_disposition"}
OF_THE_CALLER = {
    "satisfied-with-findings",
    "size-distribution-sum",
    "drift-severity-mismatch",
    "completed-unsatisfied",
    "plan-change-mismatch",
    "dispatch-count-mismatch",
    "repeated-authoring",
}
"""What is found where a caller contradicts itself."""
OF_THE_RUN = {
    "dispatch-without-brief",
    "repeated-brief",
    "unclosed-dispatch",
    "unclosed-round",
    "merged-without-pr",
    "ticket-without-ref",
    "retro-without-surface",
}
"""What is found where a run goes wrong, or is not over."""


def wanted(rng: random.Random) -> Wanted:
    """An event with fields that somebody might give, and some that nobody should."""
    name = rng.choice([*EVENTS, "slice-started", "dispatch-start", "round-start", "round-end", "x"])
    given: dict[str, object] = {}
    for key, field in EVENTS[name].fields.items() if name in EVENTS else ():
        if key not in ENVELOPE and rng.random() < (0.05 if key in LEFT_OUT else 0.97):
            given[key] = EVENTS[name].example[key]
            if isinstance(field.shape, OneOfShape):
                given[key] = rng.choice([*field.shape.meanings])
            if rng.random() < 0.03:
                given[key] = rng.choice(JUNK)
    if name.startswith("slice-"):
        given["slice_slug"] = rng.choice("abc")
    if rng.random() < 0.02:
        given[rng.choice(["ts", "project_run_id", "zzz", ""])] = rng.choice(JUNK)
    dispatch = rng.choice([*[None] * 9, "implementer D1 R1", 7])
    return Wanted(name, given, {}, dispatch, rng.choice([*[None] * 9, 1, "x"]))


def stamps(rng: random.Random) -> Iterator[Stamp]:
    now = datetime(2026, 5, 28, 14, tzinfo=UTC)
    while True:
        now += timedelta(seconds=rng.randint(1, 600))
        ts = now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        ids = (str(UUID(int=rng.getrandbits(128), version=4)) for _ in range(2))
        yield Stamp(next(ids), ts, next(ids))


@pytest.mark.parametrize("seed", range(6))
def test_nothing_raises_and_nothing_filled_in_contradicts_the_trace(seed: int) -> None:
    rng = random.Random(seed)
    trace, records = ScoredTrace([""], only_score=False), list[str]()
    for stamp, _ in zip(stamps(rng), range(250), strict=False):
        if rng.random() < 0.02:
            records.append(rng.choice(BROKEN))
            trace.append(records[-1])
        asked = wanted(rng)
        if asked.event == "project-closed" and len(records) < 40:
            continue  # little goes on after that
        found = fill(asked, trace, stamp, rng.choice(["shop", "shop", None]), "shop")
        if isinstance(found, Refused):
            assert found.reasons
            continue
        records.append(found.draft.record(stamp))
        trace.append(records[-1])
        event = json.loads(records[-1])
        assert {*found.origin.measured, *found.origin.computed} <= event.keys() - asked.given.keys()
        assert all(event[name] == value for name, value in asked.given.items())
        analysis = Analysis([*records, ""])
        line = analysis.document.lines[len(records) - 1]
        codes = {each.rule.code for each in analysis.findings() if each.line is line}
        assert codes <= OF_THE_CALLER | OF_THE_RUN, (asked, codes)
    assert len(records) > 40
