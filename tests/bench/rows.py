"""Every row of the table: what is measured, beside which floor, and what it may take at most."""

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson

from tests.bench.editor import Opened, looked_ms, of_opened, ready_ms, request_ms
from tests.bench.files import FEW_DEFECTS, MOST_DEFECTS, SMALL_LINES, BenchFiles
from tests.bench.programs import Program, run
from tests.bench.table import Cost, Part, Row

_HERE = Path(__file__).parent
PLAIN_SERVER = [sys.executable, str(_HERE / "plain_server.py")]
_LINES_OF_A_RUN = 50
_ASKED: dict[str, tuple[str, Callable[[Opened], dict[str, object]]]] = {
    "hover on a run's id": ("hover", lambda opened: opened.at("project_run_id")),
    "completion, a whole event": ("completion", Opened.at_the_end),
    "lenses": ("codeLens", lambda _: {}),
    "code actions, a screen": ("codeAction", Opened.screen),
    "inlay hints, a screen": ("inlayHint", Opened.screen),
    "tokens, a screen": ("semanticTokens/range", Opened.screen),
    "definition of a run": ("definition", lambda opened: opened.at("project_run_id")),
}


def start(files: BenchFiles) -> Part:
    """What a command takes before it does anything."""
    trace, feeds = (files.trace(lines=SMALL_LINES), files.folder / "feeds" / "trace.jsonl")
    feeds.parent.mkdir(exist_ok=True)
    feeds.write_bytes(trace.read_bytes())
    floor = Row(
        "floor: `import click, msgspec, orjson`", _process("-c", "import click, msgspec, orjson")
    )
    run_id = str(orjson.loads(trace.read_bytes().partition(b"\n")[0])["project_run_id"])
    into = ("--trace-file", str(feeds), "--project-run-id", run_id)
    triage = {"verdict": "defer", "input_shape": "chat-ask", "input_ref": None}
    emitted = ("--event", "triage-verdict", "--payload", orjson.dumps(triage).decode())

    def row(limit: float | None, what: str, *arguments: str) -> Row:
        return Row(what, _cpu(*arguments), floor, limit)

    return Part(
        f"start: a trace of {SMALL_LINES} lines",
        [
            floor,
            row(1.5, "`--help`", "--help"),
            row(1.5, "`fleet --help`", "fleet", "--help"),
            row(1.5, "`score`", "score", str(trace)),
            row(1.8, "`check`", "check", str(trace)),
            row(None, "`report`", "report", str(trace)),
            row(1.5, "`emit`", "emit", *into, *emitted),
            row(1.5, "`record`", "record", *into, "--qa", "pass"),
        ],
    )


def lines(files: BenchFiles) -> Part:
    """One long trace on the command line, beside a loop that only parses."""
    clean, some, most = map(files.trace, (0.0, FEW_DEFECTS, MOST_DEFECTS))
    floor = Row("floor: `orjson.loads` of each line", _parsing(clean))

    def row(limit: float | None, what: str, *arguments: str, found: int = 0, often: int = 9) -> Row:
        return Row(what, _cpu(*arguments, exit_code=found), floor, limit, at_most=often)

    as_json = ("--output-format", "json")
    return Part(
        f"command line: {files.lines:,} lines",
        [
            floor,
            row(4, "`score`", "score", str(some)),
            row(8, "`check`, no defect", "check", str(clean), *as_json),
            row(8, "`check`, 1 % defects", "check", str(some), *as_json, found=1),
            row(60, "`check`, 95 % defects", "check", str(most), *as_json, found=1, often=2),
            row(None, "`report`", "report", str(some), often=3),
            row(None, "`report`, HTML", "report", "--format", "html", str(some), often=2),
        ],
    )


def folder(files: BenchFiles) -> Part:
    """A folder of many small traces, beside a plain recount."""
    root = files.workspace()
    floor = Row(
        "floor: a recount with orjson, in a pool",
        _process(str(_HERE / "recount.py"), str(root)),
        at_most=3,
    )

    def first(program: Program) -> float:
        program.forget()
        return program.run("fleet", str(root)).cpu_ms

    def row(limit: float | None, what: str, cost: Cost) -> Row:
        return Row(what, cost, floor, limit, at_most=3)

    return Part(
        f"a folder: {files.traces:,} traces",
        [
            floor,
            row(3, "`fleet`, the first look", first),
            row(0.25, "`fleet`, again", _cpu("fleet", str(root))),
            row(None, "`score`", _cpu("score", str(root))),
            row(None, "`check`", _cpu("check", str(root))),
            row(3, "the editor, the first look", looked_ms(root, files.traces, again=False)),
            row(0.25, "the editor, again", looked_ms(root, files.traces, again=True)),
        ],
    )


def editor(files: BenchFiles) -> Part:
    """The server: its start, keystrokes, requests and memory."""
    plain = Row("floor: a plain pygls server is ready", ready_ms(PLAIN_SERVER))
    real, one_run = files.trace(lines=200, runs=1), files.trace(lines=1_000, runs=1)
    short, long = files.trace(FEW_DEFECTS, lines=1_000), files.trace(FEW_DEFECTS)
    many = files.trace(FEW_DEFECTS, runs=files.lines // _LINES_OF_A_RUN)
    parsed = long.stat().st_size / 2**20
    at_short = Row(
        f"a character typed, 1,000 lines in runs of {_LINES_OF_A_RUN}", of_opened(short, _typed)
    )
    during = {"all symbols": "documentSymbol", "all tokens": "semanticTokens/full"}
    return Part(
        "the server",
        [
            plain,
            Row("the server is ready", ready_ms(), plain, 1.25),
            Row("a character typed, 200 lines of one run", of_opened(real, _typed), limit=4),
            Row("… 1,000 lines of one run", of_opened(one_run, _typed), limit=12),
            at_short,
            Row(
                f"… {files.lines:,} lines of such",
                of_opened(many, _typed),
                at_short,
                1.5,
                at_most=2,
            ),
            *(
                Row(what, of_opened(short, request_ms(method, params)), limit=10, at_most=3)
                for what, (method, params) in _ASKED.items()
            ),
            *(
                Row(f"a hover during {what}", _waiting(long, method), limit=50, at_most=2)
                for what, method in during.items()
            ),
            Row(
                f"memory, {parsed:.0f} MiB open",
                of_opened(long, lambda opened: opened.server.memory_mib()),
                limit=5 * parsed,
                unit="MiB",
                at_most=1,
            ),
        ],
    )


PARTS: dict[str, Callable[[BenchFiles], Part]] = {
    each.__name__: each for each in (start, lines, folder, editor)
}


def rows_of(parts: Sequence[Part]) -> list[Row]:
    return [row for part in parts for row in part.rows]


def _cpu(*arguments: str, exit_code: int = 0) -> Cost:
    return lambda program: program.run(*arguments, exit_code=exit_code).cpu_ms


def _process(*arguments: str) -> Cost:
    return lambda program: run([sys.executable, *arguments], program.folder).cpu_ms


def _parsing(path: Path) -> Cost:
    records = path.read_bytes().splitlines()

    def cost(_: Program) -> float:
        started = time.process_time()
        for record in records:
            orjson.loads(record)
        return (time.process_time() - started) * 1000

    return cost


def _typed(opened: Opened) -> float:
    edits = opened.characters()
    opened.type(edits, 2)
    return opened.type(edits, 20)


def _waiting(path: Path, method: str) -> Cost:
    return of_opened(path, lambda opened: opened.wait_during(method))
