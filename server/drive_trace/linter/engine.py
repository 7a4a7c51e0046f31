"""Runs the rules that look across lines: over each run, over what events of several runs name, and
over the whole trace. Nothing here knows a rule.

A run may be spread over files. Then these are joined, and what rules find in its lines is handed to
the files that the lines stand in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from drive_trace.linter.rule import (
    Finding,
    Fix,
    LineDiagnostic,
    Message,
    Rule,
    RuleSettings,
    SameDispatch,
    SameFile,
    SameId,
    WholeTrace,
)
from drive_trace.linter.rules import RULES
from drive_trace.trace.index import Index, Key, keys_of
from drive_trace.trace.joined import JoinedFiles
from drive_trace.trace.line import EVENT_ID, Line, name_of
from drive_trace.trace.run import Run
from drive_trace.vocabulary import DISPATCH

Check = Callable[[Any], Iterable[Finding]]
Subject = str | Key | None
"""A run's id, what events of several runs name, or None for the whole trace."""
_NAMED = {"event_id": SameId, "path": SameFile, "dispatch_id": SameDispatch}


class Engine:
    """The rules of one trace that are on, with their options, and what they have found."""

    def __init__(
        self,
        index: Index,
        lines: Sequence[Line],
        settings: RuleSettings,
        joined: tuple[JoinedFiles, int] | None = None,
    ) -> None:
        """``joined`` are the files that have runs of the trace, and the number of the trace among
        them.
        """
        self._index = index
        self._lines = lines
        self._checks = defaultdict[type, list[Check]](list)
        for rule in RULES.values():
            if rule.looks_at is not LineDiagnostic and settings.severity(rule) is not None:
                self._checks[rule.looks_at].append(_check_of(rule, settings))
        self._joined = joined
        self._settings = settings
        self._found: dict[Subject, Sequence[Finding]] = {}

    def run(self) -> Iterable[Finding]:
        """Run all rules over the whole trace."""
        index = self._index
        runs = [*index.runs, *index.named] if self._joined is None else ()
        ids = [("event_id", each) for each in index.repeated_ids]
        self._check([*runs, *ids, None])
        if self._joined is None:
            return self.found()
        files, file = self._joined
        return chain(self.found(), findings_in_files(files, self._settings).get(file, ()))

    def across_files(self) -> Iterable[Finding]:
        """What the rules find but for those that look at each file by itself."""
        self._check([*self._index.runs, *self._index.named])
        return self.found()

    def found(self) -> Iterable[Finding]:
        """What was found so far across lines."""
        return chain.from_iterable(self._found.values())

    def run_again(
        self, run_ids: Iterable[str], in_doubt: Iterable[str | None], lines: Iterable[Line]
    ) -> tuple[list[Finding], list[Finding]]:
        """Run the rules over runs that are other ones now, and over what lines name that came or
        went; over all that a run names if what is ``in_doubt`` of it is something else now. Gives
        the former findings on these, and those of now.
        """
        runs = (self._index.runs.get(each) for each in in_doubt if each is not None)
        named = {*lines, *chain.from_iterable(run.lines for run in runs if run is not None)}
        events = [line for line in named if line.event is not None]
        keys = {key for line in events for key in keys_of(line)}
        keys.update(("event_id", line.facts[EVENT_ID]) for line in lines if line.event is not None)
        # Whoever resumes a dispatch depends on its start.
        starts = (line for line in events if name_of(line) == DISPATCH.opener)
        keys.update((DISPATCH.field, line.fact(DISPATCH.field)) for line in starts)
        return self._check([*run_ids, *keys, None])

    def _check(self, subjects: Iterable[Subject]) -> tuple[list[Finding], list[Finding]]:
        before: list[Finding] = []
        now: list[Finding] = []
        for subject in subjects:
            before += self._found.pop(subject, ())
            found = [*self._findings_of(subject)]
            if found:
                self._found[subject] = found
                now += found
        return before, now

    def _findings_of(self, subject: Subject) -> Iterable[Finding]:
        if subject is None:
            whole = WholeTrace(self._lines, self._index)
            return self._all(WholeTrace, whole)
        if isinstance(subject, str):
            run = self._index.runs.get(subject)
            return self._all(Run, run) if run is not None else ()
        lines = self._index.naming(subject)
        kind = _NAMED[subject[0]]
        return self._all(kind, kind(subject[1], lines, self._index)) if lines else ()

    def _all(self, kind: type, subject: Any) -> Iterable[Finding]:
        return chain.from_iterable(check(subject) for check in self._checks[kind])


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
    for each in Engine(files.index, files.lines, settings).across_files():
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


def _check_of(rule: Rule[Any], settings: RuleSettings) -> Check:
    return partial(rule.check, **settings.values(rule)) if rule.options else rule.check
