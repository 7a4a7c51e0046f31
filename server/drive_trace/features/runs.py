"""``driveTrace/runs``, ``run`` and ``runAt``: a run over all its files in one workspace folder.

Every view starts with the verdict, adds that of the open file alone if it differs, and names the
file that decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.grades import verdicts
from drive_trace.features.markup import markup
from drive_trace.scorecard.card import ScoreCard
from drive_trace.scorecard.caveats import CaveatCode
from drive_trace.scorecard.render import lens_title, not_read, run_card
from drive_trace.scorecard.run_score import RunInFile, RunScore
from drive_trace.scorecard.verdict import NOT_GRADED
from drive_trace.text import document as doc
from drive_trace.text.escaping import plain, printable
from drive_trace.text.wording import plural
from drive_trace.trace.document import Point
from drive_trace.trace.references import run_id_of
from drive_trace.trace.scope import scope_at
from drive_trace.trace.times import sortable

_MOST = 8
"""The most files that a hover names."""
_LEFT_ALONE = "%/:?#@!$&'*+,;=~-._"
"""The characters of a URL that do not end a Markdown link."""


class JoinedRun(NamedTuple):
    """A run in all its files, seen from one of them."""

    run: RunScore
    """Over all files. The paths of its parts are the names of the traces for people."""
    here: RunScore | None
    """By the open file alone; None if that has no line of the run."""
    uris: Sequence[str]
    """The URIs of the parts, in the same order."""
    own_uri: str
    waiting: int | None = 0
    """How many traces of the folder are still unread; None if it has not been searched."""

    @property
    def headline(self) -> str:
        """The verdict in a few words, with “so far” while traces are unread."""
        return self._so_far(NOT_GRADED if self.run.gate.is_ungraded else self.run.headline)

    @property
    def full_headline(self) -> str:
        """The same with each missing input in full."""
        return self._so_far(self.run.headline)

    @property
    def title(self) -> str:
        """The verdict and what it is based on, then efficiency and rejected lines."""
        verdict = " · ".join(filter(None, (self.headline, self._waiting, self.alone, self.decider)))
        return lens_title(self.run, verdict)

    @property
    def tooltip(self) -> str:
        """The title, and what is missing."""
        no_signal = f"{NOT_GRADED} (no correctness signal)"
        is_ungraded = self.run.gate.is_ungraded
        return self.title.replace(NOT_GRADED, no_signal, 1) if is_ungraded else self.title

    def _so_far(self, verdict: str) -> str:
        return verdict if self.waiting == 0 else f"{verdict} so far"

    @property
    def alone(self) -> str | None:
        """The verdict by this file alone, if it differs."""
        if self.here is None or self.here.headline == self.run.headline:
            return None
        is_ungraded = self.here.gate.is_ungraded
        return f"this file alone: {'not graded' if is_ungraded else self.here.headline}"

    @property
    def decider(self) -> str | None:
        """The other file whose grade decides, if one does."""
        found = self._deciding
        if found is None or found[1] == self.own_uri or len(self.uris) == 1:
            return None
        # Two steps are enough to tell files apart. `$(` would begin an icon.
        name = plain("/".join(found[0].path.split("/")[-2:]), 60).replace("$(", "$ (")
        return f"decided by {name}"

    @property
    def supersedes(self) -> str | None:
        """The line of another file that counts in place of this file's grade."""
        found = self._deciding
        if found is None or found[1] == self.own_uri or found[0].correctness is None:
            return None
        return f"line {found[0].correctness.line} of {plain(found[0].path, 60)}"

    @property
    def lack(self) -> str | None:
        """Why the grades of all files are not known: some are still unread, or cannot be read."""
        unread = (each for each in self.run.caveats if each.code is CaveatCode.UNREAD_INPUT)
        return self._waiting or next((each.sentence(printable) for each in unread), None)

    @property
    def markdown(self) -> str:
        """The card of the run, with its files."""
        blocks = run_card(self.run, self.full_headline)
        if self._waiting:
            blocks.append(doc.Paragraph(doc.soft(f"{self._waiting}.")))
        if len(self.uris) > 1 or self.own_uri not in self.uris:
            blocks += self._files()
        return doc.as_markdown(blocks)

    @property
    def _waiting(self) -> str | None:
        if self.waiting is None:
            return "the workspace is not read yet"
        count = self.waiting
        return f"{plural(count, 'trace')} not read yet" if count else None

    @property
    def _deciding(self) -> tuple[RunInFile, str] | None:
        """The part whose grade counts, and its URI."""
        for part, uri in zip(self.run.parts, self.uris, strict=True):
            if self.run.has_recorded(part):
                return part, uri
        return None

    def _files(self) -> list[doc.Block]:
        """The deciding file first, then this one, then the others in their order."""
        deciding = self._deciding
        files = sorted(
            zip(self.run.parts, self.uris, strict=True),
            key=lambda each: (each != deciding, each[1] != self.own_uri),
        )
        count = len(files)
        alone = f"; {self.alone}" if self.alone else ""
        files_of = f"{plural(count, 'file')} of the workspace folder"
        items = []
        for part, uri in files[:_MOST]:
            own = " (this file)" if uri == self.own_uri else ""
            decides = ""
            if (part, uri) == deciding and part.correctness is not None:
                line = part.correctness.line
                decides = f", decides on {doc.link(_at(uri, line), f'line {line}')}"
            named = doc.named_link(_at(uri, part.first_line), part.path)
            items.append(f"{named}{own}: {_about(part)}{decides}")
        if count > _MOST:
            items.append(f"and {count - _MOST:,} more")
        joined = doc.soft(f"Joined over {files_of}{alone}.")
        return [doc.Paragraph(joined), doc.Bullets(items)]


