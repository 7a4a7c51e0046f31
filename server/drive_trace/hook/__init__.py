"""``drive-trace hook claude-code``: what one event of a session of Claude Code does to the trace
that a project records. Most events do nothing, which is found out here, without loading much.
"""

import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, TypeAlias

_MOST = 64 << 20
"""The most bytes of an event: it may hold the file that was edited, twice."""
_MOST_BRACKETS = 1_000_000
"""As in :mod:`drive_trace.json_text`, which takes long to load, but those in strings count, too."""
_CONFIGURATION_NAME = "drive-trace.toml"
"""As in :mod:`drive_trace.storage.projects`, which takes long to load."""
RECORD_SUFFIX = ".provenance.ndjson"
"""As in :mod:`drive_trace.storage.patterns`: of the record beside the trace."""
_EVENTS = {"PostToolUse", "SubagentStart", "SubagentStop", "Stop", "SessionEnd"}

HookEvent: TypeAlias = Mapping[str, Any]
"""What Claude Code says on standard input, as Python reads JSON."""
Answer: TypeAlias = tuple[str, Mapping[str, object]]
"""What the agent has to mend, for standard error; and what Claude Code reads as JSON. Both may be
empty.
"""


def main() -> int:
    """Act on the event on standard input. Gives the exit code: 2 with what the agent has to mend,
    else 0. Never raises: what goes wrong is one line on standard error.
    """
    try:
        feedback, output = answer_to(sys.stdin.buffer.read(_MOST))
        sys.stdout.write(f"{json.dumps(output)}\n" if output else "")
        sys.stderr.write(f"{feedback}\n" if feedback else "")
        sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - a session never fails for the sake of its trace
        from drive_trace.storage.files import why_not_read  # noqa: PLC0415 - seldom needed
        from drive_trace.text.wording import printable  # noqa: PLC0415 - as above

        words = f"the event has no {error}" if isinstance(error, KeyError) else str(error)
        if isinstance(error, OSError) and error.filename:
            words = f"{error.filename}: {why_not_read(error)}"
        sys.stderr.write(f"drive-trace hook: nothing is recorded: {printable(words, 1000)}\n")
        return 0
    return 2 if feedback else 0


def answer_to(data: bytes) -> Answer:
    """Act on one event. Raises whatever goes wrong."""
    event = None
    with suppress(ValueError, RecursionError):
        event = json.loads(data if data.count(b"[") + data.count(b"{") <= _MOST_BRACKETS else b"")
    if not isinstance(event, dict):
        raise TypeError("standard input is no JSON object; expected one event of a hook")
    # An agent's shell goes elsewhere, and the session with it.
    folder = os.environ.get("CLAUDE_PROJECT_DIR") or event["cwd"]
    if event.get("hook_event_name") not in _EVENTS or not _may_concern(event, folder):
        return "", {}
    from drive_trace.hook.claude_code import act  # noqa: PLC0415 - takes long to load

    return act(event, folder)


def _may_concern(event: HookEvent, folder: str) -> bool:
    """Whether an event may be about a trace that a project records; only ``act`` knows."""
    below, above = "", os.path.abspath(folder)  # noqa: PTH100 - Path takes long to load
    while not os.path.lexists(configuration := os.path.join(above, _CONFIGURATION_NAME)):  # noqa: PTH118
        below, above = above, os.path.dirname(above)  # noqa: PTH120
        if below == above:
            return False
    from drive_trace.storage.files import read_regular  # noqa: PLC0415 - takes long to load

    text, path = read_regular(configuration).decode("utf-8", "replace"), written(event)
    name = os.path.basename(path or "").removesuffix(RECORD_SUFFIX)  # noqa: PTH119
    # The trace is named there as it is, or with escapes.
    return "record" in text and (path is None or "\\" in text or name in text)


def written(event: HookEvent) -> str | None:
    """The real path of the file that an event's tool has written."""
    given = event.get("tool_input")
    path = given.get("file_path") if isinstance(given, dict) else None
    return os.path.realpath(path) if isinstance(path, str) else None
