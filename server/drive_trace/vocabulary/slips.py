"""What was most likely meant by a word: every guess of the program is made here.

A guess never crosses a negation: ``unsatisfied`` is no slip of ``satisfied``. What decides how a
run looks, an outcome or an event's name, is guessed only where hardly anything else can have been
meant: :func:`near_certain`. For names on which nothing hangs there is :func:`nearest`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from drive_trace.text.wording import shown
from drive_trace.vocabulary import ENVELOPE, EVENTS
from drive_trace.vocabulary.registry import FieldType, ListShape, OneOfShape

KNOWN: Mapping[str, tuple[str, ...]] = {
    # Outcomes. What turns out good here is what its author says outright, in another word.
    "pass": ("passed", "passing", "ok", "success", "succeeded", "green", "true", "yes"),
    "fail": ("failed", "failing", "failure", "error", "red", "false", "no"),
    "completed": ("complete", "done", "success", "succeeded", "finished", "ok"),
    "failed": ("fail", "failure", "error"),
    "aborted": ("abort", "cancelled", "canceled", "stopped"),
    "satisfied": ("accepted", "approved", "pass", "passed"),
    "another-round-needed": ("another-round", "needs-another-round"),
    "escalating-to-user": ("escalate", "escalated", "escalated-to-user"),
    "stop-condition": ("stop", "stopped"),
    "merged": ("merge",),
    "abandoned": ("cancelled", "canceled", "dropped"),
    "some-cancelled": ("some-canceled",),
    # Events.
    "dispatch-start": ("dispatch-started",),
    "dispatch-end": ("dispatch-ended",),
    "round-start": ("round-started",),
    "round-end": ("round-ended",),
    "project-started": ("project-start",),
    "project-closed": ("project-close", "project-complete", "project-completed"),
    "slice-started": ("slice-start",),
    "slice-completed": ("slice-complete",),
    "tokens-recorded": ("tokens-record", "token-recorded"),
    # Counts, as providers of models call them.
    "input_tokens": ("prompt-tokens",),
    "output_tokens": ("completion-tokens",),
    # Fields of the envelope.
    "event_id": ("id", "uuid"),
    "schema_version": ("version", "schema"),
    "ts": ("timestamp", "time", "date", "datetime", "at", "created-at", "emitted-at"),
    "project_run_id": ("run-id", "run", "project-id", "project"),
    "orchestrator_agent_id": ("agent-id", "agent", "orchestrator-id", "orchestrator"),
    "event_type": ("type", "event", "event-name"),
    # The rest.
    "amended": ("re-scoped", "rescoped", "changed", "revised", "updated"),
    "reissue": ("re-issue", "reissued", "repeat"),
    "project-context-readme": ("readme",),
}
"""Words that people write for one of the vocabulary's, seen in real traces or in the neighbouring
tools.
"""

_NULLS = ("null", "none", "n/a", "")
"""Words that people write for null."""

_NEGATIONS = (
    *("not", "non", "no", "un", "in", "im", "il", "ir", "dis", "mis", "by", "nt"),
    *("n't", "never", "without", "less", "?", "？", "¿", "!", "~"),
)
"""What makes another word of one, wherever it is put in."""
_NEAR = 0.7
_LONGEST = 80
_MOST_CHOICES = 1000
"""With so many a word is compared: that takes time."""
_MOST_KEYS = 500
"""An object with more keys was not written by hand."""
_LONG, _VERY_LONG = 6, 9
"""The lengths of words in which one letter may be wrong, or two."""
_SEPARATORS = r"[\s_.-]+"
_CAMEL = r"(?<=[a-z])(?=[A-Z])"
_DIGITS = r"\d+"
_WORDS = r"[a-z]+(-[a-z]+)*"


def value_meant(field: FieldType, found: object) -> str | None:
    """The word of a field that was most likely meant; ``null`` means null."""
    shape = field.shape.item if isinstance(field.shape, ListShape) else field.shape
    if not isinstance(found, str) or not isinstance(shape, OneOfShape):
        return None
    if field.nullable and found.strip().lower() in _NULLS:
        return "null"
    certain = near_certain(found, shape.meanings)
    return certain if certain or field.is_outcome else nearest(found, shape.meanings)


def event_meant(name: str) -> str | None:
    """The event that one outside the vocabulary was most likely meant to be."""
    return near_certain(name, EVENTS)


def event_of_value(value: object) -> str | None:
    """The event that a value names, or was most likely meant to."""
    if not isinstance(value, str):
        return None
    return value if value in EVENTS else event_meant(value)


def event_under_alias(data: Mapping[str, object]) -> str | None:
    """The event of an object whose ``event_type`` stands under another name, such as ``type``."""
    if "event_type" in data or len(data) > _MOST_KEYS:
        return None
    named = (event_of_value(data[key]) for key in data if near_certain(key, ("event_type",)))
    return next(filter(None, named), None)


def event_with(data: Mapping[str, object]) -> str | None:
    """The only event that an object without a type can be, by its keys: all of them are fields of
    it, and at least one is of its own payload; rather one of which no field is missing.
    """
    keys = data.keys() - ENVELOPE.keys()
    fitting = [event for event in EVENTS.values() if keys and keys <= event.fields.keys()]
    whole = [
        event
        for event in fitting
        if all(
            name in keys or not field.is_required or name in ENVELOPE
            for name, field in event.fields.items()
        )
    ]
    found = whole or fitting
    return found[0].name if len(found) == 1 else None


def field_meant(name: str, fields: Iterable[FieldType]) -> FieldType | None:
    """The field that an undeclared key was most likely meant to be. What is merely near a figure
    with a unit may well be another figure: ``wall_clock_s``, ``total_tokens``.
    """
    by_name = {field.name: field for field in fields}
    found = by_name.get(near_certain(name, by_name) or nearest(name, by_name) or "")
    is_open = found is None or not (found.is_outcome or found.unit)
    return found if is_open or near_certain(name, by_name) else None


def is_same_word(one: str, other: str) -> bool:
    """Whether two words differ in nothing but case and separators."""
    return _plain(one).replace("-", "") == _plain(other).replace("-", "")


def near_certain(word: str, choices: Iterable[str]) -> str | None:
    """The choice that a word is hardly anything but a slip of: it differs in case or separators,
    in a letter or two of a long word, or is a known slip.
    """
    return _near_certain(word[:_LONGEST], tuple(choices))


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that a word is most likely a slip of, if any is near enough."""
    return _nearest(word[:_LONGEST], tuple(choices))


