"""The declarations of fields: optional ones work everywhere, incomplete ones are refused."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import pytest
from typing_extensions import TypedDict

import drive_trace
from drive_trace.vocabulary import EVENTS, TraceEvent, registry
from drive_trace.vocabulary.planning import SpecAuthored
from drive_trace.vocabulary.registry import declared_events, event, fields_of, lifetime_of
from drive_trace.vocabulary.types import Entity, Envelope, Family, Null, Prose

ROOT = Path(__file__).parents[2]
PACKAGE = Path(drive_trace.__file__).parent
NOTE = 'Annotated[str, Prose("What was said last.")]'
RETRIES = 'Annotated[Count, Prose("How often it was tried again.")]'
SIZE = 'Annotated[Count, Prose("Huge dispatches.")]'


def declared(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text("utf-8").replace("import Annotated,", "import Annotated, NotRequired,")
    for before, after in changes:
        assert text.count(before) == 1
        text = text.replace(before, before + after)
    path.write_text(text, "utf-8")


def test_optional_fields_work_everywhere(tmp_path: Path) -> None:
    """A copy of the package declares some, and what users see of them is tested there."""
    copy = tmp_path / "drive_trace"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    declared(
        copy / "vocabulary/lifecycle.py",
        ('keeps=("trigger_class", "is_mandatory_final"', ', "retries"'),
        (
            'Prose("True exactly when `trigger_class` is `mandatory-final`."),\n    ]\n',
            f"    note: NotRequired[{NOTE}]\n    retries: NotRequired[{RETRIES}]\n",
        ),
    )
    declared(
        copy / "vocabulary/planning.py",
        (
            '    XL: Annotated[Count, Prose("Extra large dispatches.")]\n',
            f"    XXL: NotRequired[{SIZE}]\n",
        ),
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "tests/declaring/with_optional_fields.py"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout


class Unexplained(TypedDict):
    note: NotRequired[str]


class Nullable(TypedDict):
    note: Annotated[str | None, Prose("What was said.")]


class NeverNull(TypedDict):
    note: Annotated[str, Prose("What was said."), Null("nothing was said")]


class Unsupported(TypedDict):
    note: Annotated[bytes, Prose("What was said.")]


@pytest.mark.parametrize(
    ("cls", "said"),
    [
        (Unexplained, "Unexplained.note has no prose: add Prose"),
        (Nullable, "Nullable.note may be null: add Null"),
        (Unsupported, "Unsupported.note: the vocabulary has no shape for <class 'bytes'>"),
        (NeverNull, "NeverNull.note says what null means, and cannot be null: add | None"),
    ],
)
def test_a_field_that_says_too_little(cls: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        fields_of(cls)


class Silent(Envelope):
    event_type: Literal["silent"]  # type: ignore[misc]


class Nameless(Envelope):
    """It has the envelope's own type."""


class Bare(TypedDict):
    """It has no fields but its own."""

    event_type: Annotated[Literal["bare"], Prose("Its name.")]


class Noted(Envelope):
    """Somebody took a note."""

    event_type: Literal["noted"]  # type: ignore[misc]
    note: NotRequired[Annotated[str, Prose("What was said.")]]


@pytest.mark.parametrize(
    ("cls", "facts", "said"),
    [
        (Silent, {}, "Silent has no docstring"),
        (Nameless, {}, "Nameless must be an Envelope, with event_type: Literal"),
        (Bare, {}, "Bare must be an Envelope, with event_type: Literal"),
        (SpecAuthored, {}, "SpecAuthored shows no `spec_path`: add it to the example"),
        (Noted, {"example": {"note": "a"}}, "Noted shows `note`, which is optional: leave it out"),
        (SpecAuthored, {"keeps": ("spce_kind",)}, "keeps or shows `spce_kind`, which is no"),
        (SpecAuthored, {"example": {"spce_kind": "a"}}, "keeps or shows `spce_kind`, which is no"),
    ],
)
def test_an_event_that_is_not_declared_whole(cls: type, facts: Any, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        event(Family.PLANNING, **{"example": {}, **facts})(cls)


def test_an_event_of_a_union_that_is_not_declared() -> None:
    with pytest.raises(TypeError, match=r"Nullable is in its family's union, but has no @event"):
        declared_events(TraceEvent | Nullable)


@pytest.mark.parametrize(
    ("name", "leads_to", "said"),
    [
        ("slice-started", (), "Another has the event_type of SliceStarted"),
        ("another", ("slice-strated",), "Another leads to `slice-strated`, which is no event"),
    ],
)
def test_a_name_that_is_taken_or_that_no_event_has(
    monkeypatch: pytest.MonkeyPatch, name: str, leads_to: tuple[str, ...], said: str
) -> None:
    monkeypatch.setattr(registry, "_declared", dict(registry._declared))
    fields = {"event_type": Literal[name]}  # type: ignore[valid-type]
    another = TypedDict("Another", {**Envelope.__annotations__, **fields})  # type: ignore[misc]
    another.__doc__ = "It is like another one."
    event(Family.PLANNING, example={}, leads_to=leads_to)(another)
    with pytest.raises(TypeError, match=said):
        declared_events(TraceEvent | another)


def test_an_entity_that_no_event_closes() -> None:
    with pytest.raises(TypeError, match="one event closes a run; found none"):
        lifetime_of(Entity.RUN, {"project-started": EVENTS["project-started"]})


def test_an_event_that_its_family_does_not_name() -> None:
    with pytest.raises(TypeError, match="DispatchStart is declared, but not in its family's union"):
        declared_events(SpecAuthored | None)
