"""``check_…`` helpers for what changes a trace: its layout, its ids, and events added to it.

All of it is asked for in every encoding, and carried out as an editor would.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Stamp
from drive_trace.features.filling import known_offers
from drive_trace.features.findings import RECORD_KIND, FixAll, format_document, format_range
from drive_trace.features.navigation import prepare_rename, rename
from drive_trace.features.new_events import appending_offers
from drive_trace.features.results import CannotMake, View, as_edits, point_at
from tests.support.client_text import apply_edits, offset_in
from tests.support.fixtures import ENCODINGS, read

if TYPE_CHECKING:
    from drive_trace.features.findings import Offer
    from drive_trace.text.spans import PositionEncoding

NOW = Stamp("11111111-2222-4333-8444-555555555555", "2026-05-28T15:00:00.000Z")


def check_format(before: str, after: str | None = None) -> None:
    """Formatting makes ``after`` of ``before`` (left out: nothing changes), and nothing more of
    that.
    """
    text, wanted = read(before).text, read(before if after is None else after).text
    for encoding in ENCODINGS:
        assert formatted(text, encoding) == wanted
        assert json.loads(format_document(View(Analysis(wanted), encoding)).text) == []


def formatted(text: str, encoding: PositionEncoding, where: types.Range | None = None) -> str:
    """The text after formatting all of it, or a range."""
    analysis = Analysis(text)
    view = View(analysis, encoding)
    made = format_document(view) if where is None else format_range(view, where)
    return apply_edits(text, json.loads(made.text), encoding)


def check_rename(before: str, new_name: str, after: str) -> None:
    """Renaming what stands at the cursor makes ``after`` of ``before``; what an editor shows to be
    renamed is what stands there.
    """
    fixture, wanted = read(before), read(after).text
    assert fixture.cursor is not None
    for encoding in ENCODINGS:
        analysis = Analysis(fixture.text)
        point = point_at(View(analysis, encoding), fixture.at(encoding))
        prepared = prepare_rename(View(analysis, encoding), point)
        assert prepared is not None
        start, end = (
            offset_in(fixture.text, each, encoding)
            for each in (prepared.range.start, prepared.range.end)
        )
        inside = f'"{fixture.text[start:end]}"'
        assert fixture.text[start - 1 : end + 1] == inside
        assert json.loads(inside) == prepared.placeholder
        made = rename(View(analysis, encoding), point, new_name)
        assert not isinstance(made, CannotMake), made
        assert apply_edits(fixture.text, json.loads(made.text), encoding) == wanted


def check_no_rename(before: str, new_name: str = "other") -> str:
    """Why what stands at the cursor cannot be called that."""
    fixture = read(before)
    assert fixture.cursor is not None
    made = rename(View(Analysis(fixture.text), ENCODINGS[0]), fixture.cursor, new_name)
    assert isinstance(made, CannotMake)
    return made.reason


def can_rename(before: str) -> bool:
    """Whether an editor lets what stands at the cursor be renamed."""
    fixture = read(before)
    assert fixture.cursor is not None
    return prepare_rename(View(Analysis(fixture.text), ENCODINGS[0]), fixture.cursor) is not None


def offers_at(before: str, only: Any = None, *, is_crowded: bool = False) -> list[Offer]:
    """What can be added to the run at the cursor."""
    fixture = read(before)
    assert fixture.cursor is not None
    analysis = Analysis(fixture.text)
    return appending_offers(analysis, fixture.cursor, only, is_crowded=is_crowded)


def check_offers(before: str, only: Any = None) -> list[str]:
    """The titles of what can be added to the run at the cursor."""
    return [each.title for each in offers_at(before, only)]


def changes_of(offer: Offer, stamp: Stamp = NOW) -> Any:
    """What an offer changes."""
    assert not isinstance(offer.make, FixAll)
    made = offer.make(stamp)
    assert not isinstance(made, CannotMake), made
    return made


def check_filled_in(before: str, title: str, after: str) -> None:
    """The offer at the cursor is called that, and makes ``after`` of ``before``, at NOW."""
    fixture = read(before)
    assert fixture.cursor is not None
    for encoding in ENCODINGS:
        analysis = Analysis(fixture.text)
        (offer,) = known_offers(analysis, fixture.cursor, None)
        assert offer.title == title
        edits = json.loads(as_edits(View(analysis, encoding), changes_of(offer)).text)
        assert apply_edits(fixture.text, edits, encoding) == read(after).text


def is_filled_in(before: str, only: Any = None) -> bool:
    """Whether something is known that the line at the cursor lacks."""
    fixture = read(before)
    assert fixture.cursor is not None
    return bool(known_offers(Analysis(fixture.text), fixture.cursor, only))


def check_appended(before: str, title: str, *pairs: str) -> None:
    """Picking an offer adds one line at the end: it says ``pairs``, and all else stays."""
    text = read(before).text
    only = [RECORD_KIND] if title.startswith("Record ") else None
    (offer,) = (each for each in offers_at(before, only) if each.title == title)
    for encoding in ENCODINGS:
        analysis = Analysis(text)
        made = as_edits(View(analysis, encoding), changes_of(offer))
        after = apply_edits(text, json.loads(made.text), encoding)
        assert after.startswith(text)
        added = after[len(text) :].removeprefix("\n")
        assert added.endswith("\n")
        assert added.count("\n") == 1
        for pair in (f'"event_id":"{NOW.event_id}"', f'"ts":"{NOW.ts}"', *pairs):
            assert pair in added, added
        fresh = Analysis(after)
        assert fresh.document.lines[-2].text == added[:-1]
