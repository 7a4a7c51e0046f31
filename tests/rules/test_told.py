"""What a rule finds again and again in a run is told once, and nothing of it is lost."""

import json
from pathlib import Path

import pytest

from drive_trace.analysis import Analysis
from drive_trace.features.findings import DiagnosticMaker, DiagnosticOptions
from drive_trace.linter.settings import RuleSettings, Severity
from drive_trace.text.spans import PositionEncoding
from tests.cli.support import run
from tests.support.fixtures import event_id, trace

EXTRA = (
    'EVENT{"event_type":"slice-started","slice_slug":"a%s","slice_index":%s,"brief_path":"b.md"}'
)
THRICE = trace(*(EXTRA % (number, number) for number in (1, 2, 3)))


def test_check_tells_a_run_of_findings_once_with_all_places_and_their_fixes() -> None:
    (finding,) = run("check", "-", "--output-format", "json", stdin=THRICE).json
    assert finding["line"] == 1
    said = "`brief_path` is not declared for `slice-started`: readers ignore it"
    assert finding["message"] == f"{said}, and at 2 more places"
    assert [each["line"] for each in finding["places"]] == [2, 3]
    titles = [fix["title"] for each in finding["places"] for fix in each["fixes"]]
    assert titles == ["Delete `brief_path`"] * 2
    for each in finding["places"]:
        (edit,) = each["fixes"][0]["edits"]
        assert edit["line"] == each["line"]


def test_how_many_there_are_of_how_many_is_told_in_brackets() -> None:
    dispatch = 'EVENT{"event_type":"dispatch-%s","dispatch_id":"%s"}'
    lines = [dispatch % (each, name) for name in "abc" for each in ("start", "end")]
    options = ("--select", "dispatch-without-brief", "--output-format", "json")
    (finding,) = run("check", "-", *options, stdin=trace(*lines)).json
    assert finding["message"].endswith("issued for it, and at 2 more places (3 of 3)")


def test_a_file_that_stands_newest_first_is_one_finding() -> None:
    lines = Path("examples/projects/checkout-retry/trace.jsonl").read_text().splitlines()
    for appended in ([], lines[-1:]):
        turned = "\n".join([*reversed(lines), *appended, ""])
        found = run("check", "-", "--output-format", "json", stdin=turned).json
        codes = [each["code"] for each in found]
        assert codes == ["newest-first"] + ["duplicate-event-id"] * len(appended)
        assert "down to line 57" in found[0]["message"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("> ", "", "unexpected `>`"),
        ("%d\t", "", "unexpected `1`"),
        ("\ufeff", "", "byte-order mark"),
        ("", ";", "`;` after the end of the object"),
        ('{"event":', "}", "the whole event stands inside `event`: a record is the event itself"),
    ],
)
def test_what_was_done_to_each_line_is_one_finding(before: str, after: str, said: str) -> None:
    before = before if "%d" in before else before.replace("%", "%%") + "%.0s"
    lines = (f"{before % (at + 1)}{each}{after}\n" for at, each in enumerate(THRICE.splitlines()))
    found = run("check", "-", "--output-format", "json", stdin="".join(lines)).json
    (error,) = (each for each in found if each["severity"] == "error")
    assert said in error["message"]
    assert error["message"].endswith(", and at 2 more places")


def test_people_are_told_where_else() -> None:
    out = run("check", "-", stdin=THRICE).out
    assert "= also on lines 2, 3\n" in out
    assert out.count("undeclared-field") == 1
    assert "1 warning in 1 trace" in out


def test_statistics_count_every_place_and_say_so() -> None:
    (row,) = run("check", "-", "--statistics", "--output-format", "json", stdin=THRICE).json
    assert row["count"] == 3
    out = run("check", "-", "--statistics", stdin=THRICE).out
    assert "\ncounted by place: 3 places, told as 1 finding\n1 warning in 1 trace\n" in out


def test_a_trace_that_is_an_array_is_one_finding_with_one_repair() -> None:
    records = trace(*(EXTRA % (number, number) for number in (1, 2, 3))).splitlines()
    inside = ",\n".join(records)
    as_a_whole = "1 finding was fixed"
    for text, done in (
        (f"[\n{inside}\n]", as_a_whole),
        (f"[{inside}]", as_a_whole),
        (f'{{"events": [\n{inside}\n]}}', as_a_whole),
        (json.dumps([*map(json.loads, records)], indent=2), "0 findings were fixed"),
        (f"{inside},\n", as_a_whole),
    ):
        found = run("check", "-", "--select", "error", "--output-format", "json", stdin=text).json
        assert [each["line"] for each in found] == [1]
        assert run("check", "-", "--fix", "--unsafe-fixes", stdin=text).out.splitlines() == records
        severities = [each["severity"] for each in json.loads(_diagnostics(text))]
        assert severities.count(Severity.ERROR) == 1 + len(found[0]["places"])
        fixed = run("check", "-", "--fix", stdin=text)
        assert f"\n{done};" in fixed.err
        assert fixed.out == ("\n".join(records) + "\n" if done == as_a_whole else text)


