"""JUnit XML reports: which cases ran, and which of them failed.

There is no standard; this reads what pytest, Maven, Gradle, Jest, Go and others write: ``testcase``
elements in ``testsuite`` elements, with ``failure``, ``error`` or ``skipped`` in them.
"""

from __future__ import annotations

from typing import NamedTuple
from xml.parsers import expat

from drive_trace.text.escaping import printable
from drive_trace.text.wording import first_of, plural

_SUITES = {"testsuites", "testsuite"}
_FAILED = {"failure", "error"}
_NOT_RUN = {"notrun", "skipped", "disabled", "ignored"}
_DEEPEST = 100


class JUnitError(Exception):
    """The text is no report: why, in one clause without a full stop."""


class Report(NamedTuple):
    """What a report says."""

    ran: int
    """Cases that were not skipped, the failed ones among them."""
    failed: tuple[str, ...]
    """The failed cases, ``class.name`` each."""
    unnamed: int = 0
    """Failures and errors that the suites count and no case has, as of a suite that did not start.
    """

    @property
    def outcome(self) -> str | None:
        """``pass`` if at least one case ran and nothing failed; None if nothing ran."""
        if self.failed or self.unnamed:
            return "fail"
        return "pass" if self.ran else None

    def in_words(self) -> str:
        """``2 of 31 cases failed: a, b``."""
        if not self.ran and self.outcome is None:
            return "no case ran"
        failed = len(self.failed)
        phrases = [f"{failed:,} of {plural(self.ran, 'case')} failed"]
        if self.unnamed:
            phrases.append(f"the suites count {plural(self.unnamed, 'failure')} more")
        names = f": {first_of(self.failed, 10)}" if failed else ""
        return ", and ".join(phrases) + names


def read_junit(data: bytes) -> Report:
    """Read a report. Raises JUnitError for what is none, or is cut off, or has a document type:
    reports need none, and it is there that entities are declared that expand without end.
    """
    reader = _Reader()
    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = _no_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # as for an unknown encoding
        raise JUnitError(f"it is not XML, or is cut off ({error})") from error
    return Report(reader.ran, tuple(reader.failed), max(reader.counted - len(reader.failed), 0))


def _no_doctype(*_: object) -> None:
    raise JUnitError("it has a document type, which no report needs")


class _Case:
    """A case that is read."""

    def __init__(self, attributes: dict[str, str]) -> None:
        parts = attributes.get("classname"), attributes.get("name")
        self.name = printable(".".join(filter(None, parts)), 200) or "a case without a name"
        self.is_failed = False
        self.is_skipped = attributes.get("status", "").lower() in _NOT_RUN


class _Reader:
    """Takes the elements of a report as they come."""

    def __init__(self) -> None:
        self.ran = self.cases = 0
        self.failed: list[str] = []
        self.counted = 0
        """The failures and errors that are counted, or stand outside of a case."""
        self._suites: list[tuple[int, int]] = []
        """The suites that are open, the outermost first: how many cases each counts, and how many
        came before it.
        """
        self._depth = 0
        self._open: list[_Case] = []
        """The cases that are open, the outermost first."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if not self._depth and name not in _SUITES:
            raise JUnitError("its root is no `testsuites` or `testsuite`")
        if self._depth == _DEEPEST:
            raise JUnitError("its elements are nested too deep")
        self._depth += 1
        if name in _SUITES:
            # Suites count what is in those inside them: the largest sum has all.
            told = sum(_count(attributes.get(each)) for each in ("failures", "errors"))
            self.counted = max(self.counted, told)
            self._suites.append((_count(attributes.get("tests")), self.cases))
        elif name == "testcase":
            self.cases += 1
            self._open.append(_Case(attributes))
        elif name in _FAILED and not self._open:
            self.failed.append("a suite")
        elif self._open:
            self._open[-1].is_failed |= name in _FAILED
            self._open[-1].is_skipped |= name == "skipped"

    def end(self, name: str) -> None:
        self._depth -= 1
        if name == "testcase":
            case = self._open.pop()
            self.ran += case.is_failed or not case.is_skipped
            if case.is_failed:
                self.failed.append(case.name)
        elif name in _SUITES:
            told, before = self._suites.pop()
            found = self.cases - before
            if found < told:
                what = f"a suite of it counts {plural(told, 'case')}"
                raise JUnitError(f"{what}, and {found:,} of them are in it")


def _count(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 10 else 0
