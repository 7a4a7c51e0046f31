"""``textDocument/codeAction`` and ``codeAction/resolve``: fill in fields that a line lacks.

Ids, times and durations come from the run. The length and hash of a file come from the file, which
the caller reads. Values that only a person can know are left to the person.
"""

from collections.abc import Callable, Iterable, Mapping

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.authoring import drafts, events
from drive_trace.authoring.values import Certainty
from drive_trace.features.findings import FILL_KIND, Offer, asks_for
from drive_trace.features.results import CannotMake, TextChange
from drive_trace.linter.edits import (
    as_json,
    insert_fields,
    measured_ms,
    object_on,
    replace_value,
    undeclared,
)
from drive_trace.text.wording import duration, listed, printable, shown
from drive_trace.trace import document, places
from drive_trace.trace.line import Diagnostic, DiagnosticKind, FlaggedLine, Line, event_of
from drive_trace.trace.scope import scope_at
from drive_trace.vocabulary import EVENTS, FILES, EventType, FileFacts

_FIX_KIND = types.CodeActionKind.QuickFix.value
_MOST_NAMED = 3
_CLAIM = ("wall_clock_ms",)
_NO_FILE = CannotMake("There is no such file in the workspace, or it cannot be read.")


def _filled(record: int, line: Line, values: Mapping[str, str]) -> list[TextChange]:
    """The changes that set some fields of a line. The values are JSON text."""
    there = {name: text for name, text in values.items() if places.pair_at(line.text, (name,))}
    edits = [replace_value(line, (name,), text) for name, text in there.items()]
    missing = [(name, text) for name, text in values.items() if name not in there]
    added = insert_fields(line, (), missing) if missing else None
    edits += [added] if added is not None else []
    return [TextChange.within(record, edit.span, edit.text) for edit in edits]


# From the run


def known_offers(analysis: Analysis, at: document.Point, only: object) -> list[Offer]:
    """One offer if the line lacks a value that the run shows."""
    if not asks_for(only, _FIX_KIND):
        return []
    record = at.record
    known = _known(analysis, record, None)

    def fill_known(stamp: drafts.Stamp) -> list[TextChange]:
        values = _known(analysis, record, stamp)
        texts = {name: as_json(value) for name, value in values.items()}
        return _filled(record, analysis.document.lines[record], texts)

    return [Offer(_known_title(known), _FIX_KIND, record, fill_known, "known")] if known else []


def _known(
    analysis: Analysis, record: int, stamp: drafts.Stamp | None, measured: Mapping[str, object] = {}
) -> dict[str, object]:
    """The known values of fields that the line lacks, or that are null and must not be; but for
    what a fix of a finding puts there. Without a stamp, as for a menu, what belongs to the moment
    of writing is empty. What was ``measured`` of a file holds.
    """
    lines = analysis.document.lines
    line = lines[record]
    event = _event(line)
    if event is None or undeclared(line):  # that may be what the line lacks, by another name
        return {}
    values = object_on(line)
    said = {name for each in line.diagnostics for name in _said_by_fix(each)}
    if measured_ms(analysis.index, line) is not None:
        said |= {each.path[0] for each in line.diagnostics if each.path == _CLAIM}
    lacking = {
        name
        for name, field in event.fields.items()
        if (name not in values and field.is_required)
        or (name in values and values[name] is None and not field.nullable)
    } - said.union(measured)
    if not lacking:
        return {}
    given = {
        name: value
        for name, value in values.items()
        if name not in lacking and isinstance(value, str | int | None)
    } | dict(measured)
    run_id = given.get("project_run_id")
    scope = scope_at(analysis.index, lines, record, run_id if isinstance(run_id, str) else None)
    if stamp is None:
        stamp = drafts.Stamp("", scope.last.text_fact("ts") if scope.last is not None else "")
    return {
        slot.field.name: slot.value
        for slot in events.compose(event, scope, stamp, given).slots
        if slot.field.name in lacking and slot.certainty is Certainty.KNOWN
    }


def _event(line: Line) -> EventType | None:
    """The event that a rejected line was meant to record, if the line is JSON."""
    if not isinstance(line, FlaggedLine) or any(each.problem for each in line.diagnostics):
        return None
    return EVENTS.get(line.event_name or "")


def _said_by_fix(diagnostic: Diagnostic) -> Iterable[str]:
    """The fields that a finding's own fix fills: those in a payload, and those misspelt."""
    if isinstance(diagnostic.found, tuple):
        return map(str, diagnostic.found)
    is_slip = diagnostic.kind is DiagnosticKind.MISSING_FIELD and diagnostic.field is not None
    return diagnostic.names if is_slip else ()


def _known_title(known: Mapping[str, object]) -> str:
    """What is filled in, values of the run before what belongs to the moment of writing."""
    of_moment = {"event_id", "ts", *(_CLAIM if "ts" in known else ())}
    names = sorted(known, key=lambda name: (name in of_moment, [*known].index(name)))
    parts = [
        f"`{name}`" if name in of_moment else f"`{name}`: {_in_words(name, known[name])}"
        for name in names[:_MOST_NAMED]
    ]
    more = len(known) - len(parts)
    return f"Fill in {', '.join(parts)} and {more} more" if more else f"Fill in {listed(parts)}"


def _in_words(name: str, value: object) -> str:
    if name == _CLAIM[0] and isinstance(value, int):
        return f"{value} ({duration(value)})"
    return shown(value)


# From a file


def fill_offers(
    analysis: Analysis,
    at: document.Point,
    only: object,
    is_file: Callable[[str, str | None], bool],
    contents: Callable[[str], tuple[int, str] | None],
) -> list[Offer]:
    """One offer if the line names an existing file, which ``is_file`` knows by its path and the
    line's time: a file that has changed since then is not the one that the line is about.
    ``contents`` gives its length in bytes and its SHA-256 when the offer is picked.
    """
    if not asks_for(only, FILL_KIND):
        return []
    line = analysis.document.lines[at.record]
    facts, path = _file_facts(line)
    if facts is None or path is None:
        return []
    ts = object_on(line).get("ts")
    if not is_file(path, ts if isinstance(ts, str) else None):
        return []

    def fill(stamp: drafts.Stamp) -> list[TextChange] | CannotMake:
        found = contents(path)
        if found is None:
            return _NO_FILE
        length, sha256 = found
        values: dict[str, object] = {facts.length: length}
        if facts.sha256 is not None:
            values[facts.sha256] = sha256
        before = _known(analysis, at.record, stamp)
        after = _known(analysis, at.record, stamp, values)
        values |= {name: after[name] for name in after.keys() - before.keys()}
        return _filled(at.record, line, {name: as_json(value) for name, value in values.items()})

    what = "hash and length" if facts.sha256 else "length"
    title = f"Fill in {what} from {printable(path)}"
    return [Offer(title, FILL_KIND, at.record, fill, path)]


def _file_facts(line: Line) -> tuple[FileFacts | None, str | None]:
    """The fields in which the event of a line describes a file, and the file's path."""
    event = event_of(line)
    fields = event.fields if event is not None else {}
    for each in FILES:
        if each.length in fields and (each.path in fields or each.sha256 in fields):
            path = object_on(line).get(each.path)
            return each, path if isinstance(path, str) and path else None
    return None, None
