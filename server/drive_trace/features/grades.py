"""The grades that can be recorded for a run, and the verdict of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import cast

from drive_trace.scorecard.run_score import Recorded
from drive_trace.scorecard.verdict import Gate, headline, judge
from drive_trace.vocabulary import CORRECTNESS_FIELDS, EVENTS, GRADE, OneOfShape


def choices() -> dict[str, list[str]]:
    """The values of each component of a grade."""
    return {
        name: list(field.shape.meanings)
        for name, field in EVENTS[GRADE].fields.items()
        if field.nullable and isinstance(field.shape, OneOfShape)
    }


def verdicts() -> dict[str, str]:
    """The verdict of each grade in a few words: ``{"pass/pass/": "not computable — …"}``."""
    every = product(*((*values, None) for values in choices().values()))
    return {
        "/".join(value or "" for value in grade): headline(_gate(_named(grade))) for grade in every
    }


def completing(recorded: Mapping[str, object]) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The grades with which nothing is missing any more, each after its name: ``pass / fail / pass
    → INCORRECT``. They keep what was recorded.
    """
    for grade in product(
        *(
            [kept] if (kept := recorded.get(name)) in values else values
            for name, values in choices().items()
        )
    ):
        yield f"{' / '.join(map(str, grade))}{consequence(_named(grade))}", _named(grade)


def consequence(values: Mapping[str, object]) -> str:
    """The verdict that a run would get; empty while a component is missing."""
    gate = _gate(values)
    return "" if gate.missing else f" → {gate.verdict.value.upper()}"


def _named(grade: tuple[object, ...]) -> Mapping[str, object]:
    return dict(zip(CORRECTNESS_FIELDS, grade, strict=True))


def _gate(values: Mapping[str, object]) -> Gate:
    return judge(Recorded(cast("Mapping[str, str | None]", values), "", "", 0))
