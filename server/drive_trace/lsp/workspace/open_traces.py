"""The traces that the client has open."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import count
from pathlib import Path
from typing import TypeAlias, TypeVar, cast
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from drive_trace.analysis import Analysis
from drive_trace.features.findings import DiagnosticMaker, DiagnosticOptions
from drive_trace.features.structure import Outline, outline
from drive_trace.lsp.rpc.capabilities import DocumentKey, key_of
from drive_trace.lsp.rpc.threads import Readers, in_background, in_thread
from drive_trace.scorecard.run_lines import TraceLines
from drive_trace.scorecard.scoring import stray_grades
from drive_trace.stopping import StoppedError
from drive_trace.storage.followed_file import HAS_LONG_LINE, KnownFile, has_long_line
from drive_trace.storage.patterns import is_trace
from drive_trace.text.spans import LongText, pieces_of, records_of
from drive_trace.trace.document import Document, Point, Position
from drive_trace.trace.history import History
from drive_trace.trace.joined import JoinedFiles
from drive_trace.trace.line import HEAD, FlaggedLine, Line, LineStatus, fields_named, why_no_trace
from drive_trace.trace.provenance import ProvenanceRecord

LANGUAGE = "drive-trace"
"""The id of the language of traces."""
LARGE = 1 << 17
"""Characters, some 350 lines. What is done with a smaller text on the loop takes no 50 ms."""
_LONG = 1 << 12
"""A longer record, five times as long as any real one that we know, may consist of so many values
that each of its characters counts as 32.
"""
MOST_LINES = 200_000
"""What more lines have is not worked on in an editor: 64 MB of events have fewer."""
_HAS_MANY_LINES = f"has more than {MOST_LINES:,} lines"
Past: TypeAlias = tuple[History, ProvenanceRecord | None]
"""What git has of a trace, and the record of where its events come from."""
Result = TypeVar("Result")
_texts = count()


NewText: TypeAlias = tuple[DiagnosticMaker, bool]
"""A whole text that edits lead to, and whether lines of the trace's file may come or go with it."""


class TooLargeError(Exception):
    """A text has more than :data:`MOST_LINES`, or one that is too long. The message says which."""


def size_of(text: str) -> int:
    """The characters of a text, whatever its pieces are; of a short one as work with it counts."""
    pieces = pieces_of(text)
    size = sum(map(len, pieces)) + len(pieces) - 1
    return size if size >= LARGE else sum(map(_size_of_record, records_of(text)))


def _size_of_record(record: str) -> int:
    size = len(record) + 1
    return size if size <= _LONG else size * 32


def _refuse_large(text: str) -> None:
    """Raise TooLargeError for a text that no editor should work on, soon."""
    pieces = pieces_of(text)
    newlines, returns = (sum(piece.count(end) for piece in pieces) for end in "\n\r")
    if max(len(pieces) - 1 + newlines, returns) > MOST_LINES:
        raise TooLargeError(_HAS_MANY_LINES)
    if has_long_line(records_of(text)):
        raise TooLargeError(HAS_LONG_LINE)


