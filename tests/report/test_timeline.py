"""The timeline: a folded axis, lanes, and what leads from a bar to its line and back."""

import itertools
import re
from itertools import pairwise

from drive_trace.report.chart import REJECTED, Chart, TimeAxis, chart_of, time_axis
from drive_trace.report.contents import LineFinding, report_on
from drive_trace.report.event_log import SPANNING, Outcome
from drive_trace.report.html import report_html
from drive_trace.report.html.charts import GLYPHS, as_date, as_time, days, ticks
from drive_trace.vocabulary import EVENTS
from tests.report.support import report_of
from tests.scorecard.support import event
from tests.support.fixtures import trace

_MINUTE = 60_000
_DAY = 1440 * _MINUTE
_START = 20_000 * _DAY + 14 * 60 * _MINUTE  # 2024-10-04T14:00:00Z


def at(minutes: float) -> str:
    hours, rest = divmod(minutes, 60)
    return f"2026-05-28T{14 + int(hours):02}:{int(rest):02}:{int(rest * 60 % 60):02}.000Z"


def axis_of(*minutes: float, busy: tuple[tuple[int, int], ...] = ()) -> TimeAxis:
    moments = [_START + int(each * _MINUTE) for each in minutes]
    inside = [(_START + start * _MINUTE, _START + end * _MINUTE) for start, end in busy]
    made = time_axis(moments, inside)
    assert made is not None
    return made


def chart(*lines: str) -> Chart:
    report = report_of(trace(*lines))
    (run,) = report.card.runs
    made = chart_of(run, report.events, report.timelines.get(run.run_id, ()))
    assert made is not None
    return made


def dispatch(name: str, start: float, end: float, result: str = "completed") -> list[str]:
    began = event("dispatch-start", dispatch_id=name, dispatch_name=name, ts=at(start))
    return [began, event("dispatch-end", dispatch_id=name, result=result, ts=at(end))]


# The axis


def test_days_without_an_event_are_folded_and_say_how_long_they_were() -> None:
    axis = axis_of(0, 10, 20, 20 + 3 * 1440, 30 + 3 * 1440, busy=((0, 20), (4340, 4350)))
    (fold,) = axis.folds
    assert fold.milliseconds == 3 * _DAY
    assert fold.right - fold.left < 0.1
    assert axis.place(_START) == 0
    assert axis.place(axis.moments[-1]) > 0.999


def test_a_short_time_beside_a_long_one_can_be_seen() -> None:
    axis = axis_of(0, 0.01, 60, 60.01, 119, busy=((0, 119),))
    assert min(right - left for left, right in pairwise(axis.places)) >= 3.99 / 900


def test_places_grow_with_time_whatever_the_times() -> None:
    axis = axis_of(*(number * number * number for number in range(200)))
    assert all(left < right for left, right in pairwise(axis.places))
    assert abs(axis.places[-1] - 1) < 1e-9
    assert axis.place(_START - 1) == 0
    assert axis.place(axis.moments[-1] + _DAY) == axis.places[-1]


def test_one_moment_has_an_axis_and_none_has_none() -> None:
    assert axis_of(0).places == (0.0, 1.0)
    assert time_axis([], []) is None


def test_ticks_are_round_and_have_room() -> None:
    axis = axis_of(0, 7, 33, 61, 92, busy=((0, 92),))
    found = ticks(axis)
    first = sorted(each.place for each in found if each.level == 0)
    assert {as_time(each.moment) for each in found if each.level == 0} >= {"15:00"}
    assert all(right - left >= 70 / 900 for left, right in pairwise(first))
    assert max(each.level for each in found) <= axis.levels
    assert all(each.moment % 1000 == 0 for each in found)


def test_each_day_is_named() -> None:
    assert [as_date(each.moment) for each in days(axis_of(0, 5, 1440, 1450))] == [
        "2024-10-04",
        "2024-10-05",
    ]


def test_ten_thousand_moments_can_be_zoomed_into() -> None:
    axis = axis_of(*(number * 0.5 for number in range(10_000)), busy=((0, 5000),))
    assert axis.levels == 6
    assert len(ticks(axis)) < 1000


# What stands on it


def test_dispatches_at_the_same_time_are_in_lanes() -> None:
    made = chart(*dispatch("a", 0, 30), *dispatch("b", 10, 20), *dispatch("c", 40, 50))
    assert [(bar.name, bar.lane) for bar in made.bars] == [("a", 0), ("b", 1), ("c", 0)]
    assert made.lanes == 2


def test_outcomes_are_told_apart() -> None:
    made = chart(
        *dispatch("a", 0, 1),
        *dispatch("b", 2, 3, "failed"),
        *dispatch("c", 4, 5, "aborted"),
        event("dispatch-start", dispatch_id="d", ts=at(6)),
    )
    assert [bar.outcome for bar in made.bars] == [
        Outcome.PASSED,
        Outcome.FAILED,
        Outcome.HALTED,
        Outcome.OPEN,
    ]


def test_an_end_before_its_start_is_a_bar_all_the_same() -> None:
    (bar,) = chart(*dispatch("a", 10, 5)).bars
    assert bar.left < bar.right


def test_rejected_lines_stand_where_the_event_above_them_does() -> None:
    broken = event("round-end", verdict="fine", ts=at(50))
    made = chart(*dispatch("a", 0, 30), broken, event("triage-verdict", ts=at(40)))
    kinds = {mark.kind: mark for mark in made.marks}
    assert kinds["rejected"].place == made.axis.place(made.axis.moments[-2])
    assert kinds["rejected"].line.line == 3


