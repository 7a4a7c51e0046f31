"""Realistic traces of any length, the same for the same arguments.

Without defects every line is valid and no rule has anything to say: times rise, durations equal
the difference of their timestamps, rounds count from 1, dispositions follow from the hashes,
byte counts add up, and every id, name and path is started before it is used and ended after.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from drive_trace.vocabulary import CORRECTNESS_FIELDS, ENVELOPE, EVENTS
from tests.bench.defects import spoil_some

Event = dict[str, Any]

LINES_PER_RUN_AT_LEAST = 25
_EPOCH_MS = int(datetime(2026, 1, 5, 8, tzinfo=UTC).timestamp() * 1000)
_SECOND, _MINUTE = 1000, 60_000

_VERBS = ("implement", "migrate", "wire", "extract", "harden", "document", "rename", "verify")
_TOPICS = (
    "the storage adapter",
    "contract references",
    "JSON codec projections",
    "the café menu endpoint",
    "🚀 release pipeline",
    "日本 locale fallback",
    "document-state seam and cancellation",
    "transaction hooks of the runtime target layer",
)
_AREAS = ("adapter", "codec", "ledger", "marker", "planner", "runtime", "schema", "target")
_MODELS = ("claude-opus-4-7-thinking-high", "sonnet", "composer-2.5-fast", None)
_AGENTS = ("generalPurpose", "general-purpose", "implementer", "reviewer")
_GRADES = (("pass", "pass", "pass"), ("pass", "fail", "pass"), ("pass", None, None))


@dataclass(frozen=True)
class TraceOptions:
    """What to generate. `defects` is the share of lines, 0 to 1, that get a defect each."""

    lines: int = 100_000
    runs: int | None = None
    defects: float = 0.0
    seed: int = 20260105
    first_run: int = 0
    """The number of the first run, which its id ends in."""

    @property
    def number_of_runs(self) -> int:
        """20 runs as a rule, fewer in a short trace."""
        return self.runs or max(1, min(20, self.lines // 50))


def trace_events(options: TraceOptions) -> Iterator[Event]:
    """The events of the trace, before any defect; ValueError for fewer lines than runs need."""
    runs = options.number_of_runs
    if options.lines < runs * LINES_PER_RUN_AT_LEAST:
        raise ValueError(f"{runs} runs need {runs * LINES_PER_RUN_AT_LEAST} lines or more")
    clock = _Clock(_EPOCH_MS)
    for index in range(runs):
        budget = options.lines // runs + (index < options.lines % runs)
        rng = random.Random(f"{options.seed}/{options.first_run + index}")
        yield from _Run(rng, clock, options.first_run + index).events_for(budget)


def trace_lines(options: TraceOptions) -> list[bytes]:
    """The trace as UTF-8 lines without their line ends."""
    events = list(trace_events(options))
    if options.defects:
        return spoil_some(events, options.defects, random.Random(options.seed))
    return [orjson.dumps(event) for event in events]


def trace_bytes(options: TraceOptions) -> bytes:
    """The whole file; its last line is ended too."""
    return b"\n".join(trace_lines(options)) + b"\n"


class _Clock:
    """Time in milliseconds since the epoch, which only rises."""

    def __init__(self, now: int) -> None:
        self.now = now

    def stamp(self) -> str:
        whole = datetime.fromtimestamp(self.now / 1000, UTC).isoformat(timespec="milliseconds")
        return whole.replace("+00:00", "Z")


class _Run:
    """One project run, written event by event."""

    def __init__(self, rng: random.Random, clock: _Clock, index: int) -> None:
        self.rng, self.clock, self.index = rng, clock, index
        self.slug = f"{rng.choice(_AREAS)}-{rng.choice(_AREAS)}-{index + 1:02}"
        self.agent = self._uuid() if index % 4 else None
        self.events: list[Event] = []
        self.slices = 0
        self.last_dispatch: str | None = None

    def events_for(self, budget: int) -> list[Event]:
        """All events of the run, exactly as many as budgeted."""
        graded = self.index % 3 == 0
        closing = 5 if graded else 3
        plan = self._open()
        while (room := budget - closing - len(self.events)) >= 10:
            self._slice(room)
        for _ in range(room):
            self._triage()
        plan["slice_count"] = self.slices
        self._close()
        if graded:
            self._grade()
        return self.events

    def _emit(self, event_type: str, /, **payload: Any) -> Event:
        """An event, with the vocabulary's example for what is not given."""
        self.clock.now += self.rng.randint(300, 4 * _SECOND)
        envelope = {
            "event_id": self._uuid(),
            "ts": self.clock.stamp(),
            "project_run_id": self.slug,
            "orchestrator_agent_id": self.agent,
        }
        self.events.append(EVENTS[event_type].example | envelope | payload)
        return self.events[-1]

    def _uuid(self) -> str:
        x = f"{self.rng.getrandbits(128):032x}"
        variant = "89ab"[int(x[16], 16) % 4]
        return f"{x[:8]}-{x[8:12]}-4{x[13:16]}-{variant}{x[17:20]}-{x[20:]}"

    def _open(self) -> Event:
        self._emit("project-started", project_slug=self.slug)
        return self._author(f"projects/{self.slug}", "project")[1]

    def _author(self, folder: str, kind: str, dispatches: int | None = None) -> tuple[Event, Event]:
        """A spec and a plan."""
        spec = {"spec_path": f"{folder}/spec.md", "spec_kind": kind}
        if dispatches is None:
            sizes, edge_cases = None, None
        else:
            sizes, edge_cases = dict.fromkeys(("S", "M", "L", "XL"), 0), self.rng.randint(2, 9)
            for _ in range(dispatches):
                sizes[self.rng.choice(("S", "S", "M", "L", "XL"))] += 1
        length = self.rng.randint(6_000, 30_000)
        authored = self._emit(
            "spec-authored", **spec, byte_length=length, edge_cases_count=edge_cases
        )
        plan = {"plan_path": f"{folder}/plan.md", "plan_kind": kind, "byte_length": length // 2}
        counts = {"dispatch_count": dispatches, "slice_count": 0 if dispatches is None else None}
        planned = self._emit("plan-authored", **plan, **counts, dispatch_size_distribution=sizes)
        return authored, planned

    def _slice(self, room: int) -> None:
        """One slice in at most `room` lines, which are ten or more."""
        rounds = self._rounds_that_fit(room - 5)
        self.slices += 1
        slug = f"{self.rng.choice(_AREAS)}-{self.slices:03}"
        folder = f"projects/{self.slug}/slices/{slug}"
        ticket = self.rng.choice((None, f"TML-{self.rng.randint(1000, 9999)}"))
        self._emit("slice-started", slice_slug=slug, slice_index=self.slices, linear_ref=ticket)
        spec, plan = map(_payload, self._author(folder, "slice", len(rounds)))
        room -= 5 + sum(2 + 3 * count for count in rounds)
        for count in rounds:
            if room >= 2 and self.rng.random() < 0.15:
                self._amend(spec, plan)
                room -= 2
            self._dispatch(count)
        pull_request = f"#{self.rng.randint(100, 999)}"
        self._emit("slice-completed", slice_slug=slug, result="merged", pr_ref=pull_request)
        self._health_check("per-slice-merge")

    def _rounds_that_fit(self, room: int) -> list[int]:
        """Round counts of the dispatches of a slice: 2 lines a dispatch and 3 a round."""
        rounds: list[int] = []
        for _ in range(self.rng.randint(3, 7)):
            most = min(3, (room - 2) // 3)
            if most < 1:
                break
            rounds.append(min(most, self.rng.choice((1, 1, 1, 2, 2, 3))))
            room -= 2 + 3 * rounds[-1]
        return rounds

    def _amend(self, spec: Event, plan: Event) -> None:
        """A halt, or a resized dispatch, and the amendment that follows: two lines."""
        delta = self.rng.randint(-400, 1_500)
        is_halt = self.rng.random() < 0.5
        amended = spec if is_halt else plan
        amended["byte_length"] += delta
        if is_halt:
            self._emit("falsified-assumption", artifact_path=spec["spec_path"])
            self._emit("spec-amended", **spec, bytes_delta=delta)
        else:
            self._triage()
            resized = {"reason": "dispatch-resize", "dispatches_added": 0, "dispatches_resized": 1}
            self._emit("plan-amended", **plan, bytes_delta=delta, **resized)

    def _dispatch(self, rounds: int) -> None:
        dispatch_id = self._uuid()
        name = f"{self.rng.choice(_VERBS)} {self.rng.choice(_TOPICS)} (D{self.slices}, {rounds}R)"
        parent = self.last_dispatch if self.rng.random() < 0.2 else None
        self._emit(
            "dispatch-start",
            dispatch_id=dispatch_id,
            dispatch_name=name,
            subagent_type=self.rng.choice(_AGENTS),
            model=self.rng.choice(_MODELS),
            parent_dispatch_id=parent,
        )
        began = self.clock.now
        gives_up = self.rng.random() < 0.05
        hashes: list[str] = []
        for number in range(1, rounds + 1):
            last = "stop-condition" if gives_up else "satisfied"
            verdict = last if number == rounds else "another-round-needed"
            self._round(dispatch_id, number, verdict, hashes)
        end = self._emit("dispatch-end", dispatch_id=dispatch_id)
        end["result"] = "aborted" if gives_up else "completed"
        end["wall_clock_ms"] = self.clock.now - began
        self.last_dispatch = dispatch_id

    def _round(self, dispatch_id: str, number: int, verdict: str, hashes: list[str]) -> None:
        round_id = self._uuid()
        ids = {"dispatch_id": dispatch_id, "round_id": round_id}
        self._emit("round-start", **ids, round_number=number)
        began = self.clock.now
        disposition = "amended" if hashes else "initial"
        if hashes and self.rng.random() < 0.2:
            disposition = "reissue"
        else:
            hashes.append(f"{self.rng.getrandbits(256):064x}")
        self._emit(
            "brief-issued",
            **ids,
            brief_byte_length=700 + int(hashes[-1][:8], 16) % 4_300,
            brief_content_hash=hashes[-1],
            brief_disposition=disposition,
        )
        self.clock.now += self.rng.randint(_MINUTE, 40 * _MINUTE)
        end = self._emit("round-end", **ids, verdict=verdict)
        end["findings_filed"] = 0 if verdict == "satisfied" else self.rng.randint(1, 6)
        end["wall_clock_ms"] = self.clock.now - began

    def _triage(self) -> None:
        verdict = self.rng.choice(("in-project-slice", "defer", "orphan-slice"))
        ticket = f"TML-{self.rng.randint(1000, 9999)}"
        self._emit("triage-verdict", verdict=verdict, input_ref=ticket)

    def _health_check(self, cadence: str) -> None:
        drift = self.rng.choice((0, 0, 0, 1, 2))
        severity = self.rng.choice(("low", "medium", "high")) if drift else "none"
        found = {"drift_signal_count": drift, "max_drift_severity": severity}
        self._emit("health-check-fired", cadence=cadence, **found)

    def _close(self) -> None:
        self._health_check("closing-rollup")
        self._emit("retro-landed")
        self._emit("project-closed", slices_completed=self.slices)

    def _grade(self) -> None:
        self._emit("tokens-recorded", input_tokens=self.rng.randint(400_000, 4_000_000))
        grade = zip(CORRECTNESS_FIELDS, _GRADES[self.index // 3 % len(_GRADES)], strict=True)
        self._emit("correctness-recorded", **dict(grade))


def _payload(event: Event) -> Event:
    return {field: value for field, value in event.items() if field not in ENVELOPE}
