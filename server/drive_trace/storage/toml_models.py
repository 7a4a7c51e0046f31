"""Reads TOML that a person has named as one of our models: all mistakes are told, each with its
place. Loads pydantic, which only such files are worth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from drive_trace.storage.configuration_text import Fault, problems_at, read_toml, shown_value
from drive_trace.storage.patterns import is_pattern
from drive_trace.storage.projects import INNER_PATH, FileProblem, ParsedFiles, TextProblem
from drive_trace.text.escaping import printable
from drive_trace.vocabulary.slips import nearest

_NAME, _INNER = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$", f"^(?:{INNER_PATH})$"
_SOME = r"^[^\x00]*[^\s\x00][^\x00]*$"
_EXPECTED = {
    _NAME: "of letters, digits, `.`, `_` and `-`",
    _INNER: "a path with `/`, into no folder above and no hidden one",
    _SOME: "some text without U+0000",
    "string_type": "a text",
    "int_type": "a whole number",
    "model_type": "a table",
    "dict_type": "a table",
    "list_type": "an array",
}
"""What belongs there, by a pattern or by pydantic's name of an error."""
_MOST_PATTERNS = 4000
"""Of all cases together: each is matched with each file of a run."""


def _pattern(text: str) -> str:
    if not text.strip() or not is_pattern(text):
        raise ValueError("must be a pattern as in .gitignore, or a run's id")
    return text


Name: TypeAlias = Annotated[str, Field(max_length=100, pattern=_NAME)]
Inner: TypeAlias = Annotated[str, Field(pattern=_INNER)]
Text: TypeAlias = Annotated[str, Field(max_length=10_000, pattern=_SOME)]
Word: TypeAlias = Annotated[str, Field(max_length=200, pattern=_SOME)]
Dollars: TypeAlias = Annotated[float, Field(ge=0, le=1_000_000)]
Patterns: TypeAlias = Annotated[
    list[Annotated[str, AfterValidator(_pattern)]], Field(min_length=1, max_length=1000)
]


class Table(BaseModel):
    """A table that has no other keys."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )


class CasesOf(Table):
    """The file of ``compare --cases``."""

    cases: Annotated[dict[Word, Patterns], Field(min_length=1, max_length=1000)]

    @model_validator(mode="after")
    def _not_too_many(self) -> CasesOf:
        if sum(map(len, self.cases.values())) > _MOST_PATTERNS:
            raise ValueError(f"all cases have more than {_MOST_PATTERNS:,} patterns")
        return self


class PriceOf(Table):
    """Dollars for a million tokens."""

    input: Dollars
    output: Dollars
    cache_read: Dollars
    cache_write: Dollars


Prices: TypeAlias = dict[Word, PriceOf]
T = TypeVar("T")


def read_as(path: Path, model: type[T]) -> T | Sequence[FileProblem]:
    """Read a file that somebody has named."""
    problems: list[FileProblem] = []
    read = ParsedFiles[T | None](lambda text: _read(text, model), None).read(
        path, problems, is_named=True
    )
    return problems if read is None else read


def _read(text: str, model: type[T]) -> T | tuple[TextProblem, ...]:
    text = text.replace("\r\n", "\n")
    data = read_toml(text)
    if isinstance(data, TextProblem):
        return (data,)
    try:
        return TypeAdapter(model).validate_python(data)
    except ValidationError as error:
        return problems_at(text, map(_fault, error.errors(include_url=False)))


def _fault(error: Any) -> Fault:
    """What is wrong, in our words: pydantic says ``Input should be a valid integer``."""
    at = tuple(each for each in error["loc"] if each != "[key]")
    name = f"`{printable(str(at[-1]))}`" if at and isinstance(at[-1], str) else "an item"
    if error["type"] == "missing":
        return Fault(at, f"{name} is missing here", of_key=True)
    if error["type"] == "extra_forbidden":
        guess = nearest(str(at[-1]), _keys() - {at[-1]})  # which may be one of another table
        meant = f": did you mean `{guess}`?" if guess else ""
        return Fault(at, f"{name} is no key here{meant}", of_key=True)
    expected = _EXPECTED.get(error.get("ctx", {}).get("pattern", error["type"]))
    said = f"must be {expected}" if expected else re.sub(r"^\w+ should", "must", error["msg"])
    said = said.removeprefix("Value error, ")
    if error["type"] == "value_error" and isinstance(error["input"], dict):
        return Fault(at, f"{name} {said}" if at else said)
    return Fault(at, f"{name} {said}; found {shown_value(error['input'])}")


def _keys() -> set[str]:
    """All that there are, of any table."""
    return {key for table in Table.__subclasses__() for key in table.model_fields}
