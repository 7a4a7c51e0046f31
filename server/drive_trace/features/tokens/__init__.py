"""``textDocument/semanticTokens/full``, ``textDocument/semanticTokens/full/delta`` and
``textDocument/semanticTokens/range``: what each key and value of a trace is, for colours.

Whole answers have millions of numbers, so they are made as JSON text, in steps. The state of
an answer is its lines and how many tokens each has. The next answer compares lines by identity, and
reads only the changed ones.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import point_at
from drive_trace.features.raw_json import JsonText
from drive_trace.features.tokens.kinds import LEGEND, palette
from drive_trace.features.tokens.painting import Painter
from drive_trace.tasks import Task, in_batches
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Document
from drive_trace.trace.line import Line

__all__ = ["LEGEND", "Answered", "TokenLook", "TokenState", "changed_tokens", "tokens", "tokens_in"]

_NUMBERS = 5
"""How many numbers an answer has for each token."""
_ids = count(1)
_STEP = 4096
"""How many lines are compared at once: on every keystroke 100,000 lines take 1.6 ms, and 4.8 ms one
by one.
"""


class TokenLook(NamedTuple):
    """What a client knows of tokens, and how it counts."""

    encoding: PositionEncoding
    types: frozenset[str] = frozenset(LEGEND.token_types)
    """The types that it knows."""
    modifiers: frozenset[str] = frozenset(LEGEND.token_modifiers)


class TokenState(NamedTuple):
    """What a later answer needs to find what has changed since this one."""

    result_id: str
    look: TokenLook
    lines: Sequence[Line]
    counts: array[int]
    """How many tokens each line has."""
    is_simple: bool
    """Whether each record was one line of the protocol."""


Answered = tuple[dict[str, object], TokenState]
"""An answer, and its state."""


class _Run(NamedTuple):
    """The tokens of some records that follow each other."""

    texts: Sequence[bytes]
    """Their numbers, separated by commas; each text is a step of the task that made it."""
    counts: array[int]

    def data(self) -> JsonText:
        """The numbers as they go over the wire."""
        parts = [*self.texts] or [b""]
        parts[0] = b"[" + parts[0]
        parts[-1] += b"]"
        return JsonText(b",".join(parts))


def tokens(analysis: Analysis, look: TokenLook) -> Task[Answered]:
    """All tokens, and the state of the answer."""
    document = analysis.document
    run = yield from _paint(document, look, 0, len(document.lines))
    data = run.data()
    yield  # all of a long trace are 25 MB, and each copy takes its time
    result_id = _new_id()
    state = TokenState(result_id, look, list(document.lines), run.counts, not document.is_divided)
    return {"resultId": result_id, "data": data}, state


def tokens_in(analysis: Analysis, where: types.Range, look: TokenLook) -> Task[dict[str, object]]:
    """The tokens of the records in a range."""
    first = point_at(analysis, where.start, look.encoding).record
    last = point_at(analysis, where.end, look.encoding).record
    run = yield from _paint(analysis.document, look, first, last + 1)
    return {"data": run.data()}


def changed_tokens(
    analysis: Analysis, look: TokenLook, before: TokenState | None, result_id: str
) -> Task[Answered]:
    """What has changed since an answer; all tokens if its state is not known any more."""
    document = analysis.document
    if (
        before is None
        or (before.result_id, before.look) != (result_id, look)
        or not before.is_simple
        or document.is_divided
    ):
        return (yield from tokens(analysis, look))
    first, old_stop, stop = _changed(before.lines, document.lines)
    above = _last_with_tokens(before.counts, first)
    run = yield from _paint(document, look, first, stop, above)
    counts = before.counts[:first] + run.counts + before.counts[old_stop:]
    deleted = sum(before.counts[first:old_stop])
    texts = list(run.texts)
    # A token has its distance in lines to the one before: that of the next one may have changed.
    behind = next((at for at in range(stop, len(counts)) if counts[at]), None)
    if behind is not None:
        old_behind = behind - stop + old_stop
        distance = behind - _last_with_tokens(counts, behind)
        if distance != old_behind - _last_with_tokens(before.counts, old_behind):
            above = _last_with_tokens(counts, behind)
            texts += (yield from _paint(document, look, behind, behind + 1, above)).texts
            deleted += counts[behind]
    start = sum(before.counts[:first])
    edits = []
    if texts or deleted:
        data = _Run(texts, counts).data()
        edits.append({"start": _NUMBERS * start, "deleteCount": _NUMBERS * deleted, "data": data})
    state = TokenState(_new_id(), look, list(document.lines), counts, is_simple=True)
    return {"resultId": state.result_id, "edits": edits}, state


def _paint(
    document: Document, look: TokenLook, first: int, stop: int, above: int = 0
) -> Task[_Run]:
    """The tokens of some records; ``above`` is the line of the token before them."""
    paint, texts, counts = _painter(look).paint, list[bytes](), array("I")
    is_simple = not document.is_divided
    for some in in_batches(enumerate(document.lines[first:stop], first)):
        numbers: list[str] = []
        for at, line in some:
            painted = paint(line)
            counts.append(painted.tokens)
            if painted.tokens:
                record = at if is_simple else document.protocol_line(at)
                numbers.append(painted.below(record + painted.first - above))
                above = record + painted.last
        if numbers:
            texts.append(",".join(numbers).encode())
        yield
    return _Run(texts, counts)


@lru_cache(maxsize=4)
def _painter(look: TokenLook) -> Painter:
    return Painter(look.encoding, palette(look.types, look.modifiers))


def _changed(old: Sequence[Line], new: Sequence[Line]) -> tuple[int, int, int]:
    """The first line that is another one, and where from both go on alike."""
    shorter, first, last = min(len(old), len(new)), 0, 0
    while first < shorter and old[first : first + _STEP] == new[first : first + _STEP]:
        first = min(first + _STEP, shorter)
    while first < shorter and old[first] is new[first]:
        first += 1
    while last < shorter - first and _block(old, last) == _block(new, last):
        last = min(last + _STEP, shorter - first)
    while last < shorter - first and old[-1 - last] is new[-1 - last]:
        last += 1
    return first, len(old) - last, len(new) - last


def _block(lines: Sequence[Line], last: int) -> Sequence[Line]:
    stop = len(lines) - last
    return lines[max(0, stop - _STEP) : stop]


def _last_with_tokens(counts: array[int], stop: int) -> int:
    """The last line before ``stop`` that has a token; 0 where none has."""
    return next((at for at in range(stop - 1, 0, -1) if counts[at]), 0)


def _new_id() -> str:
    """A name for an answer that no other has: a document may be closed and opened again."""
    return str(next(_ids))
