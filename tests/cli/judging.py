"""A run that a judge is asked about, and what it makes of it."""

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from drive_trace.grading.judgements import Judgement, read_judgements
from tests.cli.support import Ran, run
from tests.scorecard.support import event, graded
from tests.support.fixtures import trace as text_of

RUN = "checkout-retry"
PASS = '{"reasons": ["AC-1 holds (a.ts:1)"], "intent": "pass"}'
FAIL = '{"reasons": ["AC-1 does not hold"], "intent": "fail"}'
KEY = "sk-secret-1234"
_SCHEMAS = Path(__file__).parents[2] / "schemas"
SCHEMA, GATE_SCHEMA = (
    Draft202012Validator(json.loads(Path(_SCHEMAS, name).read_text("utf-8")))
    for name in ("judgement.schema.json", "gating.schema.json")
)


def write_run() -> Path:
    """Write all that judge reads into the current folder."""
    # The user's own settings are those of nobody else.
    os.environ["DRIVE_TRACE_CONFIG"] = str(Path("own").absolute())
    Path("drive-trace.toml").write_text("")
    Path("acceptance.md").write_text("- **AC-1** Retries are bounded.\n")
    Path("run.diff").write_text("diff --git a/a.ts b/a.ts\n+++ b/a.ts\n+retry(3)\n")
    path = Path("trace.jsonl")
    path.write_text(text_of(event("round-start"), graded("pass", "pass", None)), "utf-8")
    return path


def command(
    *args: str | Path,
    model: str = "gpt-x",
    family: str | None = "claude",
    acceptance: str = "acceptance.md",
    diff: Sequence[str] = ("--diff", "run.diff"),
) -> list[str]:
    """The arguments that have a run judged; without a ``family``, that of the orchestrator is not
    told.
    """
    target = ["--trace-file", "trace.jsonl", "--project-run-id", RUN]
    shown = ["--acceptance", acceptance, *diff]
    who = ["--model", model, *(["--orchestrator-family", family] if family else [])]
    return ["judge", *target, *shown, *who, *map(str, args)]


def says(*texts: str) -> list[str]:
    """A model that replies with one text after another."""
    script = "n=$(cat n 2>/dev/null || echo 0); echo $((n+1)) > n; cat > prompt; case $n in "
    for number, text in enumerate(texts):
        script += f"{number}) printf %s {shlex.quote(text)};; "
    return ["--model-command", f"{script}*) exit 9;; esac"]


def judged(*args: str | Path, **who: str) -> Ran:
    """What a judge does that was calibrated before."""
    calibrate(who.get("model", "gpt-x"))
    return run(*command(*args, **who))


def labels(caught: int) -> str:
    rows = [("fail", "fail")] * caught + [("fail", "pass")] * (13 - caught)
    rows += [("pass", "pass")] * 40
    return "case,human,judge\n" + "".join(f"c{at},{h},{j}\n" for at, (h, j) in enumerate(rows))


def calibrate(model: str) -> None:
    Path("labels.csv").write_text(labels(12))
    assert run("calibrate", "labels.csv", "--model", model).code == 0


def grade() -> list[Any]:
    last = json.loads(Path("trace.jsonl").read_text("utf-8").rstrip("\n").split("\n")[-1])
    return [last.get(name) for name in ("mechanical", "qa", "intent")]


def record() -> list[Judgement]:
    path = Path("trace.jsonl.judgements.ndjson")
    records = path.read_text("utf-8").splitlines() if path.exists() else []
    for each in map(json.loads, records):
        (GATE_SCHEMA if "gate_version" in each else SCHEMA).validate(each)
    found, _, rejected = read_judgements(records)
    assert not rejected
    return found
