"""A table of many runs, and what it says as a whole. Everything that comes from a trace is escaped
here: a trace is untrusted input.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, get_type_hints

import msgspec

from drive_trace.grading.calibration import share
from drive_trace.scorecard.measures import as_double, tokens_of
from drive_trace.scorecard.run_score import QUALIFIED, RunScore, Verdict, standings_in_short
from drive_trace.text import document as doc
from drive_trace.text.wording import in_json, plain, plural, visible
from drive_trace.trace.times import is_of_year, sortable
from drive_trace.vocabulary import CORRECTNESS_FIELDS, TOKEN_FIELDS

Number = int | float | None


class Row(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """A run, joined over files. The values are those of ``score --format json``; null is unknown,
    never zero.
    """

    run_id: str
    verdict: str
    mechanical: str | None
    qa: str | None
    intent: str | None
    input_tokens: Number
    output_tokens: Number
    cache_read_tokens: Number
    cache_write_tokens: Number
    wall_clock_ms: Number
    """As what follows up to ``rounds_of``: of a CORRECT run only."""
    wall_clock_counted: int | None
    """So many ends of dispatches are summed, ``wall_clock_of`` there are; 0 by the clock."""
    wall_clock_of: int | None
    rounds_per_dispatch: float | None
    rounds_counted: int | None
    rounds_of: int | None
    standing: str
    """The verdict, or ``qualified`` for a CORRECT with a caveat that could overturn it."""
    headline: str
    missing_inputs: tuple[str, ...]
    caveats: tuple[str, ...]
    """Their codes."""
    is_certain: bool
    """Whether no caveat could overturn the verdict."""
    provenance: str | None
    graded: str | None
    """When: as started, closed and last the timestamp as its author wrote it."""
    judge: str | None
    """The model that judged the intent."""
    started: str | None
    closed: str | None
    last: str | None
    month: str | None
    """``2026-01``, in UTC: of the start, or else of the first event that is no feed's, or else of
    the last event.
    """
    project: str
    """The folder of the first file's project."""
    events: int
    """In all files; copies count."""
    rejected_lines: int
    halts: int
    """As what follows up to ``escalations``: of any run, graded or not."""
    work_ms: Number
    clock_ms: Number
    dispatches: int
    rounds: int
    reworked: int
    """So many dispatches had more than one round."""
    escalations: int
    findings: dict[str, int] | None = None
    """How often each rule found something; null where nobody has asked for findings, and where a
    configuration cannot be used.
    """
    files: tuple[str, ...]


_OF_RUN = ("run_id", "standing", "headline", "started", "closed")
_FACTS = ("work_ms", "clock_ms", "dispatches", "rounds", "reworked", "escalations")


def row_of(run: RunScore, project: str, findings: dict[str, int] | None) -> Row:
    """A run's row, with how often each rule found something."""
    # Nothing is worded here, as for ``score --format json``: there are many runs.
    facts, cost, judged, origin = run.facts, run.efficiency, run.judgement, run.provenance.origin
    clock, rounds = (cost.wall_clock, cost.rounds) if cost is not None else (None, None)
    recorded: dict[str, Any] = dict.fromkeys((*CORRECTNESS_FIELDS, *TOKEN_FIELDS))
    recorded |= run.correctness.values if run.correctness is not None else {}
    numbers = {**(tokens_of(run.tokens) or {}), **{name: getattr(facts, name) for name in _FACTS}}
    recorded |= {name: as_double(number) for name, number in numbers.items()}
    recorded |= {name: getattr(run, name) for name in _OF_RUN}
    last = max((part.last for part in run.parts if part.last), default=None)
    started, moment = sortable(run.started or ""), facts.began or sortable(last or "")
    moment = started if started and moment and is_of_year(started, int(moment[:4])) else moment
    return Row(
        verdict=str(run.verdict),
        **recorded,
        wall_clock_ms=clock and as_double(clock.ms),
        wall_clock_counted=clock and clock.counted,
        wall_clock_of=clock and clock.of,
        rounds_per_dispatch=rounds and rounds.mean,
        rounds_counted=rounds and rounds.counted,
        rounds_of=rounds and rounds.of,
        missing_inputs=run.gate.missing,
        caveats=tuple(str(each.code) for each in run.caveats),
        is_certain=not run.qualifying,
        provenance=str(origin) if origin is not None else None,
        graded=run.correctness.ts if run.correctness is not None else None,
        judge=judged.judge.model if judged is not None else None,
        last=last,
        month=moment[:7] if moment is not None else None,
        project=project,
        events=run.event_count,
        rejected_lines=len(run.rejected),
        halts=facts.halt_count,
        findings=findings,
        files=tuple(part.path for part in run.parts),
    )


