"""Human labels and a judge's verdicts, a case a row, as JSON Lines or CSV."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from drive_trace.grading.calibration import Label
from drive_trace.grading.families import families_of
from drive_trace.text.wording import shown

_OUTCOMES = ("pass", "fail")
_NEEDED = ("case", "human")


class LabelError(Exception):
    """A row cannot be used: one sentence with its line, without a full stop."""


class Labels(NamedTuple):
    """The rows of a file."""

    rows: tuple[Label, ...]
    unsigned: int
    """Rows that do not say who labelled them, and count as a person's."""
    rules: frozenset[str]
    """The labelling rules that are named."""


def read_labels(text: str) -> Labels:
    """Read rows with ``case``, ``human`` and ``judge``, which may be missing where the judge's
    verdicts come from elsewhere. Raises LabelError.
    """
    text = text.removeprefix("\ufeff")
    is_json = text.lstrip().startswith("{")
    rows, unsigned, rules = [], 0, set()
    said: dict[str, str] = {}
    for line, row in _json_rows(text) if is_json else _csv_rows(text):
        label = _label(line, row)
        rows.append(label)
        if said.setdefault(label.case, label.human) != label.human:
            raise LabelError(f"line {line}: the case {shown(label.case)} has another label above")
        signed = row.get("labelled_by")
        unsigned += not signed
        if signed and _is_model(str(signed)):
            raise LabelError(
                f"line {line}: `labelled_by` is {shown(signed)}, a model; "
                "only labels by people calibrate a judge (a person of that name: by initials)"
            )
        if row.get("labelling_rule"):
            rules.add(str(row["labelling_rule"]))
    return Labels(tuple(rows), unsigned, frozenset(rules))


def _is_model(name: str) -> bool:
    words = set(re.findall("[a-z0-9]+", name.lower()))
    return bool(families_of(name)) or bool(words & {"model", "llm", "ai", "judge", "bot"})


def _label(line: int, row: Mapping[str, Any]) -> Label:
    for name in _NEEDED:
        if not isinstance(row.get(name), str) or not row[name].strip():
            raise LabelError(f"line {line}: `{name}` is missing, or no text")
    human, judge = row["human"], row.get("judge")
    if human not in _OUTCOMES:
        raise LabelError(f'line {line}: `human` is {shown(human)}, and has to be "pass" or "fail"')
    if judge is not None and judge not in _OUTCOMES:
        raise LabelError(
            f'line {line}: `judge` is {shown(judge)}, and has to be "pass", "fail" or null'
        )
    return Label(row["case"], human, judge)


def _json_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, record in enumerate(text.split("\n"), 1):
        if not record.strip():
            continue
        try:
            row = json.loads(record, object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            raise LabelError(f"line {line}: this is not one JSON object") from error
        if not isinstance(row, dict):
            raise LabelError(f"line {line}: this is not one JSON object")
        yield line, row


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    lines = (f"{line}\n" for line in text.split("\n"))
    reader = csv.DictReader(lines, strict=True)
    try:
        names = reader.fieldnames or ()
        if len(set(names)) < len(names):
            raise LabelError("line 1: a column stands there twice")
        missing = [each for each in _NEEDED if each not in names]
        if missing and names:
            raise LabelError(f"line 1: there is no column `{missing[0]}`")
        for row in reader:
            # An empty cell, and `null`, is no verdict, as CSV has no null.
            judge = row.get("judge")
            yield reader.line_num, {**row, "judge": None if judge in {"", "null", None} else judge}
    except csv.Error as error:
        raise LabelError(f"line {reader.line_num}: this is not CSV ({error})") from error


def _once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise ValueError(name)
        members[name] = value
    return members
