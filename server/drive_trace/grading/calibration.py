"""How far a judge agrees with people, and whether that is far enough to be trusted."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, NamedTuple, TypeAlias

import msgspec

from drive_trace.json_text import STRICT, from_json
from drive_trace.text.wording import plural, shown

AGREEMENT = 0.80
"""The least lower bound of agreement; as a point, the reference's own threshold."""
FAILS_CAUGHT = 0.50
"""The least lower bound of the rate at which human fails are caught."""
PASSES_KEPT = 0.50
"""The least lower bound of the rate at which human passes are kept."""
ANSWERED = 0.80
"""The least share of rows with a verdict: a judge that leaves out what is hard only seems good."""
Z = 1.959963984540054
"""The normal quantile of 0.975, for 95 % intervals."""
_FAR = 100_000
"""So many labels nobody has."""
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class LabelledCase(NamedTuple):
    """One case, as a person and the judge graded it."""

    case: str
    human: str
    """``pass`` or ``fail``."""
    judge: str | None
    """None where the judge gave no verdict."""


class Rate(NamedTuple):
    """A share, with its 95 % Wilson interval."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """Between 0 and 1; None of nothing."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's score interval without continuity correction; None of nothing."""
        return wilson(self.hits, self.of) if self.of else None

    @property
    def lower(self) -> float:
        """The lower bound; 0 of nothing."""
        return self.interval[0] if self.interval is not None else 0.0


