"""The timeline: a folded axis, lanes, and what leads from a bar to its line and back."""

import itertools
import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from random import Random

import pytest

from drive_trace.report.chart import (
    REJECTED,
    ROOMS,
    Chart,
    TimeAxis,
    chart_of,
    room_of,
    time_axis,
    together,
)
from drive_trace.report.contents import LineFinding, report_on
from drive_trace.report.html import report_html
from drive_trace.report.html.charts import GLYPHS, as_time, days, ticks
from drive_trace.scorecard.dispatches import SPANNING, Outcome
from drive_trace.vocabulary import EVENTS
from tests.report.support import html_of, report_of
from tests.scorecard.support import event
from tests.support.fixtures import trace

_MINUTE = 60_000
_DAY = 1440 * _MINUTE
_START = 20_000 * _DAY + 14 * 60 * _MINUTE  # 2024-10-04T14:00:00Z


def at(minutes: float) -> str:
    moment = datetime(2026, 5, 28, 14, tzinfo=UTC) + timedelta(minutes=minutes)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


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


def test_any_two_dispatches_have_lengths_in_the_ratio_of_their_durations() -> None:
    lengths = {"a": 1371, "b": 57, "c": 8, "d": 0.5, "e": 205}
    lines, start = list[str](), 0.0
    for number, (name, minutes) in enumerate(lengths.items()):
        lines += dispatch(name, start, start + minutes)
        lines.append(event("triage-verdict", ts=at(start + minutes / 2)))
        start += minutes / 2 if number == 1 else minutes + 600 * number
    made = chart(*lines)
    assert [fold.milliseconds for fold in made.axis.folds] != []
    drawn = {bar.name: (bar.right - bar.left) / lengths[bar.name] for bar in made.bars}
    assert max(drawn.values()) / min(drawn.values()) < 1.000001
    assert all(abs(made.axis.scale * _MINUTE / each - 1) < 1e-6 for each in drawn.values())


def test_nothing_is_folded_while_a_dispatch_is_open() -> None:
    axis = axis_of(0, 5, 5000, 9000, 9001, busy=((0, 9000), (4, 6)))
    assert axis.folds == ()
    assert axis.place(_START + 4500 * _MINUTE) == pytest.approx(4500 / 9001)


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
    def named(*minutes: float, busy: tuple[tuple[int, int], ...]) -> list[str]:
        return [each.words for each in days(axis_of(*minutes, busy=busy)) if not each.level]

    assert named(0, 1440, busy=((0, 1440),)) == ["2024-10-04", "2024-10-05"]
    # A day on which nothing begins, and days for which there is no room.
    assert named(0, 3000, busy=((0, 3000),)) == ["2024-10-04", "2024-10-05", "2024-10-06"]
    many = named(0, 43200, busy=((0, 43200),))
    assert many[0].startswith("2024-10-04 – 10-")
    assert many[-1].endswith("11-03")
    years = named(0, 525_600, busy=((0, 525_600),))
    assert any(each.startswith("2024-") and " – 2025-" in each for each in years)


def test_ten_thousand_moments_can_be_zoomed_into() -> None:
    axis = axis_of(*(number * 0.5 for number in range(10_000)), busy=((0, 5000),))
    assert 2 <= axis.levels <= 6
    assert len(ticks(axis)) < 1000


# What stands on it


def test_each_dispatch_has_a_lane_with_its_name() -> None:
    lines = *dispatch("a", 0, 30), *dispatch("b <i>", 10, 20), *dispatch("c", 40, 50)
    made = chart(*lines)
    assert [(bar.name, bar.lane) for bar in made.bars] == [("a", 0), ("b <i>", 1), ("c", 2)]
    assert (made.lanes, made.names) == (3, ["a", "b <i>", "c"])
    page = html_of(*lines)
    assert [*re.findall(r"<li><bdi>(.*?)</bdi>", page)] == ["a", "b &lt;i&gt;", "c"]


def test_of_many_dispatches_those_at_the_same_time_are_in_lanes() -> None:
    others = (dispatch(str(n), 100 + n, 101 + n) for n in range(24))
    lines = *dispatch("a", 0, 30), *dispatch("b", 10, 20), *itertools.chain(*others)
    made = chart(*lines)
    assert [bar.lane for bar in made.bars] == [0, 1, *[0] * 24]
    assert (made.lanes, made.names) == (2, [])
    assert ">✓ 23</text>" in html_of(*lines)


def test_no_label_stands_over_another_at_any_zoom() -> None:
    random = Random(1)
    for _ in range(300):
        places = sorted(random.random() ** random.choice((0.05, 0.3, 1)) for _ in range(40))
        found = [*together(places, 4, ROOMS)]
        for level in range(5):
            shown = sorted(each for each in found if each[2] <= level < (each[3] or 9))
            assert [first for first, *_ in shown] == [0, *(end for _, end, *_ in shown[:-1])]
            ends = [_extent(places[first], end - first, level) for first, end, *_ in shown]
            for (_, right), (left, _) in pairwise(ends):
                assert right <= left + ROOMS[0] / 2**level


def _extent(place: float, count: int, level: int) -> tuple[float, float]:
    """From where to where the label of so many is."""
    room = room_of(count, level)
    if count == 1:
        return place - room / 2, place + room / 2
    return (1 - room, 1.0) if place + room > 1 else (place, place + room)


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
    (mark, _) = made.marks
    assert (mark.kinds, [line.line for line in mark.lines]) == (["rejected"], [3])
    assert mark.place == made.bars[0].right


