"""What is said of a run because of other traces, apart from what its own trace says of it."""

from __future__ import annotations

import re

_VERDICT = r"(?:CORRECT|INCORRECT|not computable)[^\n]*? · with the \d+ other"
_CARD = re.compile(rf"\n\n(?:\*\*)?{_VERDICT}.*?(?=\n\n---\n|\n\n\n|\Z)", re.DOTALL)
_UNREAD = re.compile(r"\n\n\*?\d[\d,]* traces? of the workspace (?:is|are) not read yet\.\*?")
_LENS = re.compile(r" · with \d+ other traces?: [^·]*$")


def hover_alone(text: str) -> str:
    """A hover as it is where no other trace holds the run."""
    return _UNREAD.sub("", _CARD.sub("", text))


def lens_alone(title: str) -> str:
    """The same of a lens."""
    return _LENS.sub("", title)