class Calibration(msgspec.Struct, frozen=True):
    """What a judge's verdicts are worth, held against people's. A *hit* is a human fail that the
    judge calls a fail.
    """

    fail_fail: Count
    """Human fail, judge fail; the other three are named alike."""
    fail_pass: Count
    pass_fail: Count
    pass_pass: Count
    invalid: Count
    """Rows without a verdict of the judge."""

    @property
    def n(self) -> int:
        """Rows with a verdict."""
        return self.fail_fail + self.fail_pass + self.pass_fail + self.pass_pass

    @property
    def agreement(self) -> Rate:
        """How often both say the same."""
        return Rate(self.fail_fail + self.pass_pass, self.n)

    @property
    def tpr(self) -> Rate:
        """How many of the human fails the judge catches."""
        return Rate(self.fail_fail, self.fail_fail + self.fail_pass)

    @property
    def tnr(self) -> Rate:
        """How many of the human passes the judge passes."""
        return Rate(self.pass_pass, self.pass_fail + self.pass_pass)

    @property
    def base_rate(self) -> float | None:
        """The share of human fails, which a judge is there to catch; None of nothing."""
        return self.tpr.of / self.n if self.n else None

    @property
    def always_pass_agreement(self) -> float | None:
        """How often a judge would agree that passes everything; None of nothing."""
        return self.tnr.of / self.n if self.n else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None where chance alone would agree on everything."""
        if not self.n:
            return None
        human = self.pass_fail + self.pass_pass
        judge = self.fail_pass + self.pass_pass
        # Whole numbers: a sum of rounded shares would make a chance of 1 a little less than that.
        chance = human * judge + (self.n - human) * (self.n - judge)
        if chance == self.n**2:
            return None
        return (self.agreement.hits * self.n - chance) / (self.n**2 - chance)

    def corrected(self, passed: int, of: int) -> tuple[float, tuple[float, float]] | None:
        """The share of runs that people would pass, where the judge has passed so many: by its
        errors here (W. J. Rogan and B. Gladen, 1978), with a 95 % interval for these and for the
        runs together (Z. Lang and J. Reiczigel, 2014). None where chance would judge as well.
        """
        kept, caught = self.tnr, self.tpr
        if not of or not kept.of or not caught.of:
            return None
        gain = kept.hits / kept.of + caught.hits / caught.of - 1
        # For the interval each share is drawn towards the middle, as few labels show no 0 or 1.
        k, c = (kept.hits + 1) / (kept.of + 2), (caught.hits + 1) / (caught.of + 2)
        kept_is, caught_is = k * (1 - k) / (kept.of + 2), c * (1 - c) / (caught.of + 2)
        worth = of + Z * Z
        p = (passed + Z * Z / 2) / worth
        if gain <= 0 or k + c <= 1:
            return None
        share = (p + c - 1) / (k + c - 1)
        variance = p * (1 - p) / worth + share**2 * kept_is + (1 - share) ** 2 * caught_is
        middle = share + 2 * Z * Z * (share * kept_is - (1 - share) * caught_is)
        reach = Z * math.sqrt(variance) / (k + c - 1)
        found = (passed / of + caught.hits / caught.of - 1) / gain
        low, high, value = middle - reach, middle + reach, min(max(found, 0.0), 1.0)
        if low >= 1 or high <= 0:  # the labels do not fit these runs
            return None
        return value, (min(max(low, 0.0), value), max(min(high, 1.0), value))

    @property
    def lacks(self) -> tuple[str, ...]:
        """Why the judge is not calibrated, each in one sentence without its full stop; and how many
        labels more would do, if they came out as those so far.
        """
        if not self.n:
            return ("there is no row with a verdict of the judge",)
        found = []
        for what, label, ending, rate, least in (
            ("agreement", "label", "s", self.agreement, AGREEMENT),
            ("the rate at which human fails are caught", "human fail", "s", self.tpr, FAILS_CAUGHT),
            ("the rate at which human passes are kept", "human pass", "es", self.tnr, PASSES_KEPT),
        ):
            labels = label + ending
            if rate.value is None:
                found.append(f"{what} is not known, as there are no {labels}")
            elif rate.lower < least:
                said = f"the lower bound of {what} is {rate.lower:.3f}, and has to be {least:.2f}"
                more = _more_needed(rate, least)
                number = plural(more, f"more {label}", ending) if more else f"no number of {labels}"
                so_far = ", with results as those so far" * bool(more)
                found.append(f"{said}: {number} would do{so_far}")
        answered = self.n / (self.n + self.invalid)
        if answered < ANSWERED:
            found.append(
                f"the judge gave a verdict on {answered:.0%} of the rows, and has to on "
                f"{ANSWERED:.0%}: what it leaves out counts as nothing"
            )
        kappa = self.kappa
        if kappa is None or kappa <= 0:
            shown = "not defined" if kappa is None else f"{kappa:.3f}"
            found.append(f"kappa is {shown}, and has to be above 0: chance would agree as often")
        return tuple(found)


def calibrate(labels: Iterable[LabelledCase]) -> Calibration:
    """Count a table."""
    counts = Counter((each.human, each.judge) for each in labels)
    return Calibration(
        fail_fail=counts["fail", "fail"],
        fail_pass=counts["fail", "pass"],
        pass_fail=counts["pass", "fail"],
        pass_pass=counts["pass", "pass"],
        invalid=counts["fail", None] + counts["pass", None],
    )


def once_each(labels: Sequence[LabelledCase]) -> list[LabelledCase]:
    """Each case once: repeating a row makes an interval no narrower. Where the rows of a case
    differ, one that disagrees counts, and one without a verdict only where none has one.
    """
    found: dict[str, list[LabelledCase]] = {}
    for each in labels:
        found.setdefault(each.case, []).append(each)
    return [
        max(rows, key=lambda row: (row.judge is not None, row.judge != row.human))
        for rows in found.values()
    ]


def wilson(hits: float, of: float) -> tuple[float, float]:
    """The score interval of a binomial proportion for 95 % (E. B. Wilson, 1927)."""
    share, square = hits / of, Z * Z
    middle = share + square / (2 * of)
    reach = Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    scale = 1 + square / of
    low, high = (middle - reach) / scale, (middle + reach) / scale
    return (0.0 if hits == 0 else max(low, 0.0)), (1.0 if hits == of else min(high, 1.0))


def share(least: int, most: int, of: int) -> str:
    """The share of those of which at least and at most so many count, with its 95 % interval
    whatever the others are: ``0.50 to 0.75 [0.15, 0.95]``.
    """
    if (least, most) == (0, of):
        return "not known" if of else "n/a"
    low, high = wilson(least, of)[0], wilson(most, of)[1]
    ends = dict.fromkeys(f"{count / of:.2f}" for count in (least, most))
    return f"{' to '.join(ends)} [{low:.2f}, {high:.2f}]"


def _more_needed(rate: Rate, least: float) -> int | None:
    sizes = range(rate.of + 1, _FAR) if rate.hits > least * rate.of else ()
    enough = (size for size in sizes if wilson(rate.hits * size // rate.of, size)[0] >= least)
    return next((size - rate.of for size in enough), None)


# Families of models: a judge of the orchestrator's own family would grade its own kind. The family
# is read from a model's id, which may have a provider, a region and a version around it:
# `anthropic/claude-sonnet-4`, `us.anthropic.claude-3-5-haiku-20241022-v1:0`, `o4-mini`.

_WORDS: Mapping[str, str] = {
    "claude": "claude.*|anthropic|sonnet|opus|haiku",
    "gpt": r"gpt(?:\d.*|oss)?|chatgpt.*|codex.*|openai",
    "gemini": "gemini.*|gemma.*",
    "composer": r"composer\d*",
    "grok": r"grok\d*",
    "llama": r"(?:code)?llama\d*",
    "mistral": "mistral.*|mixtral.*|ministral.*|magistral.*|codestral.*|devstral.*|pixtral.*",
    "qwen": r"qwen.*|qwq|qvq",
    "deepseek": "deepseek.*",
}
_O_SERIES = re.compile(r"o\d+")
_RELEASE = re.compile(r"[-@:](latest|20\d{2}-?\d{2}-?\d{2}|\d{4})$")
FAMILIES = tuple(_WORDS)
"""The names of the families that are known."""


def is_same_model(asked: str, reported: str) -> bool:
    """Whether two ids are of one model: of a provider, or with the date of a release, or none."""
    names = (_RELEASE.sub("", each.lower().rpartition("/")[2]) for each in (asked, reported))
    return len(set(names)) == 1


def families_of(model: str, more: Mapping[str, Collection[str]] = {}) -> frozenset[str]:
    """The families that a model is of; of several where one was distilled from another, as
    ``deepseek-r1-distill-llama-70b``, and of none that is known where there is none.

    ``more`` are the families of the configuration, each with the words that its models' ids have;
    a word counts where the id has it as a whole word, whatever its case. The name of a family is of
    itself.
    """
    name = model.lower()
    if name in _WORDS or name in more:
        return frozenset({name})
    last, words = (re.findall("[a-z0-9]+", each) for each in (name.rpartition("/")[2], name))
    found = {
        family
        for family, pattern in _WORDS.items()
        if any(re.fullmatch(pattern, each) for each in words)
    }
    # `o3` is OpenAI's where the model's name begins with it, behind the provider's or nothing.
    if last and any(_O_SERIES.fullmatch(each) for each in last[: 1 + (last[0] == "openai")]):
        found.add("gpt")
    for family, marks in more.items():
        if {each.lower() for each in marks} & {*words, name}:
            found.add(family)
    return frozenset(found)


# Human labels and a judge's verdicts, a case a row, as JSON Lines or CSV


_OUTCOMES = ("pass", "fail")
_NEEDED = ("case", "human")


class LabelError(Exception):
    """A row cannot be used: one sentence with its line, without a full stop."""


class Labels(NamedTuple):
    """The rows of a file."""

    rows: tuple[LabelledCase, ...]
    unsigned: int
    """Rows that do not say who labelled them, and count as a person's."""
    rules: frozenset[str]
    """The labelling rules that are named."""
    has_verdicts: bool
    """Whether there is a place for the judge's verdicts."""


