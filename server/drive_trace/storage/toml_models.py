"""Reads a document as one of our tables, each declared as a struct. All mistakes are told, each
with its place; msgspec tells the first one alone. Changes a configuration on a person's word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from itertools import islice
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec import Meta

from drive_trace.linter.rules import GROUPS, RULES, SETTABLE, selected
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from drive_trace.storage import files, patterns, projects, replace
from drive_trace.storage.configuration import (
    CONFIGURATION_NAME,
    INNER_PATH,
    SEVERITIES,
    Configuration,
    Rules,
    SeverityWord,
)
from drive_trace.storage.toml_text import Fault, KeyPath, problems_at, read_toml
from drive_trace.text.wording import listed, printable
from drive_trace.text.wording import shown as shown_json
from drive_trace.vocabulary.slips import nearest

T = TypeVar("T")
_WORDS: Mapping[object, str] = {
    str: "a text",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    date: "a day such as 2027-01-31",
    list: "an array",
    tuple: "an array",
}
"""What belongs there, where a declaration has no title that says it."""
_BOUNDS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_SLIPS = {
    "info": "information",
    "note": "information",
    "warn": "warning",
    "ignore": "off",
    "none": "off",
    "false": "off",
}
_MOST_FAULTS = 1000
_MOST_PATTERNS = 4000
"""Of all cases together: each is matched with each file of a run."""


class CasePattern(str):
    """One as in .gitignore, or a run's id."""

    __slots__ = ()

    def __new__(cls, text: str) -> CasePattern:
        """Raises TypeError where it means nothing."""
        if not text.strip() or not patterns.is_pattern(text):
            raise TypeError
        return super().__new__(cls, text)


_SOME = r"^[^\x00]*[^\s\x00][^\x00]*\Z"
Inner: TypeAlias = Annotated[
    str,
    Meta(
        title="a relative path like cases/shop, with no `..` and no hidden folder in it",
        pattern=rf"^(?:{INNER_PATH})\Z",
    ),
]
Text: TypeAlias = Annotated[
    str, Meta(title="some text without U+0000", max_length=10_000, pattern=_SOME)
]
Word: TypeAlias = Annotated[str, Meta(title="a word without U+0000", max_length=200, pattern=_SOME)]
Patterns: TypeAlias = Annotated[
    tuple[Annotated[CasePattern, Meta(title="a pattern as in .gitignore, or a run's id")], ...],
    Meta(min_length=1, max_length=1000),
]


class CasesOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file of ``compare --cases``."""

    cases: Annotated[dict[Word, Patterns], Meta(min_length=1, max_length=1000)]

    def __post_init__(self) -> None:
        if sum(map(len, self.cases.values())) > _MOST_PATTERNS:
            raise ValueError(f"all cases have more than {_MOST_PATTERNS:,} patterns")


def read_as(path: Path, kind: type[T]) -> T | Sequence[projects.FileProblem]:
    """Read a file that somebody has named."""
    problems: list[projects.FileProblem] = []
    read = projects.ParsedFiles[T | None](lambda text: read_table(text, kind), None).read(
        path, problems, is_named=True
    )
    return problems if read is None else read


def read_table(text: str, kind: type[T]) -> T | tuple[projects.TextProblem, ...]:
    """A document as a table of ours, or the first problems with it, in their order."""
    text = text.replace("\r\n", "\n")
    data = read_toml(text)
    if isinstance(data, projects.TextProblem):
        return (data,)
    # Each may take a look at all that could be meant.
    found = [*islice(faults(data, kind), _MOST_FAULTS)]
    return problems_at(text, found) if found else _converted(data, kind)


def _converted(value: object, kind: type[T]) -> T:
    return msgspec.convert(value, kind, dec_hook=_made, builtin_types=(date,))


def _made(kind: Any, value: object) -> object:
    """A value of a class of ours, whose constructor refuses what is wrong."""
    if not isinstance(value, kind.__base__) or any(_inner(value, kind, ())):
        raise TypeError
    return kind(value)


def faults(value: object, kind: Any, at: KeyPath = ()) -> Iterator[Fault]:
    """All mistakes in what stands at a place, which has to be of a type that msgspec converts to.
    A mistake is told of the innermost value that has it.
    """
    try:
        _converted(value, kind)
    except msgspec.ValidationError as error:
        inner = _inner(value, kind, at)
        yield next(inner, None) or Fault(at, _what(value, kind, at, error.__cause__))
        yield from inner


def _inner(value: object, kind: Any, at: KeyPath) -> Iterator[Fault]:
    """The mistakes inside a table or an array."""
    bare, meta = _bare(kind, value)
    if isinstance(value, dict) and (hasattr(bare, "__struct_fields__") or bare is Rules):
        fields = _fields(bare, value)
        for name, (inner, is_needed) in fields.items():
            if is_needed and name not in value:
                missing = f"`{name}` is missing here: expected {_expected(inner)}"
                yield Fault((*at, name), missing, of_key=True)
        for key, each in value.items():
            if key in fields:
                yield from faults(each, fields[key][0], (*at, key))
            else:
                unknown = unknown_rule(key) if bare is Rules else _unknown(key, fields)
                yield Fault((*at, key), unknown, of_key=True)
    elif isinstance(value, dict) and get_origin(bare) is dict:
        of_key, of_value = get_args(bare)
        for key, each in value.items():
            yield from (said._replace(of_key=True) for said in faults(key, of_key, (*at, key)))
            yield from faults(each, of_value, (*at, key))
    elif isinstance(value, list) and not len(value) > (meta.max_length or len(value)):
        for place, each in enumerate(value if get_origin(bare) is tuple else ()):
            yield from faults(each, get_args(bare)[0], (*at, place))


def _fields(table: Any, value: Mapping[str, object]) -> dict[str, tuple[Any, bool]]:
    """By the key of each field of a table, its type, and whether it has to be there."""
    if table is Rules:
        return {key: (kind, False) for key in value if (kind := entry_of(key)) is not None}
    return {each.encode_name: (each.type, each.required) for each in msgspec.structs.fields(table)}


def _bare(kind: Any, value: object) -> tuple[Any, Meta]:
    """A type, and what its annotation says of it; of several, that which a value is to be."""
    meta = Meta()
    while get_origin(kind) in (Annotated, Union, UnionType):
        if get_origin(kind) is Annotated:
            kind, meta = kind.__origin__, kind.__metadata__[-1]
        else:
            first, *others = (each for each in get_args(kind) if each is not NoneType)
            kind = others[0] if others and isinstance(value, dict) else first
    return kind, meta


def _expected(kind: Any) -> str:
    """What belongs at a place, in words."""
    if get_origin(kind) in (Union, UnionType):
        return " or ".join(_expected(each) for each in get_args(kind) if each is not NoneType)
    bare, meta = _bare(kind, None)
    if get_origin(bare) is Literal:
        return listed((f'"{each}"' for each in get_args(bare)), "or")
    if get_origin(bare) is dict and meta.min_length:
        return "a table with at least one key"
    if get_origin(bare) is tuple and meta.min_length and not meta.title:
        item = _expected(get_args(bare)[0]).partition(" ")[2]
        return f"an array of at least one {item}"
    bounds = ((text, getattr(meta, name)) for name, text in _BOUNDS.items())
    said = " and ".join(f"{text} {bound:,}" for text, bound in bounds if bound is not None)
    words = _WORDS.get(get_origin(bare) or bare, "a table")
    return meta.title or (f"{words} of {said}" if said else words)


def _what(value: object, kind: Any, at: KeyPath, cause: object) -> str:
    """What is wrong with a value in which nothing else is wrong."""
    last = at[-1] if at else None
    name = {int: "an item", str: f"`{printable(str(last))}`"}.get(type(last), "it")
    bare, meta = _bare(kind, value)
    if isinstance(cause, ValueError):  # a sentence of ours
        return f"{name} {cause}" if at and isinstance(value, dict) else str(cause)
    if isinstance(value, str | list | dict) and len(value) > (meta.max_length or len(value)):
        of_what = "characters" if isinstance(value, str) else "items"
        return f"{name} has more than {meta.max_length} {of_what}"
    guess = None
    if get_origin(bare) is Literal:
        word = str(value).lower()
        guess = _SLIPS.get(word) or nearest(word, get_args(bare))
        kind = bare if isinstance(value, str) else kind
    meant = f' — did you mean "{guess}"?' if guess else ""
    return f"{name} must be {_expected(kind)}; found {_shown(value)}{meant}"


def _unknown(key: str, fields: Mapping[str, object]) -> str:
    guess = nearest(key, fields)
    names = listed((f"`{each}`" for each in fields), "or")
    meant = f"did you mean `{guess}`?" if guess else f"expected {names}"
    return f"`{printable(key)}` is no key here: {meant}"


def _shown(value: object) -> str:
    """A value as TOML has it, for a message."""
    if isinstance(value, dict):
        return "a table" if value else "an empty table"
    return "an empty array" if value == [] else shown_json(value)


def read_client_rules(given: object) -> tuple[RuleSettings, tuple[str, ...]]:
    """The content of a client's setting ``driveTrace.rules``, which has the form of the ``[rules]``
    table, and what is wrong with the entries that are left out.
    """
    if not isinstance(given, dict):
        phrase = "`rules` must be an object of rules" if given is not None else None
        return DEFAULTS, (phrase,) if phrase else ()
    found = {key: [*faults({key: entry}, Rules, ("rules",))] for key, entry in given.items()}
    valid = {key: given[key] for key, wrong in found.items() if not wrong}
    return settings_of(valid), tuple(each.message for wrong in found.values() for each in wrong)


# What may stand below ``[rules]``, and what it says of each rule


def settings_of(rules: Mapping[str, Any]) -> RuleSettings:
    """What a table ``[rules]`` says of each rule."""
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


def entry_of(name: str) -> Any:
    """The type of what stands at a name below ``[rules]``; None where it names nothing."""
    if name in SETTABLE:
        return SeverityWord | _table_of(name)
    return SeverityWord if name in GROUPS or (name not in RULES and selected(name)) else None


@cache
def _table_of(code: str) -> type[msgspec.Struct]:
    """What the table of a rule may say."""
    fields: list[Any] = [("severity", SeverityWord, SETTABLE[code].severity.label)]
    for each in SETTABLE[code].options:
        kind: Any = Annotated[type(each.default), Meta(ge=0)]
        fields.append((each.name.replace("-", "_"), kind, each.default))
    return msgspec.defstruct(code, fields, rename="kebab", forbid_unknown_fields=True)


def codes_of(name: str) -> Sequence[str]:
    """The rules that a name means. Raises ValueError where it means none."""
    if found := selected(name):
        return found
    raise ValueError(unknown_rule(name))


def unknown_rule(name: str) -> str:
    """Why nothing may stand at a name below ``[rules]``."""
    if name in RULES:
        return f"`{name}` cannot be set: what is not read is always told"
    guess = nearest(name, [*SETTABLE, *GROUPS])
    return f"`{printable(name)}` is no rule" + (f" — did you mean `{guess}`?" if guess else "")


# A rule that is turned off: comments and layout stay


_SPECIAL = re.compile(r"[*?\[]| $")
"""What means something in a pattern, or ends it."""


def turn_off(project: projects.Project, code: str, trace: str | None) -> files.Problem | str:
    """Turn a rule off in a project's configuration, for one trace or for all. A trace is named as
    by :meth:`Project.path_of`. Comments and layout of the configuration stay. Returns the name of
    the file, or why it is as it was.
    """
    path = project.configuration_path or project.folder / CONFIGURATION_NAME
    shown = projects.shown_path(path)
    if project.problems:
        return project.problems[0].problem
    try:
        text = files.read_regular(path).decode("utf-8-sig") if files.may_be_there(path) else ""
        changed = _without_rule(text, code, trace)
        if changed is None:
            return files.Problem(shown, f"cannot be changed by a tool: turn {code} off by hand")
        replace.write_whole(files.inside(path), changed.encode())
    except (OSError, UnicodeDecodeError) as error:
        reason = files.why(error) if isinstance(error, OSError) else "it is not UTF-8"
        return files.Problem(shown, f"cannot be changed: {reason}")
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
    read = read_table(changed, Configuration)
    if not isinstance(read, Configuration) or read.settings_for(trace).severity(RULES[code]):
        return None
    return changed


def _set(rules: Any, code: str) -> None:
    if isinstance(rules.get(code), Mapping):
        rules[code]["severity"] = "off"
    else:
        rules[code] = "off"
