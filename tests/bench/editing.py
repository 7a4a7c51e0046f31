"""A document open in a server, edits of it, and what they cost the server."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import orjson
import psutil  # type: ignore[import-untyped]

from tests.support.raw_client import RawClient, ResponseError, ServerGoneError, frame

Edit = dict[str, Any]
PATIENCE_S = 120.0
FAILURES = (OSError, TimeoutError, ServerGoneError, ResponseError, KeyError)
PUSH_CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "textDocument": {
        "synchronization": {"didSave": True},
        "publishDiagnostics": {"versionSupport": True, "relatedInformation": True},
        "codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}},
            "dataSupport": True,
            "resolveSupport": {"properties": ["edit"]},
        },
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
    },
}


@dataclass(frozen=True)
class Place:
    """A position inside the text, in UTF-16 code units."""

    line: int
    character: int

    def as_position(self) -> dict[str, int]:
        return {"line": self.line, "character": self.character}


def place_to_type(text: str) -> tuple[Place, str]:
    """Inside a dispatch's name on a valid line near the middle of the trace, and that line."""
    lines = text.split("\n")
    field = '"dispatch_name":"'
    for number in range(len(lines) // 2, len(lines)):
        before, found, _ = lines[number].partition(field)
        if found and _is_json(lines[number]):
            character = len((before + field).encode("utf-16-le")) // 2
            return Place(number, character), lines[number]
    raise ValueError("no dispatch-start in the second half of the trace")


def insertion(place: Place, text: str) -> Edit:
    position = place.as_position()
    return {"range": {"start": position, "end": position}, "text": text}


def removal(start: Place, end: Place) -> Edit:
    return {"range": {"start": start.as_position(), "end": end.as_position()}, "text": ""}


def typing(place: Place) -> Iterator[Edit]:
    """One character after another into a name."""
    while True:
        yield insertion(place, "x")


def enter_and_undo(place: Place) -> Iterator[Edit]:
    """A new line above, then gone again: every line below moves."""
    above, below = Place(place.line, 0), Place(place.line + 1, 0)
    while True:
        yield insertion(above, "\n")
        yield removal(above, below)


def break_and_mend(place: Place) -> Iterator[Edit]:
    """A quote that makes the line invalid, then gone again: its dispatch comes and goes."""
    while True:
        yield insertion(place, '"')
        yield removal(place, Place(place.line, place.character + 1))


@dataclass(frozen=True)
class Typed:
    """What a series of edits took: the latency of each, the server's CPU on average."""

    wall_ms: Sequence[float]
    cpu_ms: float


class Session:
    """A server that has one document open."""

    def __init__(self, command: Sequence[str], path: Path) -> None:
        self.uri = path.as_uri()
        self.text = path.read_bytes().decode()
        self.place, self.line = place_to_type(self.text)
        self.version = 1
        self.client = RawClient(command, timeout=PATIENCE_S, cwd=path.parent)
        self.process = psutil.Process(self.client.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.client.__exit__(*error)

    def start(self) -> Any:
        """Initialize; the server's capabilities."""
        return self.client.initialize(PUSH_CAPABILITIES)["capabilities"]

    def open(self) -> float:
        """Milliseconds from sending the text until its first diagnostics are here."""
        document = {
            "uri": self.uri,
            "languageId": "drive-trace",
            "version": self.version,
            "text": self.text,
        }
        params = {"textDocument": document}
        message = frame({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params})
        started = time.perf_counter()
        self.client.send_bytes(message)
        self._await_diagnostics()
        return (time.perf_counter() - started) * 1000

    def edit(self, edit: Edit) -> float:
        """Milliseconds from sending an edit until the diagnostics of that version are here."""
        self.version += 1
        started = time.perf_counter()
        self.client.change(self.uri, self.version, edit)
        self._await_diagnostics()
        return (time.perf_counter() - started) * 1000

    def type(self, edits: Iterator[Edit], count: int) -> Typed:
        """That many edits, each awaited."""
        before = self.cpu_ms()
        wall = [self.edit(next(edits)) for _ in range(count)]
        return Typed(wall, (self.cpu_ms() - before) / count)

    def ask(self, method: str, params: dict[str, Any]) -> tuple[float, Any]:
        """A request about the document: its milliseconds and its result."""
        started = time.perf_counter()
        result = self.client.request(method, {"textDocument": {"uri": self.uri}, **params})
        return (time.perf_counter() - started) * 1000, result

    def memory_mib(self) -> float:
        """What the server holds in memory now."""
        return float(self.process.memory_info().rss) / 2**20

    def cpu_ms(self) -> float:
        """The process's CPU time: to the nanosecond on Linux, elsewhere in steps of 10 ms."""
        try:
            tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
            return sum(int(task.read_text().split()[0]) for task in tasks) / 1e6
        except (OSError, IndexError):
            times = self.process.cpu_times()
            return float(times.user + times.system) * 1000

    def _await_diagnostics(self) -> None:
        self.client.diagnostics(self.uri, self.version)
        self.client.forget()


def _is_json(line: str) -> bool:
    try:
        orjson.loads(line)
    except ValueError:
        return False
    return True
