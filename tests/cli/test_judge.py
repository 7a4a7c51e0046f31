"""A judge fills in the intent, if its reply is a verdict and its word is worth something."""

import json
import shlex
from pathlib import Path
from subprocess import run as call

import pytest

from tests.cli.judging import (
    FAIL,
    PASS,
    RUN,
    calibrate,
    command,
    grade,
    judged,
    labels,
    record,
    says,
    write_run,
)
from tests.cli.support import process, run
from tests.scorecard.support import event
from tests.support.fixtures import trace as text_of


@pytest.fixture
def trace(here: Path) -> Path:
    return write_run()


@pytest.mark.parametrize(("reply", "intent"), [(PASS, "pass"), (FAIL, "fail")])
def test_a_verdict_is_recorded_beside_what_was_graded(reply: str, intent: str, trace: Path) -> None:
    ran = judged(*says(reply))
    assert ran.code == 0
    assert grade() == ["pass", "pass", intent]
    (call,) = record()
    assert (call.verdict, call.reply, call.judge.model) == (intent, reply, "gpt-x")
    assert call.reasons[0] in ran.out
    assert "judged by gpt-x" in ran.out
    prompt = Path("prompt").read_text("utf-8")
    assert "Retries are bounded" in prompt
    assert '"event_type":"round-start"' in prompt
    assert '"correctness-recorded"' not in prompt


@pytest.mark.parametrize(
    ("texts", "args", "why", "calls"),
    [
        (["pass", f"[{PASS}]"], [], "JSON, but no object", 2),
        (["", ""], [], "the reply is empty", 2),
        ([PASS, FAIL], ["--repeat", "2"], "1 × pass and 1 × fail", 2),
        ([], [], "exit code 9", 1),
    ],
)
def test_what_is_no_verdict_is_not_recorded(
    texts: list[str], args: list[str], why: str, calls: int, trace: Path
) -> None:
    before = trace.read_bytes()
    ran = judged(*says(*texts), *args, "--output-format", "json")
    assert ran.code == 3
    assert trace.read_bytes() == before
    assert {name: ran.json[name] for name in ("run_id", "intent", "appended", "attempts")} == {
        "run_id": RUN,
        "intent": None,
        "appended": False,
        "attempts": calls,
    }
    assert why in ran.json["why"]
    assert len(record()) == calls


@pytest.mark.parametrize(
    ("who", "why"),
    [
        ({"model": "claude-x"}, "of one family, claude"),
        ({"model": "anthropic/claude-x", "family": "claude-y"}, "of one family, claude"),
        (
            {"model": "my-model"},
            "the family of my-model is not known; name it by --family; for one more, set "
            'families.NAME = ["a word of its models\' ids"] below [judge] in your own '
            "drive-trace.toml, in ",
        ),
        ({"family": "my-model"}, "the orchestrator, is not known"),
    ],
)
def test_a_judge_of_the_orchestrators_family_is_not_asked(
    who: dict[str, str], why: str, trace: Path
) -> None:
    ran = judged(*says(PASS), **who)
    assert ran.code == 1
    assert why in ran.err
    assert not Path("prompt").exists()


def test_a_family_that_is_told_is_no_way_around_the_one_of_the_id(trace: Path) -> None:
    assert judged(*says(PASS), "--family", "qwen", model="claude-x").code == 1
    assert judged(*says(PASS), "--family", "qwen", model="my-model").code == 0


def test_the_configuration_knows_the_orchestrator_and_more_families(trace: Path) -> None:
    args = command(*says(PASS), "--dry-run", family=None)
    ran = run(*args)
    assert (ran.code, "name the --orchestrator-family, or set" in ran.err) == (2, True)
    settings = Path("own/drive-trace.toml")
    settings.parent.mkdir()
    settings.write_text('[judge]\norchestrator-family = "our-coder-2"\n')
    ran = run(*args)
    assert (ran.code, "set families.NAME = [" in ran.err) == (1, True)
    settings.write_text(settings.read_text() + 'families.ours = ["coder", "critic"]\n')
    assert run(*args).code == 0
    args[args.index("gpt-x")] = "our-critic"
    assert "of one family, ours" in run(*args).err
    args[args.index("our-critic")] = "any"
    assert "of one family, ours" in run(*args, "--family", "ours").err
    ran = run(*args, "--family", "theirs")
    assert ran.code == 2
    assert "or ours; for one more, set families.NAME = [" in " ".join(ran.err.split())
    settings.write_text("[judge]\nfamilies = 5\n")
    ran = run(*args)
    assert ran.code == 2
    assert "drive-trace.toml:2:12: `families` must be a table" in ran.err


