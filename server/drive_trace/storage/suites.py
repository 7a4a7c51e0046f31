"""Reads a suite: which runs are planned, how each is gated and judged, and how its sides are
compared. Whoever names the file vouches for it: it says which commands run.

Remembers which runs were compared, too, so that a comparison can say that it is not the first one.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeAlias

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import asdict

from drive_trace.comparison import statistics
from drive_trace.comparison.answer import MARGIN, CostRule
from drive_trace.comparison.power import levels_for_two
from drive_trace.comparison.runs import Prices, RunManifest, Side
from drive_trace.grading.prompts import hash_of
from drive_trace.storage import files, projects, replace
from drive_trace.storage.processes import runs_nothing
from drive_trace.storage.toml_models import Inner, Text, Word
from drive_trace.text.wording import listed

SIDES = ("baseline", "candidate")
_MOST = 1000
"""Planned runs of a side."""
_MOST_ON_DISK = 20_000

Seconds: TypeAlias = Annotated[float, Meta(gt=0, le=1_000_000_000)]
_CaseName: TypeAlias = Annotated[
    str,
    Meta(
        title="of letters, digits, `.`, `_` and `-`",
        max_length=100,
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*\Z",
    ),
]
Share: TypeAlias = Annotated[float, Meta(gt=0, lt=1)]
Count: TypeAlias = Annotated[int, Meta(ge=1, le=_MOST)]


class GateOf(Struct, frozen=True, forbid_unknown_fields=True):
    """How a component is gated: by commands, or by reports that others have written."""

    run: tuple[Text, ...] = ()
    """Commands for sh -c, one after another."""
    result: tuple[Inner, ...] = ()
    """JUnit reports, from the run's folder on."""
    timeout: Seconds = 3600.0
    """How long each command may take."""

    @property
    def names(self) -> list[str]:
        """Those of the reports, without their folders."""
        return [Path(each).name for each in self.result]

    def __post_init__(self) -> None:
        if bool(self.run) == bool(self.result):
            raise ValueError("needs either commands to `run`, or a `result` to read")
        if any(map(runs_nothing, self.run)):
            raise ValueError("has a command to `run` that runs nothing: it is a comment")


class CaseOf(Struct, frozen=True, forbid_unknown_fields=True):
    """What runs have to do."""

    acceptance: Inner | None = None
    """The acceptance criteria, or the folder of the case, from the suite on; by default the folder
    of its name in ``cases``.
    """
    base_commit: Word | None = None
    """The commit that its runs start from."""
    mechanical: GateOf | None = None
    """In place of the gate of all cases."""
    qa: GateOf | None = None
    """In place of the gate of all cases."""


class SideOf(Struct, frozen=True, forbid_unknown_fields=True):
    """What runs of a side have in common."""

    model: Word
    bundle: Word | None = None
    """The version of the instructions."""
    base_commit: Word | None = None
    """The commit that its runs start from, if not that of the case."""


class SidesOf(Struct, frozen=True, forbid_unknown_fields=True):
    """The two sides, which differ in one thing."""

    baseline: SideOf
    candidate: SideOf

    def __post_init__(self) -> None:
        ours, theirs = asdict(self.baseline), asdict(self.candidate)
        if sum(ours[key] != theirs[key] for key in ours) != 1:
            raise ValueError(f"have to differ in one of {listed(f'`{each}`' for each in ours)}")


class JudgeOf(Struct, frozen=True, forbid_unknown_fields=True):
    """Who judges the intent of each run: options of ``judge``."""

    model: Word
    api: Literal["openai", "anthropic"] | None = None
    base_url: Text | None = None
    model_command: Text | None = None
    """A command for sh -c."""
    family: Word | None = None
    orchestrator_family: Word | None = None
    """By default the model of the side."""
    calibration: Inner | None = None
    """What calibrate kept, from the suite on; by default the user's own."""
    labelling_rule: Text | None = None
    diff: Inner = "run.diff"
    """What was changed, from the run's folder on."""
    repeat: Annotated[int, Meta(ge=1, le=99)] = 1
    timeout: Seconds = 300.0


class Suite(Struct, frozen=True, forbid_unknown_fields=True):
    """Which runs are planned, how each is gated and judged, and how both sides are compared."""

    cases: Annotated[dict[_CaseName, CaseOf], Meta(min_length=1)]
    repetitions: Count
    """Runs of each case and side."""
    sides: SidesOf
    runs: Inner = "runs/{side}/{case}/{run}"
    """The folder of each run, from the suite on."""
    trace: Inner = "trace.jsonl"
    """The trace of one run, from the run's folder on."""
    work: Inner | None = None
    """Where gates run, from the run's folder on; by default there."""
    mechanical: GateOf | None = None
    """The gate of all cases."""
    qa: GateOf | None = None
    """The gate of all cases."""
    judge: JudgeOf | None = None
    prices: Prices = {}
    """By the model; ``*`` is any other."""
    margin: Share = MARGIN
    """A lower cost decides only if the rate of CORRECT runs is lower by this at most."""
    alpha: Annotated[float, Meta(ge=0.0001, lt=1)] = statistics.ALPHA
    """How often comparisons of sides that are alike may find a difference."""
    time: Literal["working", "clock"] = "working"
    """Which time may decide."""
    looks: Annotated[int, Meta(ge=1, le=100)] = 1
    """How often the sides are compared, after equal shares of the repetitions."""

    def __post_init__(self) -> None:
        if not {"{side}", "{case}", "{run}"} <= {*re.split(r"(\{\w+\})", self.runs)}:
            raise ValueError("`runs` needs {side}, {case} and {run}: each run has a folder")
        if "}{" in self.runs:
            raise ValueError("`runs` needs something between two of {side}, {case} and {run}")
        if (runs := len(self.cases) * self.repetitions) > _MOST:
            raise ValueError(f"a side has {_MOST:,} runs at most, and {runs:,} are planned")
        if self.looks > self.repetitions:
            what = f"`looks` is {self.looks}, and `repetitions` {self.repetitions}"
            raise ValueError(f"{what}: each look needs one more run of each case")
        file = SuiteFile(Path(), self)
        folders = {trace for side in SIDES for trace in file.planned(side, self.looks)}
        if len(folders) < 2 * runs:
            raise ValueError("`runs` has one folder for several runs: part its names by `/`")


