"""Reads a ``drive-trace.toml``, says what is wrong with it in its own terms, and turns a rule off.

What it may say is declared once, as a :class:`Shape`. All mistakes are told at once: msgspec tells
the first one alone, and pydantic takes longer to load than checking a small trace. The JSON Schema
that editors complete by is made of the same declaration, by ``tools/json_schemas.py``.
"""

from __future__ import annotations

import math
import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from itertools import accumulate
from typing import Any, NamedTuple

import msgspec

from drive_trace.linter.rule import Option, Rule
from drive_trace.linter.rules import GROUPS, RULES, SETTABLE, selected
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.storage.files import Problem, inside, may_be_there, read_regular, why
from drive_trace.storage.patterns import is_pattern
from drive_trace.storage.projects import (
    CONFIGURATION_NAME,
    RECORDED_TRACE,
    RULE_URL,
    SEVERITIES,
    THRESHOLDS,
    Configuration,
    Exemption,
    JudgeSettings,
    Override,
    Project,
    RecordedRun,
    TextProblem,
    shown_path,
)
from drive_trace.storage.replace import write_whole
from drive_trace.text.escaping import printable
from drive_trace.text.spans import Span, Spot
from drive_trace.text.wording import listed
from drive_trace.text.wording import shown as shown_json
from drive_trace.vocabulary.slips import nearest

# TOML, and where what stands in a document, which tomllib does not say. Time and memory grow with
# the length of a document only: `excess` finds what would make tomllib slow, and only the places
# that a caller wants are kept.

KeyPath = tuple[str | int, ...]
"""Keys and indices from the document down to a value."""

DEEPEST = 32
"""The most levels of tables, arrays and dotted keys; a configuration needs six."""
LONGEST_WORD = 1000
"""In characters; no number and no bare key is that long."""

