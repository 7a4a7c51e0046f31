"""The JSON Schemas that are generated and installed with the package."""

from __future__ import annotations

import json
from pathlib import Path

SCHEMAS = Path(__file__).resolve().parent.parent / "event_schemas.json"
"""All of them in one file: by the name of the event, and ``event`` for any."""


def event_schema(name: str | None) -> str:
    """The JSON Schema of an event of the vocabulary, or for None of any, as in ``schemas/``."""
    schemas = json.loads(SCHEMAS.read_text(encoding="utf-8"))
    return json.dumps(schemas[name or "event"], indent=2, ensure_ascii=False) + "\n"