def test_an_object_without_its_end_in_an_array_is_told_by_itself() -> None:
    first, torn, last = trace(*(EXTRA % (number, number) for number in (1, 2, 3))).splitlines()
    text = f"[\n{first},\n{torn[:-1]},\n{last}\n]"
    found = run("check", "-", "--select", "invalid-json", "--output-format", "json", stdin=text)
    (around, cut) = found.json
    assert [each["line"] for each in around["places"]] == [2, 5]
    assert (cut["line"], cut["message"][:10]) == (3, "unfinished")


def test_a_comma_behind_a_record_hides_no_record_that_is_spread_over_lines() -> None:
    first, second, third = trace(*(EXTRA % (number, number) for number in (1, 2, 3))).splitlines()
    text = f"{first},\n{json.dumps(json.loads(second), indent=1)}\n{third},\n"
    found = run("check", "-", "--select", "error", "--output-format", "json", stdin=text).json
    (comma, spread) = found
    assert (comma["line"], len(comma["places"]), spread["line"]) == (1, 1, 2)
    assert "over several lines" in spread["message"]


OURS, THEIRS = "<<<<<<< ours", ">>>>>>> theirs"


@pytest.mark.parametrize(("end", "ours"), [("\n", OURS), ("\r\n", OURS), ("\n", f"\ufeff{OURS}")])
def test_a_merge_conflict_is_one_finding_without_what_follows(end: str, ours: str) -> None:
    first, second, third = trace(*(EXTRA % (each, each) for each in (1, 2, 3))).splitlines()
    sides = [first, second, "=======", first, second.replace('"a2"', '"b"')]
    lines = [ours, *sides, THEIRS, third, OURS, third, "=======", third, THEIRS, third, THEIRS, ""]
    options = ("--ignore", "undeclared-field", "--output-format", "json")
    found = run("check", "-", *options, stdin=end.join(lines)).json
    ends = ["up to line 7", "up to line 13", ""]
    assert [each["message"].partition(" (")[2].rstrip(")") for each in found] == ends
    assert [each["line"] for each in found] == [1, 9, 15]
    assert {each["message"].partition(":")[0] for each in found} == {"a merge conflict"}
    alone = run("check", "-", *options, stdin=end.join([first, "=======", first, ""])).json
    assert [each["code"] for each in alone] == ["invalid-json", "duplicate-event-id"]


def test_a_pretty_printed_event_behind_another_is_one_finding_of_its_own() -> None:
    first, second = trace(*(EXTRA % (each, each) for each in (1, 2))).splitlines()
    text = first + json.dumps(json.loads(second), indent=2) + "\n"
    glued, spread = run("check", "-", "--output-format", "json", stdin=text + text).json[:2]
    assert (glued["line"], spread["line"]) == (1, 2)
    assert "two objects on one line" in glued["message"]
    assert spread["message"].endswith(f"on one line (up to line {text.count(chr(10))})")
    severities = [each["severity"] for each in json.loads(_diagnostics(text))]
    assert severities.count(Severity.ERROR) == text.count("\n")


def test_all_that_is_wrong_with_a_line_is_said() -> None:
    text = trace(EXTRA % (1, 1)).replace('"slice_slug"', '"sliceSlug"').replace('"ts"', '"at"')
    out = run("check", "-", "--ignore", "undeclared-field", stdin=text).out
    both = ["`ts` is missing: did you write it as `at`?", "did you write it as `sliceSlug`?"]
    assert all(each in out for each in both)
    assert "also on" not in out


def _diagnostics(text: str) -> str:
    options = DiagnosticOptions("file:///t.jsonl", PositionEncoding.UTF16, 1000, lambda _: None)
    return DiagnosticMaker(Analysis(text), options).as_json()


def test_an_editor_marks_the_other_places_as_hints() -> None:
    analysis, shown = Analysis(THRICE), json.loads(_diagnostics(THRICE))
    assert [each["range"]["start"]["line"] for each in shown] == [0, 1, 2]
    assert [each["severity"] for each in shown] == [Severity.WARNING, *[Severity.HINT] * 2]
    assert len(shown[0]["relatedInformation"]) == 2
    assert all(analysis.fixes(each) for each in analysis.findings())


def test_fixes_are_counted_as_findings_are() -> None:
    err = run("check", "-", "--fix", stdin=THRICE.replace(",", ", ")).err
    assert "\n1 finding was fixed; 1 more can be fixed in an editor, one at a time\n" in err


