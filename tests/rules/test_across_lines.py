"""The rules that compare lines: what holds of all, and how settings and edits change them."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from drive_trace.analysis import Analysis
from drive_trace.linter.courses import MOST
from drive_trace.linter.rule import (
    Finding,
    LineDiagnostic,
    SameDispatch,
    SameFile,
    SameId,
    Severity,
    SharedEvents,
    UnreadFile,
    WholeTrace,
)
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import DEFAULTS, RuleSettings, fingerprint
from drive_trace.trace.document import Point
from drive_trace.trace.provenance import read_provenance
from drive_trace.trace.reading import read_lines
from drive_trace.trace.run import Run
from tests.support.fixtures import event_id, provenance_of, trace
from tests.support.models import FAMILIES, chance_line, everything

ROOT = Path(__file__).parent.parent.parent
PATH = "projects/alpha/trace.jsonl"
VALUES_OF_FIELDS = "_VALUES of tests/support/models.py"
SUBJECTS = (Run, SameId, SameFile, SameDispatch, WholeTrace)
ACROSS = {code: rule for code, rule in RULES.items() if rule.looks_at in SUBJECTS}


def random_traces(seed: int, count: int) -> Iterator[list[str]]:
    """Few ids, and in the longest ones more lines of a dispatch than are told of one cause."""
    chance = Random(seed)
    for number in range(count):
        names = chance.choice(FAMILIES)
        length = chance.choice([10, 30, 60, 60, 8 * MOST])
        lines = [chance_line(chance, names) for _ in range(chance.randrange(length // 2, length))]
        if number % 20 == 19:
            lines.sort(key=lambda line: line.partition('"ts":')[2], reverse=True)
        yield lines


def analysed(lines: list[str], committed: list[str] | None = None) -> Analysis:
    """In a project's place, and some lines are not as they were committed, and recorded."""
    head = [*lines[::2], *(each.replace("2026", "2025") for each in lines[1::4])]
    told = [each.text for each in read_lines(committed or head) if each.event is not None]
    record = read_provenance(provenance_of("\n".join(told)).encode())
    return Analysis("\n".join(lines), DEFAULTS, PATH, committed or head, record)


def test_what_a_trace_begins_with_is_looked_at_after_each_edit() -> None:
    amended = 'EVENT{"event_type":"spec-amended","spec_path":"projects/%s/spec.md"}'
    analysis = Analysis(trace(amended % "a", amended % "b"))
    started = trace('EVENT{"event_type":"project-started"}').replace(event_id(0), event_id(9))
    code, start = "amended-before-authored", Point(0, 0)
    for end, new, count in ((start, started, 2), (Point(1, 0), "", 0)):
        analysis.edit(start, end, new)
        assert [each.rule.code for each in analysis.findings()].count(code) == count


def edit(analysis: Analysis, lines: list[str], chance: Random, new: list[str]) -> None:
    """Put lines in place of some, of which a few may come back in another order."""
    first = chance.randrange(len(lines))
    stop = max(first, min(len(lines) - 1, first + chance.choice([0, 1, 1, 2, 5])))
    new += lines[first:stop][::-1] if chance.random() < 0.3 else []
    analysis.edit(Point(first, 0), Point(stop, 0), "".join(f"{line}\n" for line in new))
    lines[first:stop] = new


def across_lines(analysis: Analysis) -> list[Finding]:
    return [each for each in analysis.findings() if each.rule.code in ACROSS]


# What holds of all


def test_every_rule_across_lines_finds_something_in_random_traces() -> None:
    never = {*ACROSS} - {"conflicting-verdicts"}  # which needs two files
    # So many that one more value in the models, which changes what is drawn, does not matter.
    for lines in random_traces(1, 2_000):
        never -= {each.rule.code for each in across_lines(analysed(lines))}
        if not never:
            break
    assert not never, f"{never} never fires: give their fields more values in {VALUES_OF_FIELDS}"


def test_edits_leave_what_a_fresh_analysis_finds() -> None:
    chance = Random(2)
    for lines in random_traces(3, 24):
        names = chance.choice(FAMILIES)
        committed = [*lines[::2], *lines[::3]]
        analysis = analysed(lines, committed)
        for _ in range(8):
            new = [chance_line(chance, names) for _ in range(chance.choice([0, 1, 1, 2, 25]))]
            edit(analysis, lines, chance, new)
            assert everything(analysis) == everything(analysed(lines, committed))


def test_no_token_has_two_findings_that_compare_lines() -> None:
    """The most specific one speaks alone."""
    for lines in random_traces(4, 100):
        across = across_lines(Analysis("\n".join(lines), path=PATH))
        # What an id looks like is compared with no line.
        found = [each for each in across if each.rule.code != "invented-id"]
        codes = defaultdict(set)
        for each in found:
            codes[each.line.order, each.place].add(each.rule.code)
        places = Counter((each.line.order, each.place) for each in found)
        assert set(places.values()) <= {1}, [codes[at] for at in places if places[at] > 1]