def read_labels(text: str) -> Labels:
    """Read rows with ``case``, ``human`` and ``judge``, which may be missing where the judge's
    verdicts come from elsewhere. Raises LabelError.
    """
    text = text.removeprefix("\ufeff")
    is_json = text.lstrip().startswith("{")
    rows, unsigned, rules, has_verdicts = [], 0, set(), False
    said: dict[str, str] = {}
    for line, row in _json_rows(text) if is_json else _csv_rows(text):
        label = _label(line, row)
        rows.append(label)
        if said.setdefault(label.case, label.human) != label.human:
            raise LabelError(f"line {line}: the case {shown(label.case)} has another label above")
        signed = row.get("labelled_by")
        unsigned += not signed
        has_verdicts |= "judge" in row
        if signed and _is_model(str(signed)):
            raise LabelError(
                f"line {line}: `labelled_by` is {shown(signed)}, a model; "
                "only labels by people calibrate a judge (a person of that name: by initials)"
            )
        if row.get("labelling_rule"):
            rules.add(str(row["labelling_rule"]))
    return Labels(tuple(rows), unsigned, frozenset(rules), has_verdicts)


def _is_model(name: str) -> bool:
    words = set(re.findall("[a-z0-9]+", name.lower()))
    return bool(families_of(name)) or bool(words & {"model", "llm", "ai", "judge", "bot"})


