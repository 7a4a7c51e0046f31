"""Reads a ``drive-trace.toml``, and says what is wrong with it in its own terms.

The shape is declared once, with pydantic's core, and all mistakes are told at once: all of pydantic
takes 80 ms longer to load, as long as checking a small trace, and msgspec tells the first mistake
alone. The JSON Schema that editors complete by is made of the same declaration, by
``tools/json_schemas.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, cast

from pydantic_core import CoreSchema, SchemaValidator, ValidationError, core_schema

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
_MOST_ITEMS = 1000
"""Every trace is matched with every override, and every wrong item is a problem."""


def read_configuration(text: str) -> Configuration | tuple[TextProblem, ...]:
    """The content of a ``drive-trace.toml``, or the first problems with it, in their order."""
    text = text.replace("\r\n", "\n")
    data = read_toml(text)
    if isinstance(data, TextProblem):
        return (data,)
    try:
        valid = _validator().validate_python(data)
    except ValidationError as error:
        return _problems(text, error.errors(include_url=False))
    overrides = tuple(
        Override(tuple(each["paths"]), _settings(each["rules"]))
        for each in valid.get("overrides", ())
    )
    judge = valid.get("judge", {})
    families = {name.lower(): tuple(each) for name, each in judge.get("families", {}).items()}
    return Configuration(
        _settings(valid.get("rules", {})),
        overrides,
        valid.get("rule-url", ""),
        JudgeSettings(judge.get("orchestrator-family"), families),
        tuple(valid.get("exclude", ())),
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
        try:
            valid |= _validator().validate_python({"rules": {code: entry}})["rules"]
        except ValidationError as error:
            problems += map(_message, error.errors(include_url=False))
    return _settings(valid), tuple(problems)


def option_type(option: Option) -> str:
    """The type of an option, in words."""
    kind = {bool: "true or false", int: "an integer", float: "a number", str: "a string"}
    least = f" of at least {option.minimum:g}" if option.minimum is not None else ""
    return kind[type(option.default)] + least


def _settings(rules: Mapping[str, Mapping[str, Any]]) -> RuleSettings:
    options = {
        code: {name: value for name, value in table.items() if name != "severity"}
        for code, table in rules.items()
    }
    return RuleSettings(
        {code: SEVERITIES[each["severity"]] for code, each in rules.items() if "severity" in each},
        {code: set_ones for code, set_ones in options.items() if set_ones},
    )


# The shape

_GLOBS = "Globs as in .gitignore, but none negated, from this file's folder on"
_SEVERITY_PROSE = {
    "off": "The rule finds nothing.",
    "error": "Fails a check, unless it is told otherwise.",
    "warning": "Most likely a mistake.",
    "information": "Worth a look.",
    "hint": "Shown faintly, or only when it is asked for.",
}
_DOCUMENT = ""
"""Stands for the name of the table that is the document itself."""


@cache
def shape() -> CoreSchema:
    """What a configuration may say, with the prose of its JSON Schema."""
    words = [{"const": word, "description": _SEVERITY_PROSE[word]} for word in SEVERITIES]
    severity = _told(core_schema.literal_schema(list(SEVERITIES), ref="severity"), oneOf=words)
    rules = _table({code: _rule(rule) for code, rule in SETTABLE.items()}, ref="rules")
    _told(rules, description="How severe what rules find is, and the rules' options.")
    document = _table(_tables()[_DOCUMENT])
    return core_schema.definitions_schema(document, [severity, rules])


@cache
def _validator() -> SchemaValidator:
    return SchemaValidator(shape())


@cache
def _tables() -> Mapping[str, Mapping[str, CoreSchema]]:
    """The keys of each table but those of rules, by the name of the table."""
    rules = core_schema.definition_reference_schema("rules")
    text = core_schema.str_schema(strict=True)
    word = core_schema.str_schema(strict=True, min_length=1)
    words = core_schema.list_schema(word, min_length=1, max_length=_MOST_ITEMS, strict=True)
    judge = {
        "orchestrator-family": _told(
            {**word},
            description="The family, or the model's id, of the orchestrator that runs the work: a "
            "judge of the same family is refused.",
        ),
        "families": _told(
            core_schema.dict_schema(text, words, strict=True),
            description="More families of models: each with words that its models' ids have.",
        ),
    }
    override = {"paths": _globs(f"{_GLOBS}."), "rules": rules}
    overrides = core_schema.list_schema(
        _table(override, required=True), max_length=_MOST_ITEMS, strict=True
    )
    document = {
        "rules": rules,
        "overrides": _told(
            overrides,
            description="What holds for some files in place of what holds for all; of two that "
            "mean one file, the later one decides.",
        ),
        "rule-url": _told(
            core_schema.no_info_after_validator_function(_rule_url, text),
            pattern=f"^{RULE_URL.pattern}$",
            description="Address of a rule's page, for JSON and SARIF that people on other "
            "machines read; `{code}` stands for the rule.",
        ),
        "exclude": _globs(
            f"Traces that no search reads. {_GLOBS}. A gate fails on them all the same, as whoever "
            "changes a trace may change this file."
        ),
        "judge": _told(
            _table(judge),
            description="What has to be known of models before one may judge.",
        ),
    }
    return {_DOCUMENT: document, "overrides": override, "judge": judge}


def _told(schema: Any, **more: object) -> Any:
    """A part of the shape with what its JSON Schema says besides."""
    schema["metadata"] = {"pydantic_js_updates": more}
    return schema


def _table(
    keys: Mapping[str, CoreSchema], *, required: bool = False, ref: str | None = None
) -> CoreSchema:
    fields = {
        key: core_schema.typed_dict_field(schema, required=required) for key, schema in keys.items()
    }
    return core_schema.typed_dict_schema(fields, extra_behavior="forbid", strict=True, ref=ref)


def _rule(rule: Rule[Any]) -> CoreSchema:
    severity: CoreSchema = core_schema.definition_reference_schema("severity")
    keys = {"severity": severity, **{each.name: _option(each) for each in rule.options}}
    entry = core_schema.no_info_before_validator_function(_spelt_out, _table(keys))
    return cast("CoreSchema", _told(entry, description=rule.summary, default=rule.severity.label))


def _spelt_out(entry: object) -> object:
    """A rule's entry as the table that it is short for."""
    return entry if isinstance(entry, dict) else {"severity": entry}


