"""The JSON Schemas of the project, and a validator that is as strict as readers are."""

import json
import re
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from jsonschema.validators import extend

SCHEMAS = Path(__file__).parents[2] / "schemas"
_STRICT = extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    return found


def strict_validator(given: dict[str, Any]) -> Validator:
    """A validator to which `1.0` is no integer, and to which `$` in a pattern is the end of a text,
    as in JavaScript: Python also takes it for the place before a last newline.
    """
    return _STRICT(_with_ends(given))


def _with_ends(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: re.sub(r"\$$", r"\\Z", each) if key == "pattern" else _with_ends(each)
            for key, each in value.items()
        }
    return [_with_ends(each) for each in value] if isinstance(value, list) else value
