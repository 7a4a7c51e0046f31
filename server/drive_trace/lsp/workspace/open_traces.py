"""The traces that the client has open."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.diagnostics import DiagnosticMaker, DiagnosticOptions
from drive_trace.features.outline import Outline, outline
from drive_trace.storage.merging import KnownFile
from drive_trace.storage.patterns import is_trace
from drive_trace.tasks import SharedTask, Task
from drive_trace.trace.document import Position
from drive_trace.trace.line import Line
from drive_trace.trace.recognising import HEAD, fields_named, why_no_trace

LANGUAGE = "drive-trace"
"""The id of the language of traces."""
_Key = tuple[str, str]
_DRIVE = re.compile(r"(?i)\Afile:///[a-z](?=:)")


class OpenTrace:
    """A trace as the client shows it. Its text counts, not the file's."""

    def __init__(self, uri: str, version: int, text: str, options: DiagnosticOptions) -> None:
        self.uri = uri
        self.version = version
        self.options = options
        self.near: Line | None = None
        """The line of the last edit."""
        self.file: KnownFile | None = None
        """The file that the client has read it from, if it has read one."""
        self.edits = 0
        """Counts the changes by the client. A response begun before the last one is out of date."""
        self._replaced = 0
        self._outline: SharedTask[Outline] | None = None
        self._recorded: Sequence[str] | None = None
        self._counted: tuple[int, Mapping[str | None, int]] | None = None
        self._replace_all(text)
        self.shown_score = self.score_revision
        """The revision of the score that the client's lenses show."""

    @property
    def is_old(self) -> bool:
        """Whether it is a version that git has of a file, shown beside the file in a diff."""
        return self.uri.startswith("git:")

    @property
    def records(self) -> list[str]:
        """The text of each record."""
        return [line.text for line in self.analysis.document.lines]

    @property
    def score_revision(self) -> tuple[int, int]:
        """Changes when a verdict, a metric or the rejected lines may have changed."""
        return self._replaced, self.analysis.score_revision

    def change(self, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]) -> bool:
        """Carry out the client's edits, one after another. Returns whether lines of its file may
        have come or gone with them.
        """
        self.edits += 1
        self._outline = None
        before: list[str] = []
        after: list[str] = []
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangeWholeDocument):
                before += self.records
                self._replace_all(change.text)
                after += self.records
                continue
            document, encoding = self.analysis.document, self.options.encoding
            ends = (change.range.start, change.range.end)
            points = (Position(each.line, each.character) for each in ends)
            start, end = sorted(document.point_at(each, encoding) for each in points)
            gone, came = self.analysis.edit(start, end, change.text)
            before += gone
            after += came
            self.near = document.lines[min(start.record, len(document.lines) - 1)]
        self.version = version
        return self.file is not None and self.file.changed(before, after)

    def use(self, options: DiagnosticOptions) -> bool:
        """Make diagnostics by these options from now on. Gives whether they differ from before."""
        if options == self.options:
            return False
        if options.rules != self.options.rules:
            self.analysis.use(options.rules)
        self.options = options
        self._maker = DiagnosticMaker(self.analysis, options)
        return True

    def compare_with(self, recorded: Sequence[str] | None) -> bool:
        """Judge by what git has of the trace from now on. Gives whether that is news."""
        self._recorded = recorded
        return self.analysis.compare_with(recorded)

    def outline(self) -> Task[Outline]:
        """The outline of this version, made once for all features that show it."""
        if self._outline is None:
            self._outline = SharedTask(outline(self.analysis))
        return self._outline.steps()

    def diagnostics(self) -> bytes:
        """The diagnostics of this version, a list as JSON text; none of what git has."""
        return b"[]" if self.is_old else self._maker.as_json(self.near)

    def findings_by_run(self) -> Mapping[str | None, int]:
        """See :meth:`Analysis.findings_by_run`; counted again only when findings have changed."""
        revision = self.analysis.finding_revision
        if self._counted is None or self._counted[0] != revision:
            self._counted = revision, self.analysis.findings_by_run()
        return self._counted[1]

    def _replace_all(self, text: str) -> None:
        self._replaced += 1
        self._counted = None
        path = unquote(self.uri)
        self.analysis: Analysis = Analysis(text, self.options.rules, path, self._recorded)
        self.analysis.expect_edits()
        self.near = None
        self._maker = DiagnosticMaker(self.analysis, self.options)


def is_trace_text(uri: str, text: str, language: str) -> bool:
    """Whether a document is a trace: by its name, by the language that it is opened in, or by what
    its text names. One that is called ``trace.jsonl`` is none if it holds something else.
    """
    path = Path(_key(uri)[0])
    if path.name == "trace.jsonl":
        return why_no_trace(text.split("\n")) is None
    return is_trace(path) or language == LANGUAGE or len(fields_named(text[:HEAD])) > 1


class Workspace:
    """The open traces by URI, however it is spelled."""

    def __init__(self) -> None:
        self._open: dict[_Key, OpenTrace] = {}
        self._seen: set[_Key] = set()
        self._moves = 0

    @property
    def edits(self) -> int:
        """Counts the changes of all traces, and how often one was opened or closed."""
        return self._moves + sum(trace.edits for trace in self)

    def __iter__(self) -> Iterator[OpenTrace]:
        return iter([*self._open.values()])

    def get(self, uri: str) -> OpenTrace | None:
        """The open trace with this URI."""
        return self._open.get(_key(uri))

    def open(self, trace: OpenTrace) -> None:
        """Add a trace. It replaces one that is open under the same URI."""
        self.close(trace.uri)
        self._open[_key(trace.uri)] = trace
        self._seen.add(_key(trace.uri))
        self._moves += 1

    def has_seen(self, uri: str) -> bool:
        """Whether a trace is or was open under this URI. Then the client may read it again."""
        return _key(uri) in self._seen

    def close(self, uri: str) -> bool:
        """Remove a trace. Gives whether it was open."""
        trace = self._open.pop(_key(uri), None)
        if trace is None:
            return False
        trace.edits += 1
        self._moves += trace.edits
        return True


def _key(uri: str) -> _Key:
    """One key for all spellings of a URI: ``file:///C:/a%20b`` is ``file:///c%3A/a b``."""
    stop = next((at for at, each in enumerate(uri) if each in "?#"), len(uri))
    path = unquote(uri[:stop], errors="surrogateescape")
    return _DRIVE.sub(lambda found: found[0].lower(), path), uri[stop:]
