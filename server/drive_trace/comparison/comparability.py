"""Whether two sides can be compared: what differs, and what nobody can verify."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from drive_trace.comparison.runs import ComparedRun, RunsOfCase, Side, on_both_sides
from drive_trace.text.wording import first_of, listed, plural, shown

_MOST = 3
_AS_JUDGED = ("judge", "prompt", "rubric", "acceptance")
"""What has to be the same for all runs of a case that somebody judged."""
_VARYING = ("model", "bundle", "base")
"""What a comparison is of: at most one of these may differ between the sides."""
_GATES = "gates"
"""What differs is refused, and what is not known is not asked: no manifest tells it."""
UNVERIFIABLE = ("case", *_AS_JUDGED, "calibration", *_VARYING, "provenance")
"""What may be unknown, by the names by which it has to be allowed."""
_ALL = "all"


class State(StrEnum):
    """What is known of a fact over all runs."""

    SAME = "same"
    VARIES = "varies"
    """Between the sides, as the one thing that is compared."""
    DIFFERS = "differs"
    UNVERIFIABLE = "unverifiable"
    ALLOWED = "unverifiable, and allowed"
    PLANNED = "planned"
    """No run is judged yet: what is said is how they are to be."""
    NEEDLESS = "not asked"
    """No run is judged, so nobody asks by whom."""


class Reason(NamedTuple):
    """Why something is so: a sentence without its full stop."""

    words: str
    names: str = ""
    """What it is about, at its end: untrusted."""

    @property
    def sentence(self) -> str:
        """All of it; untrusted."""
        return f"{self.words}: {self.names}" if self.names else self.words


class Fact(NamedTuple):
    """What is known of the runs, and what follows."""

    name: str
    state: State
    baseline: tuple[str, ...]
    """What is said of its runs, sorted; untrusted."""
    candidate: tuple[str, ...]
    why: Reason | None = None
    """Why the sides cannot be compared, for one that differs."""
    silent: tuple[str, ...] = ()
    """The ids of the runs that do not tell it; untrusted."""


def allowed_of(names: str | Iterable[str]) -> frozenset[str]:
    """What may be unknown, of a name or several, or ``all``. Raises ValueError for another."""
    given = frozenset([names] if isinstance(names, str) else names)
    unknown = sorted(given - {_ALL, *UNVERIFIABLE})
    if unknown:
        raise ValueError(f"{shown(unknown[0])} is none of {', '.join((_ALL, *UNVERIFIABLE))}")
    return frozenset(UNVERIFIABLE) if _ALL in given else given


def comparability(
    baseline: Side, candidate: Side, cases: Sequence[RunsOfCase], allowed: Collection[str]
) -> tuple[tuple[Fact, ...], tuple[Reason, ...]]:
    """All facts, and why the sides cannot be compared, if so. ``allowed`` are the names of what may
    be unknown.
    """
    gated = [_GATES] * any(run.known[_GATES] for run in (*baseline.runs, *candidate.runs))
    facts = [_fact(name, baseline, candidate, cases) for name in (*UNVERIFIABLE, *gated)]
    varying = [each.name for each in facts if each.state is State.VARIES]
    if len(varying) > 1:
        why = Reason(f"{listed(varying)} vary between the sides, and only one of them may")
        facts = [_refused(each, why) if each.name in varying else each for each in facts]
    facts = [_verified(each, allowed) for each in facts]
    reasons = [*_unfit(baseline, candidate)]
    reasons += dict.fromkeys(each.why for each in facts if each.why is not None)
    unknown = [each for each in facts if each.state is State.UNVERIFIABLE]
    if unknown and baseline.runs and candidate.runs:  # else allowing it would help nobody
        reasons.append(_unknown(unknown))
        runs = (*baseline.runs, *candidate.runs)
        idle = [run.run_id for run in runs if run.has_idle_record]
        if idle and any(each.name in {*_AS_JUDGED, "calibration"} for each in unknown):
            reasons.append(_idle(idle))
    if not reasons and all(each.state is State.SAME for each in facts if each.name in _VARYING):
        what = f"nothing varies between the sides: {listed(_VARYING)} are the same"
        reasons.append(Reason(f"{what}, so that neither can be better"))
    return tuple(facts), tuple(reasons)


def _unknown(facts: Sequence[Fact]) -> Reason:
    named = [each.name for each in facts]
    option = "" if len(named) == len(UNVERIFIABLE) else f"={','.join(named)}"
    silent = list(dict.fromkeys(chain.from_iterable(each.silent for each in facts)))
    which = "" if len(facts) == 1 else "some of it is "
    by = "; only the record of drive-trace judge tells the calibration"
    what = (
        f"unverifiable: {listed(named)}{by if 'calibration' in named else ''}; "
        f"--allow-unverified{option} compares all the same; {which}not said "
        f"by {plural(len(silent), 'run')}"
    )
    return Reason(what, first_of(silent, _MOST))


def _idle(run_ids: Sequence[str]) -> Reason:
    what = (
        f"the record of drive-trace judge does not count for {plural(len(run_ids), 'run')}, as it "
        "is later than the grade, says something else, or cannot be true; judge again"
    )
    return Reason(what, first_of(run_ids, _MOST))


def _refused(fact: Fact, why: Reason) -> Fact:
    return fact._replace(state=State.DIFFERS, why=why)


def _verified(fact: Fact, allowed: Collection[str]) -> Fact:
    """What some runs do not tell is unverifiable, but where those that tell it differ."""
    if not fact.silent or fact.state is State.DIFFERS:
        return fact
    return fact._replace(state=State.ALLOWED if fact.name in allowed else State.UNVERIFIABLE)


def _unfit(baseline: Side, candidate: Side) -> Iterator[Reason]:
    for side in (baseline, candidate):
        if side.not_read:
            named = first_of([each.path for each in side.not_read], _MOST)
            count = plural(len(side.not_read), "input")
            were = "was" if len(side.not_read) == 1 else "were"
            yield Reason(f"{count} of the {side.name} {were} not read", named)
        elif all(run.is_dead for run in side.runs):
            which = " that left an event and ended" if side.runs else "s"
            yield Reason(f"the {side.name} has no run{which}")
    both = on_both_sides(baseline, candidate)
    if both:
        yield Reason(
            f"the same events are on both sides, in {plural(len(both), 'run')}",
            first_of(both, _MOST),
        )


def _fact(name: str, baseline: Side, candidate: Side, cases: Sequence[RunsOfCase]) -> Fact:
    ours, theirs = (_values(name, side.runs) for side in (baseline, candidate))
    runs = (*baseline.runs, *candidate.runs)
    silent = tuple(run.run_id for run in runs if not _told(name, run))
    fact = Fact(name, State.SAME, tuple(sorted(ours)), tuple(sorted(theirs)), silent=silent)
    if name == "case":
        return _case(fact, baseline, candidate)
    within = [_values(name, (*case.baseline, *case.candidate)) for case in cases]
    mixed = max(map(len, within), default=0) > 1
    if name == "calibration" and "uncalibrated" in ours | theirs:
        return _refused(fact, Reason("the judge is uncalibrated"))
    if name == "provenance" and len(ours | theirs) > 1:
        return _refused(fact, Reason("the provenance differs", _shown(fact)))
    if name == _GATES and any(_gated_apart(case) for case in cases):
        return _refused(fact, Reason("the gates differ within a case", _shown(fact)))
    if name == "acceptance" and mixed and ours == theirs:
        what = "runs of one case have several acceptance criteria, alike on both sides"
        mend = "tell their cases by --cases, by manifests or by --suite"
        return _refused(fact, Reason(f"{what}; {mend}", first_of(fact.baseline, _MOST)))
    if name in _AS_JUDGED and mixed:
        return _refused(fact, Reason(f"the {name} differs within a case", _shown(fact)))
    if name in _VARYING and _is_mixed_side(name, baseline, candidate, cases):
        return _refused(fact, Reason(f"the {name} differs within a side", _shown(fact)))
    if not ours | theirs:
        return fact._replace(state=State.NEEDLESS)
    if name in _AS_JUDGED and not any(run.is_judged for run in runs):
        return fact._replace(state=State.PLANNED)
    varies = mixed if name == "base" else name in _VARYING and len(ours | theirs) > 1
    return fact._replace(state=State.VARIES) if varies else fact


def _case(fact: Fact, baseline: Side, candidate: Side) -> Fact:
    runs = (*baseline.runs, *candidate.runs)
    for run in runs:
        if len(run.known["case"]) > 1:
            named = f"{run.run_id}: {listed(sorted(run.known['case']))}"
            return _refused(fact, Reason("a run is said to be of several cases", named))
    if fact.silent and len(fact.silent) < len(runs):
        named = first_of(fact.silent, _MOST)
        return _refused(fact, Reason("the case of some runs is known, and not that of all", named))
    unshared = {run.case for run in baseline.runs} ^ {run.case for run in candidate.runs}
    if unshared and baseline.runs and candidate.runs:
        named = first_of(sorted(unshared), _MOST)
        return _refused(fact, Reason("the cases differ: only one side has runs of some", named))
    return fact if runs else fact._replace(state=State.NEEDLESS)


def _is_mixed_side(name: str, baseline: Side, candidate: Side, cases: Sequence[RunsOfCase]) -> bool:
    """Whether one side is not one thing. What runs start from is one thing within a case."""
    groups = [baseline.runs, candidate.runs]
    if name == "base":
        groups = [*chain.from_iterable((each.baseline, each.candidate) for each in cases)]
    return any(len(_values(name, runs)) > 1 for runs in groups)


def _gated_apart(case: RunsOfCase) -> bool:
    """Whether a component of some runs of a case was gated by one command, and of others by
    another.
    """
    said = {gate for run in (*case.baseline, *case.candidate) for gate in run.known[_GATES]}
    return len(said) > len({each.partition(":")[0] for each in said})


def _told(name: str, run: ComparedRun) -> bool:
    """Whether a fact is known, or nothing is asked of it: nobody judged the run."""
    needless = name in (*_AS_JUDGED, "calibration") and not run.is_judged
    needless |= name == _GATES or (run.is_dead and name == "provenance")
    return needless or bool(run.known[name])


def _values(name: str, runs: Sequence[ComparedRun]) -> frozenset[str]:
    return frozenset().union(*(run.known[name] for run in runs))


def _shown(fact: Fact) -> str:
    sides = (first_of(each, _MOST) or "unknown" for each in (fact.baseline, fact.candidate))
    return " against ".join(sides)
