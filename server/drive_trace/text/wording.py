"""How counts, lists, times and values are worded in messages, and text from a stranger shown: the
one place that knows what a terminal or runner obeys.
"""

import json
import re
import sys
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal

import msgspec

HUGE = 10**21
"""From here on JavaScript, too, writes a number as a power of ten."""

LONGEST = 10**15
"""A number from here on is a mistake, and its digits help nobody."""
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


def plural(count: int, what: str, ending: str = "s") -> str:
    """``1 round``, ``2,000 rounds``."""
    return f"{count:,} {what}{ending * (count != 1)}"


def short_hash(commit: str) -> str:
    """The beginning of a commit's hash, as git shows it."""
    return commit[:10]


def are(count: int) -> str:
    """``is`` or ``are``."""
    return "is" if count == 1 else "are"


def listed(names: Iterable[str], last: str = "and") -> str:
    """``mechanical, qa and intent``; nothing for nothing."""
    *others, final = [*names] or [""]
    return f"{', '.join(others)} {last} {final}" if others else final


def fields_listed(names: Iterable[str]) -> str:
    """The names of fields, in code: ``a``, ``b`` and ``c`` between backticks."""
    return listed(f"`{name}`" for name in names)


def first_of(names: Sequence[object], most: int) -> str:
    """At most ``most`` of the names: ``1, 2, 3 and 7 more``."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(map(str, names[:most])) + more


def numbered_lines(numbers: Sequence[int], most: int) -> str:
    """``line 3``, or ``lines 1, 2, 3 and 7 more``."""
    return f"line{'s' * (len(numbers) != 1)} {first_of(numbers, most)}"


def shown(value: object) -> str:
    """A value in a message: short, and with nothing in it that could mislead."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return f'"{printable(value)}"'
        case list():
            return "an array"
        case dict():
            return "an object"
        case int() | float() if abs(value) > sys.float_info.max:
            return "a number too large for a double"
    return printable(str(value))


def compact(number: int) -> str:
    """``1.9M``, ``42k``, ``950``."""
    if number >= HUGE:
        return power_of_ten(number)
    scaled, suffix = _scaled(number)
    if not suffix:
        return str(number)
    return f"{scaled:.1f}{suffix}" if scaled < 9.95 else f"{scaled:,.0f}{suffix}"


def byte_size(count: int) -> str:
    """``12.4 kB``, ``−1.2 MB``, ``950 B``."""
    if count < 0:
        return f"−{byte_size(-count)}"
    if count >= LONGEST:
        return f"{compact(count)}B"
    scaled, suffix = _scaled(count)
    return f"{scaled:.{1 if suffix and scaled < 99.95 else 0}f} {suffix}B"


def _scaled(count: int) -> tuple[float, str]:
    """A count in thousands, millions or billions."""
    for unit, suffix in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if count * 2000 >= unit * 1999:  # 999,500 is 1.0M, not 1,000k
            return count / unit, suffix
    return count, ""


def in_full(count: int) -> str:
    """A count with all its digits, unless these are a mistake."""
    return f"{count:,}" if abs(count) < LONGEST else compact(count)


def factor(ratio: float, digits: int) -> str:
    """A ratio with so many digits after its point, or with as many more, up to six, as tell it from
    1: ``0.70``, and ``0.9994``.
    """
    return next(
        (text for more in range(digits, 7) if float(text := f"{ratio:.{more}f}") != 1),
        f"{ratio:.{digits}f}",
    )


def duration(milliseconds: int) -> str:
    """Rounded to two units: ``2d 3h``, ``1h 05m``, ``19m 58s``, ``28m``, ``45.2s``, ``350ms``."""
    if milliseconds < 0:
        return f"−{duration(-milliseconds)}"
    if milliseconds >= HUGE:
        return f"{power_of_ten(milliseconds // 86_400_000)}d"
    if milliseconds < 1000:
        return f"{milliseconds}ms"
    if milliseconds < 59_950:
        return f"{milliseconds / 1000:.1f}s".replace(".0s", "s")
    seconds = (milliseconds + 500) // 1000
    minutes = (seconds + 30) // 60
    if seconds < 3600:
        return _in_two(seconds, 60, "m", "s")
    if minutes < 24 * 60:
        return _in_two(minutes, 60, "h", "m")
    return _in_two((minutes + 30) // 60, 24, "d", "h")


def exact_duration(milliseconds: int) -> str:
    """The same with all milliseconds: ``28m (1,720,000 ms)``."""
    if abs(milliseconds) < 1000:
        return f"{milliseconds} ms"
    return f"{duration(milliseconds)} ({milliseconds:,} ms)"


def short_time(value: int | None) -> str:
    """``28m``, or ``n/a`` for a time without a value."""
    if value is None:
        return "n/a"
    if abs(value) <= LONGEST:
        return duration(value)
    return f"{Decimal(value).normalize(Context(prec=3)):.3g} ms"  # a float may not hold it


def _in_two(count: int, size: int, unit: str, smaller: str) -> str:
    whole, rest = divmod(count, size)
    digits = f"{rest}" if unit == "d" else f"{rest:02}"
    return f"{whole}{unit} {digits}{smaller}" if rest else f"{whole}{unit}"


def power_of_ten(number: int) -> str:
    """A number that is some mistake, without its hundreds of digits; a float may not hold it."""
    return f"{Decimal(number):.3e}"


def writable(text: str) -> str:
    """A text as it can be written or sent: half of a pair of surrogates cannot."""
    return text.encode("utf-8", "replace").decode()


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
