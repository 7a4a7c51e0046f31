"""`reconstruct`: a transcript is read as the reference's parser does, and never becomes a trace."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import CLEAN, run, write

FOLDER = os.environ.get("DRIVE_TRACE_CORPUS")
TRANSCRIPTS = Path(FOLDER or ".").parent / "transcripts"
"""They lie beside the corpus."""


def turn(role: str, *items: Any) -> str:
    return json.dumps({"role": role, "message": {"content": list(items)}}) + "\n"


def call(name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": given}


def said(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def reconstructed(transcript: str) -> Any:
    ran = run("reconstruct", "-", "--format", "json", stdin=transcript)
    assert (ran.code, ran.err) == (0, "")
    return json.loads(ran.out)


@pytest.mark.skipif(
    not (FOLDER and TRANSCRIPTS.is_dir()), reason="no transcripts beside DRIVE_TRACE_CORPUS"
)
def test_the_reference_agrees() -> None:
    expected = sorted(TRANSCRIPTS.glob("*.expected.json"))
    assert expected
    for each in expected:
        transcript = each.with_name(each.name.replace(".expected.json", ".jsonl"))
        found = reconstructed(transcript.read_text())
        assert found == json.loads(each.read_text())
        assert list(found["events"][0]["event"]) == list(
            json.loads(each.read_text())["events"][0]["event"]
        )


def test_turns_and_items_are_counted_as_the_reference_does() -> None:
    transcript = (
        turn("user", said("go"))
        + "\nno JSON\n"
        + '{"type":"summary"}\n'
        + turn("assistant", {"type": "thinking"}, said("so"), call("Task", model=7))
        + turn(
            "assistant", call("Write", path="spec.md"), call("Write"), call("Read", path="plan.md")
        )
    )
    found = reconstructed(transcript)
    assert [each["event"]["event_id"] for each in found["events"]] == [
        "posthoc-t2-i1",
        "posthoc-t3-i0",
    ]
    assert found["events"][0]["event"]["model"] is None
    assert found["events"][1]["event"]["spec_kind"] == "project"
    assert found["operatorTurnCount"] == 1
    assert found["notes"][1:] == ["-: unparseable line (skipped)"]


CODEX = '{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":1}}'
KNOWN = "a session of Claude Code, or an older transcript"


def test_a_transcript_that_tells_nothing() -> None:
    found = reconstructed(turn("assistant", said("so")))
    assert (found["events"], found["operatorTurnCount"]) == ([], 0)
    assert found["notes"][-1] == "no Drive dispatch/authoring signal detected"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        *((text, "no line of a session") for text in ("", "\n", "hello\n", "[]\n7\n", "[" * 9999)),
        (CLEAN, "this is a Drive trace"),
        (CODEX, "this log (Codex exec) tells `tokens --usage` what it cost, and no more"),
    ],
)
def test_what_is_no_session_is_refused(tmp_path: Path, text: str, what: str) -> None:
    path = write(tmp_path, "log.txt", text)
    ran = run("reconstruct", path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"drive-trace: {path}: {what}; give the log of {KNOWN}\n"


def test_a_session_of_claude_code() -> None:
    def line(role: str, content: Any, **more: Any) -> str:
        return json.dumps({"type": role, "message": {"role": role, "content": content}, **more})

    transcript = "\n".join(
        [
            line("user", "please"),
            line("user", [{"type": "tool_result", "content": "ok"}]),
            line("user", "caveat", isMeta=True),
            line("assistant", [call("Task", description="Build it", subagent_type="coder")]),
            line("assistant", [call("Write", file_path="/repo/slices/a/plan.md")]),
        ]
    )
    found = reconstructed(transcript)
    assert found["operatorTurnCount"] == 1
    assert [(each["event"]["event_type"], each["confidence"]) for each in found["events"]] == [
        ("dispatch-start", "medium"),
        ("plan-authored", "low"),
    ]
    assert found["events"][1]["event"]["plan_kind"] == "slice"


def test_in_words() -> None:
    ran = run(
        "reconstruct",
        "-",
        stdin=turn("user", said("go")) + turn("assistant", call("Task", description="a\x1b[31mb")),
    )
    assert ran.out.splitlines() == [
        "1 event (1 of medium confidence), 1 turn of a person",
        "  posthoc-t1-i0     dispatch-start  medium  a<U+001B>[31mb",
        "note: the transcript has no times, so the events have none",
    ]


def test_it_is_written_to_a_file_that_is_no_trace(tmp_path: Path) -> None:
    transcript = write(tmp_path, "session.txt", turn("assistant", call("Task")))
    assert run("reconstruct", transcript, "--out", tmp_path / "made.txt").code == 0
    assert (tmp_path / "made.txt").read_text().startswith("1 event")
    ran = run("reconstruct", transcript, "--out", tmp_path / "trace.jsonl")
    assert (ran.code, (tmp_path / "trace.jsonl").exists()) == (2, False)
    assert run("reconstruct", tmp_path / "missing").code == 2
