"""Reads unquoted text in the place of a JSON value as its writer meant it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from drive_trace.json_text.nodes import Node, NodeKind, ProblemKind
from drive_trace.json_text.pairs import SCALAR_WORD, number, scalar
from drive_trace.json_text.problems import Report, quote

if TYPE_CHECKING:
    from drive_trace.text.spans import Span

GAPS = frozenset({"number", "count", "milliseconds", "tokens", "bytes"})
"""Placeholders for a number that somebody still has to fill in; inserted fields have them."""

_NOT_FINITE = re.compile(r"[+-]?(?:NaN|Inf(?:inity)?)", re.IGNORECASE)
_PYTHON = {"True": "true", "False": "false", "None": "null"}
_OTHER_LITERALS = {
    "true": "true",
    "false": "false",
    "null": "null",
    "none": "null",
    "nil": "null",
    "undefined": "null",
}
_ODD_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*+)(?P<point>\.?)(?P<part>[0-9]*+)"
    r"(?P<exponent>(?:[eE][+-]?[0-9]*+)?)"
)
GROUPED_NUMBER = re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_OTHER_NUMBER = re.compile(r"[+-]?(?:0[xX][0-9a-fA-F]++|0[oO][0-7]++|0[bB][01]++|[0-9][0-9_]*+n?)")
_AS_NUMBER = "Write it as a JSON number"


def value_of(word: str, span: Span, report: Report) -> Node:
    """The node of an unquoted word in a value's place. The report gets what is wrong with it."""
    if SCALAR_WORD.fullmatch(word):
        return scalar(word, span)
    literal = _PYTHON.get(word) or _OTHER_LITERALS.get(word.lower())
    if literal is not None:
        report.add(
            ProblemKind.MISSPELT_LITERAL,
            span,
            f"{quote(word)} is not JSON: write `{literal}`",
            "Write true, false and null as JSON does",
            (span, literal),
            safe=word in _PYTHON,
        )
        return scalar(literal, span)
    if _NOT_FINITE.fullmatch(word):
        report.add(
            ProblemKind.NOT_FINITE,
            span,
            f"{quote(word)} is not JSON: use null where there is no finite number",
            "Replace with null",
            (span, "null"),
        )
        return Node(NodeKind.BROKEN, span, word)
    if GROUPED_NUMBER.fullmatch(word):
        plain = word.replace(",", "").lstrip("+")
        message = f"{quote(word)} is not JSON: a number takes no thousands separators"
        report.add(ProblemKind.MALFORMED_NUMBER, span, message, _AS_NUMBER, (span, plain))
        return Node(NodeKind.NUMBER, span, number(plain))
    if word in GAPS:
        message = f"{quote(word)} is still to be filled in, with a number"
        report.add(ProblemKind.MISSING_VALUE, span, message)
        return Node(NodeKind.BROKEN, span, word)
    odd = _ODD_NUMBER.fullmatch(word)
    if odd is not None and (odd["whole"] or odd["part"]):
        return _odd_number(odd, span, report)
    if _OTHER_NUMBER.fullmatch(word):
        message = f"{quote(word)} is not a JSON number: write it in decimal digits alone"
        report.add(ProblemKind.MALFORMED_NUMBER, span, message)
        return Node(NodeKind.BROKEN, span, word)
    report.add(
        ProblemKind.UNQUOTED_VALUE,
        span,
        f"{quote(word)} is not JSON: a text stands in double quotes",
        "Put double quotes around it",
        *([(span, json.dumps(word, ensure_ascii=False))] if report.is_ended(span) else ()),
    )
    return Node(NodeKind.BROKEN, span, word)


def _odd_number(odd: re.Match[str], span: Span, report: Report) -> Node:
    """``+1``, ``01``, ``.5``, ``1.``, ``1e``: JavaScript's or Python's numbers, or half ones."""
    exponent = odd["exponent"]
    if odd["sign"] == "+":
        cause = "takes no plus sign"
    elif len(odd["whole"]) > 1 and odd["whole"][0] == "0":
        cause = "takes no leading zero"
    elif not odd["whole"]:
        cause = "needs a digit before its point"
    elif odd["point"] and not odd["part"]:
        cause = "needs a digit after its point"
    else:
        cause = "needs a digit in its exponent"
    message = f"{quote(odd[0])} is not JSON: a number {cause}"
    if exponent and not exponent[-1].isdigit():
        report.add(ProblemKind.MALFORMED_NUMBER, span, message)
        return Node(NodeKind.BROKEN, span, odd[0])
    whole = odd["whole"].lstrip("0") or "0"
    part = f".{odd['part']}" if odd["part"] else ""
    plain = f"{odd['sign'].replace('+', '')}{whole}{part}{exponent}"
    report.add(ProblemKind.MALFORMED_NUMBER, span, message, _AS_NUMBER, (span, plain))
    return Node(NodeKind.NUMBER, span, number(plain))
