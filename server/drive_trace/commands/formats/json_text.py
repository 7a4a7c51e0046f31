"""Compact JSON text."""

from __future__ import annotations

import json

import orjson

from drive_trace.text.escaping import in_json


def dumps(value: object) -> str:
    """JSON text of a value; a lone surrogate becomes its escape."""
    try:
        return in_json(orjson.dumps(value).decode())
    except TypeError:
        return in_json(json.dumps(value, separators=(",", ":")))
