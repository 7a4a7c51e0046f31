"""``textDocument/codeAction`` and ``codeAction/resolve``: what changes a whole file: every safe
fix, and the layout of every line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drive_trace.analysis import Analysis
from drive_trace.authoring.fixing import fix_all
from drive_trace.features.code_actions.offers import (
    FIX_ALL_KIND,
    FORMAT_KIND,
    Offer,
    asks_for,
    names,
)
from drive_trace.features.text_edits import TextChange, of_record
from drive_trace.linter.settings import RuleSettings
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line

FIX_ALL = "fixAll"
FORMAT = "format"
MOST_FIXED = 1000
"""So many lines are fixed in one go; the next one goes on with the rest."""


def source_offers(only: object, *, has_safe_fix: bool) -> list[Offer]:
    """If the request names no kind, only what helps here: fix-all beside a safe fix."""
    fix = Offer("Fix all that can be fixed safely", FIX_ALL_KIND, {"make": FIX_ALL})
    layout = Offer("Lay out all lines", FORMAT_KIND, {"make": FORMAT})
    is_wanted = names(only, FIX_ALL_KIND) or (asks_for(only, FIX_ALL_KIND) and has_safe_fix)
    return [fix] * is_wanted + [layout] * names(only, FORMAT_KIND)


def safe_fixes(
    records: Sequence[str], settings: RuleSettings, path: str | None
) -> list[TextChange]:
    """What all safe fixes come to; worked out on a copy, which takes as long as opening a trace.
    Fixing that ends early, after :data:`MOST_FIXED` lines, keeps all promises, too.
    """
    analysis = Analysis(records, settings, path)
    before = list(analysis.document.lines)
    fix_all(analysis, most=MOST_FIXED)
    return list(_differences(before, analysis.document.lines))


def _differences(before: Sequence[Line], after: Sequence[Line]) -> Iterator[TextChange]:
    """What an edited document has in place of its lines: those that stayed are the same objects."""
    kept = set(map(id, after)) & set(map(id, before))
    old = new = 0
    while old < len(before) or new < len(after):
        first, begin = old, new
        while old < len(before) and id(before[old]) not in kept:
            old += 1
        while new < len(after) and id(after[new]) not in kept:
            new += 1
        texts = [line.text for line in after[begin:new]]
        if texts != [line.text for line in before[first:old]]:
            yield _replacement(before, first, old, texts)
        old, new = old + 1, new + 1


def _replacement(before: Sequence[Line], first: int, stop: int, texts: Sequence[str]) -> TextChange:
    if stop - first == len(texts) == 1:
        return of_record(first, before[first].text, texts[0])
    if stop < len(before):
        return TextChange(Point(first, 0), Point(stop, 0), "".join(f"{text}\n" for text in texts))
    end = Point(stop - 1, len(before[stop - 1].text))
    if texts:
        return TextChange(Point(first, 0), end, "\n".join(texts))
    return TextChange(Point(first - 1, len(before[first - 1].text)), end, "")
