"""Logs of agents' tools at random: what is added up is what a naive sum gives, or nothing is; what
is told of a transcript is what its turns say.
"""

import io
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from drive_trace.authoring.drafts import Refused, Stamp, draft_event
from drive_trace.authoring.sessions import missing_in, read_session
from drive_trace.authoring.transcripts import operator_turns_of, reconstruct
from drive_trace.authoring.usage import total_usage
from tests.cli import sessions
from tests.support.mutating import SPELLINGS, Spelling, changed, garbled

Figures = tuple[Any, ...]
"""Input, output, cache reads and cache writes; None where a log does not say."""


# How each tool logs a message


def named(figures: Figures, *names: str) -> dict[str, int | None]:
    return {name: each for name, each in zip(names, figures, strict=False) if each is not None}


def sdk(id_: str, figures: Figures) -> Any:
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    return {"type": "turn", "id": id_, "usage": named(figures, *names)}


def claude(figures: Figures) -> dict[str, int | None]:
    names = ("cache_read_input_tokens", "cache_creation_input_tokens")
    return named(figures, "input_tokens", "output_tokens", *names)


def claude_session(id_: str, figures: Figures) -> Any:
    message = {"id": id_, "role": "assistant", "model": "m", "usage": claude(figures)}
    return {"type": "assistant", "message": message}


def claude_response(id_: str, figures: Figures) -> Any:
    return {"type": "message", "role": "assistant", "id": id_, "usage": claude(figures)}


def openai(figures: Figures, input_: str, output: str, *cached: str) -> dict[str, Any]:
    """The input counts what was cached, too."""
    all_input = figures[0] + (figures[2] or 0) if figures[0] is not None else None
    usage = named((all_input, figures[1]), input_, output)
    if figures[2] is None:
        return usage
    *outer, inner = cached
    return {**usage, **({outer[0]: {inner: figures[2]}} if outer else {inner: figures[2]})}


def chat(id_: str, figures: Figures) -> Any:
    names = ("prompt_tokens", "completion_tokens", "prompt_tokens_details", "cached_tokens")
    return {"object": "chat.completion.chunk", "id": id_, "usage": openai(figures, *names)}


def response(id_: str, figures: Figures) -> Any:
    names = ("input_tokens", "output_tokens", "input_tokens_details", "cached_tokens")
    said = {"object": "response", "id": id_, "usage": openai(figures, *names)}
    return {"type": "response.completed", "response": said}


def codex(id_: str, figures: Figures) -> Any:
    """One sum of the whole session, again and again."""
    usage = openai(figures, "input_tokens", "output_tokens", "cached_input_tokens")
    return {"type": "event_msg", "payload": {"type": "token_count", "info": total(usage)}}


def total(usage: Any) -> Any:
    return {"total_token_usage": usage, "last_token_usage": {"input_tokens": 1}}


def atif(id_: str, figures: Figures) -> Any:
    names = ("total_prompt_tokens", "total_completion_tokens", "total_cached_tokens")
    sums = openai(figures, *names)
    return {"schema_version": "ATIF-v1.7", "trajectory_id": id_, "final_metrics": sums}


Tool = Callable[[str, Figures], Any]
TOOLS: Sequence[Tool] = (sdk, claude_session, claude_response, chat, response, codex, atif)
FIGURES = st.tuples(
    st.none() | st.integers(0, 9), st.integers(0, 9), *[st.none() | st.integers(0, 9)] * 2
)
SPOILT = st.sampled_from([None] * 4 + ["cut", "twice", "less", -1, "5", True, 1.5, [], 1e999])


@dataclass
class Log:
    """A log of one tool, and what its messages come to; None where it must be refused."""

    text: str
    counted: Sequence[Figures] | None


