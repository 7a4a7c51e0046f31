"""The text of completions, with places to fill in for editors that have snippets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from drive_trace.authoring.values import Certainty, Slot
from drive_trace.linter.edits import as_json, placeholder
from drive_trace.vocabulary import (
    BooleanShape,
    FieldType,
    ListShape,
    ObjectShape,
    OneOfShape,
    StringShape,
)

_SPACE = re.compile(r"\s")
_SPECIAL = re.compile(r"([\\$])")
_SPECIAL_IN_STOP = re.compile(r"([\\$}])")
_SPECIAL_IN_CHOICE = re.compile(r"([\\,|])")


_MOST_CHOICES = 6
"""The most choices of a place in a snippet."""


class Stop(NamedTuple):
    """A place that the editor moves the cursor to, to fill it in."""

    choices: tuple[str, ...]
    """The texts that can stand there. The first is the default."""
    plain: str
    """The text for editors without snippets."""
    quoted: bool = False
    """Whether it is in quotes, which are no part of the choices."""


class _End:
    """The final place of the cursor."""


END = _End()
Piece = str | Stop | _End


def render(pieces: Iterable[Piece], *, snippets: bool) -> tuple[str, bool]:
    """The text of some pieces, and whether it is a snippet.

    A text with white space is one, too, if that is possible: Neovim cuts other texts there.
    """
    pieces = list(pieces)
    plain = "".join(map(_plain, pieces))
    has_stops = any(isinstance(piece, Stop) for piece in pieces)
    if not snippets or not (has_stops or _SPACE.search(plain)):
        return plain, False
    number, parts = 0, list[str]()
    for piece in pieces:
        number += isinstance(piece, Stop)
        parts.append(_marked(piece, number))
    return "".join(parts), True


def _plain(piece: Piece) -> str:
    if isinstance(piece, Stop):
        return piece.plain
    return piece if isinstance(piece, str) else ""


def _marked(piece: Piece, number: int) -> str:
    if isinstance(piece, str):
        return _escaped(piece)
    if not isinstance(piece, Stop):
        return "$0"
    choices = piece.choices
    if len(choices) > 1 and not any("$" in each or "}" in each for each in choices):
        inner = ",".join(_SPECIAL_IN_CHOICE.sub(r"\\\1", each) for each in choices)
        text = f"${{{number}|{inner}|}}"
    else:
        inner = _SPECIAL_IN_STOP.sub(r"\\\1", choices[0])
        text = f"${{{number}:{inner}}}" if inner else f"${number}"
    return f'"{text}"' if piece.quoted else text


def _escaped(text: str) -> str:
    is_plain = "$" not in text and "\\" not in text
    return text if is_plain else _SPECIAL.sub(r"\\\1", text)


def pair(slot: Slot) -> Iterator[Piece]:
    """A key with its value."""
    yield f'"{slot.field.name}":'
    yield from value(slot)


def pairs(slots: Iterable[Slot]) -> Iterator[Piece]:
    """Keys with their values, one after the other."""
    for place, slot in enumerate(slots):
        if place:
            yield ","
        yield from pair(slot)


def value(slot: Slot) -> Iterator[Piece]:
    """The value of a field, or the places to fill it in."""
    if slot.certainty is Certainty.KNOWN:
        yield as_json(slot.value)
        return
    texts = tuple(as_json(choice.value) for choice in slot.choices)
    if slot.certainty is Certainty.LIKELY:
        yield _one_of(_readable(slot.field, texts), texts[0])
    else:
        yield from _blank(slot.field, texts)


def _readable(field: FieldType, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Few ids, which mean nothing in a list without their names. Completion of a value lists them
    all, with names.
    """
    if field.nullable and field.names is not None:
        return (texts[0], *("null" for _ in texts[:1] if texts[0] != "null"))
    return texts[:_MOST_CHOICES]


def _one_of(texts: tuple[str, ...], plain: str) -> Stop:
    if all(text.startswith('"') for text in texts):
        return Stop(tuple(text[1:-1] for text in texts), plain, quoted=True)
    return Stop(texts, plain)


def _blank(field: FieldType, texts: tuple[str, ...]) -> Iterator[Piece]:
    plain = placeholder(field)
    shape = field.shape
    if isinstance(shape, OneOfShape | BooleanShape) and texts:
        yield _one_of(texts, plain)
    elif isinstance(shape, ObjectShape):
        yield "{"
        yield from pairs(
            Slot(each, (), Certainty.OPEN) for each in shape.fields.values() if each.is_required
        )
        yield "}"
    elif isinstance(shape, ListShape):
        items = (text[1:-1] for text in texts if text.startswith('"'))
        yield "["
        yield Stop(tuple(items) or ("",), "", quoted=True)
        yield "]"
    elif "null" in texts:
        yield Stop(("null", *(text for text in texts[:_MOST_CHOICES] if text != "null")), plain)
    elif isinstance(shape, StringShape):
        yield Stop(("",), plain, quoted=True)
    else:
        assert field.gap is not None
        yield Stop((field.gap,), plain)
