"""``record`` and ``emit``: what is on the lines that readers drop, and outputs that cannot be
written.
"""

import re
from pathlib import Path

import pytest

from tests.cli.support import Ran, process, run, write
from tests.support.client_text import apart, graded, tokens, triage

GRADED = graded("pass", "pass", None)
FAILED = graded("fail", "fail", "fail")


def record(path: Path, *options: str) -> list[str]:
    return ["record", "--trace-file", str(path), "--project-run-id", "run-1", *options]


@pytest.mark.parametrize(
    "hidden",
    [
        triage().rstrip("\n") + FAILED,
        "garbage " + FAILED,
        "// " + FAILED,
        f"[{FAILED.strip()}]\n",
        FAILED.replace('"event_type":"correctness-recorded",', ""),
        FAILED[FAILED.index('"project_run_id"') :],
    ],
)
def test_a_grade_on_a_dropped_line_is_not_passed_over(tmp_path: Path, hidden: str) -> None:
    path = write(tmp_path, "trace.jsonl", apart(GRADED + hidden))
    before = path.read_bytes()
    ran = run(*record(path, "--intent", "pass"))
    assert ran.code == 1
    assert "line 2" in ran.err
    assert path.read_bytes() == before
    # A person who has looked at it says all three.
    assert run(*record(path, "--mechanical", "pass", "--qa", "fail", "--intent", "pass")).code == 0


def test_dropped_lines_of_other_runs_do_not_matter(tmp_path: Path) -> None:
    other = "garbage " + graded("fail", "fail", "fail", run="other")
    lines = triage(run="other") + GRADED + other + "garbage\n"
    path = write(tmp_path, "trace.jsonl", apart(lines))
    assert run(*record(path, "--intent", "pass")).code == 0


def test_what_is_recorded_is_no_failure_whatever_becomes_of_the_output(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", GRADED)
    with Path("/dev/full").open("wb") as full:
        ran = process(*record(path, "--intent", "fail"), stdout=full)
    assert ran.code == 0
    assert "recorded on line 2" in ran.err
    assert len(path.read_text("utf-8").splitlines()) == 2


# What is said beside the verdict


def test_rejected_grades_of_other_files_are_told(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", GRADED)
    lines = [
        triage(),
        triage(run="other"),
        graded("pass", "failed", None),  # of the run
        graded("pass", "failed", None, run="other"),
        graded("pass", "failed", None, project_run_id=7),  # of whatever run
        "garbage " + FAILED,
    ]
    other = write(tmp_path, "a/trace.jsonl", "".join(lines))
    only_rejected = write(tmp_path, "b/trace.jsonl", graded("pass", "failed", None))
    write(tmp_path, "c/trace.jsonl", graded("pass", "failed", None, run="other"))
    whole = ("--mechanical", "pass", "--qa", "pass", "--intent", "pass")
    ran = run(*record(path, *whole), tmp_path)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "run-1: CORRECT")
    assert ran.err == (
        f"drive-trace: {other}: 3 correctness lines rejected (lines 3, 5, 6), "
        "not counted\n"
        f"drive-trace: {only_rejected}: 1 correctness line rejected (line 1), not counted\n"
    )


LOOKALIKES = [
    "correctness-record",
    "correctness_recorded",
    "correctnes-recorded",
    "Correctness-Recorded",
    "correctnessRecorded",
    "correctness-\\u0072ecorded ",
]


@pytest.mark.parametrize("name", LOOKALIKES)
def test_an_unknown_event_that_looks_like_a_grade_is_told(name: str, tmp_path: Path) -> None:
    alike = FAILED.replace("correctness-recorded", name)
    other = triage().replace("triage-verdict", "dispatch-recorded")
    path = write(tmp_path, "trace.jsonl", apart(GRADED + alike + other))
    said = "line 2 of an unknown type looks like correctness-recorded; it does not count"
    elsewhere = write(tmp_path, "a/trace.jsonl", "\n" + alike)
    assert f"  ! {said}." in " ".join(run("score", path).out.split("\n    "))
    assert f"  ! {said}" in " ".join(run("score", "--format", "table", path).out.split("\n    "))
    assert f"⚠ {said}." in run("score", "--format", "markdown", path).out
    assert f"⚠ {said}." in run("report", path).out
    page = run("report", "--format", "html", path).out
    assert f"⚠ {said}." in re.sub(r"</?a\b[^>]*>", "", page)
    (file,) = run("score", "--format", "json", path).json["files"]
    assert file["unknown_lines"] == [2, 3]
    (found,) = file["lookalike_lines"]
    assert (found["line"], found["run_id"]) == (2, "run-1")
    assert found["looks_like"] == "correctness-recorded"
    # In another file, of a run that it does not know otherwise.
    assert f"{elsewhere}: {said}" in " ".join(run("score", path, elsewhere).out.split("\n    "))
    assert f"  ! {said}." in " ".join(run("score", elsewhere).out.split("\n    "))
    # What it was meant to say must not get lost.
    ran = run(*record(path, "--intent", "pass"), elsewhere)
    assert ran.code == 1
    assert f"{path}: {said}: only line 1 counts so far" in ran.err
    ran = run(*record(path, "--intent", "pass", "--qa", "pass", "--mechanical", "pass"), elsewhere)
    assert ran.code == 0
    assert f"  {said}\n" in ran.out
    assert f"drive-trace: {elsewhere}: {said}" in ran.err.splitlines()


def test_an_unknown_event_that_looks_like_a_cost_is_told(tmp_path: Path) -> None:
    alike = tokens(1, 2, 3, 4).replace("tokens-recorded", "token-recorded")
    path = write(tmp_path, "trace.jsonl", apart(triage() + alike + alike))
    said = "lines 2, 3 of unknown types look like tokens-recorded; they do not count"
    assert said in run("score", path).out
    ran = run("tokens", *record(path)[1:], "--input-tokens", "5")
    assert (ran.code, said in ran.err) == (1, True)
    # A grade is not in doubt for that.
    assert said not in run(*record(path, "--qa", "pass")).out


@pytest.mark.parametrize(
    "name",
    ["slice-recorded", "retro-recorded", "costs", "record", "token-limit-hit", "tool-called"],
)
def test_other_unknown_events_are_no_slips(name: str, tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", GRADED + triage().replace("triage-verdict", name))
    assert run("score", "--format", "json", path).json["files"][0]["lookalike_lines"] == []
    ran = run(*record(path, "--intent", "pass"))
    assert (ran.code, "unknown type" in ran.out + ran.err) == (0, False)


# emit


def emit(path: Path, run_id: str, event_type: str, payload: str, *options: str) -> Ran:
    target = ("--trace-file", path, "--project-run-id", run_id)
    return run("emit", *target, "--event", event_type, "--payload", payload, *options)


TRIAGE = '{"verdict":"direct-change","input_shape":"chat-ask","input_ref":null}'


@pytest.mark.parametrize("options", [(), ("--dry-run",)])
def test_a_whole_grade_says_which_rejected_one_it_passes_over(
    options: tuple[str, ...], tmp_path: Path
) -> None:
    path = write(tmp_path, "trace.jsonl", GRADED + graded("pass", "failed", None))
    whole = '{"mechanical":"pass","qa":"fail","intent":"pass"}'
    ran = emit(path, "run-1", "correctness-recorded", whole, *options)
    assert ran.code == 0
    assert ran.err == (
        f"drive-trace: {path}: 1 correctness line rejected (line 2), not counted: "
        "what is appended now counts in its place\n"
    )


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("r ", "r"),
        ("R", "r"),
        ("checkout_retry", "checkout-retry"),
        ("Checkout-Retry", "checkout-retry"),
        ("chekout-retry", "checkout-retry"),
        ("shop-2", None),  # beside shop-1, that is another run
        ("shop-1", None),
        ("search", None),
    ],
)
def test_a_run_id_that_is_nearly_one_of_the_trace(
    given: str, meant: str | None, tmp_path: Path
) -> None:
    runs = ("r", "checkout-retry", "shop-1")
    path = write(tmp_path, "trace.jsonl", apart("".join(triage(run=each) for each in runs)))
    said = f'drive-trace: {path}: no run "{given}" in the trace; did you mean "{meant}"?\n'
    for options in (["--dry-run"], []):
        ran = emit(path, given, "triage-verdict", TRIAGE, *options)
        assert (ran.code, ran.err) == (0, said if meant else "")
    assert emit(path, given, "triage-verdict", TRIAGE).err == ""  # it is one of the trace by now
    if meant:
        target = ["record", "--trace-file", str(path), "--project-run-id", f"{given} "]
        refused = run(*target, "--qa", "pass")
        assert (refused.code, "did you mean" in refused.err) == (1, True)


