"""Finds what is sorted in a text that a person hands over."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from drive_trace.grading.classes import Item


def items_of(records: Iterable[str]) -> list[Item]:
    """Each paragraph of a text; where there is only one, each of its lines."""
    said = groupby(enumerate(records, 1), key=lambda line: bool(line[1].strip()))
    parts = [list(group) for is_text, group in said if is_text]
    if len(parts) == 1:
        parts = [[line] for line in parts[0]]
    return [Item(part[0][0], "\n".join(line for _, line in part).strip()) for part in parts]