Joined: TypeAlias = Callable[[str], JoinedRun | None]
"""Gives a run over all its files by its id; None if no other file is known."""


def nothing_joined(_: str) -> None:
    """No other file is known of any run."""


def of_one_file(run: RunScore, uri: str = "") -> JoinedRun:
    """A run of which no other file is known."""
    return JoinedRun(run, run, [uri for _ in run.parts], uri)


def _about(part: RunInFile) -> str:
    events = plural(part.event_count, "event")
    if part.correctness is None:
        return f"{events}, not graded"
    values = part.correctness.values
    graded = ", ".join(f"{name} {value or 'not recorded'}" for name, value in values.items())
    return f"{events}, {graded}"


def _at(uri: str, line: int) -> str:
    return f"{quote(uri, safe=_LEFT_ALONE)}#L{line}"


# ``driveTrace/runs``, ``run`` and ``runAt``


class RunFile(NamedTuple):
    """A trace with a part of a run."""

    uri: str
    name: str
    """The name that people see."""
    line: int
    """The run's first one, from 0."""
    events: int
    findings: int
    """On the lines of the run."""
    correctness: Mapping[str, object] | None
    """The grade by this trace alone, by component."""


def run_json(joined: JoinedRun, folder: str | None, files: Sequence[RunFile]) -> dict[str, object]:
    """A run over all its files, with its folder if the workspace has several, and the moment of
    its last event in a form that sorts.
    """
    moments = (sortable(part.last) for part in joined.run.parts if part.last is not None)
    return {
        **_run_summary(joined),
        "last": max(filter(None, moments), default=None),
        "folder": folder,
        "findings": sum(each.findings for each in files),
        "files": [each._asdict() for each in files],
    }


def headlines_of(card: ScoreCard, *, is_final: bool) -> Iterator[str]:
    """All verdicts in a few words, as `score` prints them, and the unreadable traces."""
    if card.runs:
        yield card.headline if is_final else f"{card.headline} so far"
    yield from map(doc.unmarked, not_read(card))


def run_near(analysis: Analysis, point: Point) -> str | None:
    """The run at a point. On a line that names none, the run of an event that were added there."""
    lines = analysis.document.lines
    known = run_id_of(lines[point.record])
    return known or scope_at(analysis.index, lines, point.record).run_id


def graded_json(joined: JoinedRun) -> dict[str, object]:
    """A run with the grade that counts, and the verdict of each grade that can be recorded."""
    recorded = joined.run.correctness
    return {
        **_run_summary(joined),
        "correctness": dict(recorded.values) if recorded is not None else None,
        "verdicts": verdicts(),
    }


def run_at_json(joined: JoinedRun, kind: types.MarkupKind) -> dict[str, object]:
    """A run with its card, seen from one of its files."""
    return {
        **_run_summary(joined),
        "alone": joined.alone,
        "card": markup(joined.markdown, kind).value,
    }


def _run_summary(joined: JoinedRun) -> dict[str, object]:
    """A run with its verdict; the label is its id, escaped."""
    return {
        "runId": joined.run.run_id,
        "label": printable(joined.run.run_id),
        "verdict": str(joined.run.gate.verdict),
        "earned": joined.run.is_earned and joined.waiting == 0,
        "headline": joined.headline,
        "title": joined.tooltip,
        "caveats": [each.sentence(printable) for each in joined.run.caveats],
    }
