"""Runs the rules that look across lines: over each run, over what events of several runs name, and
over the whole trace. Nothing here knows a rule.

A run may be spread over files. Then these are joined, and what rules find in its lines is handed to
the files that the lines stand in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain, count
from operator import attrgetter
from threading import Lock
from typing import Any

from drive_trace.linter.records import is_cut_off, spread_objects, until
from drive_trace.linter.rule import (
    LINES_BELOW,
    Finding,
    Fix,
    LineDiagnostic,
    Message,
    SameDispatch,
    SameFile,
    SameId,
    WholeTrace,
    more_of,
)
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import RuleSettings, Severity, fingerprint
from drive_trace.stopping import unless_stopped
from drive_trace.trace.index import Index, Key, keys_of
from drive_trace.trace.joined import JoinedFiles
from drive_trace.trace.line import EVENT_ID, Line, LineSet, name_of, run_of
from drive_trace.trace.places import resolve
from drive_trace.trace.run import Run
from drive_trace.vocabulary import DISPATCH

_revisions = count()

Check = Callable[[Any], Iterable[Finding]]
Unit = str | Key | None
"""A run's id, what events of several runs name, or None for the whole trace."""
_NAMED = {"event_id": SameId, "path": SameFile, "dispatch_id": SameDispatch}


class Engine:
    """The rules of one trace that are on, with their options, and what they have found."""

    def __init__(self, index: Index, lines: Sequence[Line], settings: RuleSettings) -> None:
        self._index = index
        self._lines = lines
        self._checks = defaultdict[type, list[Check]](list)
        for rule in RULES.values():
            if rule.looks_at is not LineDiagnostic and settings.severity(rule) is not None:
                check = partial(rule.check, **settings.values(rule)) if rule.options else rule.check
                self._checks[rule.looks_at].append(check)
        self._found: dict[Unit, Sequence[Finding]] = {}
        self._firsts = dict(map(self._first, index.runs))

    def _first(self, run_id: str) -> tuple[str, str | None]:
        """The id of a run, and what its first event is."""
        run = self._index.runs.get(run_id)
        return run_id, name_of(run.lines[0]) if run is not None and run.lines else None

    def in_runs(self) -> Iterable[Finding]:
        """What the rules find in runs, and in what several of them name."""
        return self._check([*self._index.runs, *self._index.named])[1]

    def in_file(self) -> Iterable[Finding]:
        """What those find that look at each file by itself: at repeated ids, and at the whole."""
        ids = [("event_id", each) for each in self._index.repeated_ids]
        return self._check([*ids, None])[1]

    def run_again(
        self, run_ids: Iterable[str], in_doubt: Iterable[str | None], lines: Iterable[Line]
    ) -> tuple[list[Finding], list[Finding]]:
        """Run the rules over runs that are other ones now, and over what lines name that came or
        went; over all that a run names if what is ``in_doubt`` of it is something else now, or it
        begins with another event. Gives the former findings on these, and those of now.
        """
        begun = dict(map(self._first, run_ids)).items() - self._firsts.items()
        self._firsts.update(begun)
        anew = {*in_doubt, *dict(begun)}
        runs = (self._index.runs.get(each) for each in anew if each is not None)
        named = {*lines, *chain.from_iterable(run.lines for run in runs if run is not None)}
        events = [line for line in named if line.event is not None]
        keys = {key for line in events for key in keys_of(line)}
        keys.update(("event_id", line.facts[EVENT_ID]) for line in lines if line.event is not None)
        # Whoever resumes a dispatch depends on its start, and its end.
        bounds = [each for each in events if name_of(each) in (DISPATCH.opener, DISPATCH.closer)]
        keys.update((DISPATCH.field, line.fact(DISPATCH.field)) for line in bounds)
        return self._check([*run_ids, *keys, None])

    def _check(self, units: Iterable[Unit]) -> tuple[list[Finding], list[Finding]]:
        before: list[Finding] = []
        now: list[Finding] = []
        for unit in unless_stopped(units):
            before += self._found.pop(unit, ())
            found = [*self._findings_of(unit)]
            if found:
                self._found[unit] = found
                now += found
        return before, now

    def _findings_of(self, unit: Unit) -> Iterable[Finding]:
        if unit is None:
            return self._all(WholeTrace, WholeTrace(self._lines, self._index))
        if isinstance(unit, str):
            run = self._index.runs.get(unit)
            return self._all(Run, run) if run is not None else ()
        lines = self._index.naming(unit)
        kind = _NAMED[unit[0]]
        return self._all(kind, kind(unit[1], lines, self._index)) if lines else ()

    def _all(self, kind: type, subject: Any) -> Iterable[Finding]:
        checks = unless_stopped(self._checks[kind])
        return chain.from_iterable(check(subject) for check in checks)


