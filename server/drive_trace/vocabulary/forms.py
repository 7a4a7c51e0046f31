"""How some strings are written by convention. Readers take any string in their places.

Facts: `event_id`, `dispatch_id` and `round_id` are UUIDs, `ts` is ISO 8601 in UTC, and a brief's
content hash is a sha256 in hexadecimal (the vocabulary).
"""

from __future__ import annotations

import re
from enum import Enum
from functools import cached_property

_DIGIT = "[0-9a-fA-F]"
_UUID = f"{_DIGIT}{{8}}(?:-{_DIGIT}{{4}}){{3}}-{_DIGIT}{{12}}"
_SHA256 = f"{_DIGIT}{{64}}"

_DAY = (
    "[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
    "|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
)
_LEAP_DAY = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?"
_TIMESTAMP = rf"(?:{_DAY}|{_LEAP_DAY})T{_CLOCK}(?:Z|\+00:00)"


class Form(Enum):
    """A way to write a string; each knows the regular expression for the whole of it.

    The expressions mean the same to Python and to Rust's regex crate.
    """

    UUID = ("a UUID, such as 0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90", _UUID)
    TIMESTAMP = ("an ISO 8601 time in UTC, such as 2026-05-28T14:00:00.000Z", _TIMESTAMP)
    SHA256 = ("a sha256 in 64 hexadecimal digits", _SHA256)

    def __init__(self, words: str, expression: str) -> None:
        self.words = words
        """What such a string is, for messages."""
        self.expression = expression

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Clean lines never need it, and making it takes a while.
        return re.compile(self.expression)

    def __contains__(self, value: object) -> bool:
        """Whether a string is written like this."""
        return isinstance(value, str) and self._pattern.fullmatch(value) is not None
