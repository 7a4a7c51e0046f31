"""What was most likely meant by a word: every guess of the program is made here.

A guess never crosses a negation: ``unsatisfied`` is no slip of ``satisfied``. What decides how a
run looks, an outcome or an event's name, is guessed only where hardly anything else can have been
meant: :func:`near_certain`. For names on which nothing hangs there is :func:`nearest`.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache

from drive_trace.json_text import as_json
from drive_trace.text.quick import shipped
from drive_trace.text.wording import shown
from drive_trace.vocabulary import ENVELOPE, EVENTS, Entity, Form, registry


@cache
def known_words() -> Mapping[str, Collection[str]]:
    """Words that people write for each of the vocabulary's, seen in real traces or in the
    neighbouring tools.
    """
    lines = re.findall(r"^([a-z_-]+): (.+)", shipped(__package__, "synonyms.txt"), re.MULTILINE)
    return {word: others.split() for word, others in lines}


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
_PLURAL = "(?<=ch)es$|(?<=[a-z]{2})s$"
_NEUTRAL = {"id", "name", "ref", "url", "link", "number", "num", "count", "value", "of"}
"""Words that hardly say which field is meant."""
_UNITS: Mapping[str, float] = {
    **dict.fromkeys(("us", "micros", "microseconds"), 0.001),
    **dict.fromkeys(("ms", "msec", "millis", "milliseconds"), 1),
    **dict.fromkeys(("s", "sec", "secs", "seconds"), 1000),
    **dict.fromkeys(("m", "min", "mins", "minutes"), 60_000),
    **dict.fromkeys(("h", "hrs", "hours"), 3_600_000),
}
"""How many milliseconds a unit is."""
_DURATION = r"(?:pt)?(?:\s*\d{1,9}(?:\.\d{1,9})?\s*[a-z]{1,12})+"
_GROUPED = r"-?[0-9]{1,3}(?:([,_ \u00a0\u202f])[0-9]{3})(?:\1[0-9]{3}){0,3}"
_INTEGER = r"-?(0|[1-9][0-9]{0,14})"
_NO_SECONDS = r"[^\d:]\d\d(?::?\d\d)?[.,]"
"""A fraction behind the hours or the minutes: Python takes it for one of a second."""
_EPOCHS = {10: 1, 13: 1000, 16: 1_000_000}
"""By how many digits there are in a time since 1970: how many of it make a second."""


def value_meant(field: registry.FieldType, found: object) -> str | None:
    """The word of a field that was most likely meant; ``null`` means null."""
    shape = field.shape.item if isinstance(field.shape, registry.ListShape) else field.shape
    if not isinstance(found, str) or not isinstance(shape, registry.OneOfShape):
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


def field_meant(
    name: str, value: object, fields: Collection[registry.FieldType]
) -> registry.FieldType | None:
    """The field that an undeclared key was most likely meant to be, by its name and its value. What
    is merely near a figure with a unit may well be another figure: ``total_tokens``. For an outcome
    only another name of it is taken, and only with one of its words.
    """
    plain = _plain(name[:_LONGEST])
    same = [field for field in fields if is_same_word(plain, field.name)]
    known = [field for field in fields if _other_name(plain, field)]
    if same or known:
        return same[0] if same else _fitting(known, value)
    names = {field.name: field for field in fields}
    open_fields = [field for field in fields if not (field.is_outcome or field.unit)]
    slip = near_certain(name, names) or nearest(name, [field.name for field in open_fields])
    if slip is not None:
        return names[slip]
    words = _words(plain) - _NEUTRAL or _words(plain)
    return _fitting([each for each in open_fields if words <= _words(each.name)], value)


def _other_name(plain: str, field: registry.FieldType) -> bool:
    """Whether people call a field so, a duration with any unit."""
    word, _, unit = plain.rpartition("-")
    is_timed = field.unit == "milliseconds" and unit in _UNITS
    return (word if is_timed else plain) in known_words().get(field.name, ())


def is_other_name(key: str, field: registry.FieldType) -> bool:
    """Whether a key is another name of a field, or a part of its own."""
    plain = _plain(key[:_LONGEST])
    return _other_name(plain, field) or {*plain.split("-")} < {*field.name.split("_")}


def _words(name: str) -> set[str]:
    return {re.sub(_PLURAL, "", word) for word in _plain(name).split("-")}


def _fitting(fields: Iterable[registry.FieldType], value: object) -> registry.FieldType | None:
    """The only one of some fields that takes a value, or that alone takes such a value, as an id
    written as a UUID is no name.
    """
    taking = [field for field in fields if takes(field, value) or said_in_type(field, value)]
    special = [
        each for each in taking if each.shape != registry.StringShape() and _is_right(each, value)
    ]
    plain = [each for each in taking if each.shape == registry.StringShape()]
    found = taking if len(taking) == 1 else special or plain
    return found[0] if len(found) == 1 else None


def _is_right(field: registry.FieldType, value: object) -> bool:
    plain_class, plain_values = field.plain
    return value.__class__ is plain_class and (plain_values is None or value in plain_values)


_CLASSES = {registry.StringShape: str, registry.ListShape: list, registry.ObjectShape: dict}


def takes(field: registry.FieldType, value: object) -> bool:
    """Whether a value is of a field's type; a number of milliseconds may have a fraction."""
    if value is None or type(field.shape) not in _CLASSES:
        is_time = field.unit == "milliseconds" and isinstance(value, float)
        return is_time or _is_right(field, value) or (value is None and field.nullable)
    return isinstance(value, _CLASSES[type(field.shape)])


