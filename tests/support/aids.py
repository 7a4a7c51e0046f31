"""Reading aids as an editor shows them: hints in the text, tokens with their kinds, hovers."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features import HintOptions
from drive_trace.features.hover import inlay_hints, resolve_hint
from drive_trace.features.referents import HoverOptions
from drive_trace.features.results import JsonText, View
from drive_trace.features.semantic_tokens import LEGEND, TokenLook, tokens, tokens_in
from tests.support.client_text import offset_in
from tests.support.fixtures import ENCODINGS, URI, alike, check_hover, read

if TYPE_CHECKING:
    from collections.abc import Sequence

from drive_trace.text.spans import PositionEncoding

_HINT = re.compile("«.*?»")
_EVERYWHERE = types.Range(types.Position(0, 0), types.Position(1_000_000, 0))
VIENNA = timezone(timedelta(hours=2))
NOW = datetime(2026, 5, 31, 14, tzinfo=UTC)

# Inlay hints


def check_hints(fixture: str, options: HintOptions | None = None) -> None:
    """Exactly the hints in ``«…»`` are there, behind what they stand behind in the fixture."""
    wanted, text = read(fixture).text, read(_HINT.sub("", fixture)).text
    analysis = Analysis(text)
    for encoding in ENCODINGS:
        hints = inlay_hints(View(analysis, encoding), _EVERYWHERE, options or HintOptions())
        shown = text
        for hint in sorted(hints, key=lambda each: each.position, reverse=True):
            assert hint.padding_left
            at = offset_in(text, hint.position, encoding)
            shown = f"{shown[:at]}«{hint.label}»{shown[at:]}"
        assert shown == wanted


def hints_in(analysis: Analysis, first: int, last: int) -> list[types.InlayHint]:
    """The hints of some lines, from 0, as a client has them that asks for explanations later."""
    where = types.Range(types.Position(first, 0), types.Position(last, 0))
    return inlay_hints(View(analysis, ENCODINGS[0]), where, explained_later_of=URI)


def explained(fixture: str) -> list[tuple[str, str | None]]:
    """The hints of a fixture and what they say when somebody points at them."""
    analysis = Analysis(read(fixture).text)
    hints = inlay_hints(View(analysis, ENCODINGS[0]), _EVERYWHERE, explained_later_of=URI)
    resolved = [resolve_hint(analysis, hint) for hint in hints]
    return [(str(each.label), each.tooltip) for each in resolved]  # type: ignore[misc]


# Semantic tokens


def numbers_of(answer: JsonText) -> list[int]:
    """The numbers of an answer."""
    found: list[int] = json.loads(answer.text)["data"]
    return found


def check_tokens(fixture: str) -> list[str]:
    """The tokens of a fixture, each with its type and modifiers, and alike in every encoding."""
    return check_tokens_of(read(fixture).text)


def check_tokens_of(text: str) -> list[str]:
    """The tokens of a text; those that are asked for line by line are the same."""
    analysis = Analysis(text)

    def shown(encoding: PositionEncoding) -> list[str]:
        look = TokenLook(encoding)
        whole = shown_tokens(text, numbers_of(tokens(analysis, look)), encoding)
        parts: list[str] = []
        for record in range(len(analysis.document.lines)):
            line = analysis.document.protocol_line(record)
            where = types.Range(types.Position(line, 0), types.Position(line, 0))
            part = numbers_of(tokens_in(analysis, where, look))
            parts += shown_tokens(text, part, encoding)
        assert parts == whole
        return whole

    return alike(shown)


def shown_tokens(text: str, numbers: Sequence[int], encoding: PositionEncoding) -> list[str]:
    """``text type.modifier`` of each token; none goes beyond its line or into the next one."""
    shown = []
    line = character = end = 0
    for at in range(0, len(numbers), 5):
        down, right, length, kind, bits = numbers[at : at + 5]
        line, character = line + down, right + (0 if down else character)
        assert down or character >= end, "tokens do not overlap"
        end = character + length
        assert length > 0
        start, stop = (
            offset_in(text, {"line": line, "character": each}, encoding)
            for each in (character, end)
        )
        modifiers = [each for n, each in enumerate(LEGEND.token_modifiers) if bits >> n & 1]
        shown.append(f"{text[start:stop]} {'.'.join([LEGEND.token_types[kind], *modifiers])}")
    return shown


# Hover


def hover_text(
    fixture: str,
    options: HoverOptions | None = None,
    kind: types.MarkupKind = types.MarkupKind.Markdown,
) -> str:
    """What a reader in Vienna sees at the cursor, three days after the examples."""
    options = options or HoverOptions(uri=URI, now=NOW, zone=VIENNA)
    return check_hover(fixture, options, kind) or ""