def test_a_grade_has_room_before_the_cost_beside_it() -> None:
    feeds = [event(each, ts=at(30)) for each in ("tokens-recorded", "correctness-recorded")]
    levels = {mark.kind: mark.level for mark in chart(*dispatch("a", 0, 30), *feeds).marks}
    assert levels["correctness-recorded"] == 0
    assert levels["tokens-recorded"] > 0


def test_work_after_the_grade_is_marked() -> None:
    text = event("correctness-recorded", ts=at(31))
    assert chart(*dispatch("a", 0, 30), text).stale_from is None
    late = chart(*dispatch("a", 0, 30), text, *dispatch("b", 40, 50))
    assert late.stale_from == late.axis.place(late.axis.moments[-3])


def test_a_first_brief_is_part_of_its_round_and_a_changed_one_has_a_mark() -> None:
    ids = {"dispatch_id": "a", "round_id": "r"}
    briefs = [
        event("brief-issued", **ids, brief_disposition=each, ts=at(2))
        for each in ("initial", "amended")
    ]
    made = chart(*dispatch("a", 0, 30), event("round-start", **ids, ts=at(1)), *briefs)
    ((bar,), (mark,)) = made.bars, made.marks
    assert [line.line for line in bar.rounds[0].lines] == [3, 4]
    assert (mark.kind, mark.line.line) == ("brief-issued", 5)


def test_bars_without_room_stand_together_until_there_is_some() -> None:
    made = chart(*itertools.chain(*(dispatch(str(n), n, n + 0.9) for n in range(1000))))
    levels = made.axis.levels
    assert levels > 2
    for level in range(levels):
        alone = [bar for bar in made.bars if bar.level <= level]
        joined = [each for each in made.clusters if each.level == level]
        shown = sorted((*alone, *(bar for each in joined for bar in each.bars)))
        assert shown == sorted(made.bars)
        assert all((each.right - each.left) * 2**level > 3.9 / 900 for each in (*alone, *joined))
    page = report_html(report_of(trace(*dispatch("a", 0, 30))), "test")
    assert "cluster" not in re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)


def test_a_dispatch_without_times_is_counted() -> None:
    lost = event("dispatch-start", dispatch_id="x", ts="someday")
    assert chart(*dispatch("a", 0, 30), lost).untimed == 1


def test_no_run_has_more_lanes_than_can_be_looked_at() -> None:
    starts = [
        event(kind, dispatch_id=str(number), ts=at(number / 10 + shift))
        for kind, shift in (("dispatch-start", 0), ("dispatch-end", 60))
        for number in range(100)
    ]
    assert chart(*starts).lanes == 24


# On the page


def test_every_event_is_a_bar_or_has_a_mark_of_its_own() -> None:
    assert {*GLYPHS} == {*EVENTS, REJECTED} - {*SPANNING}
    assert len({*GLYPHS.values()}) == len(GLYPHS)


def test_the_legend_says_what_occurs() -> None:
    page = report_html(report_of(trace(*dispatch("a", 0, 1, "failed"))), "test")
    (legend,) = re.findall(r'<ul class="key">.*?</ul>', page)
    assert "failed" in legend
    assert "completed" not in legend
    assert "spec" not in legend


def test_every_bar_leads_to_its_line_and_back() -> None:
    rounds = [event("round-start", ts=at(1)), event("round-end", ts=at(2))]
    page = report_html(report_of(trace(*dispatch("a", 0, 30), *rounds)), "test")
    links = re.findall(r'<a href="#(l-0-\d+)" id="(b-0-\d+)"', page)
    assert links == [("l-0-1", "b-0-1"), ("l-0-3", "b-0-3")]
    for line, bar in links:
        assert re.search(rf'<tr id="{line}"><td><a href="#{bar}">', page)


def test_what_shows_no_colour_is_told_by_texture_and_sign() -> None:
    page = report_html(report_of(trace(*dispatch("a", 0, 1, "failed"))), "test")
    assert 'fill="url(#t-failed)"' in page
    assert "✗ a" in page


def test_findings_are_grouped_by_rule_and_lead_to_their_lines() -> None:
    report = report_of(trace(*dispatch("a", 0, 30)))
    found = [LineFinding("a.jsonl", line, "warning", "some-rule", "why") for line in (1, 2)]
    page = report_html(report_on(report.traces, findings={"a.jsonl": found}), "test")
    assert "warning: some-rule (2)" in page
    assert '<a href="#l-0-2">2</a>: why' in page
    assert "not checked" in report_html(report_on(report.traces, findings={}), "test").lower()


def test_events_are_said_in_words_without_ids() -> None:
    lines = [*dispatch("a", 0, 30), event("round-start", dispatch_id="a", round_id="r", ts=at(1))]
    lines.append(event("round-end", dispatch_id="a", round_id="r", ts=at(2)))
    page = report_html(report_of(trace(*lines)), "test")
    said = re.findall(r"<td>([a-z-]+)<td>([^<]*)<td>", page)
    assert ("round-end", "a, round 1, satisfied, findings filed 0, 21m") in said
    assert ("dispatch-end", "a, completed, 28m") in said
    assert [words.count("a,") for name, words in said if name == "dispatch-start"] == [1]


def test_a_fold_ends_above_the_words_that_say_its_length() -> None:
    days_apart = [event("brief-issued", ts=f"2026-05-{day}T14:00:00.000Z") for day in (10, 28)]
    page = report_html(report_of(trace(*days_apart)), "test")
    shown = re.search(r'<rect [^>]*y="(\d+)" height="(\d+)" class="fold"', page)
    said = re.search(r'<text [^>]*y="(\d+)"[^>]*>// ', page)
    assert shown
    assert said
    assert int(shown[1]) + int(shown[2]) < int(said[1])
