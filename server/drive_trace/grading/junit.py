"""JUnit XML reports: which cases ran, and which of them failed.

There is no standard; this reads what pytest, Maven, Gradle, Jest, Go and others write: ``testcase``
elements in ``testsuite`` elements, with ``failure``, ``error`` or ``skipped`` in them. Other tools
have other words for a failure. So a report passes only if all that its suites and cases say is
known to be harmless.

That is why no library reads it. junitparser, the one that is well kept, takes ``status="fail"``,
``<timeout/>`` and ``<Failure>`` for passes, and expands the entities of a document type. So this
takes the elements as the standard library's parser finds them, and refuses document types.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Literal, NamedTuple
from xml.parsers import expat

from drive_trace.text.wording import first_of, plural, printable
from drive_trace.trace.times import moment, sortable

_SUITES = {"testsuites", "testsuite"}
_TOLD = {*_SUITES, "testcase"}
_HARMLESS_ELEMENTS = {"properties", "systemout", "systemerr", "flakyfailure", "flakyerror"}
_HARMLESS_ATTRIBUTES = re.compile(
    "(class|file|host|report|start|end)?(name|path|time)|class|file|line|lineno|col(umn)?|package|url"
    "|(uu?)?id|key|type|(type|value)param|parameters|description|tags|owner|feature|groups?|priority"
    "|log|product|framework|browser|device|platform|project|version|(nonamespace)?schemalocation"
    "|(random)?seed|assert(ion)?s|flakes|time(stamp)?|duration|start(ed)?|finished|date"
)
_VERDICTS = re.compile("status|result|outcome|state|verdict|success(ful)?|passed")
"""Attributes whose value is one of the words that follow."""
_PASSED = re.compile("pass(ed)?|success(ful)?|succeeded|ok|run|completed|true|yes")
_NOT_RUN = re.compile("notrun|skip(ped)?|disabled|ignored|suppressed|pending|untested|warning")
_FAILED = re.compile(
    "(rerun)?(fail(ed|ures?)?|error(ed|s)?)|fatal|broken|crash(ed)?|timed?out|abort(ed)?|false|no"
)
_COUNTERS = re.compile("tests|passed|failed|failures|errors|skip(ped)?|disabled|ignored|warnings")
_SKIPPED = ("skipped", "skip", "disabled", "ignored")
_GOOD_IF_NOT = re.compile(f"{_FAILED.pattern}|{_NOT_RUN.pattern}|(is)?flaky|retr(y|ies)|reruns?")
"""What a case may say that it is not: one that is not ``executed`` says nothing of the run."""
_COUNT = re.compile("[0-9]{1,9}")
_DEEPEST = 100


class JUnitError(Exception):
    """The text is no report that can be relied on: why, in one clause without a full stop."""


class JUnitReport(NamedTuple):
    """What a report says."""

    ran: int
    """Cases that were not skipped, the failed ones among them."""
    failed: tuple[str, ...]
    """The failed cases, ``class.name`` each."""
    unnamed: int = 0
    """Failures and errors that the suites count and no case has, as of a suite that did not start.
    """
    skipped: int = 0
    began: datetime | None = None
    """The earliest of its timestamps, at the latest: one without a zone may be a local one, and one
    that cannot be read may be any.
    """
    dated: str = ""
    """That timestamp, in its words. Untrusted."""

    @property
    def outcome(self) -> Literal["pass", "fail"] | None:
        """``pass`` if at least one case ran and nothing failed; None if nothing ran."""
        if self.failed or self.unnamed:
            return "fail"
        return "pass" if self.ran else None

    def in_words(self) -> str:
        """``2 of 31 cases failed: a, b``."""
        skipped = f", {plural(self.skipped, 'case')} skipped" if self.skipped else ""
        if not self.ran and self.outcome is None:
            return f"no case ran{skipped}"
        failed = len(self.failed)
        phrases = [f"{failed:,} of {plural(self.ran, 'case')} failed{skipped}"]
        if self.unnamed:
            phrases.append(f"the suites count {plural(self.unnamed, 'failure')} more")
        names = f": {first_of(self.failed, 10)}" if failed else ""
        return ", and ".join(phrases) + names


ZONES = timedelta(hours=14)
"""A time of day without a zone may be so much later than it looks, or earlier."""
_LATEST = datetime.max.replace(tzinfo=UTC) - ZONES


def read_junit(data: bytes, latest: datetime = _LATEST) -> JUnitReport:
    """Read a report. Raises JUnitError for what is none, or is cut off, or says what is not known
    to be harmless while no case failed, or has a document type: reports need none, and it is there
    that entities are declared that expand without end. A time after the ``latest`` says no more
    than one that cannot be read.
    """
    reader = _ReportReader(latest)
    parser = expat.ParserCreate(namespace_separator=":")
    parser.StartDoctypeDeclHandler = _no_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, LookupError, ValueError) as error:  # as for an unknown encoding
        raise JUnitError(f"it is not XML, or is cut off ({error})") from error
    failed, skipped = tuple(reader.failed), reader.cases - reader.ran
    unnamed = max(reader.counted - len(failed), 0)
    report = JUnitReport(reader.ran, failed, unnamed, skipped, *reader.began)
    if reader.doubt is not None and report.outcome != "fail":
        raise JUnitError(reader.doubt)
    return report


def _no_doctype(*_: object) -> None:
    raise JUnitError("it has a document type, which no report needs")


@lru_cache(1024)
def _word(text: str) -> str:
    """A name or a value, however it is spelt and whatever its namespace: ``TIMED_OUT`` is
    ``timedout``.
    """
    return re.sub(r"[\s_-]", "", text.rpartition(":")[2]).casefold()


class _Case:
    """A case that is read."""

    def __init__(self, attributes: Mapping[str, str]) -> None:
        parts = attributes.get("classname"), attributes.get("name")
        self.name = printable(".".join(filter(None, parts)), 200) or "a case without a name"
        self.is_failed = self.is_skipped = False


class _ReportReader:
    """Takes the elements of a report as they come."""

    def __init__(self, latest: datetime) -> None:
        self._latest = latest
        self.ran = self.cases = 0
        self.failed: list[str] = []
        self.counted = 0
        """The failures and errors that are counted, or stand outside of a case."""
        self.began: tuple[datetime | None, str] = None, ""
        self.doubt: str | None = None
        """The first thing that may say that something failed."""
        self._suites: list[tuple[dict[str, int], int, int]] = []
        """The suites that are open, the outermost first: what each counts, and how many cases came
        before it and ran before it.
        """
        self._path: list[str] = []
        """The elements that are open, the outermost first."""
        self._open: list[_Case] = []
        """The cases among them."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        word, within = _word(name), self._path[-1] if self._path else None
        if within is None and word not in _SUITES:
            raise JUnitError("its root is no `testsuites` or `testsuite`")
        if len(self._path) == _DEEPEST:
            raise JUnitError("its elements are nested too deep")
        self._path.append(word)
        if word in _SUITES:
            self._begin_suite(attributes)
        elif word == "testcase":
            self.cases += 1
            self._open.append(_Case(attributes))
            self._read(attributes)
        elif _FAILED.fullmatch(word) or (within in _TOLD and word not in _HARMLESS_ELEMENTS):
            self._take(word, f"`<{name}>` in a {within}")

    def text(self, text: str) -> None:
        if text.strip() and self._path[-1] in _TOLD:
            self._take("", f"`{text.strip()}` as text in a {self._path[-1]}")

    def end(self, _: str) -> None:
        word = self._path.pop()
        if word == "testcase":
            case = self._open.pop()
            self.ran += case.is_failed or not case.is_skipped
            if case.is_failed:
                self.failed.append(case.name)
        elif word in _SUITES:
            counts, cases, ran = self._suites.pop()
            cases, ran = self.cases - cases, self.ran - ran
            told, skipped = counts.get("tests", ran), max(counts.get(each, 0) for each in _SKIPPED)
            if not ran <= told <= cases or cases - ran < skipped:
                phrase = f"a suite of it counts {plural(told, 'case')}, {skipped:,} of them skipped"
                self.doubt = self.doubt or f"{phrase}, and has {cases:,}, {cases - ran:,} skipped"

    def _begin_suite(self, attributes: Mapping[str, str]) -> None:
        counts = self._read(attributes)
        # Suites count what is in those inside them: the largest sum has all.
        told = sum(counts.get(each, 0) for each in ("failures", "errors", "failed"))
        self.counted = max(self.counted, told)
        self._suites.append((counts, self.cases, self.ran))

    def _take_time(self, stamp: str) -> None:
        began, said = moment(stamp), printable(stamp, 60)
        if began is None or began > self._latest:
            why = "cannot be read" if began is None else "has not come yet"
            began, said = datetime.min.replace(tzinfo=UTC), f"a time that {why} ({said})"
        elif not sortable(stamp):
            began += ZONES
        if stamp and began < (self.began[0] or datetime.max.replace(tzinfo=UTC)):
            self.began = began, said

    def _read(self, attributes: Mapping[str, str]) -> dict[str, int]:
        """Take what the attributes of a case or a suite say. Gives the counters of a suite."""
        counts = {}
        for name, value in attributes.items():
            word, what = _word(name), f"`{name}` of `{value}`"
            if word == "timestamp":
                self._take_time(value.strip())
            elif not self._open and _COUNTERS.fullmatch(word):
                if _COUNT.fullmatch(value):
                    counts[word] = int(value)
                else:
                    self._take("", what)
            elif _VERDICTS.fullmatch(word) or (word == "type" and _FAILED.fullmatch(_word(value))):
                self._take(_word(value), what)
            elif not _HARMLESS_ATTRIBUTES.fullmatch(word):
                is_denied = value.casefold() in {"", "0", "false", "no"}
                if not is_denied or (value and self._open and not _GOOD_IF_NOT.fullmatch(word)):
                    self._take("" if is_denied else word, what)
        return counts

    def _take(self, word: str, what: str) -> None:
        """Take a word for what became of the case, or of the suite outside of one."""
        if _FAILED.fullmatch(word):
            if self._open:
                self._open[-1].is_failed = True
            else:
                self.failed.append("a suite")
        elif _NOT_RUN.fullmatch(word) and self._open:
            self._open[-1].is_skipped = True
        elif not _PASSED.fullmatch(word):
            phrase = "and nobody can tell whether that is a failure"
            self.doubt = self.doubt or f"it has {printable(what, 120)}, {phrase}"
