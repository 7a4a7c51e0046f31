"""`tokens --usage`: the logs of people's tools."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import Ran, run, write
from tests.cli.usage import add, log, recorded, refused, usage
from tests.support.client_text import triage


def claude_line(id_: str, output: int, **more: Any) -> dict[str, Any]:
    """A line of a session of Claude Code, which logs a message again while it streams."""
    figures = {"input_tokens": 10, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 90}
    tokens = {**figures, "output_tokens": output, "service_tier": "standard"}
    message = {"id": id_, "role": "assistant", "model": "claude-sonnet-4-6", "usage": tokens}
    return {
        "type": "assistant",
        "sessionId": "s",
        "message": {**message, "type": "message"},
        **more,
    }


RESULT = {
    "type": "result",
    "session_id": "s",
    "usage": {"input_tokens": 5, "output_tokens": 1},
    "modelUsage": {
        name: {
            "inputTokens": 100,
            "outputTokens": 20,
            "cacheReadInputTokens": 3,
            "cacheCreationInputTokens": 4,
            "costUSD": 0.1,
        }
        for name in ("claude-sonnet-4-6", "claude-haiku-4-5")
    },
}


def codex_total(input_: int, cached: int, output: int) -> dict[str, Any]:
    total = {"input_tokens": input_, "cached_input_tokens": cached, "output_tokens": output}
    info = {"total_token_usage": total, "last_token_usage": {"input_tokens": 1}}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": info}}


def codex_turn(input_: int, cached: int, output: int) -> dict[str, Any]:
    usage_ = {"input_tokens": input_, "cached_input_tokens": cached, "output_tokens": output}
    return {"type": "turn.completed", "usage": usage_}


CHAT = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@pytest.mark.parametrize(
    ("messages", "counts"),
    [
        (
            [
                {"type": "user", "toolUseResult": {"usage": {"input_tokens": 9}}},
                claude_line("m1", 1),
                claude_line("m1", 300),
                claude_line("m2", 40),
                {"type": "file-history-snapshot"},
            ],
            [20, 340, 180, 14],
        ),
        ([claude_line("m1", 1), RESULT], [200, 40, 6, 8]),
        ([{k: v for k, v in RESULT.items() if k != "modelUsage"}], [5, 1, None, None]),
        ([claude_line("m1", 8)["message"]], [10, 8, 90, 7]),
        ([{"id": "c1", "object": "chat.completion", "usage": CHAT}], [100, 20, None, None]),
        (
            [
                {"id": "c1", "object": "chat.completion.chunk", "usage": None},
                {
                    "id": "c1",
                    "object": "chat.completion.chunk",
                    "usage": {**CHAT, "prompt_tokens_details": {"cached_tokens": 30}},
                },
            ],
            [70, 20, 30, None],
        ),
        (
            [
                {
                    "id": "resp_1",
                    "object": "response",
                    "usage": {
                        "input_tokens": 100,
                        "input_tokens_details": {"cached_tokens": 60},
                        "output_tokens": 20,
                    },
                }
            ],
            [40, 20, 60, None],
        ),
        (
            [
                {"type": "session_meta", "payload": {"id": "t"}},
                codex_total(100, 0, 5),
                {"type": "event_msg", "payload": {"type": "token_count", "info": None}},
                codex_total(900, 700, 50),
            ],
            [200, 50, 700, None],
        ),
        (
            [
                {"type": "thread.started", "thread_id": "a"},
                codex_turn(100, 50, 5),
                codex_turn(300, 100, 9),
                {"type": "thread.started", "thread_id": "b"},
                codex_turn(10, 0, 1),
            ],
            [210, 10, 100, None],
        ),
    ],
    ids=[
        "a session of Claude Code",
        "Claude Code's stream-json",
        "an older result of Claude Code",
        "a response of the Claude API",
        "a chat completion",
        "a streamed chat completion",
        "a response of the OpenAI API",
        "a session of Codex",
        "codex exec",
    ],
)
def test_logs_of_tools(trace: Path, messages: list[Any], counts: list[int | None]) -> None:
    assert recorded(trace, log(*messages))[0] == counts


def test_a_model_without_a_name_is_none(trace: Path) -> None:
    """Found by fuzzing: what stands in its place may be of any kind."""
    message = claude_line("m1", 8)["message"] | {"model": ["x"]}
    assert recorded(trace, log(message))[0] == [10, 8, 90, 7]


def test_what_is_added_up_is_shown(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    text = log(claude_line("m1", 1234), {"id": "c1", "object": "chat.completion", "usage": CHAT})
    assert add(trace, text).out.splitlines()[:4] == [
        "USAGE                                   MESSAGES  INPUT  OUTPUT  CACHE READ  CACHE WRITE",
        "Claude Code session, claude-sonnet-4-6         1     10   1,234          90            7",
        "OpenAI chat completion                         1    100      20         n/a          n/a",
        "all                                            2    110   1,254         n/a          n/a",
    ]


def test_what_is_not_known_is_not_taken_from_earlier_messages(trace: Path) -> None:
    recorded(trace, log(usage(1, 2, 3, 4)))
    assert recorded(trace, log(usage(10, 20)))[0] == [10, 20, None, None]


def test_a_part_of_a_cost_is_not_recorded_as_the_cost(trace: Path) -> None:
    started = [{"type": "user", "toolUseResult": {"agentId": each}} for each in ("a1", "a2", "a1")]
    main, missing = log(claude_line("m1", 1), *started), "name what is missing, too"
    (why,) = refused(trace, main)
    assert why == (
        "2 logs of the session are not here, and the rest is not what the run cost; "
        f"{missing}, or print the rest with --partial: agent-a1.jsonl, agent-a2.jsonl"
    )
    progress = {"type": "progress", "agentId": "a1"}  # says that it works, and not what it cost
    assert missing in refused(trace, main + log(progress))[0]

    def add_all(*logs: str) -> Ran:
        paths = [write(trace.parent, f"{at}.log", text) for at, text in enumerate(logs)]
        usages = (part for path in paths for part in ("--usage", path))
        return run("tokens", "--trace-file", trace, "--project-run-id", "run-1", *usages)

    agents = [log(claude_line(f"m-{each}", 4, agentId=each)) for each in ("a1", "a2")]
    ran = add_all(main, agents[0])
    assert (ran.code, trace.read_text()) == (1, triage())
    assert "1 log of the session is not here" in ran.err
    assert add_all(main, *agents).code == 0
    assert json.loads(trace.read_text().splitlines()[-1])["output_tokens"] == 9
    # A result has summed them up.
    assert add_all(main + log(RESULT)).code == 0
    assert add_all(main, agents[0], agents[1], log(RESULT | {"session_id": "t"})).code == 0


def test_a_message_without_an_id_counts_once_a_request(trace: Path) -> None:
    lines = [claude_line("m1", each, requestId=f"r{each}") for each in (1, 6, 6, 7)]
    for each in lines:
        del each["message"]["id"]
    assert recorded(trace, log(*lines))[0][1] == 14


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([codex_total(9, 0, 9), codex_total(5, 0, 5)], "or one session at a time"),
        ([codex_total(5, 6, 1)], "has 5 input tokens, of which 6 were cached"),
        ([claude_line("m1", -1)], "`output_tokens` of object 1 (line 1) must be an integer"),
        (
            [{"type": "result", "modelUsage": {"m": 7}, "usage": usage(1)}],
            "tells no figure; found 7",
        ),
    ],
)
def test_logs_that_cannot_be_added_up(trace: Path, messages: list[Any], why: str) -> None:
    (reason,) = refused(trace, log(*messages))
    assert why in reason


@pytest.mark.parametrize("text", ['{"inputTokens":null}', log(usage(5), {"outputTokens": 5})])
def test_usage_without_a_figure(trace: Path, text: str) -> None:
    ran = add(trace, text)
    assert ran.code == 2
    assert "at least one figure" in ran.err
    assert trace.read_text() == triage()
