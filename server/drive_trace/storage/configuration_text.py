"""Reads a ``drive-trace.toml``, and says what is wrong with it in its own terms.

What it may say is declared once, as a :class:`Shape`. All mistakes are told at once: msgspec tells
the first one alone, and pydantic takes longer to load than checking a small trace. The JSON Schema
that editors complete by is made of the same declaration, by ``tools/json_schemas.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from drive_trace.linter.rule import DEFAULTS, Option, Rule, RuleSettings
from drive_trace.linter.rules import RULES, SETTABLE
from drive_trace.storage.patterns import is_pattern
from drive_trace.storage.projects import (
    RULE_URL,
    SEVERITIES,
    Configuration,
    JudgeSettings,
    Override,
    TextProblem,
)
from drive_trace.storage.toml_places import KeyPath, Spots, read_toml, toml_places
from drive_trace.text.escaping import printable
from drive_trace.text.spans import Span
from drive_trace.text.wording import listed
from drive_trace.text.wording import shown as shown_json
from drive_trace.vocabulary.slips import nearest

_SLIPS = {
    "info": "information",
    "note": "information",
    "warn": "warning",
    "ignore": "off",
    "none": "off",
    "false": "off",
}
_MOST_PROBLEMS = 100
"""Nobody reads more of one file at once."""
MOST_ITEMS = 1000
"""Every trace is matched with every override, and every wrong item is a problem."""


def read_configuration(text: str) -> Configuration | tuple[TextProblem, ...]:
    """The content of a ``drive-trace.toml``, or the first problems with it, in their order."""
    text = text.replace("\r\n", "\n")
    data = read_toml(text)
    if isinstance(data, TextProblem):
        return (data,)
    faults = [*_faults(data, shape(), ())]
    if faults:
        return _problems(text, faults)
    overrides = tuple(
        Override(tuple(each["paths"]), _settings(each["rules"]))
        for each in data.get("overrides", ())
    )
    judge = data.get("judge", {})
    families = {name.lower(): tuple(each) for name, each in judge.get("families", {}).items()}
    return Configuration(
        _settings(data.get("rules", {})),
        overrides,
        data.get("rule-url", ""),
        JudgeSettings(judge.get("orchestrator-family"), families),
        tuple(data.get("exclude", ())),
    )


def read_client_rules(given: object) -> tuple[RuleSettings, tuple[str, ...]]:
    """The content of a client's setting ``driveTrace.rules``, which has the form of the ``[rules]``
    table, and what is wrong with the entries that are left out.
    """
    if not isinstance(given, dict):
        phrase = "`rules` must be an object of rules" if given is not None else None
        return DEFAULTS, (phrase,) if phrase else ()
    valid: dict[str, Any] = {}
    problems: list[str] = []
    for code, entry in given.items():
        found = [each.message for each in _faults({code: entry}, shape().keys["rules"], ("rules",))]
        problems += found
        if not found:
            valid[code] = entry
    return _settings(valid), tuple(problems)


def _settings(rules: Mapping[str, Any]) -> RuleSettings:
    tables: dict[str, dict[str, Any]] = {
        code: entry if isinstance(entry, dict) else {"severity": entry}
        for code, entry in rules.items()
    }
    options = {
        code: {name: value for name, value in table.items() if name != "severity"}
        for code, table in tables.items()
    }
    return RuleSettings(
        {code: SEVERITIES[each["severity"]] for code, each in tables.items() if "severity" in each},
        {code: set_ones for code, set_ones in options.items() if set_ones},
    )


# What it may say


@dataclass(frozen=True)
class Shape:
    """What may stand in one place of a configuration."""

    expected: str
    """What belongs there, in words for a message."""
    kind: type = dict
    """The class of right values, as tomllib reads them."""
    prose: str = ""
    """The description that editors show."""
    keys: Mapping[str, Shape] = field(default_factory=dict)
    """What stands at each key of a table."""
    items: Shape | None = None
    """What stands in an array, or at any other key of a table."""
    needs_keys: bool = False
    """Whether a table must have all of its keys."""
    short_for: str = ""
    """The key of a table that another value in its place stands for."""
    least: float | None = None
    """The least number, or the least length of an array or string."""
    words: tuple[str, ...] = ()
    """The only strings there are."""
    pattern: str = ""
    """The regular expression of strings."""
    default: object = None
    fault: Callable[[Any], str | None] = lambda _: None
    """What else is wrong with a value, as a sentence; None if nothing is."""

    def takes(self, value: Any) -> bool:
        """Whether a value is of this shape, but for what stands in it."""
        is_kind = type(value) is self.kind or (self.kind is float and type(value) is int)
        if not is_kind or (self.words and value not in self.words):
            return False
        size: float = len(value) if self.kind in (str, list, dict) else value
        return math.isfinite(size) and (self.least is None or size >= self.least)


_GLOBS = "Globs as in .gitignore, but none negated, from this file's folder on"
SEVERITY = Shape(listed((f'"{word}"' for word in SEVERITIES), "or"), str, words=tuple(SEVERITIES))
SEVERITY_PROSE = {
    "off": "The rule finds nothing.",
    "error": "Fails a check, unless it is told otherwise.",
    "warning": "Most likely a mistake.",
    "information": "Worth a look.",
    "hint": "Shown faintly, or only when it is asked for.",
}


@cache
def shape() -> Shape:
    """What a configuration may say."""
    rules = Shape(
        "a table of rules",
        prose="How severe what rules find is, and the rules' options.",
        keys={code: _rule(rule) for code, rule in SETTABLE.items()},
    )
    override = {"paths": _globs(f"{_GLOBS}."), "rules": rules}
    word = Shape("a word of models' ids", str, least=1)
    family = Shape("an array of at least one word of models' ids", list, items=word, least=1)
    judge = {
        "orchestrator-family": Shape(
            "a family or a model's id",
            str,
            "The family, or the model's id, of the orchestrator that runs the work: a judge of the "
            "same family is refused.",
            least=1,
        ),
        "families": Shape(
            "a table of families",
            prose="More families of models: each with words that its models' ids have.",
            items=family,
        ),
    }
    document = {
        "rules": rules,
        "overrides": Shape(
            "an array of tables, each below `[[overrides]]`",
            list,
            "What holds for some files in place of what holds for all; of two that mean one file, "
            "the later one decides.",
            items=Shape("a table", keys=override, needs_keys=True),
        ),
        "rule-url": Shape(
            "a string",
            str,
            "Address of a rule's page, for JSON and SARIF that people on other machines read; "
            "`{code}` stands for the rule.",
            pattern=RULE_URL.pattern,
            fault=_rule_url_fault,
        ),
        "exclude": _globs(
            f"Traces that no search reads. {_GLOBS}. A gate fails on them all the same, as whoever "
            "changes a trace may change this file."
        ),
        "judge": Shape(
            "a table", prose="What has to be known of models before one may judge.", keys=judge
        ),
    }
    return Shape("a table", keys=document)


def _rule(rule: Rule[Any]) -> Shape:
    keys = {"severity": SEVERITY, **{each.name: _option(each) for each in rule.options}}
    default = rule.severity.label
    return Shape("a table", prose=rule.summary, keys=keys, short_for="severity", default=default)


def _option(option: Option) -> Shape:
    kind, least = type(option.default), option.minimum
    words = {bool: "true or false", int: "an integer", float: "a number", str: "a string"}[kind]
    expected = words + (f" of at least {least:g}" if least is not None else "")
    return Shape(expected, kind, option.prose, least=least, default=option.default)


def _globs(prose: str) -> Shape:
    glob = Shape("a glob", str, least=1, fault=_glob_fault)
    return Shape("an array of at least one glob", list, prose, items=glob, least=1)


def _rule_url_fault(url: str) -> str | None:
    if RULE_URL.fullmatch(url) is None:
        return "`rule-url` must be an address, such as https://…/rules/{code}.md"
    return None


def _glob_fault(glob: str) -> str | None:
    """Why a glob can match no file below the folder; None if it can."""
    if not glob.strip("/"):
        return "an empty glob names no file"
    if glob.startswith("!"):
        return "a glob cannot be negated; set other rules for the exception in a later override"
    if "\\" in glob:
        return "folders in a glob are separated by `/`"
    if ".." in glob.split("/"):
        return "a glob cannot lead out of the folder of the configuration"
    if not is_pattern(glob):
        return "is no pattern that can mean a file, as in .gitignore"
    return None


# What is wrong with it


class _Fault(NamedTuple):
    """One mistake."""

    at: KeyPath
    message: str
    of_key: bool = False
    """Whether the key is wrong, or missing, and not its value."""


def _faults(value: Any, wanted: Shape, at: KeyPath) -> Iterator[_Fault]:
    """All mistakes in what stands at a place."""
    if wanted.short_for and not isinstance(value, dict):
        yield from _faults(value, wanted.keys[wanted.short_for], (*at, wanted.short_for))
    elif not wanted.takes(value):
        yield _Fault(at, _must_be(at, wanted, value))
    elif (message := wanted.fault(value)) is not None:
        yield _Fault(at, message)
    elif isinstance(value, dict):
        for key, expected in wanted.keys.items() if wanted.needs_keys else ():
            if key not in value:
                missing = f"`{key}` is missing in this override: expected {expected.expected}"
                yield _Fault((*at, key), missing, of_key=True)
        for key, each in value.items():
            known = wanted.keys.get(key, wanted.items)
            if known is None:
                yield _Fault((*at, key), _unknown_key(at, key, wanted), of_key=True)
            else:
                yield from _faults(each, known, (*at, key))
    elif isinstance(value, list) and wanted.items is not None:
        if len(value) > MOST_ITEMS:
            yield _Fault(at, f"`{printable(str(at[-1]))}` has more than {MOST_ITEMS} items")
            return
        for place, each in enumerate(value):
            yield from _faults(each, wanted.items, (*at, place))


def _problems(text: str, faults: list[_Fault]) -> tuple[TextProblem, ...]:
    places, spots = toml_places(text, (each.at for each in faults)), Spots(text)

    def span_of(fault: _Fault) -> Span:
        steps = fault.at
        while steps and steps not in places:
            steps = steps[:-1]
        if not steps:
            return Span(0, 0)
        return places[steps].key if fault.of_key else places[steps].value

    told = sorted((span_of(each), each.message) for each in faults)[:_MOST_PROBLEMS]
    return tuple(sorted(TextProblem(spots.of(span), message) for span, message in told))


def _must_be(at: KeyPath, wanted: Shape, found: object) -> str:
    entry, hint = at, ""
    if wanted is SEVERITY:
        entry = at[:-1]  # the severity may stand for the table of a rule
        hint = "" if isinstance(found, str) else " or a table"
    label = f"`{printable(str(entry[-1]))}`" if isinstance(entry[-1], str) else "an item"
    guess = None
    if wanted.words:
        word = str(found).lower()
        guess = _SLIPS.get(word) or nearest(word, wanted.words)
    meant = f' — did you mean "{guess}"?' if guess else ""
    return f"{label} must be {wanted.expected}{hint}; found {_shown(found)}{meant}"


def _unknown_key(at: KeyPath, key: str, wanted: Shape) -> str:
    """The message for a key that the table has no place for."""
    name, guess = printable(key), nearest(key, wanted.keys)
    meant = f"did you mean `{guess}`?"
    if at[-1:] == ("rules",):
        if name in RULES:
            return f"`{name}` cannot be set: what is not read is always told"
        return f"`{name}` is no rule" + (f" — {meant}" if guess else "")
    names = listed((f"`{each}`" for each in wanted.keys), "or")
    return f"`{name}` is no setting here: {meant if guess else f'expected {names}'}"


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    return "an empty array" if value == [] else shown_json(value)