def test_nothing_that_raises_trust_comes_from_the_judged_tree(trace: Path) -> None:
    before = trace.read_bytes()
    calibrate("gpt-x")
    Path("own/drive-trace-calibration.json").rename("drive-trace-calibration.json")
    Path("drive-trace.toml").write_text(
        '[judge]\norchestrator-family = "claude"\nfamilies.ours = ["any"]\n'
    )
    args = command(*says(PASS), "--output-format", "json")
    untold = command(*says(PASS), "--output-format", "json", family=None)
    unused = "is not used: whoever is judged may have written it; --trust-config uses it"
    ran = run(*untold)
    assert (ran.code, "name the --orchestrator-family" in ran.err) == (2, True)
    assert f"drive-trace.toml: [judge] {unused}" in ran.err
    ran = run(*args)
    assert (ran.code, ran.json["calibrated"], trace.read_bytes()) == (1, False, before)
    assert f"drive-trace-calibration.json: the calibration {unused}" in ran.err
    assert f"calibration.json in your own {Path('own').absolute()}" in ran.err
    assert run(*args, "--family", "ours").code == 2
    # An option says it for the tree, and so does one that names the file.
    ran = run(*untold, "--family", "ours", "--trust-config", "--dry-run")
    assert (ran.code, ran.json["calibration"]) == (0, [])
    named = ("--calibration", "drive-trace-calibration.json", "--dry-run")
    assert run(*args, *named).json["calibration"] == []


def test_only_a_calibrated_judge_is_recorded(trace: Path) -> None:
    before = trace.read_bytes()
    ran = run(*command(*says(PASS)))
    assert ran.code == 1
    assert "the judge is not calibrated: there is no drive-trace-calibration.json" in ran.err
    Path("labels.csv").write_text(labels(0))
    assert run("calibrate", "labels.csv", "--model", "gpt-x").code == 1
    assert run(*command(*says(PASS))).code == 1  # nothing was kept of that
    assert (trace.read_bytes(), Path("prompt").exists()) == (before, False)
    calibrate("gpt-x")
    assert "calibration is of another model" in run(*command(*says(PASS), model="gpt-y")).err
    ran = run(*command(*says(PASS), "--output-format", "json"))
    assert (ran.code, ran.json["calibrated"], ran.json["appended"]) == (0, True, True)
    assert grade() == ["pass", "pass", "pass"]
    (call,) = record()
    assert call.agreement == pytest.approx(52 / 53)


def test_an_uncalibrated_judge_is_recorded_if_asked_for(trace: Path) -> None:
    args = command(*says(PASS), "--allow-uncalibrated", "--output-format", "json")
    ran = run(*args)
    assert (ran.code, ran.json["calibrated"], ran.json["appended"]) == (0, False, True)
    assert "the judge is not calibrated: there is no drive-trace-calibration.json" in ran.err
    assert grade() == ["pass", "pass", "pass"]
    (call,) = record()
    assert (call.agreement, call.agreement_interval) == (None, None)
    scored = run("score", "trace.jsonl").out
    assert "intent: pass, by gpt-x, prompt v" in scored
    assert "the intent was judged by an uncalibrated judge" in scored


def test_a_dry_run_shows_the_prompt_and_sends_nothing(trace: Path) -> None:
    before = trace.read_bytes()
    ran = run(*command(*says(PASS), "--dry-run"))
    assert ran.code == 0
    assert "retry(3)" in ran.out
    assert "tokens, estimated" in ran.err
    assert 'would append, for a pass: {"event_id"' in ran.err
    assert (trace.read_bytes(), Path("prompt").exists(), record()) == (before, False, [])


def test_a_dry_run_as_json_says_what_would_be_done(trace: Path) -> None:
    found = run(*command(*says(PASS), "--dry-run", "--output-format", "json")).json
    assert found["run_id"] == RUN
    assert (found["intent"], found["appended"], found["attempts"]) == (None, False, 0)
    assert "retry(3)" in found["prompt"]
    assert found["prompt_tokens"] > 100
    assert found["destination"].startswith("the command n=")
    assert json.loads(found["would_append"])["intent"] == "pass"
    assert found["left_out"] == []
    assert "there is no drive-trace-calibration.json in your own " in found["calibration"][0]
    assert judged(*says(PASS), "--dry-run", "--output-format", "json").json["calibration"] == []


