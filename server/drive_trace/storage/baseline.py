"""The baseline: findings that are known already, and not shown again.

A fingerprint identifies a finding by its rule and the text of its line, so that it stays known
when lines are added above it, and is new when its line changes. The baseline also counts the
lines with that text: one more is new.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from drive_trace.json_text import Node, NodeKind, find_member, parse
from drive_trace.text.wording import shown

BASELINE_NAME = "drive-trace-baseline.json"

ANY_NUMBER = sys.maxsize
"""The count of a fingerprint that hides any number of lines; null in the file."""

Known = Mapping[str, Mapping[str, int]]
"""The findings in one file by the code of their rule: on how many lines, by fingerprint."""


class BaselineError(Exception):
    """A text is no baseline: why, and where in it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.at = fault.at


class _NoBaselineError(Exception):
    """A text is no baseline. :func:`first_fault` finds out why."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known findings by file: its path from the baseline's folder, with ``/`` in between."""

    files: Mapping[str, Known] = field(default_factory=lambda: MappingProxyType({}))

    def known(self, path: str) -> Mapping[str, int]:
        """The fingerprints of a file's known findings, each with its number of lines."""
        return dict(chain.from_iterable(each.items() for each in self.files.get(path, {}).values()))

    def with_files(self, files: Mapping[str, Known]) -> Baseline:
        """The baseline with new findings for some files. Files without any are left out."""
        return Baseline({path: known for path, known in {**self.files, **files}.items() if known})


def read_baseline(text: str) -> Baseline:
    """Read a baseline. Raises BaselineError for anything else."""
    try:
        return _read(json.loads(text, object_pairs_hook=_once))
    except json.JSONDecodeError as error:
        raise BaselineError(Fault(error.pos, f"it is not JSON: {error.msg}")) from None
    except (_NoBaselineError, RecursionError, ValueError):
        raise BaselineError(first_fault(text)) from None


def write_baseline(baseline: Baseline) -> str:
    """The text of a baseline: sorted, and one finding a line, so that diffs are readable."""
    files = {
        path: {
            code: {
                each: None if count == ANY_NUMBER else count
                for each, count in sorted(known[code].items())
            }
            for code in sorted(known)
        }
        for path, known in sorted(baseline.files.items())
    }
    return json.dumps({"version": VERSION, "files": files}, indent=2, ensure_ascii=False) + "\n"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object without duplicate names: readers differ in which of two members they take."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NoBaselineError
    return members


def _read(data: object) -> Baseline:
    version = _object(data).get("version")
    if type(version) is not int or version not in (VERSION, UNCOUNTED_VERSION):
        raise _NoBaselineError
    read = _counted if version == VERSION else _uncounted
    return Baseline(
        {
            path: {code: read(found) for code, found in _object(known).items()}
            for path, known in _object(_object(data).get("files")).items()
        }
    )


def _object(value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _NoBaselineError
    return value


def _counted(found: object) -> Mapping[str, int]:
    if not isinstance(found, dict) or not all(map(_is_counted, found.items())):
        raise _NoBaselineError
    return {each: ANY_NUMBER if count is None else count for each, count in found.items()}


def _is_counted(pair: tuple[object, object]) -> bool:
    name, count = pair
    is_count = type(count) is int and count > 0
    return _is_fingerprint(name) and (count is None or is_count)


def _uncounted(found: object) -> Mapping[str, int]:
    if not isinstance(found, list) or not all(map(_is_fingerprint, found)):
        raise _NoBaselineError
    return dict.fromkeys(found, ANY_NUMBER)


def _is_fingerprint(value: object) -> bool:
    return isinstance(value, str) and FINGERPRINT.fullmatch(value) is not None


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
    """What is wrong with a text that some JSON readers accept, and that is no baseline."""
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
    if found is None or found.kind is not NodeKind.NUMBER or found.value not in (VERSION, 1):
        yield Fault((found or root).span.start, f'it must be an object with "version": {VERSION}')
        return
    files = find_member(root, "files")
    if files is None:
        yield Fault(root.span.start, '"files" is missing')
    inner = NodeKind.OBJECT if found.value == VERSION else NodeKind.ARRAY
    level = [files.value] if files is not None else []
    for kind, words in (
        (NodeKind.OBJECT, '"files" must hold an object'),
        (NodeKind.OBJECT, "a file must hold an object of rules"),
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
    fingerprints = [(each.key, each.key_span) for each in rule.members]
    fingerprints += [(str(each.value), each.span) for each in rule.items]
    for fingerprint, span in fingerprints:
        if not FINGERPRINT.fullmatch(fingerprint):
            yield Fault(span.start, "a fingerprint must be 32 hexadecimal digits")
    for each in rule.members:
        written = text[slice(*each.value.span)] if each.value is not None else ""
        if written != "null" and not (written.isdigit() and written.strip("0")):
            yield Fault(each.key_span.end, "a fingerprint must have a number of lines, or null")