# As files


def as_jsonl(row: Row) -> str:
    """A line of JSON."""
    return in_json(json.dumps(msgspec.structs.asdict(row))) + "\n"


def csv_header() -> str:
    """The names of the columns."""
    return _csv(Row.__struct_fields__)


def as_csv(row: Row) -> str:
    """A line of CSV: null is an empty cell, a list or an object is JSON. Text is one line, and a
    spreadsheet does not run it.
    """
    return _csv(map(_cell, msgspec.structs.astuple(row)))


def _cell(value: object) -> object:
    if isinstance(value, (tuple, dict)):
        value = in_json(json.dumps(value))
    if not isinstance(value, str):
        return value
    return f"'{visible(value)}" if value.lstrip()[:1] in {*"=+-@'"} else visible(value)


def _csv(cells: Iterable[object]) -> str:
    return ",".join("" if each is None else _quoted(str(each)) for each in cells) + "\n"


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if "," in cell or '"' in cell else cell


def as_parquet(rows: Iterable[Row]) -> Iterator[bytes]:
    """The file. What has more than 64 bits is null: unknown. Needs the extra
    ``drive-trace[fleet]``.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra
    import pyarrow.parquet as pq  # noqa: PLC0415

    types = {
        **dict.fromkeys((str, str | None), pa.string()),
        **dict.fromkeys((int, int | None, Number), pa.int64()),
        float | None: pa.float64(),
        bool: pa.bool_(),
        tuple[str, ...]: pa.list_(pa.string()),
        dict[str, int] | None: pa.map_(pa.string(), pa.int64()),
    }
    schema = pa.schema([(name, types[hint]) for name, hint in get_type_hints(Row).items()])

    sink, left = pa.BufferOutputStream(), iter(rows)
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        while group := list(islice(left, _ROWS)):
            columns = [
                pa.array([_arrow(getattr(row, each.name), each.type) for row in group], each.type)
                for each in schema
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
    yield sink.getvalue().to_pybytes()


_ROWS = 10_000
"""In a group, of which one is in memory as it is, and others as the file has them."""
_LIMIT = 1 << 63


def _arrow(value: Any, kind: Any) -> Any:
    if isinstance(value, str):  # which may have halves of characters
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, tuple):
        return [_arrow(each, kind.value_type) for each in value]
    if isinstance(value, dict):
        return list(value.items())
    if value is not None and str(kind) == "int64":
        return int(value) if -_LIMIT <= value < _LIMIT else None
    return value


# As a whole

_MOST = 10
_WIDTH = 22
_BY = {"project": "By project", "month": "By month"}


class FleetSummary:
    """Takes in rows one after another. It keeps counts, and the first runs that need somebody."""

    def __init__(self, *, has_findings: bool) -> None:
        """``has_findings`` says whether the rules run for the rows."""
        self._has_findings = has_findings
        self._runs: Counter[tuple[str, str | None, str, bool]] = Counter()
        """By what is in ``_BY``, by standing, and by whether they can be CORRECT."""
        self._findings: Counter[str] = Counter()
        self._found_in: Counter[str] = Counter()
        self._needing: dict[str, list[Row]] = {"Stale, to be graded again": [], "Not graded": []}
        self._needed: Counter[str] = Counter()

    def add(self, row: Row) -> None:
        """Take in a run."""
        self._runs[row.project, row.month, row.standing, can_be_correct(row)] += 1
        if row.findings:
            self._findings.update(row.findings)
            self._found_in.update(row.findings.keys())
        stale, ungraded = self._needing
        need = stale if "stale" in row.caveats else ungraded if row.graded is None else None
        if need is not None:
            self._needed[need] += 1
            if len(self._needing[need]) < _MOST:
                self._needing[need].append(row)

    def text(self, files: int, unread: int, width: int) -> str:
        """All of it for a terminal of so many columns, what needs somebody first; ``unread`` is how
        many inputs could not be read.
        """
        return doc.as_text(self.blocks(files, unread), width)

    def blocks(self, files: int, unread: int = 0) -> Iterator[doc.Paragraph | doc.Section]:
        """The same as a document."""
        count, standings, note = self.said(files)
        yield doc.Paragraph(f"{count}: {standings}" if standings else count)
        if unread:
            doubt = ", so no CORRECT is free of caveats" if self._runs else ""
            yield doc.Paragraph(f"{plural(unread, 'input')} could not be read{doubt}")
        yield from self.sections()
        if note:
            yield doc.Paragraph(note)

    def said(self, files: int) -> tuple[str, str, str]:
        """How many runs there are, how many with each verdict, and what was not looked at."""
        counts, count = Counter[str](), self._runs.total()
        for (_, _, standing, _), runs in self._runs.items():
            counts[standing] += runs
        standings = standings_in_short(counts)
        note = "Findings: not looked at (--findings counts them)"
        is_noted = bool(count) and not self._has_findings
        return f"{plural(count, 'run')} in {plural(files, 'file')}", standings, note * is_noted

    def sections(self, by: Iterable[str] = _BY) -> Iterator[doc.Section]:
        """What needs somebody, the shares of CORRECT by project and month, and findings."""
        for need, rows in self._needing.items():
            named = [(doc.name(row.run_id), doc.name(row.files[0])) for row in rows]
            if rows:
                title = f"{need}: {plural(self._needed[need], 'run')}"
                more = self._needed[need] - len(rows)
                yield doc.Section(title, [doc.Table((), named), *_more(more)])
        for name in by:
            groups = defaultdict[str, Counter[str]](Counter)
            for (*group, standing, is_possible), runs in self._runs.items():
                key = str(group[[*_BY].index(name)] or "unknown")
                _count(groups[key], standing, is_possible, runs)
            if groups:
                yield _by_group(_BY[name], groups)
        if self._findings:
            most = sorted(self._findings, key=lambda code: (-self._findings[code], code))[:_MOST]
            counts = [
                (code, f"{self._findings[code]:,}", f"{self._found_in[code]:,}") for code in most
            ]
            table = doc.Table(("rule", "places", "runs"), counts, numbers_from=1)
            yield doc.Section("Commonest findings", [table])


def _by_group(title: str, groups: Mapping[str, Counter[str]]) -> doc.Section:
    most = sorted(groups, key=lambda name: (-groups[name]["runs"], name))[:_MOST]
    rows = [(tail(name), *_rate(groups[name])) for name in sorted(most)]
    table = doc.Table(("", *RATES), rows, numbers_from=1)
    return doc.Section(title, [table, *_more(len(groups) - len(most))])


RATES = ("runs", "CORRECT", "caveats", "INCORRECT", "no verdict", "share of CORRECT")


def rate(rows: Iterable[Row]) -> list[str]:
    """The counts of runs under :data:`RATES`."""
    counts = Counter[str]()
    for row in rows:
        _count(counts, row.standing, can_be_correct(row))
    return _rate(counts)


def can_be_correct(row: Row) -> bool:
    """Whether no component is a fail for certain, however the others are graded."""
    return not row.is_certain or "fail" not in {row.mechanical, row.qa, row.intent}


def _count(counts: Counter[str], standing: str, is_possible: bool, runs: int = 1) -> None:
    counts["runs"] += runs
    counts[standing] += runs
    counts["possible"] += runs * is_possible


def _rate(counts: Counter[str]) -> list[str]:
    runs, least = counts["runs"], counts[Verdict.CORRECT]
    others = (QUALIFIED, Verdict.INCORRECT, Verdict.NOT_COMPUTABLE)
    figures = [runs, least, *(counts[each] for each in others)]
    return [*(f"{each:,}" for each in figures), share(least, counts["possible"], runs)]


def tail(name: str) -> doc.Words:
    """The end of a name, which tells one folder from another."""
    whole = plain(name)
    return doc.name(whole if len(whole) <= _WIDTH else f"…{whole[1 - _WIDTH :]}")


def _more(count: int) -> list[doc.Block]:
    return [doc.Paragraph(f"and {count:,} more")] if count else []
