"""A run over all its files in one folder of the workspace: the verdict that every view leads with,
what the file that is looked at says alone where that differs, and which file decides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias
from urllib.parse import quote

from drive_trace.scorecard.card import RunScore
from drive_trace.scorecard.caveats import CaveatCode
from drive_trace.scorecard.render import card_markdown, lens_title
from drive_trace.scorecard.summary import RunSummary
from drive_trace.scorecard.verdict import NO_SIGNAL
from drive_trace.text.escaping import code, plain, printable

_MOST = 8
"""Files that are named; a hover is small."""
_LEFT_ALONE = "%/:?#@!$&'*+,;=~-._"
"""What of an address does not end a link."""


class JoinedRun(NamedTuple):
    """A run in all its files, as asked of one of them."""

    run: RunScore
    """Over all files; its parts are called as people know the traces."""
    here: RunScore | None
    """By the file that is looked at alone; None where that has no valid event of the run."""
    uris: Sequence[str]
    """Where the parts stand, part by part."""
    own_uri: str
    waiting: int | None = 0
    """How many traces of the folder are not read yet; None where it has not been searched."""

    @property
    def headline(self) -> str:
        """The verdict in a few words, and that it is not the last one while files wait."""
        return self.run.headline if self.waiting == 0 else f"{self.run.headline} so far"

    @property
    def title(self) -> str:
        """The verdict, what it stands on, then efficiency, and what was rejected."""
        verdict = " · ".join(filter(None, (self.headline, self._waiting, self.alone, self.decider)))
        return lens_title(self.run, verdict)

    @property
    def alone(self) -> str | None:
        """What this file alone says, where that differs."""
        if self.here is None or self.here.headline == self.run.headline:
            return None
        is_graded = self.here.gate.missing != (NO_SIGNAL,)
        return f"this file alone: {self.here.headline if is_graded else 'not graded'}"

    @property
    def decider(self) -> str | None:
        """Which other file decides."""
        found = self._deciding
        if found is None or found[1] == self.own_uri or len(self.uris) == 1:
            return None
        # Enough to tell files apart; and no name is an icon.
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
        """What keeps the files' grades from being known: some are not read yet, or cannot be."""
        unread = (each for each in self.run.caveats if each.code is CaveatCode.UNREAD_INPUT)
        return self._waiting or next((each.sentence(printable) for each in unread), None)

    @property
    def markdown(self) -> str:
        """The card of the run, and the files that hold it."""
        lines = [card_markdown(self.run, self.headline)]
        if self._waiting:
            lines += ["", f"*{self._waiting}.*"]
        if len(self.uris) > 1 or self.own_uri not in self.uris:
            lines += ["", *self._files()]
        return "\n".join(lines)

    @property
    def _waiting(self) -> str | None:
        if self.waiting is None:
            return "the workspace is not read yet"
        count = self.waiting
        return f"{count:,} trace{'s' * (count > 1)} not read yet" if count else None

    @property
    def _deciding(self) -> tuple[RunSummary, str] | None:
        """The part whose grade counts, and its address."""
        decides = self.run.correctness
        for part, uri in zip(self.run.parts, self.uris, strict=True):
            if decides is not None and part.correctness is decides:
                return part, uri
        return None

    def _files(self) -> Sequence[str]:
        """The deciding file first, then this one, then the others in their order."""
        deciding = self._deciding
        files = sorted(
            zip(self.run.parts, self.uris, strict=True),
            key=lambda each: (each != deciding, each[1] != self.own_uri),
        )
        count = len(files)
        alone = f"; {self.alone}" if self.alone else ""
        said = f"{count} file{'s' * (count > 1)} of the workspace folder"
        lines = [f"*Joined over {said}{alone}.*", ""]
        for part, uri in files[:_MOST]:
            own = " (this file)" if uri == self.own_uri else ""
            decides = ""
            if (part, uri) == deciding and part.correctness is not None:
                line = part.correctness.line
                decides = f", decides on [line {line}]({_at(uri, line)})"
            link = f"[{code(part.path)}]({_at(uri, part.first_line)})"
            lines.append(f"- {link}{own}: {_about(part)}{decides}")
        if count > _MOST:
            lines.append(f"- and {count - _MOST:,} more")
        return lines


Joined: TypeAlias = Callable[[str], JoinedRun | None]
"""Gives a run over all its files by its id; None where no other file is known."""


def nothing_joined(_: str) -> None:
    """No other file is known of any run."""


def of_one_file(run: RunScore, uri: str = "") -> JoinedRun:
    """A run of which no other file is known."""
    return JoinedRun(run, run, [uri for _ in run.parts], uri)


def _about(part: RunSummary) -> str:
    events = f"{part.event_count:,} event{'s' * (part.event_count != 1)}"
    if part.correctness is None:
        return f"{events}, not graded"
    values = part.correctness.values
    graded = ", ".join(f"{name} {value or 'not recorded'}" for name, value in values.items())
    return f"{events}, {graded}"


def _at(uri: str, line: int) -> str:
    return f"{quote(uri, safe=_LEFT_ALONE)}#L{line}"
