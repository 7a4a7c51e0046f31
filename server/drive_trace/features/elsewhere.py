"""What all traces of the workspace together say of a run: for ``textDocument/hover``, behind the
card of the trace that is looked at, and in short for ``codeLens/resolve``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import quote

from drive_trace.scorecard.card import RunScore
from drive_trace.scorecard.render import code, rejections, unplaced
from drive_trace.scorecard.summary import RunSummary

_MOST = 8
"""Traces that are named; a hover is small."""
_LEFT_ALONE = "%/:?#@!$&'*+,;=~-._"
"""What of an address does not end a link."""


class Elsewhere(NamedTuple):
    """A run in all traces of the workspace."""

    run: RunScore
    """Joined; its parts are called as people know the traces."""
    here: RunScore | None
    """In the trace that is looked at alone."""
    uris: Sequence[str]
    """Where the parts stand, part by part."""
    own_uri: str
    unread: int = 0
    """How many traces of the workspace are not known yet."""


def elsewhere_markdown(said: Elsewhere) -> str | None:
    """The joined verdict and links to the other traces; None where no other trace has the run."""
    others = [each for each in zip(said.run.parts, said.uris, strict=True) if _is_other(each, said)]
    if not others:
        return _not_read(said.unread)
    count = len(others)
    lines = [
        f"**{said.run.headline}** · with the {count} other trace{'s' * (count > 1)} of the "
        f"workspace that hold{'s' * (count == 1)} this run{_decided_by(said)}"
    ]
    lines += [f"\n⚠ {each}." for each in (*rejections(said.run, code), *unplaced(said.run))]
    lines.append("")
    lines += [f"- {_link(part, uri)}: {_about(part)}" for part, uri in others[:_MOST]]
    if count > _MOST:
        lines.append(f"- and {count - _MOST:,} more")
    waiting = _not_read(said.unread)
    return "\n".join([*lines, *(("", waiting) if waiting else ())])


def elsewhere_short(said: Elsewhere) -> str | None:
    """The joined verdict, where it is another one than that of this trace alone, and certain."""
    others = sum(_is_other(each, said) for each in zip(said.run.parts, said.uris, strict=True))
    if not others or said.unread or (said.here is not None and said.here.gate == said.run.gate):
        return None
    return f"with {others} other trace{'s' * (others > 1)}: {said.run.headline}"


def _is_other(part: tuple[RunSummary, str], said: Elsewhere) -> bool:
    return part[1] != said.own_uri


def _decided_by(said: Elsewhere) -> str:
    decides = said.run.correctness
    if decides is None:
        return ""
    uris = [
        uri
        for part, uri in zip(said.run.parts, said.uris, strict=True)
        if part.correctness is decides
    ]
    if uris[0] == said.own_uri:
        return f", decided by line {decides.line} of this one"
    return (
        f", decided by [line {decides.line} of {code(decides.path)}]({_at(uris[0], decides.line)})"
    )


def _link(part: RunSummary, uri: str) -> str:
    return f"[{code(part.path)}]({_at(uri, part.first_line)})"


def _about(part: RunSummary) -> str:
    events = f"{part.event_count:,} event{'s' * (part.event_count != 1)}"
    if part.correctness is None:
        return f"{events}, not graded"
    values = part.correctness.values
    graded = ", ".join(f"{name} {value or 'not recorded'}" for name, value in values.items())
    return f"{events}, {graded}"


def _not_read(count: int) -> str | None:
    if not count:
        return None
    were = "traces of the workspace are" if count > 1 else "trace of the workspace is"
    return f"*{count:,} {were} not read yet.*"


def _at(uri: str, line: int) -> str:
    return f"{quote(uri, safe=_LEFT_ALONE)}#L{line}"
