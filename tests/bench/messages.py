"""What a message costs, beside what it costs a server that is pygls and nothing else.

Both servers have the same document open and get the same messages, in batches by turns, as a
machine's speed changes.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from tests.bench.editing import FAILURES, PATIENCE_S, PUSH_CAPABILITIES, Session, insertion
from tests.bench.files import FEW_DEFECTS, SHORT_LINES
from tests.bench.table import Heading, Row, first_line, number
from tests.support.raw_client import RawClient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.bench.files import BenchFiles

_BATCH = 40
_NO_ANSWER_S = 2.0


@dataclass
class Cost:
    """Milliseconds a message, an average a batch; a message that is not answered costs nothing."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    is_answered: bool = True

    def sample(self, session: Session, send: Callable[[Session], None]) -> None:
        """Measure a batch."""
        if not self.is_answered:
            return
        cpu, started = session.cpu_ms(), time.perf_counter()
        try:
            for _ in range(_BATCH):
                send(session)
        except TimeoutError:
            self.is_answered = False
            return
        self.wall.append((time.perf_counter() - started) * 1000 / _BATCH)
        self.cpu.append((session.cpu_ms() - cpu) / _BATCH)

    def forget(self) -> None:
        """Drop the samples so far."""
        self.wall.clear()
        self.cpu.clear()


def _asking(method: str, params: Callable[[Session], dict[str, Any]]) -> Callable[[Session], None]:
    """A request whose answer may be an error."""

    def ask(session: Session) -> None:
        document = {"textDocument": {"uri": session.uri}}
        asked = session.client.start_request(method, {**document, **params(session)})
        session.client.response(asked, timeout=_NO_ANSWER_S)

    return ask


def _here(session: Session) -> dict[str, Any]:
    return {"position": session.place.as_position()}


def _type(session: Session) -> None:
    session.edit(insertion(session.place, "x"))


_hover = _asking("textDocument/hover", _here)


def _type_and_hover(session: Session) -> None:
    """The answer shows that the edit is taken in; its diagnostics come when typing pauses."""
    session.version += 1
    session.client.change(session.uri, session.version, insertion(session.place, "x"))
    _hover(session)
    session.client.forget()


_MESSAGES: dict[str, Callable[[Session], None]] = {
    "hover": _hover,
    "codeLens": _asking("textDocument/codeLens", lambda _: {}),
    "an unknown request": _asking("textDocument/unheard-of", _here),
    "hover on line -1": _asking(
        "textDocument/hover", lambda _: {"position": {"line": -1, "character": 0}}
    ),
    "a character, then hover": _type_and_hover,
    "a character, until its diagnostics (ours await a pause)": _type,
}


def measure_messages(
    ours: Sequence[str], plain: Sequence[str], files: BenchFiles, repeats: int
) -> list[Row | Heading]:
    """Start-up and messages of both servers; the ratio is to the plain one."""
    path = files.trace(FEW_DEFECTS, lines=SHORT_LINES)
    rows: list[Row | Heading] = [Heading(f"a message, {SHORT_LINES:,} lines; × plain pygls")]
    try:
        starts: tuple[list[float], list[float]] = ([], [])
        for turn in range(repeats + 1):
            for command, samples in zip((ours, plain), starts, strict=True):
                took = _start(command)
                samples.extend([took] if turn else [])  # the first one reads files from the disk
        rows.append(_row("spawn → initialize response", *starts))
        costs = _costs((ours, plain), path, repeats)
    except FAILURES as error:
        return [*rows, Row("messages", failure=first_line(error))]
    for what, (own, other) in costs.items():
        rows.append(_row(f"{what}: round trip", own.wall, other.wall))
        rows.append(_row(f"{what}: CPU", own.cpu, other.cpu))
    return rows


def _start(command: Sequence[str]) -> float:
    """Milliseconds from starting the process until it has answered `initialize`."""
    started = time.perf_counter()
    with RawClient(command, timeout=PATIENCE_S) as client:
        client.initialize(PUSH_CAPABILITIES)
        elapsed = time.perf_counter() - started
        client.shutdown()
    return elapsed * 1000


def _costs(
    commands: tuple[Sequence[str], Sequence[str]], path: Path, repeats: int
) -> dict[str, tuple[Cost, Cost]]:
    with Session(commands[0], path) as ours, Session(commands[1], path) as plain:
        for session in (ours, plain):
            session.start()
            session.open()
        costs = {what: (Cost(), Cost()) for what in _MESSAGES}
        for turn in range(repeats + 1):
            for what, send in _MESSAGES.items():
                for session, cost in zip((ours, plain), costs[what], strict=True):
                    cost.sample(session, send)
            if not turn:  # what a process does once
                for cost in chain.from_iterable(costs.values()):
                    cost.forget()
        for session in (ours, plain):
            session.client.shutdown()
    return costs


def _row(what: str, own: Sequence[float], other: Sequence[float]) -> Row:
    if not own:
        return Row(what, failure="no answer")
    if not other:
        return Row(what, own, notes="plain: no answer")
    return Row(what, own, base=other, notes=f"plain: {number(statistics.median(other))} ms")
