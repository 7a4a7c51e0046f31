"""What people see who open a trace in Neovim or in Emacs, set up by the words of docs/editors.md.

A story is a list of steps, which `neovim/session.lua` and `emacs/session.el` play, each in its own
editor. A step that looks at something is told what to wait for, and reports what there is in the
end, so that what is expected and what was seen can be compared here.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.clients.editors import (
    EDITORS,
    REPOSITORY,
    Editor,
    Emacs,
    EmacsWithLspMode,
    Neovim,
    NotHereError,
    Session,
)
from tests.support.client_text import apart, event, graded, tokens, triage

PASSED = '"passed"'
GRADER = "👩‍🚀 grader"
TEXT = apart(
    triage(input_ref="\u2028\x85 🚀 日本")
    + tokens(1_900_000, 42_000, None, None)
    + graded("pass", "passed", "pass", orchestrator_agent_id=GRADER)
)
MISTAKE = '`qa` must be "pass" or "fail", or null; found "passed" — did you mean "pass"?'
MISSING = "not computable — missing: external correctness signal"
REJECTED = (
    "not computable: not graded · 1 rejected · 1 correctness line rejected (line 3), not counted"
)
FIRST_LENSES = [(1, REJECTED), (3, "rejected, not counted")]
LAST_LENSES = [(1, "CORRECT · 1.9M in · 42k out"), (3, "decides: CORRECT")]


class Words(NamedTuple):
    """What the two editors say differently."""

    opened: dict[str, object]
    mistake: dict[str, str]
    card: str
    """Where a hover begins."""
    about_qa: str
    page: str
    """Where the page of a run begins."""
    messages: list[str]


WORDS = {
    "Neovim": Words(
        opened={"mode": "drive-trace", "dimmed": True},
        mistake={"code": "unknown-value", "message": MISTAKE, "severity": "error"},
        card=f"**{MISSING}** · run `run-1`\n\n**error** `` {MISTAKE} `` ([unknown-value](",
        about_qa="**qa** — The QA run.",
        page=f"# {MISSING}\n\nRun `run-1`\n",
        messages=[],
    ),
    # It understands no Markdown without a package that the set-up does not ask for, and this eglot
    # shows no pages: the card comes as a result, and the verdict as a message.
    "Emacs": Words(
        opened={"mode": "drive-trace-mode"},
        mistake={"message": f"drive-trace [unknown-value]: {MISTAKE}", "severity": "eglot-error"},
        card=f"{MISSING} · run run-1\n\nerror {MISTAKE} (unknown-value)\n",
        about_qa="\nqa — The QA run.",
        page=f"{MISSING} · run run-1\n",
        messages=[
            "[eglot] Connected! Server `drive-trace' now managing `(drive-trace-mode)' buffers"
            " in project `größe 1'.",
            f"[eglot] Server reports (type=3): {REJECTED}",
            "Type C-x 1 to delete the help window, C-M-v to scroll help.",
            "[jsonrpc] Server exited with status 0",
        ],
    ),
}


@pytest.fixture(params=EDITORS, ids=[editor.name for editor in EDITORS])
def editor(request: pytest.FixtureRequest) -> Editor:
    return found(request.param)


def found(kind: type[Editor]) -> Editor:
    try:
        return kind()
    except NotHereError as reason:
        if os.environ.get("DRIVE_TRACE_E2E") == "required":
            pytest.fail(str(reason))
        pytest.skip(f"{reason}: make clients installs it where it may")


def project(root: Path, name: str, text: str) -> str:
    """A project of one trace; gives its name."""
    file = root / "project" / name
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return name


def test_a_session(editor: Editor, tmp_path: Path) -> None:
    session = editor.play(
        tmp_path,
        ("open", project(tmp_path, "größe 1/trace.jsonl", TEXT)),
        ("diagnostics", [PASSED]),
        ("hover", PASSED),
        ("lenses", titles(FIRST_LENSES)),
        ("run_lens", 1),
        # An emoji before an error moves it by 4, 2 or 1, as the editor counts.
        ("type_before", GRADER, "🚀 <new> "),
        ("diagnostics", [PASSED]),
        ("hover", PASSED),
        ("type_over", PASSED, '"pass"'),
        ("diagnostics", []),
        ("lenses", titles(LAST_LENSES)),
        ("quit",),
    )
    opened, found, card, lenses, page, edited, moved, same_card, mended, none, verdict, end = (
        session.steps
    )

    words = WORDS[editor.name]
    assert opened == words.opened
    assert_passed_is_marked(editor, found)
    assert card["text"].startswith(words.card)
    assert words.about_qa in card["text"]
    assert shown(lenses) == FIRST_LENSES
    assert page["text"].startswith(words.page)

    assert f'"🚀 <new> {GRADER}"' in edited["line"]
    assert_passed_is_marked(editor, moved)
    assert same_card == card

    assert '"qa":"pass",' in mended["line"]
    assert none["shown"] == []
    assert shown(verdict) == LAST_LENSES

    assert end == {"code": 0, "signal": 0}
    assert session.left_running == []
    # Nobody complains: not the server, not the editor, and not of the set-up in docs/editors.md.
    said = [line for line in session.messages.splitlines() if not line.startswith("Loading ")]
    assert said == words.messages
    assert session.log == ""


def test_events_are_completed_a_mistake_is_fixed_and_the_run_graded(
    editor: Editor, tmp_path: Path
) -> None:
    graded_lenses = [
        (1, "INCORRECT — intent failed"),
        (3, "superseded by line 4"),
        (4, "decides: INCORRECT — intent failed"),
    ]
    session = editor.play(
        tmp_path,
        ("open", project(tmp_path, "graded/trace.jsonl", TEXT)),
        ("diagnostics", [PASSED]),
        ("act", PASSED, 'Replace with "pass"'),
        ("diagnostics", []),
        ("complete",),
        ("act", '{"event_id"', "Record intent: fail → INCORRECT"),
        ("lenses", titles(graded_lenses)),
        ("quit",),
    )
    _, _, fixed, none, completed, recorded, lenses, _ = session.steps
    assert '"qa":"pass",' in fixed["line"]
    assert none["shown"] == []
    assert any("dispatch-start" in each for each in completed["offered"]), completed
    grade = json.loads(recorded["last"])
    assert (grade["mechanical"], grade["qa"], grade["intent"]) == ("pass", "pass", "fail")
    assert shown(lenses) == graded_lenses
    assert session.left_running == []


SPEC = "projects/checkout/spec.md"
AUTHORED = event("spec-authored", spec_path=SPEC, spec_kind="project", byte_length=1).replace(
    "}", ',"edge_cases_count":null,"open_questions_count":0,"dod_items_count":1}'
)


def test_a_path_opens_its_file_and_what_an_agent_appends_is_shown(
    editor: Editor, tmp_path: Path
) -> None:
    trace = project(
        tmp_path, "trace.jsonl", apart(AUTHORED + tokens(1_900_000, 42_000, None, None))
    )
    project(tmp_path, SPEC, "# Checkout")
    git = tmp_path / "project" / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main", encoding="utf-8")
    session = editor.play(
        tmp_path,
        ("open", trace),
        ("lenses", ["not computable: not graded"]),
        ("definition", SPEC),
        ("append", graded("pass", "pass", "pass")),
        ("lenses", titles(LAST_LENSES)),
        ("quit",),
    )
    _, _, defined, _, lenses, _ = session.steps
    assert defined == {"file": SPEC}
    assert shown(lenses) == LAST_LENSES
    assert session.left_running == []


@pytest.mark.parametrize("columns", [80, 120])
def test_a_trace_is_read_on_the_screen_of_neovim(tmp_path: Path, columns: int) -> None:
    dispatch = {"dispatch_id": "7823c05c-cf3c-489f-9c9f-b0c16ab1f05b"}
    in_round = dispatch | {"round_id": "f40f907a-bfa3-421f-9698-b7cc5c3ee1a1"}
    start = {"dispatch_name": "D1 retry policy", "subagent_type": "implementer", "model": None}
    text = apart(
        triage()
        + event("dispatch-start", **dispatch, **start, parent_dispatch_id=None)
        + event("round-start", **in_round, round_number=1)
        + event("round-end", **in_round, verdict="another-round", findings_filed=0, wall_clock_ms=0)
        + event("dispatch-end", **dispatch, result="completed", wall_clock_ms=0)
    )
    events = ["triage-verdict", "dispatch-start", "round-start", "round-end", "dispatch-end"]
    begins = '{…"ts":"2026-05-28T14:00:00.000Z",…"event_type":"'
    fits = {80: '"escalating-to-user"\n', 120: '"escalating-to-user" or'}[columns]
    fold = "▸ D1 retry policy · 0ms · completed · 4 lines · 1 error"
    session = found(Neovim).play(
        tmp_path,
        ("open", project(tmp_path, "trace.jsonl", text)),
        ("screen", columns, 24, "", ["not computable: not graded", fits]),
        ("lint", "a slip"),
        ("screen", columns, 24, "zM", [fold]),
        ("append", graded("pass", "pass", None)),
        ("screen", columns, 24, "", [fold, "correctness-recorded", "decides"]),
        ("quit",),
    )
    read, folded, grown = (step["rows"] for step in session.steps if "rows" in step)
    assert session.steps[2] == {"is_behind": True}
    # The lens stands over the first line, and every event shows its type.
    assert read[0].strip() == "not computable: not graded · 1 dispatch · 0ms work · 1 rejected"
    lines = [row[2:] for row in read if row[2:].startswith(begins)]
    assert [line.removeprefix(begins).split('"')[0] for line in lines] == events
    # The whole of a finding is on the screen, below its line.
    place = read.index(next(row for row in read if "round-end" in row)) + 1
    below = read[place : read.index(next(row for row in read if "dispatch-end" in row))]
    assert " ".join(row.strip() for row in below) == (
        '╰ `verdict` must be "satisfied", "another-round-needed", "escalating-to-user" or '
        '"stop-condition"; found "another-round" — did you mean "another-round-needed"?'
    )
    assert len(below) == {80: 3, 120: 2}[columns]
    # A fold tells what is in it, and stays when the trace grows.
    assert [row.strip(" ·") for row in folded[2:4]] == [fold, "~"]
    assert [row.strip(" ·") for row in grown[2:4]] == [
        fold,
        "decides: not computable — missing: intent",
    ]
    assert "correctness-recorded" in grown[4]
    assert session.left_running == []


def test_a_trace_that_got_another_name_in_neovim_is_followed(tmp_path: Path) -> None:
    ungraded = apart(triage() + tokens(1_900_000, 42_000, None, None))
    session = found(Neovim).play(
        tmp_path,
        ("open", project(tmp_path, "wip/drive-trace/run-1.jsonl", ungraded)),
        ("save_as", "wip/drive-trace/run-2.jsonl"),
        ("append", graded("pass", "pass", "pass")),
        ("lenses", titles(LAST_LENSES)),
        ("quit",),
    )
    assert shown(session.steps[3]) == LAST_LENSES
    assert session.left_running == []


def test_the_package_for_emacs_compiles_without_warnings(tmp_path: Path) -> None:
    for file in (REPOSITORY / "editors/emacs").glob("*.el"):
        shutil.copy(file, tmp_path)
    strictly = "(setq byte-compile-error-on-warn t)"
    files = sorted(map(str, tmp_path.glob("*.el")))
    command = [found(Emacs).program, "-q", "--batch", "-L", str(tmp_path), "--eval", strictly]
    ended = subprocess.run(
        [*command, "-f", "batch-byte-compile", *files], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr


def test_lsp_mode_shows_the_verdict_over_the_first_line(tmp_path: Path) -> None:
    trace = project(tmp_path, "here/trace.jsonl", TEXT)
    (tmp_path / "project" / ".git").mkdir()
    session = found(EmacsWithLspMode).play(tmp_path, ("open", trace))
    assert session.steps == [titles(FIRST_LENSES)]


def test_saving_writes_what_was_typed_and_lays_nothing_out(editor: Editor, tmp_path: Path) -> None:
    loose = "{ " + triage(input_ref="🚀 日本").removeprefix("{").replace('","', '" , "')
    session = editor.play(
        tmp_path,
        ("open", project(tmp_path, "loose/trace.jsonl", loose)),
        ("type_before", "日本", "<new> "),
        ("save",),
        ("quit",),
    )
    assert session.steps[2]["text"] == loose.replace("日本", "<new> 日本")
    assert session.left_running == []


def events(*names: str) -> str:
    return "".join(triage(event_id=name, input_ref=name) for name in names)


def test_saves_in_neovim_keep_what_others_append_also_after_an_undo(tmp_path: Path) -> None:
    session = found(Neovim).play(
        tmp_path,
        ("open", project(tmp_path, "undo/trace.jsonl", events("old"))),
        ("type_before", "direct-change", "in-"),
        ("append", events("first", "second")),
        ("save",),
        ("change_by", "u"),
        ("save",),
        ("append", events("third")),
        ("read", '"third"'),
        ("change_by", "u"),
        ("change_by", "<C-r>"),
        ("change_by", "u"),
        ("save",),
        ("change_by", "u"),
        ("append", events("fourth")),
        ("save",),
        ("quit",),
    )
    assert saved(session) == [
        ["first", "old", "second"],
        ["first", "old", "second"],
        ["first", "old", "second", "third"],
        ["first", "fourth", "old", "second", "third"],
    ]
    assert session.left_running == []


def test_saves_in_neovim_keep_what_others_append_also_past_a_rewrite(tmp_path: Path) -> None:
    fixed = events("old").replace("direct-change", "trivial")
    session = found(Neovim).play(
        tmp_path,
        ("open", project(tmp_path, "rewrite/trace.jsonl", events("old"))),
        ("set", "undofile"),
        ("append", events("first")),
        ("read", '"first"'),
        ("type_before", "chat-ask", "in-"),
        ("save",),
        ("rewrite", fixed + events("first", "second")),
        ("read", "trivial"),
        ("change_by", "u"),
        ("change_by", "u"),
        ("save",),
        ("close_and_open",),
        ("change_by", "u"),
        ("append", events("third")),
        ("save",),
        ("quit",),
    )
    assert saved(session) == [
        ["first", "old"],
        ["first", "old", "second"],
        ["first", "old", "second", "third"],
    ]
    assert session.left_running == []


def saved(session: Session) -> list[list[str]]:
    """The ids of the events on the disk after each save."""
    texts = [step["text"] for step in session.steps if "text" in step]
    return [sorted(re.findall(r'"event_id":"([^"]*)"', text)) for text in texts]


def test_an_editor_that_does_not_wait(editor: Editor, tmp_path: Path) -> None:
    """It leaves unsaved changes and a running server, which ends by itself."""
    session = editor.play(
        tmp_path,
        ("open", project(tmp_path, "projects/wip/drive-trace/run-1.jsonl", TEXT)),
        ("diagnostics", [PASSED]),
        ("type_over", PASSED, '"pass"'),
        ("quit_at_once",),
    )
    assert_passed_is_marked(editor, session.steps[1])
    assert session.left_running == []


def assert_passed_is_marked(editor: Editor, seen: Any) -> None:
    assert seen["shown"] == [{"line": 3, "text": PASSED, **WORDS[editor.name].mistake}]
    if editor.name == "Neovim":
        assert seen["underlined"] == [PASSED]


def titles(lenses: list[tuple[int, str]]) -> list[str]:
    return [title for _, title in lenses]


def shown(lenses: Any) -> list[tuple[int, str]]:
    return [(lens["line"], lens["title"]) for lens in lenses["shown"]]
