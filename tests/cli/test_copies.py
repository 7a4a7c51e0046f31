"""Events that stand more than once: in one file, in several, under another run id."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import marked, run, write
from tests.scorecard.support import PASSED, event
from tests.support.fixtures import trace

DISPATCH, OTHER = "d-1", "d-2"
EARLY, LATE = "2026-05-28T13:00:00.000Z", "2026-05-28T15:00:00.000Z"
SATISFIED: dict[str, Any] = {"mechanical": "pass", "qa": "pass", "intent": "pass"}
EVENTS = (
    event("dispatch-start", dispatch_id=DISPATCH),
    event("round-start", dispatch_id=DISPATCH, round_id="r-1", event_id="e-1"),
    event("round-start", dispatch_id=DISPATCH, round_id="r-2", event_id="e-2"),
    event("dispatch-end", dispatch_id=DISPATCH, wall_clock_ms=60_000, event_id="e-3"),
    PASSED,
)
CHANGED = PASSED.replace('"intent"', '"note":"another/path","intent"')
MORE = event("round-start", dispatch_id=OTHER, round_id="r-3", event_id="e-4", ts=EARLY)


def efficiency(folder: Path) -> tuple[float, int]:
    (shown,) = run("score", "--format", "json", folder).json["runs"]
    found = shown["efficiency"]
    return found["rounds_per_dispatch"], found["wall_clock_ms"]


def caveats(folder: Path) -> Any:
    (shown,) = run("score", "--format", "json", folder).json["runs"]
    return shown["caveats"]


def metrics(folder: Path) -> object:
    return run("report", "--format", "json", folder).json["metrics"]


def event_id(line: str) -> str:
    found = json.loads(trace(line))["event_id"]
    assert isinstance(found, str)
    return found


@pytest.fixture
def once(tmp_path: Path) -> Path:
    write(tmp_path, "once/a/trace.jsonl", trace(*EVENTS))
    return tmp_path / "once"


def test_a_copied_trace_counts_once_and_is_named(tmp_path: Path, once: Path) -> None:
    first = write(tmp_path, "twice/a/trace.jsonl", trace(*EVENTS))
    copy = write(tmp_path, "twice/b/trace.jsonl", trace(*EVENTS).replace("\n", " \r\n"))
    twice = tmp_path / "twice"
    assert efficiency(twice) == efficiency(once) == (2.0, 60_000)
    assert metrics(twice) == metrics(once)
    card = run("score", "--format", "json", twice).json
    (caveat,) = card["runs"][0]["caveats"]
    assert (caveat["code"], caveat["qualifies"]) == ("copied-events", False)
    assert caveat["lines"] == [{"path": str(copy), "line": 1}]
    assert str(first) in caveat["message"]
    assert run("score", "--require-correct", twice).code == 0
    # The card of all CORRECT runs together says the same.
    assert card["efficiency"]["rounds_per_dispatch"] == 2.0


def test_other_events_of_the_run_in_another_file_count(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    write(tmp_path, "b/trace.jsonl", trace(MORE))
    assert efficiency(tmp_path) == (1.5, 60_000)
    assert caveats(tmp_path) == []
    assert between(tmp_path) == []


def test_a_partial_copy_counts_once_too(tmp_path: Path) -> None:
    first = write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    # The other file has a line more in between, and what is copied is written with white space.
    spaced = trace(*EVENTS[:4]).replace('","', '", "')
    second = write(tmp_path, "b/trace.jsonl", trace(MORE) + spaced)
    assert efficiency(tmp_path) == (1.5, 60_000)
    (caveat,) = caveats(tmp_path)
    assert (caveat["code"], caveat["lines"]) == (
        "copied-events",
        [{"path": str(second), "line": 2}],
    )
    assert (
        f"4 events that stand in several files count once, as in {first} and" in (caveat["message"])
    )
    second.write_text(trace(EVENTS[0]))
    said = "copied in 1 file: 1 event that stands in several files counts once, as in "
    assert caveats(tmp_path)[0]["message"].startswith(said)
    second.write_text(trace(MORE) + spaced)
    write(tmp_path, "once/a/trace.jsonl", trace(*EVENTS))
    write(tmp_path, "once/b/trace.jsonl", trace(MORE))
    shown = run("report", "--format", "json", tmp_path / "a", tmp_path / "b").json
    once = run("report", "--format", "json", tmp_path / "once").json
    assert shown["metrics"] == once["metrics"]


@pytest.mark.parametrize("copied_to", ["0", "b"])
def test_copied_work_after_the_grade_makes_it_stale_once(tmp_path: Path, copied_to: str) -> None:
    late = [
        event("round-start", round_id=name, ts="2030-01-01T00:00:00.000Z", event_id=name)
        for name in ("late-1", "late-2")
    ]
    write(tmp_path, "a/trace.jsonl", trace(PASSED, *late))
    write(tmp_path, f"{copied_to}/trace.jsonl", trace(*late))
    stale, copied = caveats(tmp_path)
    assert stale["message"].startswith("stale: 2 events after the grade")
    assert copied["code"] == "copied-events"
    assert run("score", "--require-correct", tmp_path).code == 1


def test_one_id_for_two_events_is_said_and_both_count(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    other = event("round-start", dispatch_id=OTHER, round_id="r-9", event_id="e-1", ts=EARLY)
    write(tmp_path, "b/trace.jsonl", trace(other))
    assert efficiency(tmp_path) == (1.5, 60_000)
    (caveat,) = caveats(tmp_path)
    assert (caveat["code"], caveat["qualifies"]) == ("conflicting-event-id", False)
    assert [each["line"] for each in caveat["lines"]] == [2, 1]
    for command in ("score", "report"):
        said = " ".join(run(command, tmp_path).out.split())
        assert "1 event with the id of another in another file, and both count" in said


# In one file


def test_lines_pasted_again_into_the_file_count_once(tmp_path: Path, once: Path) -> None:
    write(tmp_path, "twice/a/trace.jsonl", trace(*EVENTS[:4], *EVENTS))
    twice = tmp_path / "twice"
    assert efficiency(twice) == efficiency(once) == (2.0, 60_000)
    (caveat,) = caveats(twice)
    assert (caveat["code"], caveat["qualifies"]) == ("copied-events", False)
    assert caveat["message"] == "4 lines copied within the file, not counted again in its figures"
    assert run("score", "--require-correct", twice).code == 0
    assert rows(twice)["rounds_per_dispatch"] == 2.0
    # Another file that has them, too, changes nothing.
    write(tmp_path, "twice/b/trace.jsonl", trace(*EVENTS[:4], *EVENTS[:4]))
    assert efficiency(twice) == (2.0, 60_000)
    assert rows(twice)["wall_clock_ms"] == 60_000


FAILED = event("correctness-recorded", mechanical="pass", qa="fail", intent="pass", ts=LATE)
OUT_OF_ORDER = {
    "the line of an earlier grade pasted below a later one": (
        [PASSED, FAILED, PASSED],
        "copied-events",
    ),
    "the same with a path and a slug changed": ([PASSED, FAILED, CHANGED], "copied-events"),
    "the grade pasted below work": ([PASSED, MORE, PASSED], "copied-events"),
    "a grade below one that is later": ([FAILED, PASSED], "contradicting-grades"),
}


@pytest.mark.parametrize("case", OUT_OF_ORDER)
def test_grades_out_of_order_are_uncertain_until_somebody_grades_again(
    tmp_path: Path, case: str
) -> None:
    lines, code = OUT_OF_ORDER[case]
    path = write(tmp_path, "trace.jsonl", trace(*lines))
    assert run("score", "--require-correct", path).code == 1
    (shown,) = run("score", "--format", "json", path).json["runs"]
    assert shown["verdict"] == "correct"  # as for all readers
    assert code in [each["code"] for each in shown["caveats"] if each["qualifies"]]
    assert rows(path)["standing"] == "qualified"
    # What the grade that counts says is not carried over: only a whole grade heals it.
    record = ("record", "--trace-file", path, "--project-run-id", "checkout-retry")
    refused = run(*record, "--mechanical", "pass")
    assert refused.code == 1
    assert "give every component anew" in refused.err
    assert run(*record, "--mechanical", "pass", "--qa", "pass", "--intent", "pass").code == 0
    assert run("score", "--require-correct", path).code == 0


# Under another run id


def another(line: str, run_id: str) -> str:
    """The event with another run id and slug."""
    told = json.loads(trace(line)) | {"project_run_id": run_id}
    slug = {"project_slug": run_id} if "project_slug" in told else {}
    return json.dumps(told | slug, separators=(",", ":"))


def rows(folder: Path) -> Any:
    """The rows of a fleet: of the one run, or all."""
    lines = run("fleet", folder, "--no-cache", "--out", "-").out.splitlines()
    found = [json.loads(line) for line in lines]
    return found[0] if len(found) == 1 else found


@pytest.mark.parametrize("is_one_file", [True, False])
def test_a_run_copied_under_other_ids_is_no_repetition(tmp_path: Path, is_one_file: bool) -> None:
    for at in range(4):
        text = "".join(another(line, f"run-{at}") + "\n" for line in EVENTS)
        path = tmp_path / ("trace.jsonl" if is_one_file else f"{at}/trace.jsonl")
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as file:
            file.write(text)
    ran = run("score", "--require-correct", tmp_path)
    assert ran.code == 1
    assert "4 CORRECT with caveats" in ran.out
    shown = run("score", "--format", "json", tmp_path).json["runs"]
    for each in shown:
        (caveat,) = each["caveats"]
        assert (caveat["code"], caveat["qualifies"]) == ("copied-events", True)
        message = ": another run has the same events, so that either may be the copy"
        assert caveat["message"].endswith(f"trace.jsonl{message}")
    assert [each["standing"] for each in rows(tmp_path)] == ["qualified"] * 4
    assert "4 CORRECT with caveats" in run("fleet", tmp_path, "--no-cache").out


def test_one_copied_event_makes_both_runs_uncertain(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    other = [another(MORE, "other"), another(EVENTS[1], "other"), another(PASSED, "other")]
    write(tmp_path, "b/trace.jsonl", "\n".join(other) + "\n")
    write(tmp_path, "c/trace.jsonl", another(FAILED, "third") + "\n")
    found = {each["run_id"]: each["is_certain"] for each in rows(tmp_path)}
    assert found == {"checkout-retry": False, "other": False, "third": True}


def test_the_same_id_of_another_event_of_another_run_is_no_copy(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    other = another(event("round-start", event_id="e-1", ts=EARLY), "other")
    graded_again = another(event("correctness-recorded", event_id="g", **SATISFIED), "other")
    write(tmp_path, "b/trace.jsonl", f"{other}\n{graded_again}\n")
    assert run("score", "--require-correct", tmp_path).code == 0


# What check says


def between(folder: Path) -> list[Any]:
    found = run("check", "--output-format", "json", folder).json
    return [each for each in found if each["code"] in {"copied-events", "conflicting-event-id"}]


def concise(*paths: Path) -> list[str]:
    out = run("check", "--output-format", "concise", *paths).out
    return [line for line in out.splitlines() if "copied-" in line or "conflicting-event" in line]


def test_check_names_a_copy_on_its_first_event(tmp_path: Path) -> None:
    first = write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    spaced = trace(*EVENTS[:4]).replace('","', '", "')
    text = trace(MORE) + spaced
    second = write(tmp_path, "b/trace.jsonl", text)
    (found,) = between(tmp_path)
    assert (found["code"], found["severity"], found["path"]) == (
        "copied-events",
        "warning",
        str(second),
    )
    assert (found["line"], marked(text, found)) == (2, json.dumps(event_id(EVENTS[0])))
    assert found["message"] == (
        f"4 events of this file stand in {first} too (this one on line 1); "
        "within a run they count once"
    )
    (line,) = concise(tmp_path)
    assert line.startswith(f"{second}:2:")
    assert f"4 events of this file stand in {first} too" in line
    log = run("check", "--output-format", "sarif", tmp_path).json
    (result,) = [each for each in log["runs"][0]["results"] if each["ruleId"] == "copied-events"]
    (there,) = [each["physicalLocation"] for each in result["relatedLocations"]]
    assert there["artifactLocation"]["uri"] == first.as_uri()
    assert there["region"]["startLine"] == 1


def test_check_names_each_file_that_holds_copies(tmp_path: Path) -> None:
    first = write(tmp_path, "a/trace.jsonl", trace(*EVENTS[:2]))
    second = write(tmp_path, "b/trace.jsonl", trace(*EVENTS[2:]))
    third = write(tmp_path, "c/trace.jsonl", trace(*EVENTS))
    assert [(each["path"], each["line"], each["message"]) for each in between(tmp_path)] == [
        (
            str(third),
            line,
            f"{count} events of this file stand in {path} too (this one on line 1); "
            "within a run they count once",
        )
        for line, count, path in ((1, 2, first), (3, 3, second))
    ]


def test_check_says_which_ids_are_those_of_other_events(tmp_path: Path) -> None:
    first = write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    others = [
        event("round-start", dispatch_id=OTHER, round_id=f"r-{name}", event_id=name, ts=EARLY)
        for name in ("e-1", "e-2", "e-9")
    ]
    text = trace(*others)
    second = write(tmp_path, "b/trace.jsonl", text)
    (found,) = between(tmp_path)
    assert (found["code"], found["path"], found["line"]) == ("conflicting-event-id", str(second), 1)
    assert marked(text, found) == '"e-1"'
    assert found["message"] == (
        f"{first}:2 has another event with this `event_id`; both count; "
        "so it is with 1 more of this file"
    )
    (line,) = concise(tmp_path)
    assert f"{first}:2 has another event" in line


def test_what_check_finds_between_files_can_be_set_and_known(tmp_path: Path) -> None:
    first = write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    second = write(tmp_path, "b/trace.jsonl", trace(*EVENTS))
    toml = write(tmp_path, "drive-trace.toml", '[rules]\ncopied-events = "error"\n')
    assert ": error[copied-events]" in concise(first, second)[0]
    assert run("check", tmp_path).code == 1
    run("check", "--write-baseline", tmp_path)
    assert concise(first, second) == []
    (tmp_path / "drive-trace-baseline.json").unlink()
    toml.write_text('[rules]\ncopied-events = "off"\n')
    assert concise(first, second) == []


def test_sums_count_the_dispatches_of_each_run(tmp_path: Path) -> None:
    for run_id in ("one", "two"):
        copy = trace(*EVENTS).replace('"checkout-retry"', f'"{run_id}"')
        write(tmp_path, f"{run_id}.jsonl", copy)
    card = run("score", "--format", "json", *tmp_path.iterdir()).json
    assert [each["efficiency"]["rounds_per_dispatch"] for each in card["runs"]] == [2, 2]
    assert card["efficiency"]["rounds_per_dispatch"] == 2
