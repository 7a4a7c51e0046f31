"""The declarations of fields: optional ones work everywhere, incomplete ones are refused."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import pytest
from tools.event_faults import event_faults
from typing_extensions import TypedDict

import drive_trace
from drive_trace.vocabulary import EVENTS, declaring
from drive_trace.vocabulary.declared import AnyEvent, SpecAuthored
from drive_trace.vocabulary.declaring import (
    DECLARED,
    Envelope,
    Null,
    event,
    fields_of,
)
from drive_trace.vocabulary.registry import EventType
from drive_trace.vocabulary.types import Entity, Family

ROOT = Path(__file__).parents[2]
PACKAGE = Path(drive_trace.__file__).parent
NOTE = 'note: NotRequired[str]\n    """What was said last."""'
RETRIES = 'retries: NotRequired[declaring.Count]\n    """How often it was tried again."""'
SIZE = 'XXL: NotRequired[declaring.Count]\n    """Huge dispatches."""'


def declared(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text("utf-8").replace("import Annotated,", "import Annotated, NotRequired,")
    for before, after in changes:
        assert text.count(before) == 1
        text = text.replace(before, before + after)
    path.write_text(text, "utf-8")


def test_optional_fields_work_everywhere(tmp_path: Path) -> None:
    """A copy of the package declares some, and what users see of them is tested there."""
    copy = tmp_path / "drive_trace"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "events.json"))
    declared(
        copy / "vocabulary/declared.py",
        ('keeps=("trigger_class", "is_mandatory_final"', ', "retries"'),
        (
            '"""True exactly when `trigger_class` is `mandatory-final`."""\n',
            f"    {NOTE}\n    {RETRIES}\n",
        ),
    )
    declared(
        copy / "vocabulary/declared.py",
        ('    """Extra large dispatches."""\n', f"    {SIZE}\n"),
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


def told_of_copy(package: Path, module: str, expression: str) -> str:
    """What a module's value is where the package is read from a folder or a zip."""
    name = re.split(r"\W", expression)[0]
    done = subprocess.run(
        [sys.executable, "-c", f"from {module} import {name}; print({expression}, end='')"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(package), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.parametrize("written", ["", "{}", "\0", None])
def test_events_are_read_also_where_nothing_useful_is_written_down_of_them(
    written: str | None, tmp_path: Path
) -> None:
    copy = tmp_path / "lib/drive_trace"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "events.json"))
    package = copy.parent
    if written is None:
        package = Path(shutil.make_archive(str(package), "zip", package))
    else:
        (copy / "vocabulary/events.json").write_text(written, "utf-8")
    assert told_of_copy(package, "drive_trace.vocabulary", "EVENTS.keys()") == str(EVENTS.keys())


def test_pages_are_made_of_the_declarations_whatever_is_written_down(tmp_path: Path) -> None:
    copy = tmp_path / "drive_trace"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    path = copy / "vocabulary/events.json"
    path.write_text(path.read_text("utf-8").replace("Tokens", "Coins"), "utf-8")
    assert "Coins" in told_of_copy(tmp_path, "drive_trace.vocabulary", "EVENTS")
    text = told_of_copy(tmp_path, "tools.generate", "events_reference()")
    assert text == (ROOT / "docs/events.md").read_text("utf-8")


def test_all_events_are_declared_as_they_should_be() -> None:
    assert [*event_faults()] == []


def faults_with(
    monkeypatch: pytest.MonkeyPatch, cls: type, example: str = "{}", **facts: Any
) -> list[str]:
    """What is wrong once a class is declared as one more event of the vocabulary."""
    declared: list[tuple[type, EventType]] = []
    monkeypatch.setattr(declaring, "DECLARED", declared)
    if cls.__doc__:
        monkeypatch.setattr(cls, "__doc__", f"{cls.__doc__}\n\nExample: {example}")
    event(Family.PLANNING, **facts)(cls)
    return [*event_faults([*DECLARED, *declared], AnyEvent | cls)]


class Unexplained(Envelope):
    """It has a field without prose."""

    event_type: Literal["unexplained"]  # type: ignore[misc]
    note: NotRequired[str]


class Nullable(Envelope):
    """It may be null."""

    event_type: Literal["nullable"]  # type: ignore[misc]
    note: NotRequired[str | None]
    """What was said."""


class NeverNull(Envelope):
    """It cannot be null."""

    event_type: Literal["never-null"]  # type: ignore[misc]
    note: NotRequired[Annotated[str, Null("nothing was said")]]
    """What was said."""


class Part(TypedDict):
    note: str


