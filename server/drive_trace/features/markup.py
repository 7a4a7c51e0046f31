"""Text for clients that cannot show Markdown."""

from __future__ import annotations

import re

from lsprotocol import types

_CODE = re.compile(r"(?<!`)(`+)(?!`)( ?)(.*?)\2(?<!`)\1(?!`)")
_STRESS = re.compile(r"(\*\*?)(?=\S)(.*?\S)\1")
_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]+\)")
_SEPARATOR = re.compile(r"\|(?: *:?-+:? *\|)+")


def markup(text: str, kind: types.MarkupKind) -> types.MarkupContent:
    """Markdown of the server in the client's format."""
    return types.MarkupContent(kind, text if kind is types.MarkupKind.Markdown else plain(text))


def plain(text: str) -> str:
    """The text of Markdown as :mod:`drive_trace.scorecard.render` and the hovers write it."""
    lines = [
        _row(line) if line.startswith("| ") else _inline(line)
        for line in text.split("\n")
        if not _SEPARATOR.fullmatch(line)
    ]
    return "\n".join("" if line == "---" else line for line in lines)


def _row(line: str) -> str:
    return ": ".join(_inline(cell.strip()) for cell in line.strip("| ").split(" | "))


def _inline(line: str) -> str:
    """A line without its marks. The text of code spans stays as it is."""
    parts: list[str] = []
    done = 0
    for match in _CODE.finditer(line):
        parts += [line[done : match.start()], match[3]]
        done = match.end()
    parts.append(line[done:])
    # Emphasis may reach over a code span: ``**`pass`**``.
    held = _LINK.sub(r"\1", "\0".join(parts[0::2]))
    outside = _STRESS.sub(r"\2", _STRESS.sub(r"\2", held)).split("\0")
    codes = [*parts[1::2], ""]
    return "".join(text + code for text, code in zip(outside, codes, strict=True))