def test_what_is_too_near_stands_together_and_what_is_serious_is_seen_at_every_zoom() -> None:
    ids = {"dispatch_id": "a", "round_id": "r"}
    sent_back = event("round-end", **ids, verdict="another-round-needed", ts=at(20))
    lines = [event("round-start", **ids, ts=at(19)), sent_back]
    lines += [event("spec-amended", spec_path=f"{n}.md", ts=at(20 + n / 100)) for n in range(30)]
    lines += [event("falsified-assumption", ts=at(20.1)), event("triage-verdict", ts=at(500))]
    made = chart(*dispatch("a", 0, 600), *lines)
    for level in range(made.axis.levels + 1):
        seen = [
            each
            for each in made.marks
            if each.level <= level and (each.until is None or level < each.until)
        ]
        assert sorted(line.line for each in seen for line in each.lines) == [4, *range(5, 37)]
        kinds = {kind for each in seen for kind in each.kinds}
        assert {"falsified-assumption", Outcome.AGAIN, "triage-verdict"} <= kinds
    page = html_of(*dispatch("a", 0, 600), *lines)
    assert re.search(r">!↻\+30</text>", page)


def test_work_after_the_grade_is_marked() -> None:
    text = event("correctness-recorded", ts=at(31))
    assert chart(*dispatch("a", 0, 30), text).stale_from is None
    late = chart(*dispatch("a", 0, 30), text, *dispatch("b", 40, 50))
    assert late.stale_from is not None
    assert late.bars[0].right < late.stale_from < late.bars[1].left


def test_a_first_brief_is_part_of_its_round_and_a_changed_one_has_a_mark() -> None:
    ids = {"dispatch_id": "a", "round_id": "r"}
    briefs = [
        event("brief-issued", **ids, brief_disposition=each, ts=at(2))
        for each in ("initial", "amended")
    ]
    made = chart(*dispatch("a", 0, 30), event("round-start", **ids, ts=at(1)), *briefs)
    ((bar,), (mark,)) = made.bars, made.marks
    assert [line.line for line in bar.rounds[0].lines] == [3, 4]
    assert bar.rounds[0].level > bar.level  # it has no end: the bar is seen without it
    assert (mark.kinds, [each.line for each in mark.lines]) == (["brief-issued"], [5])


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
    page = html_of(*dispatch("a", 0, 30))
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
    assert {*GLYPHS} == {*EVENTS, REJECTED, Outcome.AGAIN, Outcome.HALTED} - {*SPANNING}
    assert len({*GLYPHS.values()}) == len(GLYPHS)


def test_the_legend_says_what_occurs() -> None:
    page = html_of(*dispatch("a", 0, 1, "failed"))
    (legend,) = re.findall(r'<ul class="key">.*?</ul>', page)
    assert "failed" in legend
    assert "completed" not in legend
    assert "spec" not in legend


def test_every_bar_leads_to_its_line_and_back() -> None:
    rounds = [event("round-start", ts=at(1)), event("round-end", ts=at(2))]
    page = html_of(*dispatch("a", 0, 30), *rounds)
    links = re.findall(r'<a href="#(l-0-\d+)" id="(b-0-\d+)"', page)
    assert links == [("l-0-1", "b-0-1"), ("l-0-3", "b-0-3")]
    for line, bar in links:
        assert re.search(rf'<tr id="{line}" data-e="e-\w+"><td><a href="#{bar}">', page)


def test_worked_and_waiting_are_told_apart() -> None:
    ids = {"dispatch_id": "a", "round_id": "r"}
    rounds = [event("round-start", **ids, ts=at(1)), event("round-end", **ids, ts=at(35))]
    lines = [*dispatch("a", 0, 899), *rounds]
    assert "14h 59m by the clock · 28m claimed · 34m in rounds · 14h 25m waiting" in (
        chart(*lines).bars[0].words
    )
    page = html_of(*lines)
    assert "14h 59m; 34m in rounds; 14h 25m waiting" in page


def test_a_log_scale_is_offered_where_one_dispatch_dwarfs_the_others() -> None:
    def page(longest: float) -> str:
        some = (dispatch(str(n), n, n + 1) for n in range(5))
        return html_of(*itertools.chain(*some), *dispatch("x", 9, 9 + longest))

    assert ">Log scale</button>" in page(600)
    assert ">Log scale</button>" not in page(6)


def test_what_shows_no_colour_is_told_by_texture_and_sign() -> None:
    page = html_of(*dispatch("a", 0, 1, "failed"))
    assert 'fill="url(#t-failed)"' in page
    assert ">✗</text>" in page


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
    page = html_of(*lines)
    said = re.findall(r"<td>([a-z-]+)\n<td>([^<\n]*)\n<td>", page)
    assert ("round-end", "a, round 1, satisfied, findings filed 0, 21m") in said
    assert ("dispatch-end", "a, completed, 28m") in said
    assert [words.count("a,") for name, words in said if name == "dispatch-start"] == [1]


def test_a_fold_ends_above_the_words_that_say_its_length() -> None:
    days_apart = [event("brief-issued", ts=f"2026-05-{day}T14:00:00.000Z") for day in (10, 28)]
    page = html_of(*days_apart)
    shown = re.search(r'<rect [^>]*y="(\d+)" height="(\d+)" class="fold"', page)
    said = re.search(r'<text [^>]*y="(\d+)"[^>]*>// ', page)
    assert shown
    assert said
    assert int(shown[1]) + int(shown[2]) < int(said[1])
