"""Reads a side of a comparison: its traces, the records of their judging, the manifests of runs
beside them, and the file that names cases.
"""

import json
import os
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeAlias, cast

import msgspec

from drive_trace.analysis import Analysis, join_all
from drive_trace.comparison import runs as comparing
from drive_trace.comparison.runs import Prices, RunManifest, Side, SideFile, traced
from drive_trace.json_text import find_member, parse
from drive_trace.report.event_log import EventLog, TraceLog, by_run, log_of
from drive_trace.scorecard import run_score, scoring
from drive_trace.scorecard.card import score
from drive_trace.storage import files as disk
from drive_trace.storage import finding, other_files, patterns, projects, toml_text
from drive_trace.text.spans import Span
from drive_trace.text.wording import first_of, printable

MANIFEST_SUFFIX = ".run.json"
_TRACES = (".jsonl", ".ndjson")
_MANIFESTS = patterns.MoreFiles((f"**/*{MANIFEST_SUFFIX}",))
_NO_MANIFEST = "is no manifest of a run"
_MANIFEST = msgspec.json.Decoder(RunManifest)
_MOST_NAMED = 3


Cases: TypeAlias = Mapping[str, tuple[str, ...]]


class CaseFile(NamedTuple):
    """The names of cases, and what their runs are known by."""

    path: str
    """As somebody named it."""
    cases: Cases

    def case_of(self, run_id: str, paths: list[str]) -> str | None:
        """The first case that names the run, or has a pattern for one of its files."""
        inner = self._inner(paths)
        return next((name for name in self.cases if self._has(name, run_id, inner)), None)

    def misfit(self, sides: Sequence[Side]) -> disk.Problem | None:
        """Why this is no file for these sides: a case fits none of their runs, as by a typo, and
        these would be compared in another case. None where not all runs are known.
        """
        runs = [run.score for side in sides for run in (*side.runs, *side.copies)]
        if not runs or any(side.unread for side in sides):
            return None
        known = [(run.run_id, self._inner([part.path for part in run.parts])) for run in runs]
        unfit = [name for name in self.cases if not any(self._has(name, *run) for run in known)]
        if not unfit:
            return None
        names = first_of([f"`{printable(name)}`" for name in unfit], _MOST_NAMED)
        fit, it = ("case {} fits", "it") if len(unfit) == 1 else ("cases {} fit", "them")
        what = f"{fit.format(names)} no run; correct or remove {it}"
        return disk.Problem(self.path, f"{what} (patterns start in the folder of this file)")

    def _inner(self, paths: list[str]) -> list[str]:
        folder = str(Path(self.path).absolute().parent)
        return [projects.relative(path, folder) for path in paths]

    def _has(self, name: str, run_id: str, inner: list[str]) -> bool:
        said = self.cases[name]
        return run_id in said or any(patterns.patterns_of(said).hold(each) for each in inner)


def manifests_of(trace: str) -> list[Path]:
    """Where a manifest of the runs in a trace may be."""
    path = Path(trace)
    stems = [path.name, *([path.stem] if path.suffix in _TRACES else [])]
    return [path.with_name(stem + MANIFEST_SUFFIX) for stem in stems] if trace != disk.STDIN else []


def manifest_beside(trace: str) -> RunManifest | disk.Problem | None:
    """The manifest of the runs in a trace, ``trace.run.json`` or ``trace.jsonl.run.json`` beside
    ``trace.jsonl``; None where there is none. Links out of the repository are not followed.
    """
    found = [each for each in manifests_of(trace) if disk.may_be_there(each)]
    if not found:
        return None
    if len(found) > 1:
        return disk.Problem(
            str(found[0]), f"is a second manifest, beside {found[1].name}; keep one"
        )
    problems: list[projects.FileProblem] = []
    content = projects.ParsedFiles(_manifest, RunManifest()).read(found[0], problems)
    return problems[0].problem if problems else content


def case_beside(trace: str) -> str | None:
    """The case that the manifest beside a trace says; None where there is none that can be used."""
    manifest = manifest_beside(trace)
    return manifest.case if isinstance(manifest, RunManifest) else None