def said_in_type(field: registry.FieldType, found: object) -> str | None:
    """JSON text that says the same as a value of another type than a field's; None where there is
    none, or something else may be meant.
    """
    if isinstance(found, str) and found in ("null", "None") and field.nullable:
        return "null"
    match field.shape:
        case registry.IntegerShape(minimum) if isinstance(found, str):
            passed = _milliseconds(found) if field.unit == "milliseconds" else None
            number = _number(found) if passed is None else str(passed)
            return number if number and (minimum is None or int(number) >= minimum) else None
        case registry.BooleanShape() if isinstance(found, str) and found.lower() in (
            "true",
            "false",
        ):
            return found.lower()
        case registry.StringShape(Form() as form) if isinstance(found, str | float | int):
            written = _REWRITTEN[form](str(found).strip())
            is_new = found not in form and written in form and not isinstance(found, bool)
            # Other lines name the id of a dispatch or a round.
            is_own = form is not Form.UUID or field.names is Entity.EVENT
            return as_json(written) if is_new and is_own else None
        case registry.StringShape() if isinstance(found, int) and not isinstance(found, bool):
            return as_json(str(found)) if field.name != "event_type" else None
        case registry.OneOfShape(meanings) if isinstance(found, bool) and "pass" in meanings:
            return as_json("pass" if found else "fail")
        case registry.ListShape(item) if isinstance(found, str) and found:
            is_item = not isinstance(item, registry.OneOfShape) or found in item.meanings
            return as_json([found]) if is_item else None
        case _:
            return None


def _number(found: str) -> str | None:
    """The digits of an integer, which may be grouped by thousands."""
    plain = re.sub("[,_ \u00a0\u202f]", "", found) if re.fullmatch(_GROUPED, found) else found
    return plain if re.fullmatch(_INTEGER, plain) else None


def _milliseconds(found: str) -> int | None:
    """A duration with its units: ``PT32M30S``, ``32 min 30 s``."""
    text = found.strip().lower()
    # Without this, a search for parts takes the square of the length.
    if not re.fullmatch(_DURATION, text):
        return None
    parts = re.findall(r"([\d.]+)\s*([a-z]+)", text.removeprefix("pt"))
    if not all(unit in _UNITS for _, unit in parts):
        return None
    return round(sum(float(number) * _UNITS[unit] for number, unit in parts))


def _moment(found: str) -> str | None:
    """The moment that a text certainly means, as the vocabulary writes it; be it the number of
    seconds since 1970, or of thousandths or millionths of them.
    """
    text = re.sub(" (UTC|GMT|Z)$", "Z", found.upper())
    whole = text.partition(".")[0]
    if re.search(_NO_SECONDS, text):
        return None
    try:
        if whole.isdecimal() and len(whole) in _EPOCHS:
            moment = datetime.fromtimestamp(float(text) / _EPOCHS[len(whole)], UTC)
        else:
            moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return None
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")


def _uuid(found: str) -> str | None:
    digits = re.sub(r"^(?i:urn:uuid:)?\{?|-|\}$", "", found)
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


_REWRITTEN: Mapping[Form | None, Callable[[str], str | None]] = {
    Form.TIMESTAMP: _moment,
    Form.UUID: _uuid,
    Form.HASH: lambda found: re.sub(r"^(?i:sha-?256[:= -]|0x)?\s*", "", found),
    Form.PATH: lambda found: found.replace("\\", "/"),
}
"""What was most likely meant by a text that does not follow a form; it may not follow it either."""


def factors_of(key: str, field: registry.FieldType) -> tuple[float, ...]:
    """By what the number under a key may have to be multiplied to be in the unit of a field: what
    the key says, or if it says nothing, any unit of time.
    """
    factor = _UNITS.get(_plain(key).rpartition("-")[2])
    if field.unit != "milliseconds" or factor is not None:
        return (factor or 1,)
    return tuple(dict.fromkeys(_UNITS.values()))


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


def may_mean(one: str, other: str) -> bool:
    """Whether a name may be meant for another one: it is a slip of it, or one of them with more
    behind, but no longer number. No guess, as :func:`are_alike`.
    """
    short, long = sorted((one, other), key=len)
    goes_on = long.startswith(short) and not re.match(r"\d\d", long[len(short) - 1 :])
    return goes_on or is_slip_of_name(one, other)


@lru_cache(maxsize=1024)
def _is_slip_of_name(one: str, other: str) -> bool:
    if re.findall(_DIGITS, one) != re.findall(_DIGITS, other):
        return False
    parts, others = _plain(one).split("-"), _plain(other).split("-")
    if len(parts) != len(others):  # a space, or a letter in the place of a hyphen
        is_long = min(len(one), len(other)) >= _VERY_LONG
        return is_same_word(one, other) or (is_long and _distance(one, other) == 1)
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
        if is_same_word(plain, choice) or plain in known_words().get(choice, ()):
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


@lru_cache(maxsize=4096)
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