def _option(option: Option) -> CoreSchema:
    schema: CoreSchema
    match option.default:
        case bool():
            schema = core_schema.bool_schema(strict=True)
        case int():
            least = int(option.minimum) if option.minimum is not None else None
            schema = core_schema.int_schema(ge=least, strict=True)
        case float():
            schema = core_schema.float_schema(ge=option.minimum, allow_inf_nan=False, strict=True)
        case str():
            schema = core_schema.str_schema(strict=True)
    return cast("CoreSchema", _told(schema, default=option.default, description=option.prose))


def _globs(prose: str) -> CoreSchema:
    text = core_schema.str_schema(strict=True)
    glob = _told(core_schema.no_info_after_validator_function(_glob, text), minLength=1)
    globs = core_schema.list_schema(glob, min_length=1, max_length=_MOST_ITEMS, strict=True)
    return cast("CoreSchema", _told(globs, description=prose))


def _rule_url(url: str) -> str:
    if RULE_URL.fullmatch(url) is None:
        raise ValueError("`rule-url` must be an address, such as https://…/rules/{code}.md")
    return url


def _glob(glob: str) -> str:
    problem = _glob_problem(glob)
    if problem is not None:
        raise ValueError(problem)
    return glob


def _glob_problem(glob: str) -> str | None:
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


