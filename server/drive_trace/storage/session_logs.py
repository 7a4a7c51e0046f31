"""Finds the logs of an agent's session, and reads them line by line.

A session is named by its log, by the folder beside that, or by its id. The logs of its subagents
are looked for in its own folder alone, and links there are not followed: no path that a log names
is opened.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from drive_trace.storage import files as disk
from drive_trace.text.wording import first_of

LONGEST = 256 << 20
"""The most bytes of a line, and of a document that has several."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{3,127}")
_SUBAGENTS = "subagents"


def logs_of(sessions: Iterable[str]) -> list[str] | disk.Problem:
    """The logs of some sessions, each once: their own, and those of their subagents."""
    logs: dict[str, str] = {}
    for session in sessions:
        try:
            for each in _logs_of(session):
                logs.setdefault(os.path.realpath(each), each)
        except (OSError, ValueError) as error:
            return disk.Problem(session, disk.why_not_read(error))
    return list(logs.values())


def _logs_of(session: str) -> list[str]:
    """Raises OSError or ValueError."""
    if session in {"", disk.STDIN} or disk.is_open_already(session, "/dev/stdin"):
        return [session]
    if not os.path.lexists(session) and _ID.fullmatch(session):
        found = sorted(_of_id(session))
        if not found:
            homes = " or ".join(map(str, _homes()))
            raise ValueError(f"there is no such file, nor a session of this id in {homes}")
        if len(found) > 1:
            raise ValueError(f"several logs have this id; name one: {first_of(found, 10)}")
        session = found[0]
    path = Path(session)
    if os.path.isdir(session):  # noqa: PTH112 - Path may raise, and reading it says why
        if not (path / _SUBAGENTS).is_dir():
            raise IsADirectoryError
        # Where its own log is not there, who reads the others finds out.
        own = path.with_name(f"{path.name}.jsonl")
        return [*[str(own)] * own.is_file(), *_agents_in(path)]
    return [session, *_agents_in(path.with_suffix(""))]


def log_named(id_: str) -> str | None:
    """The whole path of the log of a session or a subagent, by its id, which may be untrusted: it
    names a log among the user's own, or none.
    """
    if not _ID.fullmatch(id_):
        return None
    subagents = _homes()[0].glob(f"*/*/{_SUBAGENTS}/agent-{id_}.jsonl")
    return next((str(Path(each).absolute()) for each in [*_of_id(id_), *map(str, subagents)]), None)


def log_lines(path: str) -> Iterator[str]:
    """The lines of a log, each with its newline; a log is read while others may write to it. Raises
    OSError or ValueError.
    """
    with disk.opened(path) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(LONGEST + 1), b""), 1):
            if len(line) > LONGEST:
                raise ValueError(f"line {number} has more than {LONGEST >> 20} MB")
            yield _decoded(line, number)


def _homes() -> tuple[Path, Path]:
    """Where Claude Code and Codex keep their sessions."""
    claude = os.environ.get("CLAUDE_CONFIG_DIR") or "~/.claude"
    codex = os.environ.get("CODEX_HOME") or "~/.codex"
    expanded = os.path.expanduser  # Path raises where there is no home
    return Path(expanded(claude), "projects"), Path(expanded(codex), "sessions")


def _of_id(id_: str) -> Iterator[str]:
    claude, codex = _homes()
    yield from (str(path) for path in claude.glob(f"*/{id_}.jsonl"))
    yield from (str(path) for path in codex.glob(f"*/*/*/rollout-*-{id_}.jsonl"))


def _agents_in(folder: Path) -> list[str]:
    """Where Claude Code logs what a session's subagents do: files, and no links."""
    top = folder / _SUBAGENTS
    found = () if top.is_symlink() else top.rglob("agent-*.jsonl")
    return sorted(str(each) for each in found if each.is_file() and not each.is_symlink())


def _decoded(line: bytes, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        if error.end < len(line) or error.reason != "unexpected end of data":
            what = f"line {number} is not UTF-8; save it as UTF-8 and try again"
            raise ValueError(what) from error
        return line[: error.start].decode()  # somebody is writing the rest
