"""What happens to traces: lines that are torn, garbled or rejected, files that are copied or moved.

No damage here takes a line cleanly away or makes another valid one of it.
"""

import json
from collections.abc import Callable, Iterable
from random import Random
from typing import NamedTuple

from drive_trace.vocabulary import EVENTS

Files = dict[str, list[str]]
"""The lines of each trace, by its path below a folder."""


class Damage(NamedTuple):
    """Something of :data:`LINES` or :data:`FILES`, and what chance decides by."""

    kind: str
    seed: int


def damaged(files: Files, damages: Iterable[Damage]) -> Files:
    """The files after all that has happened to them. Lines that were damaged stay as they are."""
    files = {path: list(lines) for path, lines in files.items()}
    for kind, seed in damages:
        chance = Random(seed)
        if kind in FILES:
            FILES[kind](files, chance.choice(sorted(files)), chance)
            continue
        lines = files[chance.choice(sorted(files))]
        places = [number for number, line in enumerate(lines) if is_event(line)]
        grades = [number for number in places if "correctness-recorded" in lines[number]]
        if places:
            at = chance.choice(grades if grades and chance.random() < 0.5 else places)
            lines[at] = LINES[kind](lines[at], chance)
    return files


def is_event(line: str) -> bool:
    """Whether a line is still an event."""
    try:
        event = json.loads(line)
        return event["event_type"] in EVENTS and "project_run_id" in event
    except (ValueError, TypeError, KeyError):
        return False


# One line


def _retyped(change: Callable[[str], str]) -> Callable[[str, Random], str]:
    def retype(line: str, _: Random) -> str:
        name = json.loads(line)["event_type"]
        return line.replace(f'"event_type":"{name}"', f'"event_type":"{change(name)}"')

    return retype


def _garbled(line: str, chance: Random) -> str:
    """With some characters replaced by what no JSON has there."""
    at = chance.randrange(len(line) - 1)
    rest = line[at + chance.randrange(1, 40) :]
    return line[:at] + "\x00\ufffd" * 3 + (rest if rest.endswith("\n") else rest + "\n")


def _of_another_run(line: str, version: str) -> str:
    """Rejected, with a run id that is bent."""
    line = line.replace('"project_run_id":"', '"project_run_id":"~')
    return line.replace('"schema_version":"1"', version)


def _torn(line: str, chance: Random) -> str:
    return line[: chance.randrange(1, len(line) - 1)]


LINES: dict[str, Callable[[str, Random], str]] = {
    "torn": lambda line, chance: _torn(line, chance) + "\n",
    "torn and glued": _torn,
    "headless": lambda line, chance: line[chance.randrange(1, len(line) - 2) :],
    "schema version": lambda line, _: line.replace('"schema_version":"1"', '"schema_version":"2"'),
    "no time": lambda line, _: line.replace('"ts":', '"time":'),
    "no agent": lambda line, _: line.replace('"orchestrator_agent_id":null,', ""),
    "trailing comma": lambda line, _: line.replace("}\n", ",}\n"),
    "single quotes": lambda line, _: line.replace('"', "'"),
    "byte order mark": lambda line, _: "\ufeff" + line,
    "camel case": lambda line, _: line.replace("event_id", "eventId").replace("run_id", "runId"),
    "underscores": _retyped(lambda name: name.replace("-", "_")),
    "version": _retyped(lambda name: f"{name}.v2"),
    "prefix": _retyped(lambda name: f"x-{name}"),
    "another type": _retyped(lambda _: "something-else"),
    "outcome": lambda line, _: line.replace('"fail"', '"failed"').replace('"pass"', '"passed"'),
    "garbled": _garbled,
    "numbered": lambda line, _: f"15: {line}",
    "quoted": lambda line, _: json.dumps(line.rstrip("\n")) + "\n",
    "an array": lambda line, _: "[" + line.rstrip("\n") + "]\n",
    "spread out": lambda line, _: json.dumps(json.loads(line), indent=2) + "\n",
    "emptied": lambda _, __: "{}\n",
    "carriage return": lambda line, _: line.replace("\n", "\r"),
    "another run": lambda line, _: _of_another_run(line, '"schema_version":"2"'),
    "a run that is a slip": lambda line, _: _of_another_run(line, '"schema_version":1'),
}
"""What becomes of an event. It is rejected or unknown afterwards, or is as it was."""
ILLEGIBLE = {"torn", "torn and glued", "headless", "garbled", "emptied"}
"""Those after which nobody may see that a line was a grade."""


# Files


def _repeat(files: Files, path: str, chance: Random) -> None:
    """A line stands once more at the end, a grade if there is one."""
    lines = files[path]
    grades = [line for line in lines if "correctness-recorded" in line]
    lines += [chance.choice(grades or lines)]


def _insert(files: Files, path: str, chance: Random) -> None:
    lines = files[path]
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))


def _merge(files: Files, path: str, chance: Random) -> None:
    """A beginning of the file stands once more in the middle of it."""
    lines = files[path]
    at = chance.randrange(len(lines))
    files[path] = lines[:at] + lines[: chance.randrange(len(lines))] + lines[at:]


def _copy(files: Files, path: str, chance: Random) -> None:
    files[f"copy-{chance.random()}/trace.jsonl"] = list(files[path])


def _copy_as_another_run(files: Files, path: str, chance: Random) -> None:
    lines = [line.replace("run-", "other-") for line in files[path]]
    files[f"copy-{chance.random()}/trace.jsonl"] = lines


def _move(files: Files, path: str, chance: Random) -> None:
    """Under a name that a search does not know, where it still finds another trace."""
    if sum(each.endswith("/trace.jsonl") for each in files) > 1:
        folder = path.rpartition("/")[0]
        files[f"{folder}/qa-trace-{chance.random()}.jsonl"] = files.pop(path)


def _unread(files: Files, path: str, chance: Random) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\n"
    files[f"unread-{chance.random()}/trace.jsonl"] = [pointer]


def _reject_run(files: Files, path: str, chance: Random) -> None:
    """All lines of a run, in one way."""
    events = {line for lines in files.values() for line in lines if is_event(line)}
    runs = sorted({json.loads(line)["project_run_id"] for line in events})
    if not runs:
        return
    named = f'"project_run_id":"{chance.choice(runs)}"'
    damage = LINES[chance.choice(sorted(LINES))]
    for lines in files.values():
        for number, line in enumerate(lines):
            if line in events and named in line:
                lines[number] = damage(line, chance)


FILES: dict[str, Callable[[Files, str, Random], None]] = {
    "repeat": _repeat,
    "insert": _insert,
    "merge": _merge,
    "copy": _copy,
    "copy as another run": _copy_as_another_run,
    "move": _move,
    "unread": _unread,
    "reject a run": _reject_run,
}
"""What becomes of files, or of a run."""
