"""Writes sessions of agents' tools, in the shapes that these log."""

import json
from pathlib import Path
from typing import Any

SESSION = "6f1c9a0e-3cdc-44ab-933e-a50e0efecd0a"
SECRET = "sk-live-4711"
"""Stands in what agents and people say, and must not come out anywhere."""


def at(seconds: float) -> str:
    """A time of the session, so many seconds after it began."""
    whole, part = divmod(round(seconds * 1000), 1000)
    return f"2026-05-28T14:{whole // 60:02}:{whole % 60:02}.{part:03}Z"


def line(seconds: float, type_: str, content: Any, agent: str | None = None, **more: Any) -> Any:
    """A line of a session of Claude Code."""
    said = {"role": type_, "content": content, **more.pop("message", {})}
    own = {} if agent is None else {"agentId": agent}
    return {
        "parentUuid": None,
        "isSidechain": agent is not None,
        **own,
        "type": type_,
        "message": said,
        "uuid": f"u-{agent}-{seconds}",
        "timestamp": at(seconds),
        "sessionId": SESSION,
        "version": "2.1.228",
        **more,
    }


def answer(seconds: float, id_: str, output: int, content: Any = SECRET, **more: Any) -> Any:
    """A message of the model. It is logged again while it grows."""
    figures = {"input_tokens": 10, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 90}
    tokens = {**figures, "output_tokens": output}
    message = {"id": id_, "type": "message", "model": "claude-opus-5", "usage": tokens}
    text = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return line(seconds, "assistant", text, message=message, requestId=f"req-{id_}", **more)


def lines(*values: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in values)


def started(
    seconds: float, agent: str, status: str = "completed", by: str | None = None, **more: Any
) -> Any:
    """What the tool that starts a subagent has returned."""
    content = [{"type": "tool_result", "tool_use_id": f"toolu-{agent}", "content": SECRET}]
    result = {"status": status, "agentId": agent, "agentType": "Explore", **more}
    return line(seconds, "user", content, by, toolUseResult=result)


def session(folder: Path, main: str, **agents: str) -> Path:
    """The files of a session: its log, and the folder beside it."""
    own = folder / SESSION / "subagents"
    own.mkdir(parents=True)
    for name, text in agents.items():
        (own / f"agent-{name}.jsonl").write_text(text)
    path = folder / f"{SESSION}.jsonl"
    path.write_text(main)
    return path
