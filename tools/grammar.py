"""The TextMate grammar's words: what VS Code colours before the server answers, or without one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from drive_trace.vocabulary import EVENTS, Family, OneOfShape

_SCOPES = {
    Family.BUILD_LOOP: "entity.name.function",
    Family.PLANNING: "entity.name.type.class",
    Family.LIFECYCLE: "entity.name.namespace",
    Family.FEEDS: "entity.name.function.preprocessor",
}
"""What VS Code falls back to for the semantic tokens of each family, so that no colour jumps."""
_CHOICE = "variable.other.enummember"
_VERDICT = f"{_CHOICE}.json.drive-trace markup.bold"
_KEY = "support.type.property-name"
_VERDICTS = {"verdict", "mechanical", "qa", "intent"}
"""Fields that say how something went, in bold. Never in green: that is for CORRECT alone."""


def grammar(present: Mapping[str, Any]) -> dict[str, Any]:
    """A grammar with the event types by family, and the values of each field that has a choice."""
    words = {"patterns": [*_event_types(), *_choices()]}
    return {**present, "repository": {**present["repository"], "words": words}}


def _event_types() -> Iterable[dict[str, Any]]:
    for family, scope in _SCOPES.items():
        names = [event.name for event in EVENTS.values() if event.family is family]
        yield _member("event_type", names, scope)


def _choices() -> Iterable[dict[str, Any]]:
    choices: dict[str, dict[str, None]] = {}
    for event in EVENTS.values():
        for name, field in event.fields.items():
            if isinstance(field.shape, OneOfShape) and len(field.shape.meanings) > 1:
                choices.setdefault(name, {}).update(dict.fromkeys(field.shape.meanings))
    for name, values in choices.items():
        yield _member(name, values, _VERDICT if name in _VERDICTS else _CHOICE)


def _member(key: str, values: Iterable[str], scope: str) -> dict[str, Any]:
    scopes = {1: _KEY, 2: "punctuation.separator.dictionary.key-value", 3: scope}
    return {
        "match": rf'("{key}")\s*(:)\s*("(?:{"|".join(values)})")',
        "captures": {
            str(number): {"name": f"{name}.json.drive-trace"} for number, name in scopes.items()
        },
    }
