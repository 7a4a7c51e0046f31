"""Completion as tests ask for it: what is offered at a fixture's cursor, and what comes of it."""

from collections.abc import Sequence
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Stamp
from drive_trace.features.completion import Abilities, completion
from drive_trace.features.results import View, point_at
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Point
from tests.support.client_text import apply_edits, offset_in
from tests.support.fixtures import Fixture, alike, read

FRESH = "aaaaaaaa-0000-4000-8000-000000000001"
OPENED = "bbbbbbbb-0000-4000-8000-000000000002"
NOW = "2026-05-28T14:30:00.000Z"
STAMP = Stamp(FRESH, NOW, OPENED)
PATH = "file:///shop/projects/checkout-retry/trace.jsonl"

PLAIN = Abilities()
"""A client that has declared nothing."""
MODERN = Abilities(
    snippets=True, replaces_rest=True, label_details=True, kinds=frozenset(types.CompletionItemKind)
)


class Offered(NamedTuple):
    """What an editor shows of an item."""

    label: str
    note: str


def offered(
    fixture: str | Fixture,
    client: Abilities = MODERN,
    path: str | None = PATH,
) -> list[types.CompletionItem]:
    """The items at the cursor, after an editor has dropped those that do not fit what was typed.

    They are the same in every encoding, and what each replaces is on the cursor's line and holds
    the cursor.
    """
    wanted = read(fixture) if isinstance(fixture, str) else fixture
    alike(
        lambda encoding: [
            (item.label, made(wanted, item, encoding))
            for item in _asked(wanted, encoding, client, path)
        ]
    )
    items = _asked(wanted, PositionEncoding.UTF16, client, path)
    assert [item.sort_text for item in items] == sorted(str(item.sort_text) for item in items)
    return [item for item in items if _fits(wanted, item)]


def labels(fixture: str, **asked: object) -> list[str]:
    """What the items at the cursor are called, in their order."""
    return [item.label for item in offered(fixture, **asked)]  # type: ignore[arg-type]


def notes(fixture: str, **asked: object) -> list[Offered]:
    """What the items at the cursor are called, and what is said of each."""
    return [
        Offered(item.label, _note(item))
        for item in offered(fixture, **asked)  # type: ignore[arg-type]
    ]


def check_completion(
    before: str,
    label: str,
    after: str,
    *,
    client: Abilities = MODERN,
    path: str | None = PATH,
) -> None:
    """The item called ``label`` makes ``after`` of ``before``.

    In ``after`` the places of a snippet stand as they are sent, but for the last one, ``$0``, and
    FRESH, OPENED and NOW stand for what only the moment knows.
    """
    wanted = read(before)
    fitting = [each for each in offered(wanted, client, path) if each.label == label]
    shown = [each.label for each in offered(wanted, client, path)]
    assert fitting, f"nothing here is called {label!r}, only {shown}"
    for word, meant in {"FRESH": FRESH, "OPENED": OPENED, "NOW": NOW}.items():
        after = after.replace(word, meant)
    assert made(wanted, fitting[0]).replace("$0", "") == read(after).text


def made(
    fixture: Fixture,
    item: types.CompletionItem,
    encoding: PositionEncoding = PositionEncoding.UTF16,
) -> str:
    """The text after an item is taken, with a snippet's places as they are sent."""
    edit = item.text_edit
    assert isinstance(edit, types.TextEdit)
    cursor = fixture.at(encoding)
    assert edit.range.start.line == edit.range.end.line == cursor.line
    assert edit.range.start.character <= cursor.character <= edit.range.end.character
    return apply_edits(fixture.text, [edit], encoding)


def at_each_place(text: str, record: int) -> Sequence[Fixture]:
    """A trace with the cursor at each place of one of its lines."""
    line = text.split("\n")[record]
    return [Fixture(text, Point(record, at), ()) for at in range(len(line) + 1)]


def _asked(
    fixture: Fixture,
    encoding: PositionEncoding,
    client: Abilities,
    path: str | None,
) -> Sequence[types.CompletionItem]:
    analysis = Analysis(fixture.text, path=path)
    point = point_at(View(analysis, encoding), fixture.at(encoding))
    found = completion(View(analysis, encoding), point, client=client, stamp=STAMP)
    assert found.is_incomplete is False
    return found.items


def _fits(fixture: Fixture, item: types.CompletionItem) -> bool:
    """Whether an editor would show an item: its letters hold those typed, in their order."""
    edit = item.text_edit
    assert isinstance(edit, types.TextEdit)
    cursor = fixture.at(PositionEncoding.UTF16)
    start, stop = (
        offset_in(fixture.text, each, PositionEncoding.UTF16) for each in (edit.range.start, cursor)
    )
    letters = iter((item.filter_text or item.label).lower())
    return all(letter in letters for letter in fixture.text[start:stop].strip().lower())


def _note(item: types.CompletionItem) -> str:
    details = item.label_details
    return (details.description if details is not None else item.detail) or ""
