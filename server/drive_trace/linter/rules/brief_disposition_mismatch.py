"""`brief_disposition` says how a brief relates to the earlier ones of its dispatch: the first is
`initial`, one with the hash of an earlier one is a `reissue`, any other is `amended`. Where the
hashes say otherwise, brief stability is counted wrong.

Judged only where every brief of the dispatch has a sha256 in 64 hexadecimal digits, no rejected or
unknown line of the run names the dispatch, and the trace has its start; and not in a dispatch of
more than 100 briefs.

**Fix.** What the hashes say, as a suggestion: the hash may be the wrong one.
"""

from collections.abc import Iterable

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.entities.dispatches import Brief
from drive_trace.linter.rule import Example, Finding, Message, Related, Rule, Severity
from drive_trace.text.wording import shown
from drive_trace.trace.places import Place

_DISPOSITION = Place.value("brief_disposition")
_HASH = Place.value("brief_content_hash")


def _check(subject: Brief) -> Iterable[Finding]:
    line, first, same, expected = subject
    related: tuple[Related, ...] = ()
    why: Message = (": it is the first brief of its dispatch",)
    if same is not None:
        if line.is_copy_of(same):
            return  # duplicate-event-id says it
        why = (": it has the hash of the brief on line ", same)
        related = (Related(same, _HASH, "the same hash here"),)
    elif first is not None:
        why = (
            ": its hash is a new one among the dispatch's briefs, which start on line ",
            first,
        )
        related = (Related(first, _HASH, "the dispatch's first brief"),)
    found = shown(line.fact("brief_disposition"))
    message = (f'expected "{expected}", found {found}', *why)
    yield Finding(RULE, line, _DISPOSITION, message, related, expected=expected)


RULE = Rule(
    code="brief-disposition-mismatch",
    severity=Severity.WARNING,
    entity=Brief,
    check=_check,
    fixes=replace_with_expected,
    summary="A brief's disposition is not what the hashes of its dispatch say.",
)

_A, _B = "a" * 64, "b" * 64

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"brief-issued","brief_disposition":"initial"}
        EVENT{"event_type":"brief-issued","brief_disposition":"amended"}
        … it has the hash of the brief on line 2              ^^^^^^^^^
        """,
        """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"brief-issued","brief_disposition":"initial"}
        EVENT{"event_type":"brief-issued","brief_disposition":"reissue"}
        """,
        fix='Replace with "reissue"',
    ),
    Example(
        f"""
        EVENT{{"event_type":"dispatch-start"}}
        EVENT{{"event_type":"brief-issued","brief_disposition":"amended","brief_content_hash":"{_A}"}}
        … it is the first brief of its dispatch               ^^^^^^^^^
        EVENT{{"event_type":"brief-issued","brief_disposition":"initial","brief_content_hash":"{_B}"}}
        … its hash is a new one                               ^^^^^^^^^
        """,
        f"""
        EVENT{{"event_type":"dispatch-start"}}
        EVENT{{"event_type":"brief-issued","brief_disposition":"initial","brief_content_hash":"{_A}"}}
        EVENT{{"event_type":"brief-issued","brief_disposition":"initial","brief_content_hash":"{_B}"}}
        """,
    ),
    # Strings that are no hashes cannot be compared.
    Example(
        """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"brief-issued","brief_content_hash":"pending"}
        EVENT{"event_type":"brief-issued","brief_content_hash":"pending"}
        """
    ),
)