@st.composite
def logs(draw: st.DrawFn, name: str) -> Log:
    tool = draw(st.sampled_from(TOOLS))
    last: dict[str, Figures] = {}
    messages: list[Any] = []
    for number in draw(st.lists(st.integers(0, 3), min_size=1, max_size=5)):
        id_ = f"{name}{number}" if tool is not codex else name
        figures: Figures = draw(FIGURES)
        if tool not in (sdk, claude_session, claude_response):
            figures = (*figures[:3], None)
        if id_ in last:  # a message that was logged before has grown, but for the SDK's
            more = draw(st.integers(0, 3)) * (tool is not sdk)
            figures = tuple(None if each is None else each + more for each in last[id_])
        last[id_] = figures
        messages.append(tool(id_, figures))
        messages += draw(st.lists(st.sampled_from([{"type": "x"}, {"text": "é"}]), max_size=1))
    spoilt, id_ = draw(SPOILT), draw(st.sampled_from(sorted(last)))
    if spoilt not in (None, "cut", "twice"):
        less, other = (last[id_][1] or 0) - 1, f"{name}-other"
        output, id_ = (less, id_) if spoilt == "less" else (spoilt, other)
        messages.append(tool(id_, (5, output, None, None)))
    how: Spelling = draw(SPELLINGS)
    text = how.of(messages) if draw(st.booleans()) else "\n".join(map(how.of, messages))
    if spoilt == "cut":
        text = text.rstrip()[:-1] + "\n"  # without it the line may be written right now
    elif spoilt == "twice":
        text = text.replace("{", '{"x":1,"x":1,', 1)
    return Log(text, list(last.values()) if spoilt is None else None)


@given(logs("a"), st.none() | logs("b"))
def test_figures_are_a_naive_sum_or_refused(one: Log, other: Log | None) -> None:
    given = {"a": one} if other is None else {"a": one, "b": other}
    usage = total_usage({name: io.StringIO(each.text) for name, each in given.items()})
    if any(each.counted is None for each in given.values()):
        assert isinstance(usage, Refused)
        assert all(reason and reason.isprintable() for reason in usage.reasons)
        return
    assert not isinstance(usage, Refused), usage
    counted = [figures for each in given.values() for figures in each.counted or ()]
    assert list(usage.figures.values()) == [
        None if None in column else sum(column) for column in zip(*counted, strict=True)
    ]


MESSAGES = st.lists(
    st.builds(lambda tool, figures: tool("m", figures), st.sampled_from(TOOLS), FIGURES),
    min_size=1,
    max_size=3,
)
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def whole(word: str) -> int:
    """At least the number, exact if it is whole; nothing for what no double holds."""
    if word.isdigit():
        return int(word)
    return math.ceil(float(word)) if math.isfinite(float(word)) else 0


@given(garbled(st.builds(Spelling.of, SPELLINGS, changed(MESSAGES, 5)), most=2))
def test_no_figure_is_more_than_all_that_a_log_says(text: str) -> None:
    usage = total_usage({"a": io.StringIO(text)})
    if isinstance(usage, Refused):
        assert all(reason and reason.isprintable() for reason in usage.reasons)
        return
    most = sum(map(whole, NUMBER.findall(text)))
    for name, figure in usage.figures.items():
        parts = [row.figures[name] for row in usage.rows]
        assert figure == (None if None in parts else sum(filter(None, parts)))
        assert figure is None or 0 <= figure <= most


AGENT = {"type": "tool_use", "id": "t", "name": "Agent", "input": {"description": "d"}}
TOLD = [
    sessions.line(0, "user", "go"),
    sessions.answer(1, "m", 1, [AGENT]),
    sessions.started(2, "a", tool_use_id="t", totalDurationMs=5),
    sessions.line(3, "user", [{"type": "text", "text": "é"}], "a", origin={"kind": "coordinator"}),
    sessions.line(4, "user", "<task-notification><task-id>a</task-id><status>killed</status>"),
]


@given(garbled(st.builds(Spelling.of, SPELLINGS, changed(st.just(TOLD), 5)), most=2))
def test_whatever_a_session_tells_readers_accept(text: str) -> None:
    events, _ = missing_in((), read_session({"a": io.StringIO(text)}))
    for told in events:
        draft = draft_event(told.name, "run-1", None, json.dumps(told.payload))
        assert not isinstance(draft, Refused), draft
        assert draft.record(Stamp("e", str(told.ts)))


# Transcripts


Part = tuple[Any, dict[str, Any] | None]
"""A part of a turn, and the event that it tells of."""


def task(name: str, **given: Any) -> Part:
    description, model = (
        each if isinstance(each, str) else None for each in map(given.get, ("description", "model"))
    )
    event = {"event_type": "dispatch-start", "dispatch_name": description, "model": model}
    return {"type": "tool_use", "name": name, "input": given}, event


