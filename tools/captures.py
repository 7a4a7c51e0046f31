"""What the features really answer on a small trace, as text: the captures of docs/features.md.

Ids and times are fixed, and the envelope of each line is cut short, so that a capture fits a page
and is the same whenever it is taken.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

from lsprotocol import types
from tests.support.aids import check_tokens, hover_text
from tests.support.changing import changes_of
from tests.support.client_text import apply_edits
from tests.support.completing import made, offered
from tests.support.fixtures import actions_in, edits_of, findings_of, lenses_of, read
from tests.support.moving import folds_of, links_of, selections_of, symbols_of
from tests.support.scored import summarize_text

from drive_trace.analysis import Analysis
from drive_trace.authoring.drafts import Stamp
from drive_trace.features.filling import (
    fill_offers,
    known_offers,
)
from drive_trace.features.findings import RECORD_KIND
from drive_trace.features.hover import inlay_hints
from drive_trace.features.navigation import (
    best_matches,
    document_highlights,
    names_in,
    rename,
    workspace_symbols,
)
from drive_trace.features.new_events import appending_offers
from drive_trace.features.referents import HoverOptions
from drive_trace.features.results import CannotMake, View, as_edits, point_at
from drive_trace.features.runs import JoinedRun
from drive_trace.scorecard.card import score
from drive_trace.scorecard.scoring import score_in
from drive_trace.text.spans import PositionEncoding

STAMP = Stamp("aaaaaaaa-0000-4000-8000-000000000001", "2026-05-28T14:30:00.000Z")
NOW = datetime(2026, 5, 28, 17, tzinfo=UTC)
_UTF16 = PositionEncoding.UTF16
_EVERYWHERE = types.Range(types.Position(0, 0), types.Position(1_000_000, 0))
_ENVELOPE = re.compile(
    r'"event_id":"[^"]*","schema_version":"1","ts":"[^"]*","project_run_id":"[^"]*",'
    r'"orchestrator_agent_id":(?:null|"[^"]*"),(?="event_type":)'
)
_RUN = "checkout-retry"
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CURSOR = "▮"


def trace_shown(fixture: str) -> list[str]:
    """The lines of a fixture, with the cursor in it."""
    text = read(fixture).text
    cursor = read(fixture).cursor
    lines = text.removesuffix("\n").split("\n")
    if cursor is not None:
        line = lines[cursor.record]
        lines[cursor.record] = line[: cursor.offset] + _CURSOR + line[cursor.offset :]
    return code(*map(shortened, lines))


def shortened(line: str) -> str:
    """A line with its envelope cut short."""
    return _ENVELOPE.sub(lambda found: found[0] if _CURSOR in found[0] else "…,", line)


def code(*lines: str, language: str = "text") -> list[str]:
    """A block of code."""
    return [f"```{language}", *lines, "```"]


def table(heads: tuple[str, ...], *rows: tuple[str, ...]) -> list[str]:
    """A table in Markdown."""
    line = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return [f"| {' | '.join(heads)} |", f"|{' --- |' * len(heads)}", *line]


def completions(fixture: str, path: str, most: int) -> list[str]:
    """What is offered at the cursor, the first ones."""
    items = offered(fixture, path=path)
    rows = [
        (f"`{each.label}`", (each.label_details and each.label_details.description) or "")
        for each in items[:most]
    ]
    left = len(items) - len(rows)
    return [*table(("offered", "says"), *rows), *([f"\n… and {left} more."] if left else [])]


def completed(fixture: str, label: str, path: str) -> str:
    """The line of the cursor after an item is taken, with the places to fill in as ‹…›."""
    wanted = read(fixture)
    (item,) = (each for each in offered(fixture, path=path) if each.label == label)
    cursor = wanted.at(_UTF16)
    line = made(wanted, item).split("\n")[cursor.line]
    choices = re.sub(r"\$\{\d+\|(.*?)\|\}", lambda found: f"‹{found[1].replace(',', '|')}›", line)
    return re.sub(r"\$\{?\d+(?::([^}]*)\})?", _place, choices).replace("‹›$0", "")


def _place(found: re.Match[str]) -> str:
    return "" if found[0] == "$0" else f"‹{found[1] or ''}›"


def hovered(fixture: str) -> list[str]:
    """The hover at the cursor, as a quotation."""
    text = hover_text(fixture, HoverOptions(uri="trace.jsonl", now=NOW, zone=UTC)) or ""
    return [f"> {line}".rstrip() for line in text.split("\n")]


def hinted(fixture: str) -> list[str]:
    """The lines with their inlay hints in ‹…›."""
    text = read(fixture).text
    hints = inlay_hints(View(Analysis(text), _UTF16), _EVERYWHERE)
    edits = [
        types.TextEdit(types.Range(hint.position, hint.position), f"‹{hint.label}›")
        for hint in hints
    ]
    return code(*map(shortened, apply_edits(text, edits, _UTF16).removesuffix("\n").split("\n")))


def fixes(fixture: str) -> list[str]:
    """Each quick fix at the cursor, and the line that it makes."""
    wanted = read(fixture)
    at = wanted.at(_UTF16)
    shown = []
    for action in actions_in(wanted.text, types.Range(at, at)):
        after = apply_edits(wanted.text, edits_of(action), _UTF16).split("\n")[at.line]
        shown += [f"*{action.title}*", "", *code(shortened(after)), ""]
    return shown[:-1]


def known(fixture: str) -> list[str]:
    """What the run tells of the line at the cursor, and the line that is made."""
    wanted = read(fixture)
    analysis = Analysis(wanted.text)
    assert wanted.cursor is not None
    (offer,) = known_offers(analysis, wanted.cursor, None)
    edits = json.loads(as_edits(View(analysis, _UTF16), changes_of(offer, STAMP)).text)
    after = apply_edits(wanted.text, edits, _UTF16).split("\n")[wanted.cursor.record]
    return [f"*{offer.title}*", "", *code(after)]


def added(fixture: str, title: str) -> list[str]:
    """The titles of what can be added to the run, and the line that one of them adds."""
    wanted = read(fixture)
    analysis = Analysis(wanted.text)
    assert wanted.cursor is not None
    only = [RECORD_KIND] if title.startswith("Record ") else None
    offers = appending_offers(analysis, wanted.cursor, only, is_crowded=False)
    (offer,) = (each for each in offers if each.title == title)
    (change,) = changes_of(offer, STAMP)
    menu = [f"- {each.title}" for each in offers]
    return [*menu, "", f"*{title}* adds", "", *code(shortened(change.text.strip()))]


def found(fixture: str) -> list[str]:
    """The marked tokens, each with its message."""
    wanted = read(fixture)
    rows = [
        (f"`{wanted.lines[each.record][slice(*each.span)]}`", each.code, each.message)
        for each in findings_of(Analysis(wanted.text))
    ]
    return table(("underlined", "rule", "says"), *rows)


def measured(fixture: str, length: int) -> list[str]:
    """What is filled in from a file of that length."""
    wanted = read(fixture)
    analysis = Analysis(wanted.text)
    assert wanted.cursor is not None
    (offer,) = fill_offers(
        analysis, wanted.cursor, None, lambda _, __: True, lambda _: (length, "")
    )
    edits = json.loads(as_edits(View(analysis, _UTF16), changes_of(offer, STAMP)).text)
    after = apply_edits(wanted.text, edits, _UTF16)
    return [f"*{offer.title}*", "", *code(shortened(after.split("\n")[wanted.cursor.record]))]


def symbols(fixture: str, query: str) -> list[str]:
    """The workspace symbols that a query finds."""
    names = names_in(Analysis(read(fixture).text), "file:///trace.jsonl")
    matches = best_matches(names, query)
    rows = [
        (f"`{each.name}`", each.container_name or "") for each in workspace_symbols(matches, _UTF16)
    ]
    return table(("symbol", "in the run"), *rows)


def joined(here: str, there: str) -> list[str]:
    """The card of a run over all its files, as the hover and the lens show it."""
    texts = {"trace.jsonl": read(here).text, "slices/01/trace.jsonl": read(there).text}
    card = score([summarize_text(text, name) for name, text in texts.items()])
    (run,) = (each for each in card.runs if each.run_id == _RUN)
    own = score_in(Analysis(read(here).text).index, _RUN)
    view = JoinedRun(run, own, tuple(texts), "trace.jsonl")
    shown = [f"> {line}".rstrip() for line in _LINK.sub(r"\1", view.markdown).split("\n")]
    return [*code(view.title), "", "and the hover of its id:", "", *shown]


def renamed(fixture: str, name: str) -> list[str]:
    """The lines that renaming what stands at the cursor changes, as they are then."""
    wanted = read(fixture)
    analysis = Analysis(wanted.text)
    point = point_at(View(analysis, _UTF16), wanted.at(_UTF16))
    edits = rename(View(analysis, _UTF16), point, name)
    assert not isinstance(edits, CannotMake)
    after = apply_edits(wanted.text, json.loads(edits.text), _UTF16).split("\n")
    changed = (new for old, new in zip(wanted.lines, after, strict=True) if old != new)
    return code(*map(shortened, changed))


def mentions(fixture: str) -> list[str]:
    """Where what stands at the cursor is named: what starts it is its definition."""
    wanted = read(fixture)
    analysis = Analysis(wanted.text)
    lit = document_highlights(
        View(analysis, _UTF16), point_at(View(analysis, _UTF16), wanted.at(_UTF16))
    )
    lines = wanted.text.split("\n")
    rows = [
        (
            str(number + 1),
            f"`{json.loads(lines[number])['event_type']}`",
            "definition" * (not place),
        )
        for place, number in enumerate(each.range.start.line for each in lit or ())
    ]
    return table(("line", "event", ""), *rows)


def outline(fixture: str) -> list[str]:
    """The outline, ``first-last name``, and on the right what it says beside."""
    return code(*symbols_of(Analysis(read(fixture).text)))


def folded(fixture: str) -> list[str]:
    """What can be folded."""
    return code(*folds_of(fixture))


def selected(fixture: str) -> list[str]:
    """What a selection grows to, step by step."""
    return code(*map(shortened, selections_of(fixture)))


def linked(fixture: str) -> list[str]:
    """Where links lead."""
    rows = [(f"`{text}`", f"`{target}`") for text, target in links_of(fixture)]
    return table(("text", "leads to"), *rows)


def coloured(fixture: str) -> list[str]:
    """The semantic tokens of a line: text and type."""
    rows = [token.rpartition(" ") for token in check_tokens(fixture)]
    return table(("text", "kind"), *((f"`{text}`", kind) for text, _, kind in rows))


def lenses(fixture: str) -> list[str]:
    """The lenses, line by line."""
    rows = [(str(line), title) for line, title in lenses_of(Analysis(read(fixture).text))]
    return table(("line", "lens"), *rows)