@pytest.mark.parametrize(
    ("events", "codes"),
    [
        # Of a second end: not that it follows the end, nor that its duration is off.
        ("start end end:5", ["repeated-end"]),
        # Of a second start: not that it follows the end.
        ("start end start", ["repeated-start"]),
        # What was started anew has not ended.
        ("start end start end", ["repeated-start"]),
        # A start below the end was written late; that it is not closed is the same story.
        ("end start other", ["event-after-end"]),
        # Of a second end without a start: that it was never started is said at the first.
        ("end end", ["repeated-end", "unknown-dispatch"]),
        # One that is going on lacks nothing yet.
        ("start round", []),
        ("start round other", []),
        ("start round satisfied other", ["recorded-afterwards", "unclosed-dispatch"]),
    ],
)
def test_who_speaks_of_a_dispatch(events: str, codes: list[str]) -> None:
    written = {
        "start": 'EVENT{"event_type":"dispatch-start"}',
        "end": 'EVENT{"event_type":"dispatch-end","wall_clock_ms":0}',
        "end:5": 'EVENT{"event_type":"dispatch-end","wall_clock_ms":500000}',
        "round": 'EVENT{"event_type":"round-start"}',
        "satisfied": 'EVENT{"event_type":"round-end","verdict":"satisfied"}',
        "other": 'EVENT{"event_type":"dispatch-start","dispatch_id":"'
        '9d2b7c1e-3f4a-4b5c-8d6e-7f8091a2b3c4"}',
    }
    analysis = Analysis(trace(*(written[each] for each in events.split())))
    settings = RuleSettings({"dispatch-without-brief": None})
    analysis.use(settings)
    assert sorted(each.rule.code for each in analysis.findings()) == codes


@pytest.mark.parametrize("first", ["round-start", "brief-issued", "falsified-assumption"])
def test_what_stood_above_a_trace_that_begins_midway_is_told_once(first: str) -> None:
    below = ["brief-issued", "spec-amended", "slice-completed"]
    lines = [f'EVENT{{"event_type":"{each}"}}' for each in (first, *below)]
    lines.append(
        'EVENT{"event_type":"project-closed","slices_completed":2,"final_retro_done":false}'
    )
    told = [*Analysis(trace(*lines)).told()]
    # The round is one of the dispatch.
    assert {each.finding.rule.code for each in told} <= {"unknown-dispatch", "unknown-round"}


@pytest.mark.parametrize(
    ("event", "codes"),
    [
        ("slice-started", ["repeated-slice-completion"]),
        ("project-started", ["repeated-slice-completion", "slice-never-started"]),
    ],
)
def test_who_speaks_of_a_slice(event: str, codes: list[str]) -> None:
    ends = ['EVENT{"event_type":"slice-completed"}'] * 2
    analysis = Analysis(trace(f'EVENT{{"event_type":"{event}"}}', *ends))
    assert sorted(each.rule.code for each in analysis.findings()) == codes


# Settings

TWICE = trace(
    'EVENT{"event_type":"triage-verdict"}',
    f'EVENT{{"event_type":"health-check-fired","event_id":"{event_id(0)}","extra":1}}',
)
ESTIMATED = trace(
    'EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00Z"}',
    'EVENT{"event_type":"round-end","ts":"2026-05-28T14:10:00Z","wall_clock_ms":720000}',
)


def codes_of(analysis: Analysis) -> list[str]:
    codes = [each.rule.code for each in analysis.findings()]
    assert analysis.finding_count == len(codes)
    return codes


def test_a_rule_can_be_turned_off_whatever_it_looks_at() -> None:
    analysis = Analysis(TWICE)
    assert codes_of(analysis) == ["duplicate-event-id", "undeclared-field"]
    analysis.use(RuleSettings({"duplicate-event-id": None}))
    assert codes_of(analysis) == ["undeclared-field"]
    analysis.use(RuleSettings({"undeclared-field": None}))
    assert codes_of(analysis) == ["duplicate-event-id"]
    assert [line for line, _ in analysis.found.select(10)] == [analysis.document.lines[1]]
    analysis.use(RuleSettings({"duplicate-event-id": None, "undeclared-field": None}))
    assert codes_of(analysis) == []
    analysis.use(DEFAULTS)
    assert everything(analysis) == everything(Analysis(TWICE))


def test_a_severity_can_be_set_and_errors_still_come_first() -> None:
    text = TWICE * 2
    analysis = Analysis(text, RuleSettings({"undeclared-field": Severity.ERROR}))
    severities = {each.rule.code: analysis.severity_of(each) for each in analysis.findings()}
    assert severities == {
        "duplicate-event-id": Severity.WARNING,
        "undeclared-field": Severity.ERROR,
    }
    ((line, _),) = analysis.found.select(1)
    assert analysis.line_number(line) == 2


