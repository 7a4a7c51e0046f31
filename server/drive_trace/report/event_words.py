"""Events in words that a person can read: what happened, without ids and lengths of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from drive_trace.report.event_log import Event
from drive_trace.report.figures import short_time
from drive_trace.text.wording import HUGE, compact
from drive_trace.vocabulary import EVENTS
from drive_trace.vocabulary.registry import ENVELOPE, FieldType
from drive_trace.vocabulary.types import Entity


class EventWords:
    """Words events; a dispatch and a round are called by name, as their starts say it."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._names: dict[tuple[Entity, object], str] = {}
        for event in events:
            opened = EVENTS[event.name].opens
            if opened is Entity.DISPATCH:
                name = event.text("dispatch_name")
                self._names[opened, event.values["dispatch_id"]] = name
            elif opened is Entity.ROUND:
                name = f"round {event.number('round_number')}"
                self._names[opened, event.values["round_id"]] = name

    def of(self, event: Event) -> str:
        """``M3b.1 parser, round 2, satisfied, findings filed 0, 5m 00s``; untrusted."""
        return ", ".join(self._phrases(event))

    def _phrases(self, event: Event) -> Iterator[str]:
        fields = EVENTS[event.name].fields
        for name, value in event.values.items():
            field = fields.get(name)
            if field is None or name in ENVELOPE or value is None:
                continue
            if field.names is not None and field.names is EVENTS[event.name].opens:
                continue  # it says its own name
            phrase = self._phrase(name, field, value)
            if phrase is not None:
                yield phrase

    def _phrase(self, name: str, field: FieldType, value: object) -> str | None:
        called = name.replace("_", " ")
        if field.names in (Entity.DISPATCH, Entity.ROUND):
            known = self._names.get((field.names, value))
            return known if name in ("dispatch_id", "round_id") else None
        if isinstance(value, bool):
            return called if value else f"not {called}"
        if isinstance(value, int | float):
            if field.unit == "bytes":
                return None
            if field.unit == "milliseconds":
                return short_time(round(value))
            whole = isinstance(value, int) and abs(value) < HUGE
            return f"{called} {f'{value:,}' if whole else compact(round(value))}"
        if isinstance(value, str):
            if name.endswith(("_hash", "_id")):
                return None
            if name.endswith("_path"):
                return value.rpartition("/")[2]
            is_bare = field.is_outcome or name in ("dispatch_name", "model", "subagent_type")
            return value if is_bare or "_" not in name else f"{called} {value}"
        if isinstance(value, list):
            return f"{called}: {'; '.join(map(str, value))}"
        return None