def read_case_file(path: str) -> CaseFile | disk.Problem:
    """The table ``[cases]`` of a TOML file: by name, patterns as in .gitignore, or ids of runs."""
    from drive_trace.storage.toml_models import CasesOf, read_as  # noqa: PLC0415 - few have cases

    read = read_as(Path(path), CasesOf)
    if isinstance(read, Sequence):
        return read[0].problem
    return CaseFile(path, read.cases)


PRICES_NAME = "drive-trace-prices.toml"
"""In the folder of the user's own settings: whoever is judged must not say what work costs."""


def read_prices(path: str | None) -> Prices | disk.Problem:
    """What tokens cost, as a file says: by default the user's own, if there is one."""
    file = Path(path) if path is not None else disk.config_folder() / PRICES_NAME
    if path is None and not disk.may_be_there(file):
        return {}
    from drive_trace.storage.toml_models import read_as  # noqa: PLC0415 - few have prices

    read = read_as(file, Prices)
    return read[0].problem if isinstance(read, Sequence) else read


def _manifest(text: str) -> RunManifest | tuple[projects.TextProblem, ...]:
    try:
        manifest = _MANIFEST.decode(text)
    except (ValueError, RecursionError) as error:
        return (projects.TextProblem(*_why_not(text, str(error))),)
    root = parse(text).root
    for key in RunManifest.__struct_fields__:  # readers differ in which of two members they take
        second = find_member(root, key, 1)
        if second is not None:
            return (projects.TextProblem(second.key_span, f"a second `{key}`; keep one"),)
    return manifest


def _why_not(text: str, message: str) -> tuple[Span, str]:
    """Where a manifest is wrong, and how, given what its decoder says."""
    from drive_trace.storage.toml_models import faults  # noqa: PLC0415 - few are wrong

    try:
        data = json.loads(text)
        fault = next(faults(data, RunManifest), toml_text.Fault((), message))
    except json.JSONDecodeError as error:
        return Span(error.pos, error.pos), f"is not JSON: {error.msg}"
    except (ValueError, RecursionError):
        return Span(0, 0), f"{_NO_MANIFEST}: {message}"
    member = find_member(parse(text).root, str(fault.at[0])) if fault.at else None
    span = member.value.span if member is not None and member.value is not None else Span(0, 0)
    return span, f"{_NO_MANIFEST}: {fault.message}"


# A side: its traces, the records of their judging, and their manifests


_MOST_RUNS = 1000
_OF_BOTH = "holds a run that both sides have: name it on one of them, or exclude it"
"""Why a file is not read that nobody named: a run may have been done again under its id."""
_OF_ANY = other_files.NamedRuns(frozenset(), may_grade_any=True)
"""What a file that cannot be read may name."""

_Found: TypeAlias = Iterable[disk.TraceRecords | disk.Problem]
Planned: TypeAlias = Mapping[str, RunManifest]
"""By the path of its trace, each run that has to be there, and how it came about."""
_File: TypeAlias = tuple[TraceLog, Analysis]


def read_sides(
    given: Mapping[str, tuple[Sequence[str], _Found]],
    cases: CaseFile | None,
    options: finding.SearchOptions,
    prices: Prices,
    planned: Sequence[Planned] = ({}, {}),
) -> tuple[Side, Side] | disk.Problem:
    """Two sides, by their names: each with the paths that somebody named, and what was found there.

    Each side also has the other files of its runs, as in a score. What one side has is of that side
    alone, whatever runs stand in it. So it is for a file that nobody named, unless both sides have
    a run of it: then nobody knows of which it is, and it is not read. ``planned`` are the runs that
    each side has to have, if somebody knows.
    """
    sides = [
        _SideFiles(name, paths, plan)
        for (name, (paths, _)), plan in zip(given.items(), planned, strict=True)
    ]
    for side, (_, found) in zip(sides, given.values(), strict=True):
        side.take_in(found)
    run_ids = [
        frozenset(run.run_id for log, _ in side.files for run in log.summary.runs) for side in sides
    ]
    named = chain.from_iterable(paths for paths, _ in given.values())
    files = [log.path for side in sides for log, _ in side.files]
    all_ids = frozenset[str]().union(*run_ids)
    for each in other_files.traces_beside(named, files, lambda: all_ids, options):
        runs = _OF_ANY if isinstance(each, disk.Problem) else other_files.runs_in(each.records)
        is_of_both = not runs.ids.isdisjoint(frozenset.intersection(*run_ids))
        for side, own in zip(sides, run_ids, strict=True):
            if is_of_both:
                side.take_in([disk.Problem(each.path, _OF_BOTH)])
            elif runs.may_grade_any or not runs.ids.isdisjoint(own):
                side.take_in([each], are_named=False)
    made = [
        side.made(cases, own, prices, options) for side, own in zip(sides, run_ids, strict=True)
    ]
    problem = next((each for each in made if isinstance(each, disk.Problem)), None)
    return problem or cast("tuple[Side, Side]", tuple(made))