@pytest.mark.parametrize(
    ("changed", "code", "why"),
    [
        ({RUN: "another"}, 1, "no valid event of the run"),
        ({"acceptance.md": "none.md"}, 2, "none.md"),
        ({"run.diff": "acceptance"}, 2, "acceptance"),
        ({"trace.jsonl": "none.jsonl"}, 2, "none.jsonl"),
        ({"gpt-x": "claude-x"}, 1, "of one family"),
        ({"--diff": "--repo"}, 2, "a --repo and a --range"),
    ],
)
def test_what_is_refused_is_said_as_json_too(
    changed: dict[str, str], code: int, why: str, trace: Path
) -> None:
    calibrate("gpt-x")
    args = [changed.get(each, each) for each in command(*says(PASS), "--output-format", "json")]
    ran = run(*args)
    assert (ran.code, ran.json["appended"], ran.json["intent"]) == (code, False, None)
    assert why in ran.json["why"]
    assert "--new-run" not in ran.err


def test_a_verdict_that_cannot_be_recorded_is_still_said(trace: Path) -> None:
    empties = f": > trace.jsonl; printf %s {shlex.quote(PASS)}"
    ran = judged("--model-command", empties, "--output-format", "json")
    assert (ran.code, ran.json["intent"], ran.json["appended"]) == (1, "pass", False)
    assert "no valid event of the run" in ran.json["why"]
    assert ran.json["attempts"] == 1


def test_a_case_is_a_folder(trace: Path) -> None:
    case = Path("case")
    case.mkdir()
    (case / "acceptance.md").write_text("AC-7")
    (case / "reference.md").write_text("They used a queue.")
    args = command(*says(PASS), "--dry-run", acceptance="case")
    assert "They used a queue." in run(*args).out
    (case / "acceptance.md").unlink()
    assert run(*args).code == 2


def test_a_range_of_commits_is_a_diff_and_runs_nothing_of_the_repository(trace: Path) -> None:
    repo = Path("repo")
    mark = Path("ran").resolve()
    git = ["git", "-C", str(repo), "-c", "user.name=x", "-c", "user.email=x@x"]
    call(["git", "init", "-q", str(repo)], check=True)
    for text in ("one", "two"):
        (repo / "a.txt").write_text(f"{text}\n")
        (repo / ".gitattributes").write_text("*.txt diff=evil\n")
        call([*git, "add", "."], check=True)
        call([*git, "commit", "-qm", text], check=True)
    programs = "diff.external diff.evil.command diff.evil.textconv core.pager core.fsmonitor"
    for name in programs.split():
        call([*git, "config", name, f"touch {mark};"], check=True)
    commits = ("--repo", "repo", "--range", "HEAD~1..HEAD")
    args = command(*says(PASS), "--dry-run", diff=commits)
    ran = run(*args)
    assert (ran.code, mark.exists()) == (0, False)
    assert "+two" in ran.out
    for wrong in ("--output=x..y", "HEAD", "none..HEAD"):
        args[args.index("--range") + 1] = wrong
        assert run(*args).code == 2


def test_a_folder_or_commit_that_is_not_there_is_named(trace: Path) -> None:
    call(["git", "init", "--quiet", "shop"], check=True)
    commit = ["commit", "--quiet", "--allow-empty", "--message", "first"]
    who = ["-c", "user.name=ada", "-c", "user.email=ada@example.com"]
    call(["git", "-C", "shop", *who, *commit], check=True)
    for repo, commits, told in (
        ("nope", "HEAD..HEAD", "nope: no such folder"),
        ("shop", "HEAD..nosuch", "HEAD..nosuch: there is no commit nosuch in shop"),
        (".", "main..HEAD", ".: is in no repository of git"),
    ):
        shown = ("--repo", repo, "--range", commits)
        ran = process(*command(*says(PASS), "--dry-run", diff=shown))
        assert (ran.code, ran.err) == (2, f"drive-trace: {told}\n")


