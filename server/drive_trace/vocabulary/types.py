"""The kinds of things that fields name, the families of events, and how strings are written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from enum import Enum, StrEnum
from functools import cached_property
from operator import itemgetter


class Entity(StrEnum):
    """What a field's value can name; the index groups lines by these."""

    EVENT = "event"
    RUN = "run"
    DISPATCH = "dispatch"
    ROUND = "round"
    SLICE = "slice"
    PATH = "path"


class Reference(StrEnum):
    """What a field's value can refer to outside of the trace."""

    TICKET = "ticket"
    PULL_REQUEST = "pull request"


class Family(StrEnum):
    """The groups that the events fall into."""

    BUILD_LOOP = "build loop"
    PLANNING = "planning"
    LIFECYCLE = "lifecycle"
    FEEDS = "experiment feeds"


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


# Not from the root of a disk, somebody's home or above the repository, and without backslashes.
_PATH = (
    r"(?:\.\.(?:[^/\\][^\\]*)|\.(?:[^.\\][^\\]*)?|~(?:[^/\\][^\\]*)?"
    r"|[A-Za-z](?:[^:\\][^\\]*)?|[^./~\\A-Za-z][^\\]*)"
)


class Form(Enum):
    """How some strings are written by convention. Readers take any string in their places.

    Facts: ``event_id``, ``dispatch_id`` and ``round_id`` are UUIDs, ``ts`` is ISO 8601 in UTC, and
    a brief's content hash is a sha256 in hexadecimal (the vocabulary). Real traces name files from
    the root of their repository, which is the only name that other machines understand. Each
    expression matches the whole string, and means the same to Python and to Rust's regex crate.
    """

    UUID = ("uuid", "a UUID, such as 0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90", _UUID)
    TIMESTAMP = (
        "timestamp",
        "an ISO 8601 time in UTC, such as 2026-05-28T14:00:00.000Z",
        _TIMESTAMP,
    )
    HASH = ("hash", "a sha256 in 64 hexadecimal digits", _SHA256)
    PATH = ("path", "a path from the root of the repository, with / between its parts", _PATH)

    def __new__(cls, name: str, words: str, expression: str) -> Form:
        """Its value is its name."""
        form = object.__new__(cls)
        form._value_, form.words, form.expression = name, words, expression
        return form

    words: str
    """What such a string is, for messages."""
    expression: str

    @property
    def code(self) -> str:
        """The code of the rule that reports a string which is written otherwise."""
        return f"malformed-{self.name.lower()}"

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        # Clean lines never need it, and making it takes a while.
        return re.compile(self.expression)

    def __contains__(self, value: object) -> bool:
        """Whether a string is written like this."""
        return isinstance(value, str) and self._pattern.fullmatch(value) is not None


_FEW_DIGITS = 7
"""A hash of random digits has more different ones: one in 8 billion billion has not, and of ids
one in 30 million.
"""


_TYPED = {
    typed[at : at + 8]
    for typed in ("0123456789abcdef01234567", "a1b2c3d4e5f6a7b8", "1a2b3c4d5e6f")
    for at in range(len(typed) - 7)
}
"""What people and language models begin a made-up id with, in whatever place of it."""


def looks_invented(text: str) -> bool:
    """Whether the hexadecimal digits of a text are a pattern that somebody typed: of few different
    digits, the same part over and over, letters and digits in turns, or counted up at the
    beginning, as the version and the variant of a UUID break a pattern further on.
    """
    digits = text.replace("-", "")
    even, odd = digits[::2], digits[1::2]
    return (
        digits[:8] in digits[8:]
        or digits[:8].lower() in _TYPED
        or (even.isdigit() and odd.isalpha())
        or (even.isalpha() and odd.isdigit())
        # The first ones tell it of nearly all, in less time.
        or len(set(digits[:16])) <= _FEW_DIGITS >= len(set(digits))
    )


_HEAD, _TAIL = itemgetter(slice(7)), itemgetter(slice(-8, None))
_UNIQUE = (
    (slice(-8), slice(0), "7", 2),
    *((slice(at), slice(end, None), "167", 2) for at, end in ((0, 8), (9, 13), (14, 18), (19, 23))),
    (slice(7), slice(0), "167", 3),
)
"""Two parts of an id; the versions whose ids may share both, as they are made of the time; and how
many of the others never do.
"""


def invented_ids(uuids: Sequence[str]) -> Set[str]:
    """Those that look invented, or count up: two differ in one group or their last eight digits
    alone, or three begin with the same seven digits, as random ones never do. Those that are made
    of the time may.
    """
    found = {*filter(looks_invented, uuids)}
    count = len({*map(_HEAD, uuids)})
    if count == len({*map(_TAIL, uuids)}) and count in {len(uuids), len({*uuids})}:
        return found  # as most often, and soon told
    heads, tails = (Counter(map(part, uuids)) for part in (_HEAD, _TAIL))
    alike = {each for each in uuids if heads[_HEAD(each)] > 1 or tails[_TAIL(each)] > 1}
    for head, tail, timed, least in _UNIQUE:
        rests = {each: each[head] + each[tail] for each in alike if each[14:15] not in timed}
        counts = Counter(rests.values())
        found.update(each for each, rest in rests.items() if counts[rest] >= least)
    return found


def not_random(uuids: Sequence[str]) -> Sequence[str]:
    """Those that are no UUIDs, or made up."""
    known, is_written = invented_ids(uuids), Form.UUID._pattern.fullmatch
    return [each for each in uuids if each in known or not is_written(each)]