class OpenTrace:
    """A trace as the client shows it. Its text counts, not the file's."""

    def __init__(self, uri: str, version: int, text: str, options: DiagnosticOptions) -> None:
        self.uri = uri
        self.version = version
        self.options = options
        self.near: Line | None = None
        """The line of the last edit."""
        self.published: tuple[int, bytes] | None = None
        """The version and the diagnostics that the client was sent last."""
        self.file: KnownFile | None = None
        """The file that the client has read it from, if it has read one."""
        self.told_until = 0.0
        """The client was told to put lines into it for a save. If it asks again before this time,
        without a change, that is about the same save.
        """
        self.edits = 0
        """Counts the changes by the client. A response begun before the last one is out of date."""
        self._replaced = 0
        self.readers = Readers()
        """What reads it in threads, to be stopped before each change."""
        self._outline: Outline | None = None
        self._known: Past = History(), None
        self._replace_all(text)
        self.shown_score = self.score_revision
        """The revision of the score that the client's lenses show."""

    @property
    def is_old(self) -> bool:
        """Whether it is a version that git has of a file, shown beside the file in a diff."""
        return self.uri.startswith("git:")

    @property
    def is_large(self) -> bool:
        """Whether work on all of it takes so long that others must not wait for it."""
        return self.size >= LARGE

    @property
    def records(self) -> list[str]:
        """The text of each record."""
        return [line.text for line in self.analysis.document.lines]

    @property
    def score_revision(self) -> tuple[int, int]:
        """Changes when a verdict, a metric or the rejected lines may have changed."""
        return self._replaced, self.analysis.score_revision

    def read(self, text: str) -> DiagnosticMaker:
        """The trace with another text, for :meth:`change`. May be called in a thread. Raises
        TooLargeError.
        """
        _refuse_large(text)
        history, provenance = self._known
        path = unquote(self.uri)
        analysis = Analysis(text, self.options.rules, path, history.head, provenance)
        analysis.expect_edits()
        stray_grades(TraceLines(analysis.index))
        return DiagnosticMaker(analysis, self.options)

    def read_anew(self, text: str) -> NewText:
        """The same, and what it changes of its file. May be called in a thread."""
        maker, moves_lines = self.read(text), False
        if self.file is not None:
            old, new = self.records, [line.text for line in maker.analysis.document.lines]
            differ = (at for at, (a, b) in enumerate(zip(old, new, strict=False)) if a != b)
            alike = next(differ, min(len(old), len(new)))
            moves_lines = self.file.changed(old[alike:], new[alike:])
        return maker, moves_lines

    def takes_long(self, changes: Sequence[types.TextDocumentContentChangeEvent]) -> bool:
        """Whether reading what the client's edits lead to takes long."""
        if (at := _last_whole(changes)) is not None:
            return size_of(changes[at].text) >= LARGE
        document = self.analysis.document
        if document.is_divided:
            return self.is_large
        lines, cost = document.lines, 0
        for each in cast("Sequence[types.TextDocumentContentChangePartial]", changes):
            start, end = self._points(document, each.range)
            touched = lines[start.record : end.record + 1]
            # The least edit takes as long as reading so many characters.
            cost += sum(_size_of_record(line.text) for line in touched)
            cost += size_of(each.text) + 1_000
            if each.text.count("\n") != end.record - start.record:
                cost += len(lines) - end.record  # each of these gets another number
        return cost >= LARGE

    def as_whole(
        self, changes: Sequence[types.TextDocumentContentChangeEvent]
    ) -> types.TextDocumentContentChangeWholeDocument:
        """The whole text that the client's edits lead to. May be called in a thread. Raises
        TooLargeError.
        """
        for each in changes:
            _refuse_large(each.text)
        if isinstance(changes[-1], types.TextDocumentContentChangeWholeDocument):
            return changes[-1]
        at = _last_whole(changes)
        unread = cache(partial(FlaggedLine, status=LineStatus.VALID))  # of equal ones one
        records = self.records if at is None else records_of(changes[at].text)
        document = Document(records, lambda texts: [unread(each) for each in texts])
        for each in changes[0 if at is None else at + 1 :]:
            where = cast("types.TextDocumentContentChangePartial", each).range
            document.apply(document.splice(*self._points(document, where), each.text))
        whole = LongText([line.text for line in document.lines])
        return types.TextDocumentContentChangeWholeDocument(whole)

    def _points(self, document: Document, where: types.Range) -> tuple[Point, Point]:
        encoding = self.options.encoding
        positions = (Position(each.line, each.character) for each in (where.start, where.end))
        start, end = sorted(document.point_at(each, encoding) for each in positions)
        return start, end

    def change(
        self,
        version: int,
        changes: Sequence[types.TextDocumentContentChangeEvent],
        read: NewText | None = None,
    ) -> bool:
        """Carry out the client's edits, one after another. The last whole text among them may have
        been read already. Returns whether lines of its file may have come or gone with them. Raises
        TooLargeError.
        """
        self.readers.stop()
        self.edits += 1
        self.told_until = 0.0
        self._outline = None
        moves_lines = False
        before: list[str] = []
        after: list[str] = []
        for change in changes[_last_whole(changes) or 0 :]:
            if isinstance(change, types.TextDocumentContentChangeWholeDocument):
                maker, moves_lines = read or self.read_anew(change.text)
                self._replace_all(change.text, maker)
                continue
            self.size += len(change.text)
            start, end = self._points(self.analysis.document, change.range)
            gone, came = self.analysis.edit(start, end, change.text)
            before += gone
            after += came
            document = self.analysis.document
            if len(document.lines) > MOST_LINES + 1:  # the last one is empty
                raise TooLargeError(_HAS_MANY_LINES)
            self.near = document.lines[min(start.record, len(document.lines) - 1)]
        self.version = version
        if self.file is not None and (before or after):
            moves_lines |= self.file.changed(before, after)
        return moves_lines

    def use(self, options: DiagnosticOptions) -> bool:
        """Make diagnostics by these options from now on. Gives whether they differ from before."""
        if options == self.options:
            return False
        self.readers.stop()
        if options.rules != self.options.rules:
            self.analysis.use(options.rules)
        self.options = options
        self._maker = DiagnosticMaker(self.analysis, options)
        return True

    def join(self, files: JoinedFiles | None, file: int) -> bool:
        """Judge the trace together with others from now on; see :meth:`Analysis.join`."""
        self.readers.stop()
        return self.analysis.join(files, file)

    def compare_with(self, known: Past) -> bool:
        """Judge by what is known of the trace from elsewhere. Gives whether that is news."""
        self.readers.stop()
        self._known = known
        return self.analysis.compare_with(*known)

    def outline(self) -> Outline:
        """The outline of this version, made once for all features that show it."""
        if self._outline is None:
            self._outline = outline(self.analysis)
        return self._outline

    def diagnostics(self) -> bytes:
        """The diagnostics of this version, a list as JSON text; none of what git has."""
        return b"[]" if self.is_old else self._maker.as_json(self.near)

    def _replace_all(self, text: str, read: DiagnosticMaker | None = None) -> None:
        self._replaced += 1
        self.opened = next(_texts)
        """Of each whole text another number, of whatever trace."""
        self.size = size_of(text)
        """Characters of the text, and of all that was typed since it was opened."""
        self.near = None
        self._maker = read if read is not None else self.read(text)
        self.analysis: Analysis = self._maker.analysis
        if self._maker.options != self.options:  # which are others since that began
            if self._maker.options.rules != self.options.rules:
                self.analysis.use(self.options.rules)
            self._maker = DiagnosticMaker(self.analysis, self.options)
        self.analysis.compare_with(*self._known)


