"""One slip of a writer is one finding: what follows from it is not said as well."""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Any
from uuid import UUID

from drive_trace.analysis import Analysis
from drive_trace.authoring.fixing import fix_all
from drive_trace.commands.formats import reported
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import Severity
from drive_trace.linter.told import MISSING, OF, ON, WITHIN
from drive_trace.vocabulary import EVENTS
from tests.support.fixtures import apply_fix

Event = dict[str, Any]


class _Writer:
    """Writes a run of two slices with five dispatches, in which nothing is wrong."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.chance = Random(36)
        self.now = datetime(2026, 5, 28, 8, tzinfo=UTC)

    def id(self) -> str:
        return str(UUID(int=self.chance.getrandbits(128), version=4))

    def add(self, name: str, minutes: float = 0.4, **fields: Any) -> Event:
        self.now += timedelta(minutes=minutes, milliseconds=self.chance.randrange(1000))
        event = EVENTS[name].example | {
            "event_id": self.id(),
            "ts": self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "project_run_id": "checkout-retry",
        }
        self.events.append(event | fields)
        return self.events[-1]

    def end(self, name: str, start: Event, minutes: float, **fields: Any) -> None:
        event = self.add(name, minutes, **fields)
        passed = datetime.fromisoformat(event["ts"]) - datetime.fromisoformat(start["ts"])
        event["wall_clock_ms"] = round(passed / timedelta(milliseconds=1))

    def files(self, folder: str, kind: str, parts: int) -> None:
        is_slice = kind == "slice"
        self.add(
            "spec-authored",
            5,
            spec_path=f"{folder}/spec.md",
            spec_kind=kind,
            byte_length=6120,
            edge_cases_count=5 if is_slice else None,
        )
        sizes = {"S": 1, "M": parts - 1, "L": 0, "XL": 0}
        self.add(
            "plan-authored",
            5,
            plan_path=f"{folder}/plan.md",
            plan_kind=kind,
            dispatch_count=parts if is_slice else None,
            slice_count=None if is_slice else parts,
            dispatch_size_distribution=sizes if is_slice else None,
        )

    def round(self, dispatch: str, number: int, most: int) -> None:
        ids = {"dispatch_id": dispatch, "round_id": self.id()}
        start = self.add("round-start", **ids, round_number=number)
        if number == 1:
            digest = sha256(dispatch.encode()).hexdigest()
            length = self.chance.randrange(1000, 9000)
            self.add(
                "brief-issued",
                **ids,
                brief_byte_length=length,
                brief_content_hash=digest,
                brief_disposition="initial",
            )
        is_last = number == most
        verdict = "satisfied" if is_last else "another-round-needed"
        filed = 0 if is_last else 2
        self.end("round-end", start, 9, **ids, verdict=verdict, findings_filed=filed)

    def slice(self, number: int, slug: str) -> None:
        self.add("slice-started", slice_slug=slug, slice_index=number, linear_ref=None)
        self.files(f"projects/checkout-retry/slices/{slug}", "slice", number + 1)
        for part in range(number + 1):
            ids = {"dispatch_id": self.id(), "dispatch_name": f"{slug}-{part}"}
            start = self.add("dispatch-start", **ids, model="large-2", parent_dispatch_id=None)
            rounds = 2 if part else 3
            for each in range(1, rounds + 1):
                self.round(ids["dispatch_id"], each, rounds)
            self.end("dispatch-end", start, 0.4, dispatch_id=ids["dispatch_id"], result="completed")
        self.add("slice-completed", slice_slug=slug, result="merged", pr_ref=f"#31{number}")
        self.add("health-check-fired", cadence="per-slice-merge", **_NO_DRIFT)

    def write(self) -> list[Event]:
        spec = "projects/checkout-retry/spec.md"
        self.add("triage-verdict", verdict="new-project")
        self.add("project-started", project_slug="checkout-retry", origin="new-project")
        self.files("projects/checkout-retry", "project", 2)
        self.add("health-check-fired", cadence="opening-rollup", **_NO_DRIFT)
        for number, slug in enumerate(("retry-queue", "retry-budget"), 1):
            self.slice(number, slug)
        self.add("falsified-assumption", artifact_path=spec)
        self.add(
            "spec-amended",
            spec_path=spec,
            spec_kind="project",
            byte_length=6520,
            edge_cases_count=None,
            bytes_delta=400,
        )
        self.add("health-check-fired", cadence="closing-rollup", **_NO_DRIFT)
        self.add("retro-landed", trigger_class="mandatory-final", is_mandatory_final=True)
        self.add("retro-landed", trigger_class="drift-event", is_mandatory_final=False)
        self.add("project-closed", slices_completed=2, final_retro_done=True)
        return self.events


_NO_DRIFT = {"drift_signal_count": 0, "max_drift_severity": "none"}


def dumps(event: Event) -> str:
    return json.dumps(event, separators=(",", ":"))


def shown(lines: list[str]) -> list[tuple[int, str, str]]:
    analysis = Analysis("\n".join([*lines, ""]))
    return [(each.location.line, each.code, each.message) for each in reported(analysis, "t")]


# Slips: each takes the lines and the place of one, and says where what is wrong may be said


def _keys(change: Callable[[str], str]) -> Callable[..., Any]:
    def slip(events: list[Event], at: int, _: Random) -> list[str] | None:
        changed = {change(key): value for key, value in events[at].items()}
        return _with(events, at, dumps(changed))

    return slip


def _with(events: list[Event], at: int, *lines: str) -> list[str]:
    written = [dumps(each) for each in events]
    return [*written[:at], *lines, *written[at + 1 :]]


def _camel(key: str) -> str:
    head, *rest = key.split("_")
    return head + "".join(map(str.title, rest))


def _renamed(old: str, new: str) -> Callable[..., Any]:
    def slip(events: list[Event], at: int, _: Random) -> list[str] | None:
        if old not in events[at]:
            return None
        return _with(
            events, at, dumps({new if key == old else key: v for key, v in events[at].items()})
        )

    return slip


def _set(field: str, value: Any) -> Callable[..., Any]:
    def slip(events: list[Event], at: int, _: Random) -> list[str] | None:
        if field not in events[at]:
            return None
        new = value(events[at][field]) if callable(value) else value
        return (
            _with(events, at, dumps({**events[at], field: new}))
            if new != events[at][field]
            else None
        )

    return slip


def _text(change: Callable[[str], str]) -> Callable[..., Any]:
    def slip(events: list[Event], at: int, _: Random) -> list[str] | None:
        line = dumps(events[at])
        new = change(line)
        return _with(events, at, *new.split("\n")) if new != line else None

    return slip


def _forgotten(name: str) -> Callable[..., Any]:
    def slip(events: list[Event], at: int, _: Random) -> list[str] | None:
        return _with(events, at) if events[at]["event_type"] == name else None

    return slip


def _swapped(events: list[Event], at: int, _: Random) -> list[str] | None:
    if at + 1 == len(events):
        return None
    lines = [dumps(each) for each in events]
    return [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]


def _moved(events: list[Event], at: int, chance: Random) -> list[str] | None:
    lines = [dumps(each) for each in events]
    line = lines.pop(at)
    to = max(0, at - chance.randrange(2, 6))
    return [*lines[:to], line, *lines[to:]] if to < at else None


def _twice(events: list[Event], at: int, _: Random) -> list[str] | None:
    return _with(events, at, dumps(events[at]), dumps(events[at]))


def _dropped(events: list[Event], at: int, chance: Random) -> list[str] | None:
    key = chance.choice([*events[at]])
    return _with(events, at, dumps({k: v for k, v in events[at].items() if k != key}))


def _typo(field: str) -> Callable[..., Any]:
    def slip(events: list[Event], at: int, chance: Random) -> list[str] | None:
        value = events[at].get(field)
        if not isinstance(value, str):
            return None
        place = chance.randrange(2, len(value) - 2)
        if not value[place].isalnum():
            return None
        new = chance.choice([each for each in "0123456789abcdef" if each != value[place]])
        return _with(
            events, at, dumps({**events[at], field: value[:place] + new + value[place + 1 :]})
        )

    return slip


def _taken(field: str, *, everywhere: bool = False) -> Callable[..., Any]:
    """The id of an earlier one, on one line or wherever the own one stands."""

    def slip(events: list[Event], at: int, _: Random) -> list[str] | None:
        own = events[at].get(field)
        others = [each[field] for each in events[:at] if each.get(field) not in {None, own}]
        if own is None or not others:
            return None
        chosen = [each for each in events if each is events[at] or everywhere]
        changed = [
            {**each, field: others[-1]} if each in chosen and each.get(field) == own else each
            for each in events
        ]
        return [*map(dumps, changed)]

    return slip


SLIPS: dict[str, Callable[[list[Event], int, Random], list[str] | None]] = {
    "camelCase keys": _keys(_camel),
    "kebab-case keys": _keys(lambda key: key.replace("_", "-")),
    "Title keys": _keys(str.upper),
    "run_id for project_run_id": _renamed("project_run_id", "run_id"),
    "timestamp for ts": _renamed("ts", "timestamp"),
    "id for event_id": _renamed("event_id", "id"),
    "type for event_type": _renamed("event_type", "type"),
    "dispatch for dispatch_id": _renamed("dispatch_id", "dispatch"),
    "round for round_id": _renamed("round_id", "round"),
    "duration_ms": _renamed("wall_clock_ms", "duration_ms"),
    "findings": _renamed("findings_filed", "findings"),
    "model_name": _renamed("model", "model_name"),
    "status for result": _renamed("result", "status"),
    "slug": _renamed("slice_slug", "slug"),
    "pr_url": _renamed("pr_ref", "pr_url"),
    "null wall clock": _set("wall_clock_ms", None),
    "text wall clock": _set("wall_clock_ms", str),
    "ten times as long": _set("wall_clock_ms", lambda value: value * 10),
    "seconds": _set("wall_clock_ms", lambda value: value // 1000),
    "version number": _set("schema_version", 1),
    "another-round": _set("verdict", "another-round"),
    "passed": _set("result", "done"),
    "event name": _set("event_type", lambda value: value.replace("-", "_")),
    "event name past": _set(
        "event_type",
        lambda value: (
            value.replace("start", "started")
            .replace("startedd", "started")
            .replace("starteded", "started")
        ),
    ),
    "local day": _set("ts", lambda value: value[:10]),
    "no zone": _set("ts", lambda value: value[:-1]),
    "a year later": _set("ts", lambda value: "2027" + value[4:]),
    "an hour earlier": _set(
        "ts", lambda value: f"{value[:11]}{(int(value[11:13]) - 1) % 24:02}{value[13:]}"
    ),
    "id typo": _typo("dispatch_id"),
    "round typo": _typo("round_id"),
    "run typo": _typo("project_run_id"),
    "round of another": _taken("round_id"),
    "dispatch of another": _taken("dispatch_id"),
    "round as another": _taken("round_id", everywhere=True),
    "event id typo": _set("event_id", lambda value: value[:-1]),
    "id in capitals": _set("dispatch_id", str.upper),
    "short id": _set("dispatch_id", lambda value: value[:8]),
    "id in braces": _set("round_id", lambda value: f"{{{value}}}"),
    "empty id": _set("dispatch_id", ""),
    "null id": _set("dispatch_id", None),
    "hash pending": _set("brief_content_hash", "pending"),
    "zero brief": _set("brief_byte_length", 0),
    "wrong disposition": _set("brief_disposition", "reissue"),
    "wrong round number": _set("round_number", lambda value: value + 1),
    "plan for spec": _set("plan_path", lambda value: value.replace("plan.md", "spec.md")),
    "wrong kind": _set("spec_kind", lambda value: "project" if value == "slice" else "slice"),
    "plan kind": _set("plan_kind", lambda value: "project" if value == "slice" else "slice"),
    "wrong delta": _set("bytes_delta", 900),
    "empty text for null": _set("model", ""),
    "text null": _set("parent_dispatch_id", "null"),
    "unknown parent": _set("parent_dispatch_id", "5cd5061c-9c5f-419e-834c-1b69573ac59a"),
    "wrong slug": _set("slice_slug", lambda value: value + "s"),
    "wrong count": _set("slices_completed", 3),
    "wrong number of dispatches": _set("dispatch_count", 7),
    "wrong trigger": _set("trigger_class", "wip-inspection-finding"),
    "sizes as text": _set(
        "dispatch_size_distribution", lambda value: value and {k: str(v) for k, v in value.items()}
    ),
    "other separators": _set("event_type", lambda value: value.replace("-", ".")),
    "backslashes": _set("spec_path", lambda value: value.replace("/", "\\")),
    "trailing comma": _text(lambda line: line[:-1] + ",}"),
    "no comma": _text(lambda line: line.replace(',"ts"', '"ts"')),
    "single quotes": _text(lambda line: line.replace('"', "'")),
    "torn": _text(lambda line: line[: len(line) * 2 // 3]),
    "no brace": _text(lambda line: line[:-1]),
    "doubled quotes": _text(lambda line: line.replace('"checkout-retry"', '""checkout-retry""')),
    "doubled quote": _text(lambda line: line.replace('"checkout-retry"', '""checkout-retry"')),
    "doubled last quote": _text(lambda line: line.replace('"ts"', '"ts""')),
    "no quote": _text(lambda line: line.replace('"ts":', 'ts":')),
    "python": _text(lambda line: line.replace("null", "None")),
    "comment": _text(lambda line: line + " // later"),
    "broken over lines": _text(lambda line: line.replace(',"ts"', ',\n"ts"')),
    "pretty": _text(lambda line: json.dumps(json.loads(line), indent=2)),
    "two braces": _text(lambda line: line + "}"),
    "blank": _text(lambda line: line + "\n"),
    "bullet": _text(lambda line: "- " + line),
    "array": _text(lambda line: f"[{line}]"),
    "fence": _text(lambda line: f"```json\n{line}\n```"),
    "backticks": _text(lambda line: f"```{line}```"),
    "level": _text(lambda line: f"[INFO] {line}"),
    "stream": _text(lambda line: f"data: {line}"),
    "shell": _text(lambda line: f"$ echo '{line}' >> trace.jsonl"),
    "context of grep": _text(lambda line: f"trace.jsonl-12-{line}"),
    "escaped": _text(lambda line: line.replace('"', '\\"')),
    "csv": _text(lambda line: '"' + line.replace('"', '""') + '"'),
    "text in text": _text(lambda line: json.dumps(json.dumps(line))),
    "fullwidth digit": _text(lambda line: line.replace('_ms":5', '_ms":\uff15')),
    "full width": _text(lambda line: line.replace('":', '"：').replace(',"', '，"')),
    "payload": _text(
        lambda line: re.sub(r'("event_type":"[^"]*"),(.*)\}$', r'\1,"payload":{\2}}', line)
    ),
    "extra field": _text(lambda line: line[:-1] + ',"note":"later"}'),
    "same key twice": _text(lambda line: line[:-1] + ',"ts":"2026-05-28T14:00:00.000Z"}'),
    "spaces": _text(lambda line: line.replace(",", ", ")),
    "forgotten dispatch-start": _forgotten("dispatch-start"),
    "forgotten dispatch-end": _forgotten("dispatch-end"),
    "forgotten round-start": _forgotten("round-start"),
    "forgotten round-end": _forgotten("round-end"),
    "forgotten brief": _forgotten("brief-issued"),
    "forgotten slice-started": _forgotten("slice-started"),
    "forgotten slice-completed": _forgotten("slice-completed"),
    "swapped with the next": _swapped,
    "moved up": _moved,
    "written twice": _twice,
    "dropped field": _dropped,
}


def slips(count: int) -> Iterator[tuple[str, int, list[str]]]:
    """Single slips, the kinds in turn, each on a line that it fits."""
    events, chance = _Writer().write(), Random(36)
    names = [*SLIPS]
    for number in range(count):
        name = names[number % len(names)]
        places = [*range(len(events))]
        chance.shuffle(places)
        for at in places:
            lines = SLIPS[name](events, at, chance)
            if lines is not None:
                yield name, at, lines
                break


def test_nothing_is_wrong_with_the_run_itself() -> None:
    events = _Writer().write()
    assert len(events) == 60
    assert shown([dumps(event) for event in events]) == []


def test_one_slip_is_one_finding() -> None:
    counts = [(name, len(shown(lines))) for name, _, lines in slips(300)]
    several = [name for name, count in counts if count > 1]
    assert len(counts) == 300
    assert sum(count == 1 for _, count in counts) >= 0.97 * len(counts)
    assert len(several) <= 0.01 * len(counts), several


LOST = {
    *("status for result", "a year later", "an hour earlier", "local day", "event id typo"),
    *("empty id", "null id", "hash pending", "zero brief", "plan for spec", "unknown parent"),
    *("torn", "no brace", "swapped with the next", "moved up", "dropped field", "wrong slug"),
    *("empty text for null", "same key twice", "round as another", "wrong number of dispatches"),
    *("wrong trigger", "sizes as text"),
}
"""Slips after which nobody can tell what stood there, or whose fix is to say null, or to choose."""


def test_a_slip_is_repaired_as_meant_where_it_can_be_told_what_was_meant() -> None:
    events = [json.dumps(event, sort_keys=True) for event in _Writer().write()]
    failed = []
    tried = [each for each in slips(300) if each[0] not in LOST and "forgotten" not in each[0]]
    for name, _, lines in tried:
        text = "\n".join([*lines, ""])
        analysis = Analysis(text)
        fixes = [fix for each in analysis.findings() for fix in analysis.fixes(each)]
        fixed = [apply_fix(text, fix, analysis) for fix in fixes]
        fix_all(analysis)
        if events not in map(_events_of, (*fixed, analysis.document.text)):
            failed.append(name)
    assert len(failed) <= 0.03 * len(tried), failed


def _events_of(text: str) -> list[str]:
    try:
        return [json.dumps(json.loads(line), sort_keys=True) for line in text.splitlines() if line]
    except ValueError:
        return []


def test_what_is_rejected_always_has_an_error() -> None:
    for name, _, lines in slips(len(SLIPS)):
        analysis = Analysis("\n".join([*lines, ""]))
        told = [*analysis.told()]
        errors = {
            each.line
            for one in told
            for each in (one.finding, *one.places)
            if analysis.severity_of(one.finding) is Severity.ERROR
        }
        rejected = {
            analysis.first_line(line) for line in analysis.document.lines if line.is_rejected
        }
        assert rejected == errors, name
        every = [each for one in told for each in (one.finding, *one.places, *one.follows)]
        assert len(every) == analysis.finding_count, "each finding is told, or stands behind one"


def test_a_cause_is_at_least_as_severe_as_what_follows() -> None:
    for code, causes in (*ON.items(), *WITHIN.items(), *OF.items()):
        assert all(RULES[each].severity <= RULES[code].severity for each in causes), code
    assert RULES.keys() >= MISSING
