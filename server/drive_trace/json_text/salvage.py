"""Finds every whole record in text that is no record itself: glued to others or to a torn one,
quoted, listed, in an array, behind what tools print before it, spread over lines, or a string.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from drive_trace.json_text import WHITESPACE, compacted, refuse_number
from drive_trace.text.spans import Span

_DECODER = json.JSONDecoder(parse_constant=refuse_number)
_MOST_TRIES = 1000
_MOST_READ = 20
"""So many times as long as the text is what is read in vain."""
_MOST_STRINGS = 3
"""So many times a record may be text in text."""
_LONGEST = 200
"""What is longer is no wrapper."""
# Atomic, so that none is tried in all ways.
_MARKS = r"\s,;|>*•│→`\"'“”‘’„()\[\]}$+\ufeff\u200b"
_FILE = r"[\w./\\-]+\.(?:jsonl?|log)"
_WRAPPER = (
    rf"```[\w+-]*|>\s*{_FILE}\b|[{_MARKS}]|-(?=\s)|\\[nrt]|~{{3,}}|\x1b\[[\d;]*m"
    r"|</?(?!(?:del|s|strike)\b)\w+>"
)
_PRINTED = (
    r"(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d:\d\d[\d.,]*(?:Z|[+-]\d\d:?\d\d)?"
    rf"|\d+[-:.)|→│\]\s]|{_FILE}[:-]|\w+(?:\.\w+)+:|(?i:debug|info|notice|warn(?:ing)?|error)\b:?"
    r"|(?i:data|event|json|record|line|output|trace|emitted)\s*[:=]|(?:print|echo|console\.log)\b"
)
"""A time, a number, a module, a level or a word, as tools print it before a line."""
_BEFORE = re.compile(rf"(?>(?:{_PRINTED}|{_WRAPPER})*)\{{*\s*")
_BESIDE = re.compile(rf"(?>(?:{_WRAPPER})*)")
_GLUE = re.compile(r"[\s,]*")
_OUT = r"(?://|/\*|#|<!--|~~(?!~))"
_COMMENT = re.compile(rf"\s*{_OUT}")
_TAKEN_OUT = re.compile(rf"(?:^|\s){_OUT}\s*\Z|(?:^|\s)-\Z")
"""What stands before a record in a comment, in crossed-out text, or that a diff removes."""

IsRecord = Callable[[Mapping[str, Any]], bool]


class Salvage(NamedTuple):
    """What is whole of a text, and what else it says."""

    lines: tuple[str, ...]
    """The records, and each rest between them that says something, in their order."""
    is_whole: bool
    """Whether there is no such rest."""
    is_glued: bool
    """Whether nothing but white space and commas is left out."""


def salvage(text: str, is_record: IsRecord) -> Salvage | None:
    """The records in a text that is none itself; None if there are none. Where something else
    stands beside an object, it may be a part of a torn record: then its keys make it a record.
    """
    inner = text
    for _ in range(_MOST_STRINGS):
        inner = _string(inner) or inner
    if _COMMENT.match(inner):
        return None
    found = _around(inner, _objects(inner, lambda _: True))
    if found is not None and not found.is_whole:
        found = _around(inner, _objects(inner, is_record))
    if found is None or inner == text:
        return found
    return found._replace(is_glued=False)


def _string(text: str) -> str | None:
    """The text that a JSON string holds, if a text is one, or the inside of one; or that a field of
    CSV holds.
    """
    plain = text.strip(f"{WHITESPACE},")
    if re.fullmatch(r'"\{""(?>(?:[^"]+|"")*)"', plain):
        return plain[1:-1].replace('""', '"')
    plain = f'"{plain}"' if plain.startswith('{\\"') else plain
    if not plain.startswith('"'):
        return None
    try:
        value = json.loads(plain)
        str(value).encode()  # a lone surrogate is no text
    except ValueError:
        return None
    return value if isinstance(value, str) else None


def _objects(text: str, is_wanted: IsRecord) -> Iterator[Span]:
    """The outermost objects, up to what somebody has taken out."""
    at = text.find("{")
    end = read = 0
    for _ in range(_MOST_TRIES):
        is_enough = read > _MOST_READ * len(text)
        if at < 0 or is_enough or _TAKEN_OUT.search(text, max(end, at - _LONGEST), at):
            return
        try:
            value, stop = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            read += getattr(error, "pos", len(text)) - at
            stop = at + 1
        else:
            if is_wanted(value):
                yield Span(at, stop)
                end = stop
                if _COMMENT.match(text, end):
                    return
        at = text.find("{", stop)


def _around(text: str, objects: Iterator[Span]) -> Salvage | None:
    """Some objects of a text, and what is left around them."""
    found, lines, end = [*objects], list[str](), 0
    is_whole = is_glued = True
    for start, stop in (*found, Span(len(text), len(text))):
        rest, wrapper = text[end:start], _BESIDE if end else _BEFORE
        is_glued &= _GLUE.fullmatch(rest) is not None
        if len(rest) > _LONGEST or not wrapper.fullmatch(rest):
            is_whole = False
            lines.append(rest.strip(WHITESPACE))
        if record := text[start:stop]:
            lines.append(compacted(record) if "\n" in record else record)
        end = stop
    return Salvage(tuple(lines), is_whole, is_glued) if found else None