def _problems(text: str, errors: Sequence[Any]) -> tuple[TextProblem, ...]:
    places = toml_places(text, (each["loc"] for each in errors))
    spans = [_span(places, each) for each in errors]
    first = sorted(range(len(errors)), key=spans.__getitem__)[:_MOST_PROBLEMS]
    spots = Spots(text)
    problems = [TextProblem(spots.of(spans[at]), _message(errors[at])) for at in first]
    return tuple(sorted(problems))


def _span(places: Mapping[KeyPath, Any], error: Any) -> Span:
    steps = error["loc"]
    of_key = error["type"] in ("extra_forbidden", "missing")
    while steps and steps not in places:
        steps = steps[:-1]
    if not steps:
        return Span(0, 0)
    place = places[steps]
    span: Span = place.key if of_key else place.value
    return span


def _message(error: Any) -> str:
    loc: KeyPath = error["loc"]
    name = printable(str(loc[-1])) if loc else ""
    if error["type"] == "value_error":
        return str(error["ctx"]["error"])
    if error["type"] == "missing":
        return f"`{name}` is missing in this override: expected {_expected(loc)}"
    if error["type"] == "extra_forbidden":
        return _unknown_key(loc, name)
    if error["type"] == "too_long":
        return f"`{name}` has more than {_MOST_ITEMS} items"
    found, entry = error["input"], loc
    if loc[-1] == "severity":
        entry = loc[:-1]  # the entry may be short for a table
    label = f"`{printable(str(entry[-1]))}`" if isinstance(entry[-1], str) else "an item"
    table = " or a table" if loc[-1] == "severity" and not isinstance(found, str) else ""
    return f"{label} must be {_expected(loc)}{table}; found {_shown(found)}{_hint(loc, found)}"


def _unknown_key(loc: KeyPath, name: str) -> str:
    """The message for a key that the table has no place for."""
    if loc[-2:-1] == ("rules",):
        if name in RULES:
            return f"`{name}` cannot be set: what is not read is always told"
        guess = nearest(name, SETTABLE)
        return f"`{name}` is no rule" + (f" — did you mean `{guess}`?" if guess else "")
    known: Iterable[str] = _tables().get(str(loc[0]) if len(loc) > 1 else _DOCUMENT, ())
    if loc[-3:-2] == ("rules",):
        known = ("severity", *(option.name for option in RULES[str(loc[-2])].options))
    guess = nearest(name, known)
    names = listed((f"`{each}`" for each in known), "or")
    hint = f"did you mean `{guess}`?" if guess else f"expected {names}"
    return f"`{name}` is no setting here: {hint}"


def _expected(loc: KeyPath) -> str:
    """What belongs at a path in the document."""
    match loc:
        case ("judge", "orchestrator-family"):
            return "a family or a model's id"
        case ("judge", "families"):
            return "a table of families"
        case ("judge", "families", _):
            return "an array of at least one word of models' ids"
        case ("judge", "families", _, int()):
            return "a word of models' ids"
        case (*_, "rules", str(), "severity"):
            return listed((f'"{word}"' for word in SEVERITIES), "or")
        case (*_, "rules", str(code), str(name)):
            return next(option_type(each) for each in RULES[code].options if each.name == name)
        case (*_, "rules"):
            return "a table of rules"
        case (*_, "paths" | "exclude"):
            return "an array of at least one glob"
        case (*_, "paths" | "exclude", int()):
            return "a glob"
        case ("rule-url",):
            return "a string"
        case ("overrides",):
            return "an array of tables, each below `[[overrides]]`"
        case _:
            return "a table"


def _hint(loc: KeyPath, found: object) -> str:
    if loc[-1] != "severity":
        return ""
    word = str(found).lower()
    guess = _SLIPS.get(word) or nearest(word, SEVERITIES)
    return f' — did you mean "{guess}"?' if guess else ""


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    return "an empty array" if value == [] else shown_json(value)
