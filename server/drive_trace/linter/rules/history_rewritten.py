"""A trace is append-only: what was recorded stays as it is, and what came later stands below. In a
git checkout, this rule compares the trace with the last commit, `HEAD`: a line that `HEAD` has was
changed, or is gone. A verdict that is changed without a trace of it is worth nothing.

A line may be laid out anew, and the copy of a line may go. A line that readers reject may be
mended, but one of a feed: what it was meant to say decides a verdict. Lines that were put in
between are not reported. A moved line is still there. At most 16 places are marked.

Outside of a git checkout, of a file that is not committed, and where git does not respond within
10 seconds, the rule is silent. It runs `git cat-file`, in `check` once for all traces of a
repository, and nothing that the repository names, and never asks the network. An editor looks at
`HEAD` again when a trace is opened or saved.

**Fix.** The line as `HEAD` has it, as a suggestion.
"""

from collections.abc import Iterable

from drive_trace.linter.entities.recorded import Rewritten
from drive_trace.linter.rule import (
    Edit,
    Example,
    Finding,
    Fix,
    Level,
    Message,
    Related,
    Rule,
    Severity,
)
from drive_trace.text.escaping import printable
from drive_trace.text.spans import Span
from drive_trace.text.wording import plural
from drive_trace.trace.places import Place

_MOST = 600
"""The most characters that are shown of an old line."""


def _check(subject: Rewritten) -> Iterable[Finding]:
    line, old, number, gone, is_below = subject
    text = line.text.removesuffix("\r")
    message: Message = f"this line was changed since it was committed, as line {number} of HEAD"
    place: Place | Span = _changed(old, text)
    if gone:
        where = "below" if is_below else "above"
        are = "is" if gone == 1 else "are"
        lines = plural(gone, "line")
        message = f"{lines} {where} this one {are} gone, which HEAD has from line {number} on"
        place = Place.value("event_type") if line.event is not None else Span(0, len(text))
    related = (Related(line, place, f"line {number} of HEAD: {printable(old, _MOST)}"),)
    yield Finding(RULE, line, place, message, related, expected=None if gone else old)


def _changed(old: str, new: str) -> Span:
    """The part of a line that is another one than before."""
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    return Span(start, len(new) - end)


def _alike(one: str, other: str) -> int:
    """How many characters at the start are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _fixes(finding: Finding) -> Iterable[Fix]:
    if finding.expected is not None:
        whole = Span(0, len(finding.line.text.removesuffix("\r")))
        edit = Edit(finding.line, whole, str(finding.expected))
        yield Fix("Put back the line that HEAD has", Level.BY_HAND, (edit,))


RULE = Rule(
    code="history-rewritten",
    severity=Severity.WARNING,
    entity=Rewritten,
    check=_check,
    fixes=_fixes,
    summary="A line that was committed to git was changed or removed.",
)

_COMMITTED = """
        EVENT{"event_type":"dispatch-end","result":"failed"}
        EVENT{"event_type":"triage-verdict","input_ref":null}
        EVENT{"event_type":"correctness-recorded","qa":"fail"}
"""

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"dispatch-end","result":"failed"}
        EVENT{"event_type":"triage-verdict","input_ref":null}
        EVENT{"event_type":"correctness-recorded","qa":"pass"}
        … changed since it was committed, as line 3     ^^^^
        """,
        _COMMITTED,
        head=_COMMITTED,
    ),
    Example(
        """
        EVENT{"event_type":"dispatch-end","result":"failed"}
                           ^^^^^^^^^^^^^^ … 2 lines below this one are gone
        """,
        head=_COMMITTED,
    ),
    # What is new stands below; the copy of a line may go, and so may white space.
    Example(
        """
        EVENT{"event_type":"dispatch-end","result":"failed"}
        EVENT{"event_type":"triage-verdict","input_ref":null}
        EVENT{"event_type":"correctness-recorded","qa":"fail"}
        EVENT{"event_type":"correctness-recorded","qa":"pass"}
        """,
        head=_COMMITTED,
    ),
)