class SuiteFile(NamedTuple):
    """A suite, and where it is."""

    path: Path
    suite: Suite

    def planned(self, side: str, look: int) -> Mapping[str, RunManifest]:
        """The runs of a side that have to be there at a look, from 1: by the path of its trace, how
        each came about.
        """
        suite, own, found = self.suite, getattr(self.suite.sides, side), {}
        for case, said in suite.cases.items():
            manifest = RunManifest(
                case=case,
                model=own.model,
                bundle=own.bundle,
                base_commit=own.base_commit or said.base_commit,
                judge=suite.judge.model if suite.judge else None,
            )
            inner = suite.runs.replace("{side}", side).replace("{case}", case)
            for number in range(1, self.due(look) + 1):
                folder = self.path.parent / inner.replace("{run}", str(number))
                found[str(folder / suite.trace)] = manifest
        return found

    @property
    def unplanned(self) -> list[str]:
        """The traces that stand where the suite names its runs, and that it does not plan, as
        repetitions may be lowered, or a case dropped, once all ran.
        """
        found: list[str] = []
        inner = glob.escape(f"{self.suite.runs}/{self.suite.trace}")
        for side in SIDES:
            pattern = re.sub(r"\{(case|run)\}", "*", inner.replace("{side}", side))
            on_disk = islice(map(str, self.path.parent.glob(pattern)), _MOST_ON_DISK)
            found += sorted({*on_disk} - {*self.planned(side, self.suite.looks)})
        return found

    def folder(self, trace: str) -> Path:
        """Of a planned run, given its trace."""
        return Path(trace.removesuffix(str(Path(self.suite.trace))))

    def due(self, look: int) -> int:
        """How many repetitions have to be there at a look."""
        return -(-self.suite.repetitions * look // self.suite.looks)

    def rule(self, look: int) -> CostRule:
        """How the sides are compared at a look."""
        suite, looks = self.suite, range(1, self.suite.looks + 1)
        at = levels_for_two([self.due(each) / suite.repetitions for each in looks], suite.alpha)
        return CostRule(suite.margin, suite.time, level=at[look - 1], look=(look, suite.looks))

    def gate(self, case: str | None, component: str) -> GateOf | None:
        """How a component of a case is gated."""
        own: GateOf | None = getattr(self.suite.cases[str(case)], component)
        return own or getattr(self.suite, component)

    @property
    def calibration(self) -> str | None:
        """The file of the judge's, if it is not the user's own."""
        own = self.suite.judge.calibration if self.suite.judge else None
        return own and str(self.path.parent / own)


# Which runs were compared before


_REMEMBERED = 50


class _Look(NamedTuple):
    """The runs of each side, and which look of which suite it was."""

    baseline: frozenset[str]
    candidate: frozenset[str]
    suite: str
    number: int
    of: int

    def warns(self, now: _Look) -> bool:
        """Whether a later look is one too many: this one was of a part of its runs alone, and not
        planned before it; or it was the same planned look, of other runs.
        """
        if self[:2] == now[:2]:
            return False
        if now.suite and self[2:] == now[2:]:
            return True
        is_planned = self.suite == now.suite and self.of == now.of and self.number < now.number
        is_part = self.baseline <= now.baseline and self.candidate <= now.candidate
        return is_part and not is_planned


def earlier_look(
    sides: tuple[Side, Side], suite: str | None, look: tuple[int, int]
) -> tuple[int, int] | None:
    """How many runs of each side the largest earlier comparison had after which nobody planned this
    one; None where none is known. This one is remembered. What is remembered may be deleted at any
    time: it decides nothing.
    """
    path, looks = files.cache_folder() / "looks.json", list[_Look]()
    with suppress(OSError, ValueError):
        looks = msgspec.json.decode(files.read_regular(path), type=list[_Look])
    plan = hash_of(projects.absolute(suite))[:12] if suite is not None else ""
    now = _Look(_runs_of(sides[0]), _runs_of(sides[1]), plan, *look)
    if all(now[:2]) and now not in looks:  # of no runs all are a part
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace.write_whole(path, msgspec.json.encode([*looks[1 - _REMEMBERED :], now]))
    before = [each for each in looks if each.warns(now)]
    most = max(before, key=lambda each: len(each[0]) + len(each[1]), default=None)
    return most and (len(most[0]), len(most[1]))


def _runs_of(side: Side) -> frozenset[str]:
    paths = ((part.path, run.run_id) for run in side.runs for part in run.score.parts)
    return frozenset(hash_of(f"{projects.absolute(path)}\0{run_id}")[:12] for path, run_id in paths)
