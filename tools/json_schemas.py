"""The JSON Schemas of events, of the configuration, and of the rules in a client's settings."""

from __future__ import annotations

from typing import Any

import msgspec
from pydantic import TypeAdapter

from drive_trace import TraceEvent
from drive_trace.comparison import runs
from drive_trace.linter.rules import GROUPS, SETTABLE
from drive_trace.storage import configuration, suites
from drive_trace.storage.configuration import SEVERITIES, Configuration, Rules, SeverityWord
from drive_trace.storage.suites import Suite
from drive_trace.vocabulary import EVENTS, EventType
from drive_trace.vocabulary.declaring import DECLARED, texts_below

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
    (declared,) = (cls for cls, each in DECLARED if each.name == event.name)
    schema = _cleaned(TypeAdapter(declared).json_schema())
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


SEVERITY_PROSE = {
    "off": "The rule finds nothing.",
    "error": "Fails a check, unless it is told otherwise.",
    "warning": "Most likely a mistake.",
    "information": "Worth a look.",
    "hint": "Shown faintly, or only when it is asked for.",
    "never": "No finding fails a check.",
}


def suite_schema() -> dict[str, Any]:
    """The schema of a suite, which takes no other keys."""
    return {"$schema": _DIALECT, "$id": "urn:drive-trace:suite", **_table_schema(Suite)}


def configuration_schema() -> dict[str, Any]:
    """The schema of ``drive-trace.toml``, which editors complete by."""
    schema = _table_schema(Configuration)
    schema["$defs"] |= {"severity": _table_schema(SeverityWord), "rules": _rules_schema()}
    return {
        "$schema": _DIALECT,
        "$id": "urn:drive-trace:configuration",
        "title": "Drive Trace configuration",
        **schema,
    }


def _table_schema(kind: Any) -> dict[str, Any]:
    """The schema of a table as it stands in TOML, which has no null."""
    schema = _cleaned(msgspec.json.schema(kind, schema_hook=_class_schema))
    definitions = schema.get("$defs", {})
    for name, each in definitions.items():
        table = next(getattr(m, name) for m in (configuration, suites, runs) if hasattr(m, name))
        prose = prose_of(table)
        for key, field in each["properties"].items():
            each["properties"][key] = _of_toml(field)
            name_in_code = key.replace("-", "_")
            if name_in_code in prose:
                each["properties"][key]["description"] = prose[name_in_code]
        each["additionalProperties"] = False
    if "$ref" not in schema:
        return _of_toml(schema)
    own = definitions.pop(schema["$ref"].rpartition("/")[2])
    return {**own, "$defs": definitions}


def _class_schema(kind: type) -> dict[str, Any]:
    if kind is Rules:
        return {"$ref": "#/$defs/rules"}
    return {"type": "string", "minLength": 1}


def _of_toml(schema: dict[str, Any]) -> dict[str, Any]:
    kinds = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    if len(kinds) == 1:
        return _of_toml(kinds[0])
    if {*schema.get("enum", ())} & {*SEVERITY_PROSE}:
        words = [{"const": each, "description": SEVERITY_PROSE[each]} for each in SEVERITY_PROSE]
        schema["oneOf"] = [each for each in words if each["const"] in schema["enum"]]
    if schema.get("default", 0) in (None, "", [], {}) or isinstance(schema.get("default"), dict):
        del schema["default"]
    return schema


def prose_of(table: type) -> dict[str, str]:
    """What stands below each field of a table in the code, on one line."""
    return {name: " ".join(text.split()) for name, text in texts_below(table).items()}


def _rules_schema() -> dict[str, Any]:
    severity = {"$ref": "#/$defs/severity"}
    properties: dict[str, Any] = {}
    for code, rule in SETTABLE.items():
        options = {"severity": severity}
        for each in rule.options:
            kind = msgspec.json.schema(type(each.default))
            about = {"description": each.prose, "default": each.default}
            options[each.name] = {**kind, "minimum": 0, **about}
        table = {"type": "object", "properties": options, "additionalProperties": False}
        properties[code] = {
            "anyOf": [severity, table],
            "description": rule.summary,
            "default": rule.severity.label,
        }
    return {
        "type": "object",
        "properties": properties | dict.fromkeys(GROUPS, severity),
        "patternProperties": {r"[*?\[]": severity},
        "additionalProperties": False,
        "description": " ".join(str(Rules.__doc__).split()),
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
    if isinstance(cleaned.get("pattern"), str):
        cleaned["pattern"] = cleaned["pattern"].replace(r"\Z", "$")  # as JavaScript has it
    if cleaned.get("additionalProperties") is False:
        del cleaned["additionalProperties"]
    if isinstance(cleaned.get("title"), str) and cleaned["title"] not in EVENTS:
        del cleaned["title"]
    if isinstance(cleaned.get("description"), str):
        cleaned["description"] = " ".join(cleaned["description"].split())
    return cleaned