def did_you_mean(word: str, choices: Iterable[str]) -> str:
    """The same as a question, which may be long. Of many choices, the last ones are looked at."""
    found = nearest(word.strip(), [*choices][-_MOST_CHOICES:])
    return f"did you mean {shown(found)}?" if found is not None else ""


def are_alike(one: str, other: str) -> bool:
    """Whether two words are so near that one may be meant for the other. No guess: for warnings,
    which are better given once too often.
    """
    return bool(_close(one, (other,), 1))


def _close(word: str, choices: Iterable[str], most: int) -> list[str]:
    import difflib  # noqa: PLC0415 - takes long to load, and is seldom needed

    return difflib.get_close_matches(word, choices, n=most, cutoff=_NEAR)


def is_slip_of_name(one: str, other: str) -> bool:
    """Whether a name that somebody chose is hardly anything but a slip of another one. Names that
    differ in their numbers, or in a short part, were most likely meant to: "auth-a", "auth-b".
    """
    # To compare two long names would take forever.
    return max(len(one), len(other)) <= _LONGEST and _is_slip_of_name(one, other)


@lru_cache(maxsize=1024)
def _is_slip_of_name(one: str, other: str) -> bool:
    if re.findall(_DIGITS, one) != re.findall(_DIGITS, other):
        return False
    parts, others = _plain(one).split("-"), _plain(other).split("-")
    if len(parts) != len(others):
        return is_same_word(one, other)
    return all(map(_is_slip_of_part, parts, others))


def _is_slip_of_part(part: str, other: str) -> bool:
    if part == other:
        return True
    most = 2 if len(other) >= _VERY_LONG else 1 if len(other) > 3 else 0
    return abs(len(part) - len(other)) <= most and _distance(part, other) <= most


@lru_cache(maxsize=1024)
def _near_certain(word: str, choices: tuple[str, ...]) -> str | None:
    plain = _plain(word)
    if re.fullmatch(_WORDS, plain) is None:
        return None
    for choice in choices:
        if is_same_word(plain, choice) or plain in KNOWN.get(choice, ()):
            return choice
    slips = [choice for choice in choices if _is_slip(plain, _plain(choice))]
    return slips[0] if len(slips) == 1 else None


@lru_cache(maxsize=1024)
def _nearest(word: str, choices: tuple[str, ...]) -> str | None:
    by_lower = {choice.lower(): choice for choice in choices}
    found = _close(word.lower(), by_lower, 3)
    # A denial of one choice is no slip of the next: "no-closing-rollup" means no other rollup.
    if any(_crosses(_plain(word), _plain(each)) for each in found):
        return None
    return by_lower[found[0]] if found else None


def _plain(word: str) -> str:
    return re.sub(_SEPARATORS, "-", re.sub(_CAMEL, "-", word.strip())).lower()


def _is_slip(word: str, choice: str) -> bool:
    """Whether a letter or two are wrong in the long parts of a word, or two of a short one have
    changed places; never at the beginning.
    """
    parts, others = word.split("-"), choice.split("-")
    return (
        len(parts) == len(others)
        and all(map(_may_be_slip, parts, others))
        and not _crosses(word, choice)
    )


def _may_be_slip(part: str, other: str) -> bool:
    if part == other:
        return True
    is_swapped = sorted(part) == sorted(other)
    wrong = 2 if len(other) >= _VERY_LONG else 1 if len(other) >= _LONG or is_swapped else 0
    # A slip at the beginning may be what is left of a negation: "nneeded", "mmerged".
    begins_alike = part[: 2 - is_swapped] == other[: 2 - is_swapped]
    return begins_alike and _distance(part, other) <= wrong


def _crosses(one: str, other: str) -> bool:
    """Whether one of two words is the other with a negation put in: its letters are all that is
    too many, however the two differ besides.
    """
    one, other = one.replace("-", ""), other.replace("-", "")
    if not any(negation in one or negation in other for negation in _NEGATIONS):
        return False  # as of ids, whose distance takes long to find
    distance = _distance(one, other)
    return _is_negated(one, other, distance) or _is_negated(other, one, distance)


def _is_negated(word: str, other: str, distance: int) -> bool:
    return any(
        _distance(word[: at.start()] + word[at.end() :], other) == distance - len(negation)
        for negation in _NEGATIONS
        if len(negation) <= distance
        for at in re.finditer(re.escape(negation), word)
    )


def _distance(one: str, other: str) -> int:
    """How many letters have to be put in, taken out or changed, or pairs of them swapped."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, letter in enumerate(one):
        row = [i + 1]
        for j, wanted in enumerate(other):
            cost = min(last[j] + (letter != wanted), last[j + 1] + 1, row[j] + 1)
            if i and j and letter == other[j - 1] and one[i - 1] == wanted:
                cost = min(cost, before[j - 1] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]
