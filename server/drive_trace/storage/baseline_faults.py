"""What keeps a text from being a baseline, and where: looked for once it is known to be none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from drive_trace.json_text import Kind, Node, find_member, parse
from drive_trace.text.wording import shown

FINGERPRINT = re.compile(r"[0-9a-f]{32}")
VERSION = 2
UNCOUNTED_VERSION = 1
"""It held lists of fingerprints, each of which hid any number of lines."""

_DEEPEST = 4
_TOKEN = re.compile(
    r'"(?>(?:[^"\\]+|\\.)*)(?:"|\\?\Z)'
    r"|(?P<opening>[\[{])|(?P<closing>[\]}])|(?P<constant>NaN|-?Infinity)",
    re.DOTALL,
)


class Fault(NamedTuple):
    """One thing that is wrong."""

    at: int
    """In code points of the text."""
    message: str


def first_fault(text: str) -> Fault:
    """What is wrong with a text that some reader of JSON takes, and that is no baseline."""
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += (token.lastgroup == "opening") - (token.lastgroup == "closing")
        if depth > _DEEPEST:
            return Fault(token.start(), "it is nested too deeply")
        if token.lastgroup == "constant":
            return Fault(token.start(), f"it is not JSON: {token[0]}")
    root = parse(text).root
    assert root is not None
    return next(_faults(text, root), Fault(0, "it holds a number that is too large"))


def _faults(text: str, root: Node) -> Iterator[Fault]:
    yield from _repeated(root)
    version = find_member(root, "version")
    found = version.value if version is not None else None
    if found is None or found.kind is not Kind.NUMBER or found.value not in (VERSION, 1):
        yield Fault((found or root).span.start, f'it must be an object with "version": {VERSION}')
        return
    files = find_member(root, "files")
    if files is None:
        yield Fault(root.span.start, '"files" is missing')
    inner = Kind.OBJECT if found.value == VERSION else Kind.ARRAY
    level = [files.value] if files is not None else []
    for kind, words in (
        (Kind.OBJECT, '"files" must hold an object'),
        (Kind.OBJECT, "a file must hold an object of rules"),
        (inner, f"a rule must hold an {inner} of fingerprints"),
    ):
        nodes = [each for each in level if each is not None]
        yield from (Fault(each.span.start, words) for each in nodes if each.kind is not kind)
        level = [member.value for each in nodes for member in each.members]
    for rule in nodes:
        yield from _wrong_in(text, rule)


def _repeated(root: Node) -> Iterator[Fault]:
    level = [root]
    while level:
        for node in level:
            seen: set[str] = set()
            for member in node.members:
                if member.key in seen:
                    yield Fault(member.key_span.start, f"{shown(member.key)} stands in it twice")
                seen.add(member.key)
        level = [each.value for node in level for each in node.members if each.value is not None]


def _wrong_in(text: str, rule: Node) -> Iterator[Fault]:
    """What is wrong with the fingerprints of a rule."""
    found_by = [(each.key, each.key_span) for each in rule.members]
    found_by += [(str(each.value), each.span) for each in rule.items]
    for fingerprint, span in found_by:
        if not FINGERPRINT.fullmatch(fingerprint):
            yield Fault(span.start, "a fingerprint must be 32 hexadecimal digits")
    for each in rule.members:
        written = text[slice(*each.value.span)] if each.value is not None else ""
        if written != "null" and not (written.isdigit() and written.strip("0")):
            yield Fault(each.key_span.end, "a fingerprint must have a number of lines, or null")