def findings_in_files(
    files: JoinedFiles, settings: RuleSettings
) -> Mapping[int, Sequence[Finding]]:
    """What the rules find across the lines of joined files, by the number of the file in which it
    stands. Kept, as each of the files is judged by it.
    """
    key = repr((settings.severities, settings.options))
    found: Mapping[int, Sequence[Finding]] | None = files.findings.get(key)
    return files.findings.setdefault(key, _by_file(files, settings)) if found is None else found


def _by_file(files: JoinedFiles, settings: RuleSettings) -> Mapping[int, Sequence[Finding]]:
    by_file = defaultdict[int, list[Finding]](list)
    for each in Engine(files.index, files.lines, settings).in_runs():
        line = files.first.get(each.line, each.line)
        finding = _in_its_file(each._replace(line=line), files)
        by_file[line.file].append(finding)
        # Each copy has what its line has: the settings of one file hide nothing in another.
        for copy in files.copies.get(line, ()):
            by_file[copy.file].append(finding._replace(line=files.origin[copy], joined=None))
    return by_file


def fixes_in_its_file(finding: Finding) -> Iterable[Fix]:
    """The fixes of a finding in one of joined files, as :func:`findings_in_files` gives them. They
    look at the lines of all files, and change only that of the finding.
    """
    if finding.joined is None:  # it is of this file alone, or on a copy
        # The run has the places of the lines among all files, where a copy has none.
        return finding.rule.fixes(finding) if finding.run is None else ()
    found, origin = finding.joined
    return [
        fix._replace(edits=tuple(each._replace(line=origin[each.line]) for each in fix.edits))
        for fix in found.rule.fixes(found)
        if all(each.line.file == found.line.file for each in fix.edits)
    ]


def _in_its_file(finding: Finding, files: JoinedFiles) -> Finding:
    """The finding on lines of the files themselves."""
    related = tuple(
        each._replace(line=files.origin[each.line], message=_message(each.message, files))
        for each in finding.related
    )
    message = _message(finding.message, files)
    return finding._replace(
        line=files.origin[finding.line],
        message=message,
        related=related,
        joined=(finding, files.origin),
    )


def _message(message: Message, files: JoinedFiles) -> Message:
    if isinstance(message, str):
        return message
    return tuple(files.origin[part] if isinstance(part, Line) else part for part in message)


# Which findings there are, and on which lines. What is on one line alone is worded when somebody
# asks for that line.


_NEAR = 50
"""How many lines with findings on each side of an edit are shown whatever the limit."""

_MOST_WORDED = 2000
"""Of so many lines the words are kept, or of all that an editor shows at a time."""


