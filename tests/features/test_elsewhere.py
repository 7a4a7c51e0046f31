"""What all traces of the workspace together say of a run."""

from __future__ import annotations

import re
from textwrap import dedent

from drive_trace.api import Analysis
from drive_trace.features.elsewhere import (
    Elsewhere,
    elsewhere_markdown,
    elsewhere_short,
)
from drive_trace.scorecard.card import score_run
from drive_trace.trace.occurrences import run_id_of
from tests.support.fixtures import read, trace

RUN = "shop"
HERE = "trace.jsonl"
WORK = trace(f'EVENT{{"event_type":"slice-started","project_run_id":"{RUN}"}}')


def grade(ts: str, qa: str) -> str:
    return trace(
        f'EVENT{{"event_type":"correctness-recorded","project_run_id":"{RUN}","ts":"{ts}",'
        f'"mechanical":"pass","qa":{qa},"intent":"pass"}}'
    )


FAILED = grade("2026-05-28T15:00:00.000Z", '"fail"')
PASSED = grade("2026-05-28T16:00:00.000Z", '"pass"')


def joined(unread: int = 0, **texts: str) -> Elsewhere:
    """The first trace is the one that is looked at."""
    found = {name: Analysis(text).part_of(RUN, name) for name, text in texts.items()}
    parts = {name: part for name, part in found.items() if part is not None}
    here, *_ = texts
    uris = [f"file:///{name}" for name in parts]
    run = score_run([*parts.values()])
    return Elsewhere(run, Analysis(texts[here]).score_run(RUN), uris, f"file:///{here}", unread)


def check_elsewhere(said: Elsewhere, expected: str | None, short: str | None = None) -> None:
    """What the hover says below the card, and what the lens adds."""
    wanted = dedent(expected or "").strip("\n")
    assert (elsewhere_markdown(said) or "") == re.sub(r"(?<=\S) +", " ", wanted)
    assert elsewhere_short(said) == short


def test_no_other_trace_holds_the_run() -> None:
    check_elsewhere(joined(here=WORK), None)


def test_another_trace_decides() -> None:
    check_elsewhere(
        joined(here=WORK, there=WORK + PASSED),
        """
        **CORRECT** · with the 1 other trace of the workspace that holds this run, decided by \
        [line 2 of `there`](file:///there#L2)

        - [`there`](file:///there#L1): 2 events, mechanical pass, qa pass, intent pass
        """,
        "with 1 other trace: CORRECT",
    )


def test_the_latest_grade_counts_wherever_it_is() -> None:
    check_elsewhere(
        joined(here=FAILED, b=PASSED, c=WORK),
        """
        **CORRECT** · with the 2 other traces of the workspace that hold this run, decided by \
        [line 1 of `b`](file:///b#L1)

        - [`b`](file:///b#L1): 1 event, mechanical pass, qa pass, intent pass
        - [`c`](file:///c#L1): 1 event, not graded
        """,
        "with 2 other traces: CORRECT",
    )
    check_elsewhere(
        joined(here=PASSED, b=FAILED),
        """
        **CORRECT** · with the 1 other trace of the workspace that holds this run, decided by \
        line 1 of this one

        - [`b`](file:///b#L1): 1 event, mechanical pass, qa fail, intent pass
        """,
    )


def test_a_broken_grade_elsewhere_is_not_silent() -> None:
    broken = grade("2026-05-28T17:00:00.000Z", '"failed"')
    check_elsewhere(
        joined(here=PASSED, b=broken),
        """
        **CORRECT** · with the 1 other trace of the workspace that holds this run, decided by \
        line 1 of this one

        ⚠ `b`: 1 correctness line rejected (line 1), not counted.

        - [`b`](file:///b#L1): 0 events, not graded
        """,
    )


def test_what_is_not_known_yet_is_said_and_the_lens_says_nothing() -> None:
    said = joined(here=WORK, there=PASSED, unread=12)
    assert elsewhere_short(said) is None
    assert (elsewhere_markdown(said) or "").endswith(
        "\n\n*12 traces of the workspace are not read yet.*"
    )
    check_elsewhere(joined(here=WORK, unread=1), "*1 trace of the workspace is not read yet.*")


def check_run_at(fixture: str, expected: str | None) -> None:
    """Which run a hover at the cursor is about."""
    given = read(fixture)
    assert given.cursor is not None
    assert run_id_of(Analysis(given.text).document.lines[given.cursor.record]) == expected


def test_the_run_that_is_pointed_at() -> None:
    check_run_at('EVENT{"event_type":"slice-started","project_run_id":"shop$0"}', "shop")
    check_run_at('EVENT{"event_type":"slice-started","project_run_id":"🚀","x":1$0}', "🚀")
    check_run_at('{"event_type":"slice-started","project_run_id":"shop$0",', "shop")
    check_run_at("$0<eof>", None)
    check_run_at(
        """
        EVENT{"event_type":"slice-started","project_run_id":"one"}
        EVENT{"event_type":"slice-started","project_run_id":"two$0"}
        """,
        "two",
    )