def test_another_key_and_another_run_are_another_finding() -> None:
    other = 'EVENT{"event_type":"slice-started","slice_slug":"c","briefs":1}'
    of_other_run = (EXTRA % (9, 9))[:-1] + ',"project_run_id":"another-one"}'
    text = trace(EXTRA % (1, 1), other, of_other_run)
    found = run("check", "-", "--output-format", "json", "--select", "undeclared-field", stdin=text)
    assert [each["line"] for each in found.json] == [1, 2, 3]


def test_a_baseline_knows_each_place_and_not_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "trace.jsonl"
    path.write_text(THRICE, encoding="utf-8")
    run("check", "trace.jsonl", "--write-baseline")
    assert run("check", "trace.jsonl", "--output-format", "json").json == []
    one_more = trace(EXTRA % (7, 7)).replace(event_id(0), event_id(77))
    path.write_text(THRICE + one_more, encoding="utf-8")
    (finding,) = run("check", "trace.jsonl", "--output-format", "json").json
    assert finding["line"] == 4


def test_what_follows_is_told_where_its_cause_is_off() -> None:
    lacking = trace('EVENT{"event_type":"slice-started","x":1}').replace("slice_slug", "y")
    assert [each.finding.rule.code for each in Analysis(lacking).told()] == ["missing-field"]
    off = RuleSettings({"missing-field": None})
    codes = {each.finding.rule.code for each in Analysis(lacking, off).told()}
    assert codes == {"undeclared-field"}


D1, R1 = '"dispatch_id":"D1"', '"dispatch_id":"D1","round_id":"R1"'
ROUND = f'EVENT{{"event_type":"round-start",{R1},"round_number":1}}'
DISPATCH = [f'EVENT{{"event_type":"dispatch-{each}",{D1}}}' for each in ("start", "end")]
RESUMED = [
    *(ROUND, f'EVENT{{"event_type":"round-end",{R1}}}', DISPATCH[1]),
    'EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1"}',
]
SWAPPED = [
    f'EVENT{{"event_type":"dispatch-{what}","dispatch_id":"{name}","ts":"2026-05-28T14:{at}:00Z"}}'
    for what, name, at in (("start", "D1", "00"), ("end", "D2", "28"), ("start", "D2", "29"))
]
LATER = SWAPPED[1].replace("T14:28", "T14:57")
CLOSED = 'EVENT{"event_type":"correctness-recorded","ts":"2026-05-28T14:58:00Z"}'
BROKEN = "{'event_type': 'dispatch-start', 'dispatch_id': 'D1'}"
IN_ARRAY = '{"event_type":"dispatch-start","dispatch_id":["D1"]}'
AUTHORED = [
    r'EVENT{"event_type":"spec-authored","spec_path":"projects\\a\\spec.md"}',
    *(f'EVENT{{"event_type":"spec-amended","spec_path":"projects/{a}/spec.md"}}' for a in "ab"),
]


@pytest.mark.parametrize(
    ("lines", "severities", "told"),
    [
        # One that was not recorded is told once, though another one resumes it.
        (RESUMED, {}, ["unknown-dispatch"]),
        ([BROKEN, *RESUMED], {}, ["invalid-json"]),
        # What is made more severe than the cause is told.
        (
            [BROKEN, *RESUMED],
            {"invalid-json": Severity.WARNING, "unknown-dispatch": Severity.ERROR},
            ["invalid-json", "unknown-dispatch"],
        ),
        # Ends whose ids were swapped, or one that names the next dispatch.
        ([*SWAPPED, LATER.replace("D2", "D1")], {}, ["event-after-end"]),
        ([*SWAPPED, LATER, CLOSED], {}, ["event-after-end"]),
        # That a round never ends does not follow from a second end of its dispatch.
        ([DISPATCH[0], ROUND, *DISPATCH[1:] * 2], {}, ["unclosed-round", "repeated-end"]),
        # What a line has that nothing is told of does not follow from one further up.
        (
            ["{'a':1}", 'EVENT{"event_type":"slice-started"}', IN_ARRAY, DISPATCH[1]],
            dict.fromkeys(["wrong-type", "missing-field"]),
            ["invalid-json", "unknown-dispatch"],
        ),
        # Of two paths, the one that was written in another way.
        (AUTHORED, {}, ["malformed-path", "amended-before-authored"]),
    ],
)
def test_what_follows_is_told_with_its_cause(
    lines: list[str], severities: dict[str, Severity | None], told: list[str]
) -> None:
    off = ("malformed-uuid", "recorded-afterwards", "dispatch-without-brief")
    settings = RuleSettings({**dict.fromkeys(off), **severities})
    assert [each.finding.rule.code for each in Analysis(trace(*lines), settings).told()] == told