@pytest.mark.parametrize(
    ("options", "is_found"),
    [
        ({}, True),
        ({"tolerance-ms": 119_999}, True),
        ({"tolerance-ms": 120_000}, False),
        ({"tolerance-percent": 19.9}, True),
        ({"tolerance-percent": 20}, False),
    ],
)
def test_a_rule_is_given_its_options(options: dict[str, float], is_found: bool) -> None:
    quiet = {"unknown-dispatch": None}
    found = codes_of(
        Analysis(ESTIMATED, RuleSettings(quiet, {"wall-clock-exceeds-timestamps": options}))
    )
    assert found == ["wall-clock-exceeds-timestamps"] * is_found


def test_what_a_baseline_hides_is_the_same_after_edits() -> None:
    chance = Random(7)
    for lines in random_traces(8, 20):
        lines += [chance.choice(lines) for _ in range(10)]
        settings = RuleSettings(
            {"time-goes-back": None, "unknown-round": Severity.ERROR},
            known={
                fingerprint(each.rule.code, each.line.text): chance.choice([1, 1, 2, 4])
                for each in Analysis("\n".join(lines), path=PATH).findings()
            },
        )
        analysis = Analysis("\n".join(lines), settings, PATH)
        for _ in range(8):
            edit(analysis, lines, chance, chance.choices(lines, k=chance.choice([0, 1, 1, 3])))
            fresh = Analysis("\n".join(lines), settings, PATH)
            assert everything(analysis) == everything(fresh)


def test_every_rule_looks_at_something_that_there_is() -> None:
    beyond_one_trace = {SharedEvents, UnreadFile}
    subjects = {rule.looks_at for rule in RULES.values()}
    assert subjects == {LineDiagnostic, *SUBJECTS, *beyond_one_trace}


# Rejected lines and several runs


def test_a_line_that_is_not_read_may_be_what_seems_to_be_missing() -> None:
    """Whatever is wrong with it: nothing is said that mending it would take back."""
    lines = [
        'EVENT{"event_type":"dispatch-start"}',
        'EVENT{"event_type":"round-start"}',
        'EVENT{"event_type":"brief-issued"}',
        'EVENT{"event_type":"round-end","ts":"2026-05-28T14:21:00.000Z"}',
        'EVENT{"event_type":"dispatch-end","ts":"2026-05-28T14:28:00.000Z"}',
        'EVENT{"event_type":"slice-started"}',
        'EVENT{"event_type":"slice-completed"}',
    ]
    whole = trace(*lines).split("\n")
    assert codes_of(Analysis("\n".join(whole), RuleSettings({"time-goes-back": None}))) == []
    for place, line in enumerate(whole[:-1]):
        for broken in (
            line[:-1],
            line.replace('"schema_version":"1"', '"schema_version":1'),
            line.replace('"event_type":"', '"event_type":"x-'),
        ):
            text = "\n".join([*whole[:place], broken, *whole[place + 1 :]])
            analysis = Analysis(text, RuleSettings({"time-goes-back": None}))
            assert {analysis.where(each).record for each in analysis.findings()} == {place}


def test_ids_count_within_their_run() -> None:
    one, other = (
        [
            f'EVENT{{"project_run_id":"{run}","event_type":"{event}}}'
            for event in ('dispatch-start"', 'brief-issued"', 'dispatch-end","wall_clock_ms":0')
        ]
        for run in ("alpha", "beta")
    )
    quiet = RuleSettings({"unknown-round": None})
    mixed = [line for pair in zip(one, other, strict=True) for line in pair]
    assert codes_of(Analysis(trace(*mixed), quiet)) == []
    assert codes_of(Analysis(trace(*one, *other[1:]), quiet)) == ["unknown-dispatch"] * 2


def test_an_exact_copy_of_a_line_is_one_finding() -> None:
    """Whatever else the line would repeat."""
    lines = (ROOT / "examples/projects/checkout-retry/trace.jsonl").read_text().splitlines()
    for at, line in enumerate(lines):
        twice = "\n".join([*lines[:at], line, *lines[at:], ""])
        found = [each.rule.code for each in Analysis(twice).findings()]
        assert found == ["duplicate-event-id"], line


def test_however_many_findings_an_editor_shows_each_is_made_once() -> None:
    found = Analysis('{"event_type":"dispatch-end"}\n' * 3_000).found
    lines = [line for line, _ in found.select(1_000_000)]
    made = [found.of(line) for line in lines]
    assert len(made) == 3_000
    assert all(found.of(line) is each for line, each in zip(lines, made, strict=True))


@pytest.mark.parametrize(
    ("years", "blamed"),
    [
        ([2020] + [2030] * 10, [1]),
        ([2020] + [2030] * 2, [2, 3]),
        ([2020] + [2031] * 5 + [2042] * 6, [1, 7, 8, 9, 10, 11, 12]),
        ([2022] * 2 + [2024] + [2026] * 3, [1, 2, 3]),
    ],
)
def test_of_years_far_apart_the_first_are_right_unless_far_more_are_later(
    years: list[int], blamed: list[int]
) -> None:
    lines = [
        f'EVENT{{"event_type":"slice-started","ts":"{each}-05-28T14:00:00Z"}}' for each in years
    ]
    found = Analysis(trace(*lines)).findings()
    wrong = [each.line.order + 1 for each in found if each.rule.code == "implausible-time"]
    assert wrong == blamed
