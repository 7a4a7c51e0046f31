"""The traces that the client has open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.diagnostics import DiagnosticMaker, DiagnosticOptions
from drive_trace.features.outline import Outline, outline
from drive_trace.storage.merging import KnownFile
from drive_trace.storage.patterns import is_trace
from drive_trace.tasks import SharedTask, Task
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Document, Point, Position
from drive_trace.trace.line import FlaggedLine, Line, LineStatus
from drive_trace.trace.recognising import HEAD, fields_named, why_no_trace

LANGUAGE = "drive-trace"
"""The id of the language of traces."""
_Key = tuple[str, str]
_DRIVE = re.compile(r"(?i)\Afile:///[a-z](?=:)")


class OpenDocument:
    """A document as the client shows it; if it is nothing more, no trace, or not yet."""

    def __init__(self, uri: str, version: int, text: str, encoding: PositionEncoding) -> None:
        self.uri = uri
        self.version = version
        self._encoding = encoding
        self._last_replaced: tuple[list[str], list[str]] = [], []
        """The records that the last change has replaced, and those in their place."""
        self._replace_all(text)

    @property
    def records(self) -> list[str]:
        """Its text, record by record."""
        return [line.text for line in self.document.lines]

    def change(self, version: int, changes: Sequence[types.TextDocumentContentChangeEvent]) -> bool:
        """Carry out the client's edits, one after another. Returns whether somebody has to know."""
        before, after = self._last_replaced = [], []
        for change in changes:
            if isinstance(change, types.TextDocumentContentChangeWholeDocument):
                before += self.records
                self._replace_all(change.text)
                after += self.records
                continue
            document, encoding = self.document, self._encoding
            ends = (change.range.start, change.range.end)
            points = (Position(each.line, each.character) for each in ends)
            start, end = sorted(document.point_at(each, encoding) for each in points)
            replaced = self._edit(start, end, change.text)
            before += replaced[0]
            after += replaced[1]
        self.version = version
        return True

    def _replace_all(self, text: str) -> None:
        self.document = Document(text.split("\n"), _unread)

    def _edit(self, start: Point, end: Point, text: str) -> tuple[Sequence[str], Sequence[str]]:
        self.document.apply(self.document.splice(start, end, text))
        return (), ()


def _unread(records: Iterable[str]) -> list[Line]:
    return [FlaggedLine(each, LineStatus.UNKNOWN) for each in records]


class OpenTrace(OpenDocument):
    """A trace as the client shows it. Its text counts, not the file's."""

    def __init__(self, uri: str, version: int, text: str, options: DiagnosticOptions) -> None:
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
        super().__init__(uri, version, text, options.encoding)
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
        super().change(version, changes)
        replaced, self._last_replaced = self._last_replaced, ([], [])
        return self.file is not None and self.file.changed(*replaced)

    def _edit(self, start: Point, end: Point, text: str) -> tuple[Sequence[str], Sequence[str]]:
        replaced = self.analysis.edit(start, end, text)
        document = self.document
        self.near = document.lines[min(start.record, len(document.lines) - 1)]
        return replaced

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

    def findings_by_run(self) -> Task[Mapping[str | None, int]]:
        """See :meth:`Analysis.findings_by_run`; counted again only when findings have changed."""
        revision = self.analysis.finding_revision
        if self._counted is None or self._counted[0] != revision:
            self._counted = revision, (yield from self.analysis.findings_by_run())
        return self._counted[1]

    def _replace_all(self, text: str) -> None:
        self._replaced += 1
        self._counted = None
        path = unquote(self.uri)
        self.analysis: Analysis = Analysis(text, self.options.rules, path, self._recorded)
        self.document = self.analysis.document
        self.analysis.expect_edits()
        self.near = None
        self._maker = DiagnosticMaker(self.analysis, self.options)


def is_trace_text(uri: str, text: str, language: str | None = None) -> bool:
    """Whether a document is a trace: by its name, by the language that it is opened in, or by what
    its text names. One that is called ``trace.jsonl`` is none if it holds something else. Without a
    language it was opened as none, and the text alone decides.
    """
    path = Path(_key(uri)[0])
    if language is None:
        return len(fields_named(text[:HEAD])) > (not is_trace(path))
    if path.name == "trace.jsonl":
        return why_no_trace(text.split("\n")) is None
    return is_trace(path) or language == LANGUAGE or len(fields_named(text[:HEAD])) > 1


class Workspace:
    """The open traces by URI, however it is spelled."""

    def __init__(self) -> None:
        self._open: dict[_Key, OpenDocument] = {}
        self._seen: set[_Key] = set()
        self._moves = 0

    @property
    def edits(self) -> int:
        """Counts the changes of all traces, and how often one was opened or closed."""
        return self._moves + sum(trace.edits for trace in self)

    def __iter__(self) -> Iterator[OpenTrace]:
        return iter([each for each in self._open.values() if isinstance(each, OpenTrace)])

    def get(self, uri: str) -> OpenTrace | None:
        """The open trace with this URI."""
        found = self.document(uri)
        return found if isinstance(found, OpenTrace) else None

    def document(self, uri: str) -> OpenDocument | None:
        """The open document with this URI, which need be no trace."""
        return self._open.get(_key(uri))

    def open(self, document: OpenDocument) -> None:
        """Add a document. It replaces one that is open under the same URI."""
        self.close(document.uri)
        self._open[_key(document.uri)] = document
        self._seen.add(_key(document.uri))
        self._moves += 1

    def has_seen(self, uri: str) -> bool:
        """Whether a trace is or was open under this URI. Then the client may read it again."""
        return _key(uri) in self._seen

    def close(self, uri: str) -> bool:
        """Remove a trace. Gives whether it was open."""
        trace = self._open.pop(_key(uri), None)
        if not isinstance(trace, OpenTrace):
            return False
        trace.edits += 1
        self._moves += trace.edits
        return True


def _key(uri: str) -> _Key:
    """One key for all spellings of a URI: ``file:///C:/a%20b`` is ``file:///c%3A/a b``."""
    stop = next((at for at, each in enumerate(uri) if each in "?#"), len(uri))
    path = unquote(uri[:stop], errors="surrogateescape")
    return _DRIVE.sub(lambda found: found[0].lower(), path), uri[stop:]
