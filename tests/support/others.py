"""What is said of a run because of other traces, apart from what its own trace says of it."""

import re

_VERDICT = r"(?:CORRECT|INCORRECT|not computable)[^\n]*? · with the \d+ other"
_CARD = re.compile(rf"\n\n(?:\*\*)?{_VERDICT}.*?(?=\n\n---\n|\n\n\n|\Z)", re.DOTALL)
_UNREAD = re.compile(
    r"\n\n\*?(?:\d[\d,]* traces?(?: of the workspace (?:is|are))?|the workspace is)"
    r" not read yet\.\*?"
)
_SO_FAR = re.compile(r" so far(?: · (?:the workspace is|\d[\d,]* traces?) not read yet)?")
_OWN_NAME = re.compile(r"(?<=⚠ )[^\n]*?: (?=another run has the same events)")
_LENS = re.compile(r" · with \d+ other traces?: [^·]*$")


def hover_alone(text: str) -> str:
    """A hover as it is where no other trace holds the run, and its own has no name."""
    return _OWN_NAME.sub("", _SO_FAR.sub("", _UNREAD.sub("", _CARD.sub("", text))))


def lens_alone(title: str) -> str:
    """The same of a lens."""
    return name_alone(_LENS.sub("", title))


def name_alone(name: str) -> str:
    """The same of any text that names a verdict."""
    return _SO_FAR.sub("", name)