class FindingStore:
    """The findings of one trace. Told of every line that comes and goes, it judges these when
    somebody looks: a keystroke in a long run does not wait for the rules.
    """

    def __init__(
        self,
        index: Index,
        lines: Sequence[Line],
        settings: RuleSettings,
        joined: tuple[JoinedFiles, int] | None = None,
    ) -> None:
        """Take in a whole trace; the index knows it already. ``lines`` are all of it, now and
        after each edit. ``joined`` are the files that have runs of it, and its number among them;
        where there are some, an edit needs a new store.
        """
        self._index, self._lines, self._settings, self._joined = index, lines, settings, joined
        self._severities = {code: settings.severity(rule) for code, rule in RULES.items()}
        self._known = settings.known
        self._lock = Lock()
        self._is_judged = False
        """Whether all findings but those of what has changed since are here."""
        self._leaving: set[Line] = set()
        self.alike = Counter[str]()
        """With a baseline, by fingerprint on how many of the lines filed a rule finds something."""

    def judged(self) -> FindingStore:
        """The store with all findings. Several threads may ask for it. Whoever is stopped meanwhile
        leaves one that judges the whole trace anew.
        """
        with self._lock:
            if not self._is_judged:
                self._judge_all()
            elif self._has_changed:
                self._is_judged = False
                self._judge_changed()
            self._is_judged = True
        return self

    def forget(self, lines: Iterable[Line]) -> None:
        """Lines go; the index has let go of them already, their places still hold."""
        self._leaving = {*lines}
        if self._is_judged:
            self._gone |= self._leaving
            for line in self._leaving:
                self._unfile(line)

    def learn(self, lines: Iterable[Line]) -> None:
        """Lines come; the index knows them already."""
        come = {*lines}
        leaving, self._leaving = self._leaving, set()
        moved = come | leaving
        named = set(map(run_of, moved))
        runs = self._index.renew(named)
        if self._is_judged:
            self._has_changed = True
            self._come |= come
            if places := [each.order for each in come or leaving]:
                first = max(0, min(places) - LINES_BELOW)
                near = self._lines[first : max(places) + LINES_BELOW]
                if any(map(is_cut_off, chain(*(each.diagnostics for each in (*near, *leaving))))):
                    self._near |= {line for line in near if line.event is None}
            self._changed_runs |= runs
            self._in_doubt |= {run_of(line) for line in moved if line.event is None} | (
                runs - named
            )

    def _judge_all(self) -> None:
        self._start_anew()
        self._engine = Engine(self._index, self._lines, self._settings)
        if self._joined is None:
            found = self._engine.in_runs()
        else:  # runs that go on in other files are judged once, over all of them
            files, file = self._joined
            found = findings_in_files(files, self._settings).get(file, ())
        self._across: dict[Line, list[Finding]] = {}
        self._worded: dict[Line, Sequence[Finding]] = {}
        self._most_worded = _MOST_WORDED
        self._counts: dict[Line, int] = {}
        """How many findings each line has that has several."""
        self._hidden: dict[Line, list[str]] = {}
        """By each filed line, where there is a baseline: the codes of what that hides."""
        self.total = 0
        """How many findings there are."""
        self.hidden_total = 0
        """How many findings a baseline hides."""
        self.revision = next(_revisions)
        """Changes when a finding comes or goes; of no two stores the same."""
        self._spread = dict(spread_objects(self._lines, self._lines))
        self._with_errors = LineSet()
        self.lines = LineSet()
        """The lines that have findings."""
        for finding in unless_stopped(chain(found, self._engine.in_file())):
            self._across.setdefault(finding.line, []).append(finding)
        self._file(line for line in self._lines if line.diagnostics or line in self._across)

    def _start_anew(self) -> None:
        self._has_changed = False
        self._gone: set[Line] = set()
        self._come: set[Line] = set()
        self._near: set[Line] = set()
        """The lines that may be in other objects now."""
        self._changed_runs: set[str] = set()
        self._in_doubt: set[str | None] = set()

    def _judge_changed(self) -> None:
        """Judge what has changed since the findings were asked for last."""
        gone = self._gone
        moved, changed = self._come | gone, self._come | self._spread_anew(self._near | gone)
        before, now = self._engine.run_again(self._changed_runs, self._in_doubt, moved)
        if before != now:
            changed.update(each.line for each in chain(before, now))
            for finding in before:
                self._across[finding.line].remove(finding)
            for finding in now:
                self._across.setdefault(finding.line, []).append(finding)
        if self._known:  # it hides what stands first, so that a line can change what others show
            texts = {line.text.rstrip("\r") for line in changed | gone}
            changed.update(line for line in self._hidden if line.text.rstrip("\r") in texts)
        for line in changed:
            self._unfile(line)
        self._file(sorted(changed - gone, key=attrgetter("order")))
        for line in changed | gone:
            if not self._across.get(line, True):
                del self._across[line]
        self._start_anew()

    def _spread_anew(self, lines: Set[Line]) -> Set[Line]:
        """Look for the objects that begin on some lines, and give the lines whose object is another
        one now.
        """
        here = {line: self._spread.get(line) for line in lines}
        before = {line: each for line, each in here.items() if each and each[0] in lines}
        for line in before:
            del self._spread[line]
        now = spread_objects(self._lines, lines - self._gone)
        self._spread.update(now)
        return {line for line, _ in before.items() ^ now.items()}

    def first_line(self, line: Line) -> Line:
        """The first line of the object that a line goes on with, or the line itself."""
        return self._spread.get(line, (line,))[0]

    def codes_of(self, line: Line) -> Sequence[str]:
        """The codes of the rules by its findings."""
        return [each for each in self._codes(line) if self._shows(each, line)]

    def of(self, line: Line) -> Sequence[Finding]:
        """The findings of one line, by where on it they stand."""
        found = self._worded.get(line)
        if found is None:
            found = [
                *(self._on_line(line) if self.first_line(line) is line else ()),
                *(each for each in self._across.get(line, ()) if self._shows(each.rule.code, line)),
            ]
            if len(found) > 1:
                found.sort(key=lambda each: (resolve(line.text, each.place), each.rule.code))
            if len(self._worded) >= self._most_worded:
                self._worded.clear()
            self._worded[line] = found
        return found

    def _on_line(self, line: Line) -> Iterator[Finding]:
        _, last = self._spread.get(line, (line, None))
        for diagnostic in line.diagnostics:
            if diagnostic.more and self._shows(diagnostic.kind, line):
                yield more_of(RULES[diagnostic.kind], line, diagnostic)
            elif self._shows(diagnostic.kind, line):
                for finding in RULES[diagnostic.kind].check(LineDiagnostic(line, diagnostic)):
                    yield until(last, finding) if is_cut_off(diagnostic) else finding

    def select(self, most: int, near: Line | None = None) -> Sequence[tuple[Line, int]]:
        """At most ``most`` findings: their lines in order, and how many of each, the first ones.

        Those near a line are always among them, then errors come before the rest.
        """
        chosen: dict[Line, int] = {}
        for line in chain(self._around(near), self._with_errors, self.lines):
            if line not in chosen and most > 0:
                chosen[line] = min(self._counts.get(line, 1), most)
                most -= chosen[line]
            elif most <= 0:
                break
        self._most_worded = max(_MOST_WORDED, len(chosen))
        return sorted(chosen.items(), key=lambda each: each[0].order)

    def _around(self, near: Line | None) -> Iterator[Line]:
        """Lines with findings beside a line, the nearest first."""
        if near is None:
            return
        lines = self.lines
        at = lines.position(near)
        yield from lines[at : at + 1]
        for distance in range(1, _NEAR + 1):
            if distance <= at:
                yield lines[at - distance]
            yield from lines[at + distance : at + distance + 1]

    # Which lines have findings

    def _file(self, lines: Iterable[Line]) -> None:
        """File lines, in order: with a baseline, all that have findings and the same text as one of
        them.
        """
        self.alike.clear()
        for line in unless_stopped(lines):
            codes = shown = self._codes(line)
            if self._known:
                hidden = {each for each in dict.fromkeys(codes) if self._hides(each, line)}
                self._hidden[line] = [each for each in codes if each in hidden]
                shown = [each for each in codes if each not in hidden]
            self.hidden_total += len(codes) - len(shown)
            if shown:
                self.revision = next(_revisions)
                if len(shown) > 1:
                    self._counts[line] = len(shown)
                self.total += len(shown)
                self.lines.add(line)
                if any(self._severities[each] is Severity.ERROR for each in shown):
                    self._with_errors.add(line)

    def _hides(self, code: str, line: Line) -> bool:
        """Whether a baseline knows what a rule finds on a line: it knows of how many lines with the
        same text, and means the first ones. One more such line is a new finding.
        """
        found_by = fingerprint(code, line.text)
        self.alike[found_by] += 1
        return self.alike[found_by] <= self._known.get(found_by, 0)

    def _codes(self, line: Line) -> Sequence[str]:
        """The codes of what the rules that are on find on a line."""
        is_said_here = self.first_line(line) is line
        codes: list[str] = [each.kind for each in line.diagnostics] if is_said_here else []
        codes += [each.rule.code for each in self._across.get(line, ())]
        return [each for each in codes if self._severities[each] is not None]

    def _unfile(self, line: Line) -> None:
        self._worded.pop(line, None)
        self.hidden_total -= len(self._hidden.pop(line, ()))
        if self.lines.has(line):
            self.revision = next(_revisions)
            self.total -= self._counts.pop(line, 1)
            self._with_errors.discard(line)
            self.lines.discard(line)

    def _shows(self, code: str, line: Line) -> bool:
        return self._severities[code] is not None and code not in self._hidden.get(line, ())
