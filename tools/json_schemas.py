"""The JSON Schemas of events, of the configuration, and of the rules in a client's settings."""

from __future__ import annotations

from datetime import date
from typing import Any

import msgspec
from pydantic import TypeAdapter

from drive_trace import TraceEvent
from drive_trace.storage.configuration_text import (
    MOST_ITEMS,
    SEVERITY,
    SEVERITY_PROSE,
    Shape,
    shape,
)
from drive_trace.storage.projects import CONFIGURATION_NAME, SEVERITIES
from drive_trace.storage.suites import Suite
from drive_trace.vocabulary import EVENTS, EventType

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def union_schema() -> dict[str, Any]:
    """One schema that every event of the vocabulary satisfies. The type chooses what holds, so that
    a validator blames what is wrong with one event, and not that it is none of nineteen.
    """
    schema = _cleaned(TypeAdapter(TraceEvent).json_schema())
    chosen = schema["discriminator"]["mapping"]
    return {
        "$schema": _DIALECT,
        "$id": "urn:drive-trace:event",
        "title": "An event of a Drive trace",
        "description": "One line of a trace.jsonl file.",
        "type": "object",
        "required": ["event_type"],
        "properties": {
            "event_type": {
                "enum": list(EVENTS),
                "description": "What happened: it decides which other fields there are.",
            }
        },
        "allOf": [
            {
                "if": {"required": ["event_type"], "properties": {"event_type": {"const": name}}},
                "then": {"$ref": chosen[name]},
            }
            for name in EVENTS
        ],
        "$defs": schema["$defs"],
    }


def event_schema(event: EventType) -> dict[str, Any]:
    """The schema of one event."""
    schema = _cleaned(TypeAdapter(event.declared).json_schema())
    return {
        "$schema": _DIALECT,
        "$id": f"urn:drive-trace:event:{event.name}",
        **schema,
        "examples": [event.example],
    }


def record_schema(name: str, record: type[msgspec.Struct]) -> dict[str, Any]:
    """The schema of one object of a record that is kept beside traces."""
    schema = msgspec.json.schema(record)
    return {"$schema": _DIALECT, "$id": f"urn:drive-trace:{name}", **_cleaned(schema)}


def suite_schema() -> dict[str, Any]:
    """The schema of a suite, which takes no other keys."""
    schema = _cleaned(Suite.model_json_schema())
    for each in (schema, *schema["$defs"].values()):
        each["additionalProperties"] = False
    return {"$schema": _DIALECT, "$id": "urn:drive-trace:suite", **schema}


_TYPES = {
    dict: "object",
    list: "array",
    str: "string",
    int: "integer",
    float: "number",
    date: "string",
}
_LEAST = {list: "minItems", str: "minLength", int: "minimum", float: "minimum"}


def _shape_schema(wanted: Shape, definitions: dict[str, Shape]) -> dict[str, Any]:
    """The JSON Schema of a part of the configuration; the definitions are referred to."""

    def of(inner: Shape) -> dict[str, Any]:
        for name, each in definitions.items():
            if each is inner:
                return {"$ref": f"#/$defs/{name}"}
        return _shape_schema(inner, definitions)

    found: dict[str, Any] = {"type": _TYPES.get(wanted.kind, "boolean")}
    if wanted.kind is dict:
        if wanted.keys:
            found["properties"] = {key: of(each) for key, each in wanted.keys.items()}
        if wanted.globs:
            found["patternProperties"] = {r"[*?\[]": of(wanted.globs)}
        if wanted.needs_keys:
            found["required"] = list(wanted.keys)
        found["additionalProperties"] = of(wanted.items) if wanted.items is not None else False
    elif wanted.items is not None:
        found |= {"items": of(wanted.items), "maxItems": MOST_ITEMS}
    if wanted.words:
        words = [{"const": each, "description": SEVERITY_PROSE[each]} for each in wanted.words]
        found = {"enum": list(wanted.words), **found, "oneOf": words}
    if wanted.least is not None:
        found[_LEAST[wanted.kind]] = int(wanted.least)
    if wanted.short_for:
        found = {"anyOf": [of(wanted.keys[wanted.short_for]), found]}
    more = {"pattern": wanted.pattern and f"^{wanted.pattern}$", "description": wanted.prose}
    more["format"] = "date" if wanted.kind is date else ""
    found |= {key: value for key, value in more.items() if value}
    return found if wanted.default is None else {**found, "default": wanted.default}


def configuration_schema() -> dict[str, Any]:
    """The schema of ``drive-trace.toml``, which editors complete by."""
    definitions = {"severity": SEVERITY, "rules": shape().keys["rules"]}
    return {
        "$schema": _DIALECT,
        "$id": "urn:drive-trace:configuration",
        "title": "Drive Trace configuration",
        "description": f"What a {CONFIGURATION_NAME} may say.",
        **_shape_schema(shape(), definitions),
        "$defs": {name: _shape_schema(each, definitions) for name, each in definitions.items()},
    }


def rules_setting() -> dict[str, Any]:
    """The same of the rules in a client's settings, which know no references."""
    found = configuration_schema()["$defs"]["rules"]
    return _with_severities(found, {"type": "string", "enum": list(SEVERITIES)})


def _with_severities(schema: Any, severity: dict[str, Any]) -> Any:
    """A schema with the severities themselves in place of references to them."""
    if isinstance(schema, list):
        return [_with_severities(each, severity) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if schema == {"$ref": "#/$defs/severity"}:
        return severity
    return {key: _with_severities(each, severity) for key, each in schema.items()}


def _cleaned(schema: Any) -> Any:
    """The schema as pydantic gives it, but undeclared keys are accepted, and prose is one line."""
    if isinstance(schema, list):
        return [_cleaned(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    cleaned = {key: _cleaned(value) for key, value in schema.items()}
    if cleaned.get("additionalProperties") is False:
        del cleaned["additionalProperties"]
    if isinstance(cleaned.get("title"), str) and cleaned["title"] not in EVENTS:
        del cleaned["title"]
    if isinstance(cleaned.get("description"), str):
        cleaned["description"] = " ".join(cleaned["description"].split())
    return cleaned