def _last_whole(changes: Sequence[types.TextDocumentContentChangeEvent]) -> int | None:
    """What stands before the last whole text changes nothing."""
    whole = types.TextDocumentContentChangeWholeDocument
    found = (at for at, change in enumerate(changes) if isinstance(change, whole))
    return max(found, default=None)


def check_unchanged(trace: OpenTrace, edits: int) -> None:
    """Raise JsonRpcContentModified if a trace has had more changes than that."""
    if trace.edits != edits:
        raise JsonRpcContentModified("the trace has changed meanwhile")


def is_trace_text(uri: str, text: str, language: str) -> bool:
    """Whether a document is a trace: by its name, by the language that it is opened in, or by what
    its text names. One that is called ``trace.jsonl`` is none if it holds something else.
    """
    path = Path(key_of(uri)[0])
    if path.name == "trace.jsonl":
        return why_no_trace(records_of(text)) is None
    return is_trace(path) or language == LANGUAGE or len(fields_named(text[:HEAD])) > 1


class Workspace:
    """The open traces by URI, however it is spelled."""

    def __init__(self) -> None:
        self._open: dict[DocumentKey, OpenTrace] = {}
        self._seen: set[DocumentKey] = set()
        self.refused: dict[DocumentKey, tuple[str, str]] = {}
        """The URIs of documents that are open, but too large to be read, each with what is said."""
        self.readers = Readers()

    def takes_long(self, trace: OpenTrace) -> bool:
        """Whether work on a trace, and on the others beside it, takes so long that others must not
        wait for it.
        """
        return trace.is_large or any(each.is_large for each in self._open.values())

    async def result_of(self, trace: OpenTrace, work: Callable[[], Result]) -> Result:
        """The result of some work on a trace: at once if that is small, else from a thread. Raises
        JsonRpcContentModified if the trace changes meanwhile.
        """
        if not self.takes_long(trace):
            return work()
        edits = trace.edits
        while True:
            with suppress(StoppedError):
                result = await self.readers.read(work)
                check_unchanged(trace, edits)
                return result
            check_unchanged(trace, edits)  # else it was another trace that has changed

    async def diagnostics_of(self, trace: OpenTrace) -> bytes:
        """The diagnostics of a trace as it is when they are ready. Those of a large one have to
        wait for a pause in the typing.
        """
        while True:
            with suppress(JsonRpcContentModified):
                return await self.result_of(trace, trace.diagnostics)

    def __iter__(self) -> Iterator[OpenTrace]:
        return iter([*self._open.values()])

    def get(self, uri: str) -> OpenTrace | None:
        """The open trace with this URI."""
        return self._open.get(key_of(uri))

    def open(self, trace: OpenTrace) -> None:
        """Add a trace. It replaces one that is open under the same URI."""
        self.close(trace.uri)
        trace.readers = self.readers
        self._open[key_of(trace.uri)] = trace
        self._seen.add(key_of(trace.uri))

    def has_seen(self, uri: str) -> bool:
        """Whether a trace is or was open under this URI. Then the client may read it again."""
        return key_of(uri) in self._seen

    def close(self, uri: str) -> bool:
        """Remove a trace. Gives whether it was open."""
        trace = self._open.pop(key_of(uri), None)
        if trace is None:
            return False
        trace.edits += 1
        if trace.is_large:
            in_background(in_thread(let_go, [trace.analysis]))
        return True


def let_go(held: list[Analysis]) -> None:
    """Let go of large traces, line by line: to free millions at once keeps other threads waiting.
    To be called in a thread, with the last that hold them.
    """
    lines = [line for each in held for line in each.document.lines]
    held.clear()
    while lines:
        del lines[-10_000:]
