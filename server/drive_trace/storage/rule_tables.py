"""What may stand below ``[rules]``, and what it says of each rule. It loads the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from drive_trace.linter.rules import GROUPS, RULES, SETTABLE, selected
from drive_trace.linter.settings import RuleSettings
from drive_trace.storage.configuration import SEVERITIES, SeverityWord
from drive_trace.text.escaping import printable
from drive_trace.vocabulary.slips import nearest


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
