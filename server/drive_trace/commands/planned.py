"""The runs that a suite plans, with what there is of them: which of them are graded as it says."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from drive_trace.commands import evidence, terminal
from drive_trace.comparison.comparability import Reason
from drive_trace.comparison.runs import ComparedRun, RunManifest, Side, dead_run
from drive_trace.storage.suites import SuiteFile
from drive_trace.text.wording import first_of, listed, plural, writable
from drive_trace.trace.times import sortable

GATED, INTENT = ("mechanical", "qa"), "intent"
_NAMED = 3


class PlannedRun(NamedTuple):
    """A planned run, and what there is of it. All texts are untrusted."""

    trace: str
    planned: RunManifest
    run: ComparedRun
    lacks: tuple[str, ...]
    """The components that are not graded; or why there is nothing to grade."""
    is_one: bool
    """Whether the trace is read, and has one run that no other planned trace has."""

    @property
    def lack(self) -> str:
        """What it lacks, for people."""
        return "not graded yet: " * ({*self.lacks} <= {*GATED, INTENT}) + ", ".join(self.lacks)

    @property
    def words(self) -> str:
        """For people: which run it is, and what it lacks."""
        return f"{self.trace}: {self.lack}"

    def is_foreign(self, component: str) -> bool:
        """Whether somebody else has graded it than the suite as it is now."""
        grade = self.run.score.correctness
        return component in self.lacks and grade is not None and bool(grade.values[component])

    def is_done(self, components: Sequence[str]) -> bool:
        """Whether it is there, and these are graded."""
        return {*self.lacks} <= {*GATED, INTENT} - {*components}


def states(file: SuiteFile, side: Side, look: int) -> Iterator[PlannedRun]:
    """All runs of a side that are planned until a look, with what there is of them."""
    planned = file.planned(side.name, look)
    held: dict[str, list[ComparedRun]] = {}
    for run in side.runs:
        for path in {part.path for part in run.score.parts} or {run.run_id}:
            held.setdefault(path, []).append(run)
    unread = {each.path: each.reason for each in side.not_read}
    acceptance = dict[str, str]()
    for case in file.suite.cases if file.suite.judge else ():
        with suppress(terminal.Ended):  # then nothing is known to be judged by it
            acceptance[case] = evidence.read_case(acceptance_of(file, case)).hash
    for trace, said in planned.items():
        runs = held.get(trace) or [dead_run(trace, said, None, "no trace of its own")]
        why = ""
        if trace in unread:
            why = f"not read: {unread[trace]}"
        elif len(runs) > 1:
            why = f"has {len(runs):,} runs, and one is planned"
        elif sum(part.path in planned for part in runs[0].score.parts) > 1:
            why = "has the run of another planned trace: each needs an id of its own"
        lacks = (why,) if why else tuple(_lacks(file, str(said.case), runs[0], acceptance))
        yield PlannedRun(trace, said, runs[0], lacks, is_one=trace in held and not why)


def acceptance_of(file: SuiteFile, case: str) -> Path:
    """Where the acceptance criteria of a case are."""
    return file.path.parent / (file.suite.cases[case].acceptance or f"cases/{case}")


def _lacks(
    file: SuiteFile, case: str, run: ComparedRun, acceptance: Mapping[str, str]
) -> Iterator[str]:
    """The components that no gate or judge of the suite, as it is now, has graded since the run's
    last work. A grade without such a record is nobody's word: whoever is judged can write one. So
    is one by a gate or a judge where the suite has none.
    """
    if run.is_dead:
        yield str(run.score.gate.uncounted)
        return
    for component in GATED:
        wanted, gated = file.gate(case, component), run.score.gates.get(component)
        kind = listed([writable(each) for each in wanted.run] or wanted.names) if wanted else None
        if (wanted or gated) and (gated is None or gated.kind != kind or _is_old(gated.began, run)):
            yield component
    judge, judged = file.suite.judge, run.score.judgement
    now = judge and (judge.model, acceptance.get(case))
    then = judged and (judged.judge.model, judged.acceptance_hash)
    if now != then or (judged and _is_old(judged.ts, run)):
        yield INTENT


def _is_old(ts: str, run: ComparedRun) -> bool:
    return (sortable(ts) or "") < run.events.last_work


def refusals(file: SuiteFile, found: Sequence[PlannedRun]) -> Iterator[Reason]:
    """Why planned runs cannot be compared: not each is a run of its own, or one is graded by
    something else than the suite. What is not graded at all may be CORRECT or not.
    """
    others = [each.trace for each in found if not each.is_one]
    if others:
        what = f"cannot count, as drive-trace suite status {file.path} says"
        yield Reason(f"{plural(len(others), 'planned trace')} {what}", first_of(others, _NAMED))
    for component in (*GATED, INTENT):
        foreign = [each.trace for each in found if each.is_foreign(component)]
        command, key = ("judge", "judge") if component == INTENT else ("run-gates", component)
        if foreign:
            what = f"the {component} of {plural(len(foreign), 'run')} was graded by something else"
            mend = f"drive-trace suite {command} {file.path} grades it"
            words = f"{what} than the suite's [{key}], if any; {mend}"
            yield Reason(words, first_of(foreign, _NAMED))