@pytest.mark.parametrize("command", ["emit", "record", "tokens"])
def test_nothing_is_appended_to_a_stream(command: str, here: Path) -> None:
    options = {
        "emit": ["--event", "triage-verdict", "--payload", TRIAGE],
        "record": ["--qa", "pass", "--new-run"],
        "tokens": ["--input-tokens", "5", "--new-run"],
    }[command]
    ran = run(command, "--trace-file", "-", "--project-run-id", "r", *options)
    assert (ran.code, ran.out) == (2, "")
    assert "- is no file to append to" in ran.err
    assert list(here.iterdir()) == []
    assert run(command, "--trace-file", "./-", "--project-run-id", "r", *options).code == 0


def test_a_dry_run_whose_line_cannot_be_written_has_failed(tmp_path: Path) -> None:
    options = ["--project-run-id", "r", "--event", "triage-verdict", "--payload", TRIAGE]
    command = ["emit", "--trace-file", tmp_path / "trace.jsonl", *options]
    with Path("/dev/full").open("wb") as full:
        ran = process(*command, "--dry-run", stdout=full)
    said = "drive-trace: cannot write the output: No space left on device\n"
    assert (ran.code, ran.err) == (2, said)


LATER = graded("pass", "fail", "pass", ts="2026-05-28T16:00:00.000Z")
UNSEEN = {
    "rejected": LATER.replace('"fail"', '"failed"'),
    "of another type": LATER.replace("correctness-r", "correctness_r"),
    "torn": LATER[:-20] + "\n",
    "of no time": LATER.replace('"ts":', '"time":'),
}


@pytest.mark.parametrize("line", UNSEEN.values(), ids=UNSEEN)
def test_a_dropped_grade_above_an_older_one_may_be_the_latest(tmp_path: Path, line: str) -> None:
    path = write(tmp_path, "trace.jsonl", apart(line + graded("pass", "pass", "pass")))
    assert run("score", "--require-correct", path).code == 1
    assert run(*record(path, "--qa", "pass")).code == 1
    assert path.read_text("utf-8").count("\n") == 2
    # A new grade takes the doubt away, unless nobody can read when the other one was.
    whole = ("--mechanical", "pass", "--qa", "pass", "--intent", "pass")
    assert run(*record(path, *whole)).code == 0
    assert run("score", "--require-correct", path).code == ('"ts"' not in line)
