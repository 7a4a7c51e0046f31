"""A server at the other end of real pipes, a document or a workspace in it, and what they cost."""

import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median
from typing import Any

import orjson
import psutil  # type: ignore[import-untyped]

from tests.bench.programs import Program
from tests.support.raw_client import RawClient, frame

Edit = dict[str, Any]
_PATIENCE_S = 120.0
_SCREEN_LINES = 60
CAPABILITIES: dict[str, Any] = {
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


@dataclass
class Session:
    """A server that was started for a folder, and has at most one document open."""

    client: RawClient

    @cached_property
    def process(self) -> Any:
        return psutil.Process(self.client.pid)

    def cpu_ms(self) -> float:
        """The CPU time of the process and its children: to the nanosecond on Linux, elsewhere in
        steps of 10 ms.
        """
        if sys.platform == "linux":  # the clock of another process, by its number in the kernel
            own = time.clock_gettime((~self.client.pid << 3) | 2) * 1000
        else:
            own = float(sum(self.process.cpu_times()[:2])) * 1000
        children = sum(self.process.cpu_times()[2:4])
        for each in self.process.children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                children += sum(each.cpu_times()[:4])
        return own + float(children) * 1000

    def memory_mib(self) -> float:
        return float(self.process.memory_info().rss) / 2**20


def session(command: Sequence[str], program: Program, folder: Path | None) -> Iterator[Session]:
    """A session; the workspace is the folder."""
    environment = dict(program.environment)
    with RawClient(command, timeout=_PATIENCE_S, cwd=program.folder, env=environment) as client:
        uri = folder.as_uri() if folder else None
        folders = [{"uri": uri, "name": "bench"}] if folder else None
        client.initialize(CAPABILITIES, rootUri=uri, workspaceFolders=folders)
        yield Session(client)
        client.shutdown()


def ready_ms(command: Sequence[str] | None = None) -> Callable[[Program], float]:
    """The server's CPU time from its start until it has answered ``initialize``."""

    def cost(program: Program) -> float:
        for each in session(command or [*program.command, "serve"], program, None):
            return each.cpu_ms()
        raise AssertionError

    return cost


def looked_ms(folder: Path, runs: int, *, again: bool) -> Callable[[Program], float]:
    """The CPU time from the server's start until it knows all runs of a workspace; `again` is with
    the cache of the time before.
    """

    def cost(program: Program) -> float:
        if not again:
            program.forget()
        for each in session([*program.command, "serve"], program, folder):
            found = len(each.client.request("driveTrace/runs", {})["runs"])
            if found != runs:
                raise ValueError(f"{found} runs of {runs}")
            return each.cpu_ms()
        raise AssertionError

    return cost


class Opened:
    """A trace that is open in a server."""

    def __init__(self, server: Session, path: Path) -> None:
        self.server, self.client = server, server.client
        self.uri, self.text = path.as_uri(), path.read_bytes().decode()
        self.line, self.character, self.record = _place_to_type(self.text)
        self.version = 1
        params = {"uri": self.uri, "languageId": "drive-trace", "version": 1, "text": self.text}
        method = "textDocument/didOpen"
        opening = {"jsonrpc": "2.0", "method": method, "params": {"textDocument": params}}
        self.client.send_bytes(frame(opening))
        self._await_diagnostics()

    def type(self, edits: Iterator[Edit], count: int) -> float:
        """That many edits, the diagnostics of each awaited: the server's CPU for each."""
        before = self.server.cpu_ms()
        for _ in range(count):
            self.version += 1
            self.client.change(self.uri, self.version, next(edits))
            self._await_diagnostics()
        return (self.server.cpu_ms() - before) / count

    def characters(self) -> Iterator[Edit]:
        """One character after another into a name."""
        while True:
            yield _edit(self.line, self.character, "x")

    def ask(self, method: str, params: dict[str, Any]) -> float:
        """Milliseconds until a request about the document is answered."""
        started = time.perf_counter()
        document = {"textDocument": {"uri": self.uri}}
        self.client.request(f"textDocument/{method}", document | params)
        return (max(self.client.arrived.values()) - started) * 1000

    def wait_during(self, method: str) -> float:
        """The longest wait for a hover until the answer to another request is there, which takes
        long. A hover that is answered after that counts until that is there with all its bytes,
        which goes before it through the pipe. What follows is no delay of the server's: this
        client parses 25 MB, and sees nothing arrive meanwhile.
        """
        params = {"textDocument": {"uri": self.uri}}
        long = self.client.start_request(f"textDocument/{method}", params)
        waits, known = list[float](), self.client.arrived
        while long not in known:
            started = time.perf_counter()
            wait = self.ask("hover", self.at("event_type"))
            waits.append(min(wait, (known.get(long, math.inf) - started) * 1000))
        assert "result" in self.client.response(long)
        return max(waits)

    def at(self, name: str) -> dict[str, Any]:
        """In the value of an envelope's field, which is ASCII, on the line that is edited."""
        mark = f'"{name}":"'
        character = self.record.index(mark) + len(mark) + 1
        return {"position": {"line": self.line, "character": character}}

    def at_the_end(self) -> dict[str, Any]:
        """On the empty line that the next event goes on."""
        return {"position": {"line": self.text.count("\n"), "character": 0}}

    def screen(self) -> dict[str, Any]:
        """What a window shows from that line on."""
        first, last = self.line, self.line + _SCREEN_LINES
        start, end = ({"line": line, "character": 0} for line in (first, last))
        return {"range": {"start": start, "end": end}, "context": {"diagnostics": []}}

    def _await_diagnostics(self) -> None:
        self.client.diagnostics(self.uri, self.version)
        self.client.forget()


def of_opened(
    path: Path, measure: Callable[[Opened], float], command: Sequence[str] | None = None
) -> Callable[[Program], float]:
    """What is measured of a trace in a server of its own."""

    def cost(program: Program) -> float:
        for each in session(command or [*program.command, "serve"], program, None):
            return measure(Opened(each, path))
        raise AssertionError

    return cost


def request_ms(
    method: str, params: Callable[[Opened], dict[str, Any]]
) -> Callable[[Opened], float]:
    """How long a request takes, the first one aside."""

    def measure(opened: Opened) -> float:
        asked = params(opened)
        opened.ask(method, asked)
        return median(opened.ask(method, asked) for _ in range(15))

    return measure


def _edit(line: int, character: int, text: str) -> Edit:
    position = {"line": line, "character": character}
    return {"range": {"start": position, "end": position}, "text": text}


def _place_to_type(text: str) -> tuple[int, int, str]:
    """Inside a dispatch's name on a valid line near the middle of the trace: line, UTF-16 code unit
    in it, and the line.
    """
    lines = text.split("\n")
    field = '"dispatch_name":"'
    for number in range(len(lines) // 2, len(lines)):
        before, found, _ = lines[number].partition(field)
        if found:
            with suppress(ValueError):
                orjson.loads(lines[number])
                return number, len((before + field).encode("utf-16-le")) // 2, lines[number]
    raise ValueError("no dispatch-start in the second half of the trace")
