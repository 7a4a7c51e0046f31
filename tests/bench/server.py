"""The language server over real pipes: start, opening, memory, keystrokes, requests."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.editing import (
    FAILURES,
    PATIENCE_S,
    PUSH_CAPABILITIES,
    Edit,
    Place,
    Session,
    break_and_mend,
    enter_and_undo,
    typing,
)
from tests.bench.files import FEW_DEFECTS, SHORT_LINES, BenchFiles
from tests.bench.floors import OrjsonLoop
from tests.bench.requests import Answer, ask_all, request_rows
from tests.bench.table import Heading, Row, Target, first_line
from tests.support.raw_client import RawClient

_READY = Target(600)
_MEMORY = Target(5, of="ratio")
_KEYSTROKE = (Target(1.5, of="ratio"), Target(10))
_KINDS: dict[str, Callable[[Place], Iterator[Edit]]] = {
    "a character": typing,
    "Enter, undo": enter_and_undo,
    'a breaking ", undo': break_and_mend,
}


@dataclass
class Costs:
    """What a document costs the server; every list has a sample a session, but for latencies."""

    lines: int
    file_mib: float
    open_ms: list[float] = field(default_factory=list)
    memory_mib: list[float] = field(default_factory=list)
    cpu_ms: dict[str, list[float]] = field(default_factory=dict)
    latency_ms: dict[str, list[float]] = field(default_factory=dict)
    answers: dict[str, Answer] = field(default_factory=dict)


@dataclass(frozen=True)
class Server:
    """How to start the server, how many sessions to have, and how many edits of a kind in each."""

    command: Sequence[str]
    sessions: int
    edits: int

    def start_row(self, what: str, target: Target | None = None) -> Row:
        """From starting the process until it has answered `initialize`."""
        samples = []
        try:
            for _ in range(self.sessions + 1):
                started = time.perf_counter()
                with RawClient(self.command, timeout=PATIENCE_S) as client:
                    client.initialize(PUSH_CAPABILITIES)
                    samples.append((time.perf_counter() - started) * 1000)
                    client.shutdown()
        except FAILURES as error:
            return Row(what, targets=(target,) if target else (), failure=first_line(error))
        return Row(what, samples[1:], targets=(target,) if target else ())

    def costs(
        self,
        path: Path,
        *,
        kinds: Sequence[str] = tuple(_KINDS),
        ask: bool = False,
    ) -> Costs:
        """Open the file in a new server each time, edit it, and ask if so wanted."""
        content = path.read_bytes()
        costs = Costs(content.count(b"\n"), len(content) / 2**20)
        for _ in range(self.sessions):
            with Session(self.command, path) as session:
                session.start()
                costs.open_ms.append(session.open())
                costs.memory_mib.append(session.memory_mib())
                for kind in kinds:
                    typed = session.type(_KINDS[kind](session.place), self.edits)
                    costs.cpu_ms.setdefault(kind, []).append(typed.cpu_ms)
                    costs.latency_ms.setdefault(kind, []).extend(typed.wall_ms)
                if ask:
                    ask_all(session, costs.answers)
                session.client.shutdown()
        return costs


def measure_server(server: Server, files: BenchFiles, unit: OrjsonLoop) -> list[Row | Heading]:
    """Everything about the server; what fails gives a row that says so."""
    rows: list[Row | Heading] = [
        Heading("language server, 1 % defects"),
        server.start_row("spawn → initialize response", _READY),
    ]
    short = files.trace(FEW_DEFECTS, lines=SHORT_LINES)
    long, one_run = files.trace(FEW_DEFECTS), files.trace(FEW_DEFECTS, runs=1)
    try:
        at_short = server.costs(short)
        at_long = server.costs(long, ask=True)
        rows += [*opening_rows(at_short, unit), *opening_rows(at_long, unit)]
        rows += keystroke_rows(at_short, at_long)
        rows += request_rows(at_long.answers, at_long.lines)
        rows += keystroke_rows(at_short, server.costs(one_run, kinds=["a character"]), "one run, ")
    except FAILURES as error:
        rows.append(Row("the server", failure=first_line(error)))
    return rows


def measure_plain_server(
    server: Server, files: BenchFiles, unit: OrjsonLoop
) -> list[Row | Heading]:
    """The same of a server that only keeps pygls's own text document."""
    rows: list[Row | Heading] = [
        Heading("a plain pygls server, to compare with"),
        server.start_row("plain: spawn → initialize response"),
    ]
    try:
        long = files.trace(FEW_DEFECTS)
        costs = server.costs(long, kinds=["a character"])
        opened = f"plain: didOpen → first publish, {costs.lines:,} lines"
        rows.append(Row(opened, costs.open_ms, base=unit.samples, notes="× orjson loop"))
        what = f"plain: a character, {costs.lines:,} lines"
        rows.append(Row(f"{what}: CPU", costs.cpu_ms["a character"]))
        rows.append(Row(f"{what}: latency", costs.latency_ms["a character"]))
    except FAILURES as error:
        rows.append(Row("the plain server", failure=first_line(error)))
    return rows


def opening_rows(costs: Costs, unit: OrjsonLoop) -> list[Row]:
    """Time and memory; a short document's memory is that of the server itself."""
    long = costs.lines > SHORT_LINES
    return [
        Row(
            f"didOpen → first diagnostics, {costs.lines:,} lines",
            costs.open_ms,
            base=unit.samples if long else (),
            notes="× orjson loop" if long else "",
        ),
        Row(
            f"memory after opening, {costs.lines:,} lines",
            costs.memory_mib,
            unit="MiB",
            base=[costs.file_mib] if long else (),
            targets=(_MEMORY,) if long else (),
            notes=f"× the file, {costs.file_mib:.1f} MiB" if long else "",
        ),
    ]


def keystroke_rows(short: Costs, long: Costs, how: str = "") -> list[Row]:
    """CPU an edit at both sizes, in ratio to the short one; latency, which has the debounce in."""
    rows = []
    for kind, cpu in long.cpu_ms.items():
        what = f"{how}{kind}"
        base = short.cpu_ms[kind]
        if not how:
            rows.append(Row(f"{what}: CPU, {short.lines:,} lines", base))
        rows.append(
            Row(
                f"{what}: CPU, {long.lines:,} lines",
                cpu,
                base=base,
                targets=_KEYSTROKE,
                notes=f"× {short.lines:,} lines",
            )
        )
        name = f"{what}: latency, {long.lines:,} lines"
        rows.append(Row(name, long.latency_ms[kind], notes="with the debounce"))
    return rows
