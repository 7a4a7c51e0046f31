"""The baseline: findings that are known already, and not shown again.

A fingerprint identifies a finding by its rule and the text of its line, so that it stays known
when lines are added above it, and is new when its line changes. The baseline also counts the
lines with that text: one more is new.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from typing import Annotated, NamedTuple, NoReturn

import msgspec

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


FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_Fingerprint = Annotated[str, msgspec.Meta(pattern=rf"^{FINGERPRINT.pattern}\Z")]
_Count = Annotated[int, msgspec.Meta(ge=1)]
VERSION = 2


class _Counted(msgspec.Struct, tag_field="version", tag=VERSION):
    """A baseline as it stands in its file."""

    files: dict[str, dict[str, dict[_Fingerprint, _Count | None]]]


class _Uncounted(msgspec.Struct, tag_field="version", tag=1):
    """One of an older version, in which a fingerprint hides any number of lines."""

    files: dict[str, dict[str, list[_Fingerprint]]]


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
        data = json.loads(text, object_pairs_hook=_once, parse_constant=_refuse)
        found = msgspec.convert(data, _Counted | _Uncounted)
    except json.JSONDecodeError as error:
        raise BaselineError(Fault(error.pos, f"it is not JSON: {error.msg}")) from None
    except (RecursionError, ValueError):
        raise BaselineError(first_fault(text)) from None
    return Baseline(
        {
            path: {code: _counts(each) for code, each in known.items()}
            for path, known in found.files.items()
        }
    )


def _counts(found: Mapping[str, int | None] | Sequence[str]) -> Mapping[str, int]:
    counts = found if isinstance(found, Mapping) else dict.fromkeys(found)
    return {each: ANY_NUMBER if count is None else count for each, count in counts.items()}


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object without duplicate names: readers differ in which of two members they take."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError
    return members


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


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


_DEEPEST = 4
"""The levels of a baseline: files, their rules, and the fingerprints of a rule."""


class Fault(NamedTuple):
    """One thing that is wrong."""

    at: int
    """In code points of the text."""
    message: str


def first_fault(text: str) -> Fault:
    """What is wrong with a text that some JSON readers accept, and that is no baseline."""
    root = parse(text).root
    assert root is not None
    faults = chain(_refused_by_some(root), _faults(text, root))
    return next(faults, Fault(0, "it holds a number that is too large"))


def _refused_by_some(root: Node) -> Iterator[Fault]:
    """What some readers of JSON refuse, or take otherwise, whatever it is about."""
    level, depth = [root], 1
    while level:
        for node in level:
            if node.kind is NodeKind.BROKEN:
                yield Fault(node.span.start, f"it is not JSON: {node.value}")
            if depth > _DEEPEST and node.kind in (NodeKind.OBJECT, NodeKind.ARRAY):
                yield Fault(node.span.start, "it is nested too deeply")
            seen: set[str] = set()
            for member in node.members:
                if member.key in seen:
                    yield Fault(member.key_span.start, f"{shown(member.key)} stands in it twice")
                seen.add(member.key)
        inner = (member.value for node in level for member in node.members)
        level = [*filter(None, inner), *(item for node in level for item in node.items)]
        depth += 1


def _faults(text: str, root: Node) -> Iterator[Fault]:
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