def read_side(
    name: str,
    paths: Sequence[str],
    found: _Found,
    only: Collection[str] | None = None,
    planned: Mapping[str, RunManifest] = {},
) -> Side | disk.Problem:
    """A side of what was found at ``paths``, and of what was ``planned``. ``only`` are the ids of
    the runs that count, if not all do.
    """
    side = _SideFiles(name, paths, planned)
    side.take_in(found)
    prices = {} if planned else read_prices(None)
    if isinstance(prices, disk.Problem):
        return prices
    return side.made(None, only, prices, finding.SearchOptions() if planned else None)


class _SideFiles:
    """The files of a side, and what is not read of it: a trace, its manifest, or a file of which no
    line names a run.
    """

    def __init__(self, name: str, paths: Sequence[str], planned: Planned) -> None:
        self._name, self._paths, self._planned = name, tuple(paths), planned
        self.files: list[_File] = []
        self._others: list[_File] = []
        """Those that nobody named."""
        self._manifests: dict[str, RunManifest] = {}
        self._not_read = finding.NotRead()

    def take_in(self, found: _Found, *, are_named: bool = True) -> None:
        """Take in what was found."""
        for each in self._not_read.usable(found):
            analysis = Analysis(each.records, provenance=each.provenance)
            summary = scoring.summarize(analysis.index, each.path)
            summary = disk.with_judgements(summary, each.found)
            log = log_of(summary, analysis.document.lines, ())
            (self.files if are_named else self._others).append((log, analysis))
            manifest = manifest_beside(each.path)
            if isinstance(manifest, disk.Problem):
                self._not_read.note(manifest)
            elif manifest is not None:
                self._manifests[each.path] = manifest

    def made(
        self,
        cases: CaseFile | None,
        only: Collection[str] | None,
        prices: Prices,
        search: finding.SearchOptions | None = None,
    ) -> Side | disk.Problem:
        """The side, with its runs joined by their ids, and with the runs of manifests that a
        ``search`` finds, and that left nothing. A run that has events of one before it is left out,
        as it is no repetition. A Problem where there are too many runs.
        """
        files = other_files.among(self.files, self._others, lambda each: each[0].path)
        logs = [log for log, _ in files]
        join_all([log.path for log in logs], [analysis for _, analysis in files])
        alive = {one for log in logs if log.summary.runs for one in _places_of_manifests(log.path)}
        dead = [*self._dead(alive, search)] if search is not None else []
        omission = finding.omitted(self._not_read.left_out)
        card = score([log.summary for log in logs], self._not_read.unread, omission, only=only)
        if len(card.runs) + len(dead) > _MOST_RUNS:
            return disk.Problem("", f"the {self._name} has more than {_MOST_RUNS:,} runs")
        runs, still_open = self._runs(card.runs, files, cases, prices)
        kept, copies = comparing.distinct(runs)
        # Each manifest is of a run: one whose trace holds copies alone left nothing of its own.
        copied = [part.path for run in copies for part in run.score.parts]
        copied += [
            part.path
            for run in kept
            for part in run.score.parts
            if part.event_count and len({*part.copied, *part.copies}) >= part.event_count
        ]
        manifests = {**self._manifests, **self._planned}
        dead += [(each, self._planned[each]) for each in still_open]
        dead += [(each, manifests[each]) for each in copied if each in manifests]
        for name, manifest in dead if search is not None else ():
            case = cases.case_of(name, [name]) if cases is not None else None
            why = comparing.NEVER_ENDED if name in still_open else comparing.NO_EVENT
            kept.append(comparing.dead_run(name, manifest, case, why))
        return Side(
            self._name,
            self._paths,
            tuple(kept),
            tuple(
                SideFile(each.path, each.invalid_lines, each.summary.unknown_lines) for each in logs
            ),
            card.unread,
            omission,
            tuple(copies),
            comparing.facts_of(logs, [each.score for each in kept]),
            prices,
        )

    def _runs(
        self,
        scores: Sequence[run_score.RunScore],
        files: Sequence[_File],
        cases: CaseFile | None,
        prices: Prices,
    ) -> tuple[list[comparing.ComparedRun], Sequence[str]]:
        """The runs with all that is known of them; and the traces of planned ones that are open."""
        logs = [log for log, _ in files]
        found_in: dict[str | None, set[str]] = {}
        for log, analysis in files:
            lost = comparing.lost_in(log.summary)
            for run_id, codes in (*analysis.findings_by_rule().items(), *lost):
                found_in.setdefault(run_id, set()).update(codes)
        hashes = [scoring.without_lines(log.summary).hashes for log in logs]
        events = by_run(EventLog(logs, scores).events)
        runs, still_open = [], list[str]()
        for run in scores:
            paths = [part.path for part in run.parts]
            own = traced(events.get(run.run_id, ()))
            if own.is_open and (ours := [each for each in paths if each in self._planned]):
                still_open += ours
                continue
            hashed = chain(*(array("Q", each.get(run.run_id, b"")) for each in hashes))
            case = cases.case_of(run.run_id, paths) if cases is not None else None
            of_paths = self._planned, self._manifests
            said = [known[each] for known in of_paths for each in paths if each in known]
            found = found_in.get(run.run_id, ())
            runs.append(comparing.compared(run, said, case, found, hashed, own, prices))
        return runs, still_open

    def _dead(
        self, alive: Set[str], options: finding.SearchOptions
    ) -> Iterator[tuple[str, RunManifest]]:
        """The manifests of traces of which nothing is known, each with the name of its trace: such
        a run was started, and left nothing. ``alive`` are the manifests beside the other traces. A
        trace that a search does not read is no such run. A manifest that is broken, or that the
        search leaves out, is noted.
        """
        missed = [e.path for e in self._not_read.left_out if e.reason in finding.MISSED]
        missed += [each.path for each in self._not_read.unread]
        told = set(map(finding.identity, missed))
        read = {str(each) for path in self._manifests for each in _places_of_manifests(path)}
        for each in self._not_read.left_out:  # a file of which no line is of an event
            known = None if each.reason in [*finding.Omission] else manifest_beside(each.path)
            if isinstance(known, RunManifest):
                read |= _places_of_manifests(each.path)
                yield each.path, known
        for path, manifest in {**self._manifests, **self._planned}.items():
            if alive.isdisjoint(_places_of_manifests(path)):
                yield path, manifest
        folders = [each for each in self._paths if each != disk.STDIN and Path(each).is_dir()]
        for found in finding.find_traces(folders, _MANIFESTS, options):
            path = found.path if isinstance(found, disk.Problem) else str(found)
            if not path.endswith(MANIFEST_SUFFIX) or _place_of(path) in {*alive, *read}:
                continue
            stem = path.removesuffix(MANIFEST_SUFFIX)
            names = [stem] if stem.endswith(_TRACES) else [stem + each for each in _TRACES]
            if any(finding.identity(e) in told or options.excluded(e) for e in names):
                continue
            if isinstance(found, disk.Problem):
                self._not_read.note(found)
                continue
            said = manifest_beside(names[0])
            if isinstance(said, RunManifest):
                yield names[0], said
            elif said is not None:
                self._not_read.note(said)


def _place_of(path: str) -> str:
    """Where a file stands, which may itself be a link."""
    return str(Path(os.path.realpath(Path(path).parent), Path(path).name))


def _places_of_manifests(trace: str) -> set[str]:
    return {_place_of(str(each)) for each in manifests_of(trace)}