def write(name: str, key: str, path: str) -> Part:
    what = next((each for each in ("spec", "plan") if path.endswith(f"{each}.md")), None)
    kind = "slice" if "slices/" in path else "project"
    event = {"event_type": f"{what}-authored", f"{what}_path": path, f"{what}_kind": kind}
    return {"type": "tool_use", "name": name, "input": {key: path}}, event if what else None


SAID: Part = ({"type": "text", "text": "so"}, None)
READ: Part = ({"type": "tool_use", "name": "Read", "input": {"path": "spec.md"}}, None)
NO_ITEM: Part = ({"type": "thinking"}, None)
PATHS = ("spec.md", "a/slices/x/plan.md", "slices/spec.md", "x.md", "plan.md.bak")
PARTS = st.lists(
    st.sampled_from([SAID, READ, NO_ITEM])
    | st.builds(
        task,
        st.sampled_from(["Task", "Agent"]),
        description=st.sampled_from(["Build", "", 7, None]),
        model=st.sampled_from(["m", None]),
    )
    | st.builds(
        write,
        st.sampled_from(["Write", "Edit", "MultiEdit", "StrReplace"]),
        st.sampled_from(["path", "file_path"]),
        st.sampled_from(PATHS),
    ),
    max_size=4,
)
NO_TURNS = [{"type": "summary"}, [], 7, {"role": "user"}, {"message": 5}]
NO_JSON = ["no JSON", "NaN", "{", '{"role":', "[" * 9000]


@dataclass
class Transcript:
    lines: list[str]
    events: list[dict[str, Any]]
    operators: list[int]
    """The lines of the operator's turns."""
    no_json: int


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    made, index = Transcript([], [], [], 0), 0
    for kind in draw(st.lists(st.sampled_from("ccttxnb "), max_size=6)):
        role, parts = draw(st.sampled_from(["user", "assistant"])), draw(PARTS)
        content = [part for part, _ in parts]
        items = [each for each in parts if each is not NO_ITEM]
        turn: Any = {"role": role, "message": {"content": content}}
        is_operators = role == "user"
        if kind == "t":  # as Claude Code has it, which logs results and remarks as turns, too
            remark = draw(st.sampled_from([{}, {}, {"isMeta": True}, {"isSidechain": True}]))
            turn = {"type": role, "message": {"role": role, "content": content}, **remark}
            is_operators = is_operators and bool(items) and not remark
        elif kind == "x":
            turn = {"type": role, "message": {"role": role, "content": "please"}}
            items = []
        elif kind in "nb ":
            turn, items, is_operators = draw(st.sampled_from(NO_TURNS)), [], False
        text = json.dumps(turn)
        if kind == "b":
            text = draw(st.sampled_from(NO_JSON))
            made.no_json += 1
        elif kind == " ":
            text = " "
        made.lines.append(text)
        if is_operators:
            made.operators.append(len(made.lines))
        for number, (_, event) in enumerate(items if role == "assistant" else []):
            if event is not None:
                made.events.append({"event_id": f"posthoc-t{index}-i{number}", **event})
        index += kind not in "b "
    return made


@given(transcripts())
def test_a_transcript_tells_what_its_turns_say(transcript: Transcript) -> None:
    found = reconstruct("\n".join(transcript.lines), "x")
    assert [
        {key: each.event[key] for key in expected}
        for each, expected in zip(found.events, transcript.events, strict=True)
    ] == transcript.events
    assert found.operator_turns == len(transcript.operators)
    assert sum("unparseable" in note for note in found.notes) == transcript.no_json
    with_text = {each.line for each in operator_turns_of(transcript.lines)}
    assert with_text <= set(transcript.operators)


@given(garbled(transcripts().map(lambda each: "\n".join(each.lines)), most=4))
def test_no_event_is_told_that_no_tool_was_called_for(text: str) -> None:
    events = [each.event for each in reconstruct(text, "x").events]
    assert len({each["event_id"] for each in events}) == len(events)
    assert len(events) <= text.count("tool_use") * 2
    assert all(each["ts"] is None for each in events)
    lines = [each.line for each in operator_turns_of(text.split("\n"))]
    assert lines == sorted(set(lines))
