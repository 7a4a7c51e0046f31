"""The JSON Schemas of events, of the configuration, and of the rules in a client's settings."""

from __future__ import annotations

from typing import Any

import msgspec
from pydantic import TypeAdapter

from drive_trace import TraceEvent
from drive_trace.linter.rule import Rule
from drive_trace.linter.rules import SETTABLE
from drive_trace.storage.projects import CONFIGURATION_NAME, RULE_URL, SEVERITIES
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


def configuration_schema() -> dict[str, Any]:
    """The schema of ``drive-trace.toml``, which editors complete by."""
    severities = {
        "oneOf": [{"const": word, "description": _SEVERITY_PROSE[word]} for word in SEVERITIES]
    }
    return {
        "$schema": _DIALECT,
        "$id": "urn:drive-trace:configuration",
        "title": "Drive Trace configuration",
        "description": f"What a {CONFIGURATION_NAME} may say.",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "rules": {"$ref": "#/$defs/rules"},
            "rule-url": {
                "type": "string",
                "pattern": f"^{RULE_URL.pattern}$",
                "description": "Address of a rule's page, for JSON and SARIF that people on other "
                "machines read; `{code}` stands for the rule.",
            },
            "exclude": {
                **_GLOBS,
                "description": f"Traces that no search reads. {_GLOBS_PROSE}. A gate fails on them "
                "all the same, as whoever changes a trace may change this file.",
            },
            "judge": _JUDGE,
            "overrides": {
                "type": "array",
                "description": "What holds for some files in place of what holds for all; "
                "of two that mean one file, the later one decides.",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["paths", "rules"],
                    "properties": {
                        "paths": {**_GLOBS, "description": f"{_GLOBS_PROSE}."},
                        "rules": {"$ref": "#/$defs/rules"},
                    },
                },
            },
        },
        "$defs": {
            "severity": severities,
            "rules": {
                "type": "object",
                "description": "How severe what rules find is, and the rules' options.",
                "additionalProperties": False,
                "properties": {
                    rule.code: rule_schema(rule, {"$ref": "#/$defs/severity"})
                    for rule in SETTABLE.values()
                },
            },
        },
    }


_WORD = {"type": "string", "minLength": 1}
_JUDGE = {
    "type": "object",
    "description": "What has to be known of models before one may judge.",
    "additionalProperties": False,
    "properties": {
        "orchestrator-family": {
            **_WORD,
            "description": "The family, or the model's id, of the orchestrator that runs the "
            "work: a judge of the same family is refused.",
        },
        "families": {
            "type": "object",
            "description": "More families of models: each with words that its models' ids have.",
            "additionalProperties": {"type": "array", "minItems": 1, "items": _WORD},
        },
    },
}
_GLOBS = {"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}}
_GLOBS_PROSE = "Globs as in .gitignore, but none negated, from this file's folder on"
_SEVERITY_PROSE = {
    "off": "The rule finds nothing.",
    "error": "Fails a check, unless it is told otherwise.",
    "warning": "Most likely a mistake.",
    "information": "Worth a look.",
    "hint": "Shown faintly, or only when it is asked for.",
}


def rules_setting() -> dict[str, Any]:
    """The same of the rules in a client's settings, which know no references."""
    severity = {"type": "string", "enum": list(SEVERITIES)}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {rule.code: rule_schema(rule, severity) for rule in SETTABLE.values()},
    }


def rule_schema(rule: Rule[Any], severity: dict[str, Any]) -> dict[str, Any]:
    """What a configuration may set of a rule: its severity, or that and its options."""
    types = {bool: "boolean", int: "integer", float: "number", str: "string"}
    options = {
        option.name: {
            "type": types[type(option.default)],
            "default": option.default,
            "description": option.prose,
            **({"minimum": option.minimum} if option.minimum is not None else {}),
        }
        for option in rule.options
    }
    table = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"severity": severity, **options},
    }
    return {
        "description": rule.summary,
        "default": rule.severity.label,
        "anyOf": [severity, table],
    }


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
