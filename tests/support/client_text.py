r"""What the other side does with text: an editor's positions, a program's columns, and edits.

Shares no code with the product. An editor's line ends at `\n`, `\r\n` or `\r`, and its columns are
counted in one of three encodings; the command line's line ends at `\n` alone, and its columns are
code points from 1.
"""

import json
import re
import urllib.parse
import urllib.request
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

ENCODINGS = ("utf-8", "utf-16", "utf-32")
_UNIT = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
_RUN_ID = re.compile(r'(?<="project_run_id":")[^"]*')
_EVENT_ID = re.compile(r'(?<="event_id":")[0-9a-f-]{36}')
_LINE_END = re.compile(r"\r\n|\r|\n")


def event(event_type: str, run: object = "run-1", **payload: Any) -> str:
    """A line of a trace, with its newline; a payload field may also replace an envelope field."""
    fields = {
        "event_id": "0b9c2a4e-6f1d-4c3b-8a57-1d2e3f405162",
        "schema_version": "1",
        "ts": "2026-05-28T14:00:00.000Z",
        "project_run_id": run,
        "orchestrator_agent_id": None,
        "event_type": event_type,
        **payload,
    }
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def apart(text: str) -> str:
    """The text with an id of its own for each of its events, as no two of a trace share one, nor
    two of different runs. Ids are random: those that count up are made up.
    """
    runs = "".join(sorted(set(_RUN_ID.findall(text))))
    random = Random(runs.encode("utf-8", "surrogatepass"))
    return _EVENT_ID.sub(lambda _: str(UUID(int=random.getrandbits(128), version=4)), text)


def triage(**payload: Any) -> str:
    """A valid event of a few fields, the free text first."""
    fields = {"input_ref": None, "verdict": "direct-change", "input_shape": "chat-ask"}
    return event("triage-verdict", **(fields | payload))


def graded(*triple: str | None, **payload: Any) -> str:
    """A correctness-recorded with mechanical, qa and intent."""
    fields = dict(zip(("mechanical", "qa", "intent"), triple, strict=True))
    return event("correctness-recorded", **(fields | payload))


def tokens(*counts: int | None, **payload: Any) -> str:
    """A tokens-recorded with input, output, cache read and cache write tokens."""
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    return event("tokens-recorded", **(dict(zip(names, counts, strict=True)) | payload))


# Editors


def path_of(uri: str) -> Path:
    """The file that a `file:` address leads to."""
    parts = urllib.parse.urlsplit(uri)
    assert parts.scheme == "file", uri
    return Path(urllib.request.url2pathname(parts.path))


def units(text: str, encoding: str) -> int:
    """The length of a text in the units of an encoding; a lone surrogate is a character."""
    name, width = _UNIT[encoding]
    return len(text.encode(name, "surrogatepass")) // width


def position(text: str, offset: int, encoding: str) -> dict[str, int]:
    """The protocol's position of a code point of the text."""
    line, start = 0, 0
    for end in _LINE_END.finditer(text):
        if end.end() > offset:
            break
        line, start = line + 1, end.end()
    return {"line": line, "character": units(text[start:offset], encoding)}


def offset_of(text: str, at: dict[str, Any], encoding: str) -> int:
    """The code point that a position means: past a line's end is its end, past the text's is that;
    inside a character is its start.
    """
    ends = list(islice(_LINE_END.finditer(text), int(at["line"]) + 1))
    if at["line"] > len(ends):
        return len(text)
    start = ends[int(at["line"]) - 1].end() if at["line"] else 0
    stop = ends[int(at["line"])].start() if at["line"] < len(ends) else len(text)
    left = at["character"]
    for offset in range(start, stop):
        left -= units(text[offset], encoding)
        if left < 0:
            return offset
    return stop


def offset_in(text: str, at: Any, encoding: str) -> int:
    """The code point at a position that a server has given, as an object or as JSON: it has to be
    one of the text.
    """
    if not isinstance(at, dict):
        at = {"line": at.line, "character": at.character}
    offset = offset_of(text, at, encoding)
    assert position(text, offset, encoding) == at, f"{at} is no place of the text"
    return offset


def range_at(text: str, start: int, stop: int, encoding: str) -> dict[str, Any]:
    return {"start": position(text, start, encoding), "end": position(text, stop, encoding)}


def range_of(text: str, token: str, encoding: str = "utf-16") -> dict[str, Any]:
    """The protocol's range of a token that stands in the text once."""
    assert text.count(token) == 1, f"{token} stands {text.count(token)} times"
    start = text.index(token)
    return range_at(text, start, start + len(token), encoding)


def apply_edits(text: str, edits: Iterable[Any], encoding: str = "utf-16") -> str:
    """What an editor makes of text edits, given as objects or as JSON."""
    found = []
    for edit in edits:
        is_json = isinstance(edit, dict)
        where, new = (edit["range"], edit["newText"]) if is_json else (edit.range, edit.new_text)
        start, end = (where["start"], where["end"]) if is_json else (where.start, where.end)
        found.append((offset_in(text, start, encoding), offset_in(text, end, encoding), new))
    return _apply(text, found)


# Programs that read the command line's JSON


def apply_columns(text: str, edits: Iterable[Any]) -> str:
    """What a program makes of the edits in the output of `check`."""
    return _apply(
        text,
        [
            (
                column_offset(text, edit["line"], edit["column"]),
                column_offset(text, edit["end_line"], edit["end_column"]),
                edit["text"],
            )
            for edit in edits
        ],
    )


def column_offset(text: str, line: int, column: int) -> int:
    """The code point at a line and column from 1."""
    records = text.split("\n")
    assert 1 <= line <= len(records)
    assert 1 <= column <= len(records[line - 1]) + 1
    return sum(len(record) + 1 for record in records[: line - 1]) + column - 1


def _apply(text: str, edits: list[tuple[int, int, str]]) -> str:
    parts, at = [], 0
    for start, stop, new in sorted(edits, key=lambda edit: edit[:2]):
        assert at <= start <= stop, "edits of one change must not overlap"
        parts += [text[at:start], new]
        at = stop
    return "".join([*parts, text[at:]])