_SPACE = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
# Atomic groups: Python 3.11.0 to 3.11.4 match possessive ones wrongly.
# A string that nothing closes runs to the end, so that no part is searched again and again.
_STRING = re.compile(
    r'"""(?>(?:[^"\\]+|\\.|"{1,2}(?!"))*)(?:"{3,5}|\Z|\\)'
    r"|'''(?>(?:[^']+|'{1,2}(?!'))*)(?:'{3,5}|\Z)"
    r'|"(?>(?:[^"\\\n]+|\\.)*)(?:"|(?=\n)|\Z|\\)'
    r"|'[^'\n]*(?:'|(?=\n)|\Z)",
    re.DOTALL,
)
_TOKEN = re.compile(
    rf"#[^\n]*|(?:{_STRING.pattern})"
    r"|(?P<opening>[\[{])|(?P<closing>[\]}])|(?P<dot>\.)|(?P<end>[=,\n])|(?P<word>[\w-]+)",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")


class TomlPlace(NamedTuple):
    """The place of a key and its value, in code points of the whole text. For an item of an array,
    and for a table that a header or a dotted key opens, both spans are the same.
    """

    key: Span
    value: Span


def excess(text: str) -> tuple[Span, str] | None:
    """The first part of a text that no configuration needs and that would take long to read: its
    place, and what it is. None if there is none. The text need not be TOML.
    """
    depth = dots = 0
    for token in _TOKEN.finditer(text):
        match token.lastgroup:
            case "opening":
                depth, dots = depth + 1, 0
            case "closing":
                depth, dots = depth - 1, 0
            case "dot":
                dots += 1
            case "end":
                dots = 0
            case "word" if len(token[0]) > LONGEST_WORD:
                phrase = f"a number or key of more than {LONGEST_WORD} characters"
                return Span(*token.span()), phrase
        if depth + dots > DEEPEST:
            return Span(*token.span()), f"it is nested too deeply, in more than {DEEPEST} levels"
    return None


def toml_places(text: str, wanted: Iterable[KeyPath]) -> Mapping[KeyPath, TomlPlace]:
    """The places of the ``wanted`` keys and values, and of the tables and arrays around them.
    Lines must end with ``\\n``.

    Only for documents that ``tomllib`` has read, and without :func:`excess`.
    """
    scan = _TomlReader(text, {each[:count] for each in wanted for count in range(1, len(each) + 1)})
    scan.document()
    return scan.found


class _TomlReader:
    def __init__(self, text: str, wanted: set[KeyPath]) -> None:
        self.found: dict[KeyPath, TomlPlace] = {}
        self._wanted = wanted
        self._text = text
        self._at = 0
        self._last_of: dict[KeyPath, int] = {}
        """The index of the last table so far of each array of tables."""

    def document(self) -> None:
        table: KeyPath = ()
        self._skip()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip()

    def _note(self, steps: KeyPath, key: Span, value: Span) -> None:
        if steps in self._wanted:
            self.found.setdefault(steps, TomlPlace(key, value))

    def _skip(self, count: int = 0) -> None:
        """Skip ``count`` characters, then space, line ends and comments."""
        space = _SPACE.match(self._text, self._at + count)
        assert space is not None
        self._at = space.end()

    def _header(self) -> KeyPath:
        """Read ``[a.b]`` or ``[[a.b]]``, and return the path of the table that it opens."""
        brackets = 2 if self._text.startswith("[[", self._at) else 1
        self._skip(brackets)
        keys = self._keys()
        steps: KeyPath = ()
        for place, (name, span) in enumerate(keys):
            steps = (*steps, name)
            if brackets == 2 and place == len(keys) - 1:
                self._last_of[steps] = self._last_of.get(steps, -1) + 1
            self._note(steps, span, span)
            if steps in self._last_of:
                steps = (*steps, self._last_of[steps])
                self._note(steps, span, span)
        self._skip(brackets)
        return steps

    def _pair(self, table: KeyPath) -> None:
        keys = self._keys()
        self._skip(len("="))
        steps = (*table, *(name for name, _ in keys))
        span = self._value(steps)
        for place, (_, key) in enumerate(keys[:-1], start=1):
            self._note(steps[: len(table) + place], key, key)
        self._note(steps, keys[-1][1], span)

    def _keys(self) -> list[tuple[str, Span]]:
        """Read a dotted key, and return its names with their places."""
        keys = []
        while True:
            token = _BARE_KEY.match(self._text, self._at) or _STRING.match(self._text, self._at)
            assert token is not None
            name = token[0]
            if name[0] in "\"'":
                name = tomllib.loads(f"key = {name}")["key"]
            keys.append((name, Span(*token.span())))
            self._skip(len(token[0]))
            if self._text[self._at] != ".":
                return keys
            self._skip(len("."))

    def _value(self, steps: KeyPath) -> Span:
        start = self._at
        closing = {"[": "]", "{": "}"}.get(self._text[start])
        if closing is None:
            token = _STRING.match(self._text, start) or _BARE_VALUE.match(self._text, start)
            assert token is not None
            self._at = start + len(token[0].rstrip())
            return Span(start, self._at)
        self._skip(len("["))
        count = 0
        while (mark := self._text[self._at]) != closing:
            if mark == ",":
                self._skip(len(","))
                continue
            if closing == "]":
                span = self._value((*steps, count))
                self._note((*steps, count), span, span)
                count += 1
            else:
                self._pair(steps)
            self._skip()
        self._at += len(closing)
        return Span(start, self._at)


# Documents, and places as lines and columns

_END_OF_MESSAGE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


def read_toml(text: str) -> dict[str, Any] | TextProblem:
    """A document whose lines end with ``\\n``, or why it cannot be read, and where."""
    too_much = excess(text)
    if too_much is not None:
        return TextProblem(Spots(text).of(too_much[0]), too_much[1])
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        return _not_toml(text, error)


def _not_toml(text: str, error: ValueError) -> TextProblem:
    """Why tomllib refused a text, and where."""
    message = str(error)
    phrase = _END_OF_MESSAGE.search(message)
    if phrase is not None and phrase[1]:
        record, start = int(phrase[1]) - 1, int(phrase[2]) - 1
    else:
        records = text.split("\n")
        record, start = len(records) - 1, len(records[-1])
    found = _END_OF_MESSAGE.sub("", message)
    return TextProblem(Spot(record, Span(start, start)), f"is not TOML: {found}")


def read_shaped(text: str, wanted: Shape) -> dict[str, Any] | tuple[TextProblem, ...]:
    """A document of a shape, or the first problems with it, in their order."""
    text = text.replace("\r\n", "\n")
    data = read_toml(text)
    if isinstance(data, TextProblem):
        return (data,)
    faults = [*_faults(data, wanted, ())]
    return problems_at(text, faults) if faults else data


class Spots:
    """Converts offsets in a text to lines, which it finds once."""

    def __init__(self, text: str) -> None:
        self._starts = list(accumulate((len(each) + 1 for each in text.split("\n")), initial=0))

    def of(self, span: Span) -> Spot:
        """The place of a span; if it spans several lines, its part on the first."""
        record = bisect_right(self._starts, span.start) - 1
        start, end_of_line = self._starts[record], self._starts[record + 1] - 1
        return Spot(record, Span(span.start - start, min(span.end, end_of_line) - start))


# The configuration


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
    data = read_shaped(text, shape())
    if isinstance(data, tuple):
        return data
    overrides = tuple(
        Override(tuple(each["paths"]), _settings(each["rules"]))
        for each in data.get("overrides", ())
    )
    judge = data.get("judge", {})
    families = {name.lower(): tuple(each) for name, each in judge.get("families", {}).items()}
    unfixable = frozenset(code for name in data.get("unfixable", ()) for code in selected(name))
    return Configuration(
        msgspec.structs.replace(_settings(data.get("rules", {})), unfixable=unfixable),
        overrides,
        data.get("rule-url", ""),
        JudgeSettings(judge.get("orchestrator-family"), families),
        tuple(data.get("exclude", ())),
        RecordedRun(**data["record"]) if "record" in data else None,
        msgspec.convert(data.get("score", {}).get("exempt", ()), tuple[Exemption, ...]),
        data.get("fail-on"),
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
    tables: dict[str, dict[str, Any]] = {}
    # What names fewer rules decides: a rule's own name before a glob, and a glob before a group.
    for name in sorted(rules, key=lambda each: (each in RULES, each not in GROUPS)):
        entry = rules[name] if isinstance(rules[name], dict) else {"severity": rules[name]}
        for code in SETTABLE.keys() & selected(name):
            tables[code] = {**tables.get(code, {}), **entry}
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
    globs: Shape | None = None
    """What stands at a key that is a glob of others."""
    needs_keys: bool = False
    """Whether a table must have all of its keys."""
    short_for: str = ""
    """The key of a table that another value in its place stands for."""
    least: float | None = None
    """The least number, or the least length of an array or string."""
    most: float = math.inf
    """The greatest number, or the greatest length."""
    words: tuple[str, ...] = ()
    """The only strings there are."""
    pattern: str = ""
    """The regular expression of strings."""
    default: object = None
    fault: Callable[[Any], str | None] = lambda _: None
    """What else is wrong with a value, as a sentence; None if nothing is."""

    def at(self, key: str) -> Shape | None:
        """What stands at a key of a table; None if nothing does."""
        known = self.keys.get(key, self.items)
        return self.globs if known is None and key not in RULES and selected(key) else known

    def takes(self, value: Any) -> bool:
        """Whether a value is of this shape, but for what stands in it."""
        is_kind = type(value) is self.kind or (self.kind is float and type(value) is int)
        if not is_kind or (self.words and value not in self.words):
            return False
        if self.pattern and re.fullmatch(self.pattern, value) is None:
            return False
        if self.kind is date:
            return True
        size: float = len(value) if self.kind in (str, list, dict) else value
        least = -math.inf if self.least is None else self.least
        return math.isfinite(size) and least <= size <= self.most


_TRACE = "projects/shop/trace.jsonl, below this file's folder and in no hidden one"
_GLOBS = "Globs as in .gitignore, but none negated, from this file's folder on"
SEVERITY = Shape(listed((f'"{word}"' for word in SEVERITIES), "or"), str, words=tuple(SEVERITIES))
SEVERITY_PROSE = {
    "off": "The rule finds nothing.",
    "error": "Fails a check, unless it is told otherwise.",
    "warning": "Most likely a mistake.",
    "information": "Worth a look.",
    "hint": "Shown faintly, or only when it is asked for.",
    "never": "No finding fails a check.",
}


@cache
def shape() -> Shape:
    """What a configuration may say."""
    rules = Shape(
        "a table of rules",
        prose="How severe what rules find is, and the rules' options. A glob of rules and a group "
        "(`all`, or a severity) hold for those that nothing else names.",
        keys={
            **{code: _rule(rule) for code, rule in SETTABLE.items()},
            **dict.fromkeys(GROUPS, SEVERITY),
        },
        globs=SEVERITY,
    )
    rule = Shape("a rule, a glob of rules, or a group of them", str, least=1, fault=_rule_fault)
    override = {"paths": _globs(f"{_GLOBS}."), "rules": rules}
    word, glob = Shape("a word of models' ids", str, least=1), Shape("a glob", str, least=1)
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
    exempt = Shape(
        "an array of tables, each below `[[score.exempt]]`",
        list,
        "Runs that `score --require-correct` does without until a day, and why: both are shown. It "
        "counts from the commit of `--trust-config-at`, or with `--trust-config`.",
        items=Shape(
            "a table",
            keys={
                "runs": Shape("an array of at least one glob of runs", list, items=glob, least=1),
                "reason": Shape("why, in a sentence", str, least=1),
                "until": Shape("a day such as 2027-01-31", date),
            },
            needs_keys=True,
        ),
    )
    trace, run = "The trace; its file may be missing.", "The id of the run (`project_run_id`)."
    record = {
        "trace": Shape(f"a path like {_TRACE}", str, trace, pattern=RECORDED_TRACE.pattern),
        "run": Shape("the id of a run", str, run, least=1),
    }
    recorded = "The run that sessions of agents record, see `drive-trace hook`, and its trace."
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
            "an address, such as https://…/rules/{code}.md",
            str,
            "Address of a rule's page, for JSON and SARIF that people on other machines read; "
            "`{code}` stands for the rule.",
            pattern=RULE_URL.pattern,
        ),
        "exclude": _globs(
            f"Traces that no search reads. {_GLOBS}. A gate fails on them all the same, as whoever "
            "changes a trace may change this file."
        ),
        "fail-on": Shape(
            listed((f'"{word}"' for word in THRESHOLDS), "or"),
            str,
            "A check fails on a finding at least this bad, unless --fail-on says otherwise.",
            words=tuple(THRESHOLDS),
        ),
        "unfixable": Shape(
            "an array of rules",
            list,
            "Rules of which `check --fix` and fix-all make no fix: a person makes each by hand.",
            items=rule,
        ),
        "score": Shape("a table", prose="What `score` does without.", keys={"exempt": exempt}),
        "judge": Shape(
            "a table", prose="What has to be known of models before one may judge.", keys=judge
        ),
        "record": Shape("a table", prose=recorded, keys=record, needs_keys=True),
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


def _rule_fault(name: str) -> str | None:
    guess = nearest(name, RULES)
    meant = f" — did you mean `{guess}`?" if guess else ""
    return None if selected(name) else f"`{printable(name)}` is no rule{meant}"


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


class Fault(NamedTuple):
    """One mistake."""

    at: KeyPath
    message: str
    of_key: bool = False
    """Whether the key is wrong, or missing, and not its value."""


def _faults(value: Any, wanted: Shape, at: KeyPath) -> Iterator[Fault]:
    """All mistakes in what stands at a place."""
    if wanted.short_for and not isinstance(value, dict):
        inner, more = wanted.keys[wanted.short_for], "" if isinstance(value, str) else " or a table"
        yield from _faults(value, replace(inner, expected=inner.expected + more), at)
    elif not wanted.takes(value):
        yield Fault(at, _must_be(at, wanted, value))
    elif (message := wanted.fault(value)) is not None:
        yield Fault(at, message)
    elif isinstance(value, dict):
        for key, expected in wanted.keys.items() if wanted.needs_keys else ():
            if key not in value:
                missing = f"`{key}` is missing here: expected {expected.expected}"
                yield Fault((*at, key), missing, of_key=True)
        for key, each in value.items():
            known = wanted.at(key)
            if known is None:
                yield Fault((*at, key), _unknown_key(at, key, wanted), of_key=True)
            else:
                yield from _faults(each, known, (*at, key))
    elif isinstance(value, list) and wanted.items is not None:
        if len(value) > MOST_ITEMS:
            yield Fault(at, f"`{printable(str(at[-1]))}` has more than {MOST_ITEMS} items")
            return
        for place, each in enumerate(value):
            yield from _faults(each, wanted.items, (*at, place))


def problems_at(text: str, faults: Iterable[Fault]) -> tuple[TextProblem, ...]:
    """The problems with a text that :func:`read_toml` has read, in their order."""
    faults = list(faults)
    places, spots = toml_places(text, (each.at for each in faults)), Spots(text)

    def span_of(fault: Fault) -> Span:
        steps = fault.at
        while steps and steps not in places:
            steps = steps[:-1]
        if not steps:
            return Span(0, 0)
        return places[steps].key if fault.of_key else places[steps].value

    told = sorted((span_of(each), each.message) for each in faults)[:_MOST_PROBLEMS]
    return tuple(sorted(TextProblem(spots.of(span), message) for span, message in told))


def _must_be(at: KeyPath, wanted: Shape, found: object) -> str:
    label = f"`{printable(str(at[-1]))}`" if isinstance(at[-1], str) else "an item"
    guess = None
    if wanted.words:
        word = str(found).lower()
        guess = _SLIPS.get(word) or nearest(word, wanted.words)
    meant = f' — did you mean "{guess}"?' if guess else ""
    return f"{label} must be {wanted.expected}; found {shown_value(found)}{meant}"


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


def shown_value(value: object) -> str:
    """A value as TOML has it, for a message."""
    if isinstance(value, dict):
        return "a table"
    return "an empty array" if value == [] else shown_json(value)


# Changed on a person's word

_SPECIAL = re.compile(r"[*?\[]| $")
"""What means something in a pattern, or ends it."""


def turn_off(project: Project, code: str, trace: str | None) -> Problem | str:
    """Turn a rule off in a project's configuration, for one trace or for all. A trace is named as
    by :meth:`Project.path_of`. Comments and layout of the configuration stay. Returns the name of
    the file, or why it is as it was.
    """
    path = project.configuration_path or project.folder / CONFIGURATION_NAME
    shown = shown_path(path)
    if project.problems:
        return project.problems[0].problem
    try:
        text = read_regular(path).decode("utf-8-sig") if may_be_there(path) else ""
        changed = _without_rule(text, code, trace)
        if changed is None:
            return Problem(shown, f"cannot be changed by a tool: turn {code} off by hand")
        write_whole(inside(path), changed.encode())
    except (OSError, UnicodeDecodeError) as error:
        reason = why(error) if isinstance(error, OSError) else "it is not UTF-8"
        return Problem(shown, f"cannot be changed: {reason}")
    return shown


def _without_rule(text: str, code: str, trace: str | None) -> str | None:
    """The text of a configuration with a rule off; None if it cannot be made so."""
    import tomlkit  # noqa: PLC0415 - slow to load, and only wanted here
    from tomlkit.exceptions import TOMLKitError  # noqa: PLC0415

    try:
        document: Any = tomlkit.parse(text)
        if trace is None:
            _set(document.setdefault("rules", tomlkit.table()), code)
        else:
            pattern = "/" + _SPECIAL.sub(r"[\g<0>]", trace)
            if "overrides" not in document:
                document["overrides"] = tomlkit.aot()
            of_trace = next(
                (each for each in document["overrides"] if each["paths"] == [pattern]), None
            )
            if of_trace is None:
                of_trace = tomlkit.table()
                of_trace.update({"paths": [pattern], "rules": {}})
                document["overrides"].append(of_trace)
            _set(of_trace.setdefault("rules", tomlkit.table()), code)
        changed = tomlkit.dumps(document)
    except (TOMLKitError, AttributeError, KeyError, TypeError, ValueError):
        return None
    read = read_configuration(changed)
    if not isinstance(read, Configuration) or read.settings_for(trace).severity(RULES[code]):
        return None
    return changed


def _set(rules: Any, code: str) -> None:
    if isinstance(rules.get(code), Mapping):
        rules[code]["severity"] = "off"
    else:
        rules[code] = "off"
