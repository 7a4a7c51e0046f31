"""How text from a stranger is shown: the one place that knows what a terminal or runner obeys."""

from __future__ import annotations

import json
import re

import msgspec

# A runner of continuous integration obeys `::…` where a line begins, white space or not, and `##[…`
# and `##vso[…` wherever they stand. What is shown may be wrapped at any white space.
_OBEYED = r"(?i)(?<!\S):(?=:)|#(?=#(?:\[|vso\[))"
_CONTROLS = re.compile(r"[\x80-\x9f\u2028\u2029]")


def visible(text: str) -> str:
    """Text with every character spelt ``<U+XXXX>`` that is not printable or begins a command."""
    if not text.isprintable():
        text = "".join(each if each.isprintable() else _spelt(each) for each in text)
    return _disarmed(text, _COLON, _HASH)


def printable(text: str, limit: int = 60) -> str:
    """Text cut to ``limit`` characters, and visible."""
    return visible(text if len(text) <= limit else text[: limit - 1] + "…")


def code(text: str, most: int = 200) -> str:
    """Untrusted text as inline Markdown code, whatever it holds."""
    safe = plain(text, most)
    longest = max((len(run) for run in re.findall("`+", safe)), default=0)
    fence = "`" * (longest + 1)
    padding = " " if "`" in safe or not safe.strip() else ""
    return f"{fence}{padding}{safe}{padding}{fence}"


def plain(text: str, most: int = 200) -> str:
    """Untrusted text on one line, cut, with nothing in it that a terminal would obey."""
    return printable(text, most)


def cells(text: str) -> str:
    """Text of the same width, with U+FFFD in place of what a terminal or a runner obeys."""
    shown = "".join(each if each.isprintable() else "\ufffd" for each in text)
    return _disarmed(shown, "\ufffd", "\ufffd")


def without_links(text: str) -> str:
    """Text as a message of SARIF, in which `[…](…)` would be a link."""
    return re.sub(r"([\\\[\]])", r"\\\1", text) if "](" in text else text


def in_json(text: str) -> str:
    """The same JSON with escapes in place of what a terminal or a runner obeys in its strings."""
    text = text.replace("##", "#\\u0023")
    if text.isascii():
        return text
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def json_document(value: object) -> str:
    """A value as JSON in ASCII, indented by two, harmless as by :func:`in_json`."""
    # To indent while writing would take 20 times as long.
    try:
        return in_json(msgspec.json.format(json.dumps(value), indent=2))
    except msgspec.DecodeError:  # it refuses half of a character
        return in_json(json.dumps(value, indent=2))


def _disarmed(text: str, colon: str, hash_sign: str) -> str:
    if "::" not in text and "##" not in text:
        return text
    return re.sub(_OBEYED, lambda found: colon if found[0] == ":" else hash_sign, text)


def _spelt(character: str) -> str:
    return f"<U+{ord(character):04X}>"


_COLON, _HASH = _spelt(":"), _spelt("#")