def test_a_record_that_leads_out_of_the_folder_is_refused_before_a_model_is_asked(
    trace: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    calibrate("gpt-x")
    before = trace.read_bytes()
    other = tmp_path_factory.mktemp("elsewhere") / "record"
    link = Path("trace.jsonl.judgements.ndjson")
    link.symlink_to(other)
    ran = run(*command(*says(PASS)))
    assert (ran.code, trace.read_bytes(), other.exists()) == (2, before, False)
    assert "not written: link out of the repository" in ran.err
    assert "nothing was written to trace.jsonl" in ran.err
    assert not Path("prompt").exists()
    # What readers follow is written to, too.
    link.unlink()
    link.symlink_to("record")
    assert run(*command(*says(PASS))).code == 0
    assert len(record()) == 1


def test_a_diff_of_which_nothing_can_be_shown_is_not_judged(trace: Path) -> None:
    before = trace.read_bytes()
    Path("run.diff").write_text("diff --git a/a.ts b/a.ts\n+++ b/a.ts\n" + "+x\n" * 100_000)
    ran = judged(*says(PASS), "--output-format", "json")
    assert (ran.code, trace.read_bytes(), Path("prompt").exists()) == (3, before, False)
    assert "nothing of the diff can be shown: a.ts (+100,000 −0)" in ran.json["why"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("garbage\n", 2),
        ("--- a heading\n", 2),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", 0),
        ("--- a.ts\r\n+++ b.ts\r\n@@ -1 +1 @@\r\n-x\r\n+y\r\n", 0),
        ("*** a.ts\n--- b.ts\n***************\n*** 1 ****\n! x\n", 0),
        ("@@ -1 +1 @@\n-x\n+y\n", 0),
    ],
)
def test_what_is_no_diff_is_not_judged(text: str, code: int, trace: Path) -> None:
    Path("run.diff").write_bytes(text.encode())
    ran = run(*command(*says(PASS), "--dry-run"))
    assert ran.code == code
    assert ("run.diff: is no diff: it has neither" in ran.err) == (code == 2)


def test_a_prompt_has_an_end(trace: Path) -> None:
    case = Path("case")
    case.mkdir()
    for name in ("acceptance", "reference"):
        (case / f"{name}.md").write_text("x" * 600_000)
    ran = run(*command(*says(PASS), acceptance="case"))
    assert ran.code == 2
    assert "characters, and may have 1,000,000; shorten case" in ran.err


def test_a_verdict_on_the_work_of_before_qualifies_the_next_grade(trace: Path) -> None:
    judged(*says(PASS))
    with trace.open("a", encoding="utf-8") as file:
        file.write(text_of(event("dispatch-end")))
    again = "--trace-file", trace, "--project-run-id", RUN, "--qa", "pass"
    assert "CORRECT, but intent by what may be older than the work" in run("record", *again).out
    assert judged(*says(PASS, PASS)).code == 0
    assert "older than the work" not in run("score", trace).out


def test_the_judge_sees_the_run_in_all_its_files(trace: Path) -> None:
    Path("earlier").mkdir()
    Path("earlier/trace.jsonl").write_text(text_of(event("slice-started")), "utf-8")
    prompt = run(*command(*says(PASS), "--dry-run")).out
    assert prompt.count('"event_type":"slice-started"') == 1
    assert prompt.count('"event_type":"round-start"') == 1
    prompt = run(*command(*says(PASS), "--dry-run", "--only-this-file")).out
    assert "slice-started" not in prompt


def test_what_is_left_out_of_a_long_run_is_said(trace: Path) -> None:
    numbered = (event("round-start", round_number=number) for number in range(1, 301))
    trace.write_text(text_of(*numbered), "utf-8")
    found = run(*command(*says(PASS), "--dry-run", "--output-format", "json"))
    assert found.json["left_out"] == ["100 events in the middle of the run"]
    assert "left out: 100 events in the middle" in found.err


def test_labels_by_another_rule_do_not_calibrate(trace: Path) -> None:
    rows = labels(12).replace("judge\n", "judge,labelling_rule\n", 1)
    head, *others = rows.rstrip("\n").split("\n")
    Path("labels.csv").write_text("\n".join([head, *(f"{each},strict" for each in others)]))
    assert run("calibrate", "labels.csv", "--model", "gpt-x").code == 0
    ran = run(*command(*says(PASS), "--labelling-rule", "lenient"))
    assert (ran.code, "its labels follow another rule" in ran.err) == (1, True)
    assert run(*command(*says(PASS), "--labelling-rule", "strict")).code == 0


@pytest.mark.parametrize("option", ["--model-command", "--base-url", "--labelling-rule"])
def test_an_option_that_is_empty_is_a_variable_that_is_not_set(option: str, trace: Path) -> None:
    assert run(*command(option, " ")).code == 2


def test_a_recorded_reply_says_nothing_of_other_criteria(trace: Path) -> None:
    assert judged(*says(PASS)).code == 0
    record = "trace.jsonl.judgements.ndjson"
    assert run(*command("--replay", record)).code == 0
    Path("acceptance.md").write_text("AC-9 holds.\n")
    ran = run(*command("--replay", record))
    assert (ran.code, "no recorded reply is left" in ran.err) == (3, True)