class Parted(Envelope):
    """It has a part without prose."""

    event_type: Literal["parted"]  # type: ignore[misc]
    part: NotRequired[list[Part]]
    """Its parts."""


class Vague(Envelope):
    """It does not say what each of its values means."""

    event_type: Literal["vague"]  # type: ignore[misc]
    note: NotRequired[Literal["a", "b"]]
    """What was said.

    - `a`: one of them
    """


class Silent(Envelope):
    event_type: Literal["silent"]  # type: ignore[misc]


class Noted(Envelope):
    """Somebody took a note."""

    event_type: Literal["noted"]  # type: ignore[misc]
    note: NotRequired[str]
    """What was said."""


class Shown(Envelope):
    """Somebody showed something."""

    event_type: Literal["shown"]  # type: ignore[misc]
    note: str
    """What was said."""


class Again(Envelope):
    """It is called like another event."""

    event_type: Literal["slice-started"]  # type: ignore[misc]


class Graded(Envelope):
    """It has the name of the grades, and other fields."""

    event_type: Literal["correctness-recorded"]  # type: ignore[misc]
    docs: str
    """How its docs were judged."""


@pytest.mark.parametrize(
    ("cls", "facts", "said"),
    [
        (Unexplained, {}, "Unexplained.note has no prose: say below it"),
        (Nullable, {}, "Nullable.note may be null: add Null"),
        (NeverNull, {}, "NeverNull.note says what null means, and cannot be null: add | None"),
        (Parted, {}, "Parted.part.note has no prose: say below it"),
        (Vague, {}, "Vague.note does not say what `b` means: add"),
        (Silent, {}, "Silent has no docstring"),
        (Shown, {}, "Shown shows no `note`: add it to the example"),
        (
            Noted,
            {"example": '{"note": "a"}'},
            "Noted shows `note`, which is optional: leave it out",
        ),
        (Noted, {"keeps": ("nate",)}, "Noted keeps or shows `nate`, which is no field"),
        (Noted, {"example": '{"nate": "a"}'}, "Noted keeps or shows `nate`, which is no field"),
        (Noted, {"leads_to": ("slice-strated",)}, "Noted leads to `slice-strated`, which is no"),
        (Again, {}, "Again has the event_type of another event, `slice-started`"),
        (Graded, {}, "`correctness-recorded` has docs: list these fields in vocabulary/__init__"),
        (Noted, {"opens": Entity.ROUND}, "one event opens a round; found RoundStart, Noted"),
    ],
)
def test_an_event_that_is_not_declared_whole(
    monkeypatch: pytest.MonkeyPatch, cls: type, facts: Any, said: str
) -> None:
    faults = faults_with(monkeypatch, cls, **facts)
    assert any(each.startswith(said) for each in faults), faults


def test_an_event_with_a_fact_that_events_do_not_have() -> None:
    with pytest.raises(TypeError, match="opns"):
        event(Family.PLANNING, opns=Entity.ROUND)(Noted)


class Nameless(Envelope):
    """It has the envelope's own type."""


class Bare(TypedDict):
    """It has no fields but its own."""

    event_type: Literal["bare"]
    """Its name."""


class Unsupported(TypedDict):
    note: bytes
    """What was said."""


@pytest.mark.parametrize("cls", [Nameless, Bare])
def test_what_is_no_event(cls: type) -> None:
    with pytest.raises(TypeError, match=f"{cls.__name__} must be an Envelope, with event_type"):
        event(Family.PLANNING)(cls)


def test_an_example_that_is_no_json(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match="Noted has an example that is no JSON"):
        faults_with(monkeypatch, Noted, example="{'note': 'a'}")


def test_a_type_that_is_none_of_a_field() -> None:
    said = "Unsupported.note: the vocabulary has no shape for <class 'bytes'>"
    with pytest.raises(TypeError, match=said):
        fields_of(Unsupported)


def test_an_entity_that_no_event_closes() -> None:
    open_ended = [each for each in DECLARED if each[1].name != "project-closed"]
    assert "one event closes a run; found none" in [*event_faults(open_ended)]


def test_a_table_of_the_vocabulary_that_names_what_is_not_declared() -> None:
    said = [*event_faults([each for each in DECLARED if each[1].name != "plan-amended"])]
    where = "which {} in vocabulary/__init__.py names"
    assert f"`plan-amended` has no `plan_path`, {where.format('WRITERS')}" in said
    assert f"no event has `dispatches_added`, {where.format('KINDS')}" in said


def test_a_union_and_declarations_that_differ() -> None:
    said = [*event_faults(union=SpecAuthored | Noted)]
    assert "DispatchStart is declared, but not in its family's union" in said
    assert "Noted is in its family's union, but has no @event(...)" in said
