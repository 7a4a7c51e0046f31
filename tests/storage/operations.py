"""What writes files, for tests in which that goes wrong."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from drive_trace.storage.files import Problem
from drive_trace.storage.projects import Projects
from drive_trace.storage.toml_models import turn_off
from tests.cli.judging import PASS, command, says, write_run
from tests.cli.support import Ran, run, write
from tests.storage.support import SLICE
from tests.support.client_text import graded, triage

TRACE = triage() + graded("pass", None, None)
TARGET = ("--trace-file", "trace.jsonl", "--project-run-id", "run-1")
EVENT = ("--event", "slice-started", "--payload", SLICE)
PROVENANCE = "trace.jsonl.provenance.ndjson"
"""Written after the trace: without it, an event is recorded all the same."""
MISTAKE = triage()[:-2] + ",}\n"


class Operation(NamedTuple):
    """Something that writes files."""

    run: Callable[[], Ran]
    write: Callable[[], object]
    """Write all that it reads into the current folder."""
    appended: tuple[str, ...] = ()
    """The files that it appends to, in its order."""
    replaced: str = ""
    read: tuple[str, ...] = ()
    folder: str = "."
    following: Callable[[], Ran] | None = None
    """What appends after it, where the same once more has nothing to append."""

    @property
    def written(self) -> tuple[str, ...]:
        """The files that it writes."""
        return (*self.appended, self.replaced) if self.replaced else self.appended


def cli(*args: str) -> Callable[[], Ran]:
    return lambda: run(*args)


def write_trace(text: str = TRACE, configuration: str = "") -> None:
    write(Path(), "trace.jsonl", text)
    write(Path(), "drive-trace.toml", configuration)


def write_traces() -> None:
    write_trace()
    later = graded("pass", "pass", None, ts="2026-05-28T15:00:00.000Z")
    write(Path(), "other.jsonl", later.replace("0b9c", "1b9c"))


def write_usage() -> None:
    write_trace()
    write(Path(), "usage.json", '{"inputTokens":5,"outputTokens":7}')


def write_report() -> None:
    write_trace()
    write(Path(), "report.md", "of another day\n")


def write_baseline() -> None:
    """One that knows a finding of another trace, too."""
    write_trace(triage(severity="low"))
    write(Path(), "other.jsonl", triage(severity="high"))
    assert run("check", "--write-baseline", "other.jsonl").code == 0


def write_judged() -> None:
    write_run()
    judge = command(*says(PASS), "--allow-uncalibrated", "--dry-run")
    assert run(*judge).code == 0
    ran = run(*[each for each in judge if each != "--dry-run"])
    assert ran.code == 0
    Path("trace.jsonl.judgements.ndjson").rename("replies.ndjson")
    write_run()
    Path("trace.jsonl.judgements.ndjson").write_bytes(Path("replies.ndjson").read_bytes())


def change_configuration() -> Ran:
    turned = turn_off(Projects(".").of("trace.jsonl"), "stale-verdict", None)
    return (
        Ran(2, "", f"drive-trace: {turned.message}")
        if isinstance(turned, Problem)
        else Ran(0, "", "")
    )


OPERATIONS = {
    "emit": Operation(cli("emit", *TARGET, *EVENT), write_trace, ("trace.jsonl", PROVENANCE)),
    "emit-new": Operation(
        cli("emit", "--trace-file", "new/trace.jsonl", *TARGET[2:], *EVENT),
        write_trace,
        ("trace.jsonl", PROVENANCE),
        folder="new",
    ),
    "record": Operation(
        cli("record", *TARGET, "--intent", "pass", "other.jsonl"),
        write_traces,
        ("trace.jsonl", PROVENANCE),
        read=("other.jsonl", "drive-trace.toml"),
    ),
    "tokens": Operation(
        cli("tokens", *TARGET, "--usage", "usage.json"),
        write_usage,
        ("trace.jsonl", PROVENANCE),
        read=("usage.json",),
        following=cli("tokens", *TARGET, "--input-tokens", "7"),
    ),
    "judge": Operation(
        cli(*command("--replay", "replies.ndjson", "--allow-uncalibrated")),
        write_judged,
        ("trace.jsonl.judgements.ndjson", "trace.jsonl", PROVENANCE),
        read=("drive-trace.toml",),
    ),
    "fix": Operation(
        cli("check", "--fix", "--output-format", "concise", "trace.jsonl"),
        lambda: write_trace(MISTAKE),
        replaced="trace.jsonl",
        read=("drive-trace.toml",),
    ),
    "baseline": Operation(
        cli("check", "--write-baseline", "--output-format", "concise", "trace.jsonl"),
        write_baseline,
        replaced="drive-trace-baseline.json",
        read=("trace.jsonl", "drive-trace.toml"),
    ),
    "report": Operation(
        cli("report", "trace.jsonl", "--out", "report.md"), write_report, replaced="report.md"
    ),
    "configuration": Operation(
        change_configuration,
        lambda: write_trace(configuration="# ours\n"),
        replaced="drive-trace.toml",
    ),
}