def _label(line: int, row: Mapping[str, Any]) -> LabelledCase:
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
    return LabelledCase(row["case"], human, judge)


def _json_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, record in enumerate(text.split("\n"), 1):
        if record.strip():
            row = None
            with suppress(ValueError, RecursionError):
                row = from_json(record, **STRICT)
            if not isinstance(row, dict):
                raise LabelError(f"line {line}: this is not one JSON object")
            yield line, row


def _csv_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    import csv  # noqa: PLC0415 - scores load this module, and read no labels

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
            no_verdict = {"judge": None} if row.get("judge") in {"", "null"} else {}
            yield reader.line_num, row | no_verdict
    except csv.Error as error:
        raise LabelError(f"line {reader.line_num}: this is not CSV ({error})") from error


# What `calibrate` says of a table: for people, and for programs


def calibration_json(table: Calibration, lacks: Sequence[str]) -> dict[str, object]:
    """The interface of ``calibrate --output-format json``. Rates are shares from 0 to 1, and null
    where they are not defined.
    """
    rates = (("agreement", table.agreement), ("tpr", table.tpr), ("tnr", table.tnr))
    return {
        "n": table.n,
        "invalid": table.invalid,
        **{name: rate.value for name, rate in rates},
        **{f"{name}_interval": rate.interval for name, rate in rates},
        "kappa": table.kappa,
        "base_rate": table.base_rate,
        "always_pass_agreement": table.always_pass_agreement,
        "calibrated": not lacks,
        "reasons": list(lacks),
    }


def calibration_in_words(table: Calibration, lacks: Sequence[str]) -> Iterator[str]:
    """The same as lines of text."""
    width = max(len(f"{count:,}") for count in (*msgspec.structs.astuple(table), table.n, 12345))
    yield f"{'':14}{'judge fail':>{width + 8}}{'judge pass':>{width + 8}}"
    for name, fails, passes in (
        ("human fail", table.fail_fail, table.fail_pass),
        ("human pass", table.pass_fail, table.pass_pass),
    ):
        yield f"{name:14}{fails:>{width + 8},}{passes:>{width + 8},}"
    yield ""
    point = table.agreement.value
    threshold = (
        ""
        if point is None
        else f"; reference threshold {AGREEMENT:.2f} as a point: "
        + ("reached" if point >= AGREEMENT else "not reached")
    )
    for what, figure in (
        ("rows", f"{table.n:,} with a verdict, {table.invalid:,} without"),
        ("agreement", f"{_rate(table.agreement)}{threshold}"),
        ("kappa", "not defined" if table.kappa is None else f"{table.kappa:.3f}"),
        ("TPR (fails caught)", _rate(table.tpr)),
        ("TNR (passes kept)", _rate(table.tnr)),
        ("base rate (human fails)", _share(table.base_rate)),
        ("an always-pass judge agrees on", _share(table.always_pass_agreement)),
    ):
        yield f"{what:32}{figure}"
    yield ""
    yield "calibrated" if not lacks else "not calibrated:"
    yield from (f"  {each}" for each in lacks)


def _rate(rate: Rate) -> str:
    if rate.interval is None:
        return "not defined"
    low, high = rate.interval
    return f"{_share(rate.value)} [{low:.3f}, {high:.3f}] ({rate.hits:,} of {rate.of:,})"


def _share(share: float | None) -> str:
    return "not defined" if share is None else f"{share:.3f}"
