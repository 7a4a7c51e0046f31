"""A run over all its files in a folder of the workspace."""

import re
from textwrap import dedent
from uuid import NAMESPACE_OID, uuid5

from drive_trace.analysis import Analysis
from drive_trace.features.runs import JoinedRun, carried_at, of_one_file
from drive_trace.scorecard.card import score
from drive_trace.scorecard.scoring import score_in
from drive_trace.trace.line import run_id_of
from drive_trace.trace.scope import scope_at
from drive_trace.vocabulary import EVENTS, GRADE
from tests.support.fixtures import read, trace
from tests.support.scored import summarize_text

RUN = "shop"
MISSING = "not computable: not graded"
WORK = trace(f'EVENT{{"event_type":"slice-started","project_run_id":"{RUN}"}}')
OTHER_WORK = trace(
    f'EVENT{{"event_type":"slice-started","project_run_id":"{RUN}","event_id":"another"}}'
)


def grade(ts: str, qa: str) -> str:
    return trace(
        f'EVENT{{"event_type":"correctness-recorded","project_run_id":"{RUN}","ts":"{ts}",'
        f'"event_id":"{uuid5(NAMESPACE_OID, ts)}",'
        f'"mechanical":"pass","qa":{qa},"intent":"pass"}}'
    )


FAILED = grade("2026-05-28T15:00:00.000Z", '"fail"')
PASSED = grade("2026-05-28T16:00:00.000Z", '"pass"')


def joined(waiting: int | None = 0, **texts: str) -> JoinedRun:
    """The first trace is the one that is looked at."""
    here, *_ = texts
    card = score([summarize_text(text, name) for name, text in texts.items()])
    (run,) = (each for each in card.runs if each.run_id == RUN)
    uris = [f"file:///{part.path}" for part in run.parts]
    own = score_in(Analysis(texts[here]).index, RUN)
    return JoinedRun(run, own, uris, f"file:///{here}", waiting)


def check_joined(said: JoinedRun, title: str, expected: str | None = None) -> None:
    """What the lens says, and the hover above and below the card of both tiers."""
    assert said.title == title
    head, *_ = said.markdown.split("\n", 1)
    in_full = said.headline.replace(
        "computable: not graded", "computable — missing: external correctness signal"
    )
    assert head == f"**{in_full}** · run `{RUN}`"
    _, _, files = said.markdown.partition("*Joined over ")
    assert files == re.sub(r"(?<=\S) +", " ", dedent(expected or "").strip("\n"))


def test_no_other_trace_holds_the_run() -> None:
    check_joined(joined(here=WORK), MISSING)


def test_another_file_decides() -> None:
    check_joined(
        joined(here=WORK, there=OTHER_WORK + PASSED),
        "CORRECT · this file alone: not graded · decided by there",
        """
        2 files of the workspace folder; this file alone: not graded.*

        - [`there`](file:///there#L1): 2 events, mechanical pass, qa pass, intent pass, decides on \
        [line 2](file:///there#L2)
        - [`here`](file:///here#L1) (this file): 1 event, not graded
        """,
    )


def test_a_failure_in_another_file_stands_first_and_hides_efficiency() -> None:
    said = joined(here=PASSED, b=grade("2026-05-28T17:00:00.000Z", '"fail"'), c=WORK)
    check_joined(
        said,
        "INCORRECT — qa failed · this file alone: CORRECT · decided by b · "
        "1 other file grades it differently",
        """
        3 files of the workspace folder; this file alone: CORRECT.*

        - [`b`](file:///b#L1): 1 event, mechanical pass, qa fail, intent pass, decides on \
        [line 1](file:///b#L1)
        - [`here`](file:///here#L1) (this file): 1 event, mechanical pass, qa pass, intent pass
        - [`c`](file:///c#L1): 1 event, not graded
        """,
    )
    assert "*Tier 2, efficiency:* hidden: not graded CORRECT (qa failed)." in said.markdown


def test_where_this_file_decides_the_lens_names_no_other() -> None:
    said = joined(here=PASSED, b=FAILED)
    assert said.title == "CORRECT · 1 other file grades it differently"
    assert "(this file): 1 event, mechanical pass, qa pass, intent pass, decides" in said.markdown


def test_a_broken_grade_elsewhere_is_not_silent() -> None:
    broken = grade("2026-05-28T17:00:00.000Z", '"failed"')
    said = joined(here=PASSED, b=broken)
    assert "1 correctness line rejected (line 1), not counted" in said.title
    assert "`b`: 1 correctness line rejected (line 1), not counted" in said.markdown


def test_a_verdict_before_all_is_read_is_that_of_so_far() -> None:
    said = joined(here=WORK, there=PASSED, waiting=12)
    assert said.title.startswith("CORRECT so far · 12 traces not read yet · ")
    assert "\n\n*12 traces not read yet.*" in said.markdown
    check_joined(joined(here=PASSED, waiting=1), "CORRECT so far · 1 trace not read yet")
    unsearched = joined(here=PASSED, waiting=None)
    check_joined(unsearched, "CORRECT so far · the workspace is not read yet")


def test_a_grade_that_counts_no_more_says_which_file_has_the_one_that_does() -> None:
    said = joined(here=FAILED, there=OTHER_WORK + PASSED)
    assert said.supersedes == "line 2 of there"
    assert joined(here=PASSED, there=FAILED).supersedes is None


def test_a_name_is_no_icon_and_no_wall() -> None:
    said = joined(**{"here": WORK, "deep/deep/$(check)/t.jsonl": PASSED})
    assert said.title.endswith("decided by $ (check)/t.jsonl")


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


def test_no_grade_is_repeated_over_later_work_in_another_trace() -> None:
    graded = Analysis(grade("2026-05-28T15:00:00.000Z", "null"))
    lines = graded.document.lines
    scope = scope_at(graded.index, lines, len(lines), RUN)
    for worked, is_repeated in (("14:00", True), ("16:00", False)):
        work = f'"event_type":"dispatch-start","ts":"2026-05-28T{worked}:00.000Z"'
        other = trace(f'EVENT{{{work},"event_id":"another","project_run_id":"{RUN}"}}')
        both = joined(here=graded.document.text, other=other)
        carried = carried_at(scope, EVENTS[GRADE], "2026-05-28T17:00Z", lambda _, both=both: both)
        assert carried is not None
        assert bool(carried.values) is is_repeated


def test_the_card_of_a_run_has_links_whatever_its_document_is_called() -> None:
    dispatch = (
        'dispatch-start","dispatch_id":"d"',
        'dispatch-end","dispatch_id":"d","result":"failed"',
    )
    text = trace(*(f'EVENT{{"event_type":"{each}}}' for each in dispatch))
    run = score_in(Analysis(text).index, "checkout-retry")
    assert run is not None
    assert "(file:///?#L1)" in of_one_file(run, "file:///\ud800").markdown
