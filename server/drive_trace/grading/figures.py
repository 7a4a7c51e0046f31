"""What ``calibrate`` says of a table: for people, and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drive_trace.grading.calibration import AGREEMENT, Calibration, Rate


def to_json(table: Calibration, lacks: Sequence[str]) -> dict[str, object]:
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


def in_words(table: Calibration, lacks: Sequence[str], repeats: Rate) -> Iterator[str]:
    """The same as lines of text."""
    width = max(len(f"{count:,}") for count in (*table, table.n, 12345))
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
    for what, shown in (
        ("rows", f"{table.n:,} with a verdict, {table.invalid:,} without"),
        ("agreement", f"{_rate(table.agreement)}{threshold}"),
        ("kappa", "not defined" if table.kappa is None else f"{table.kappa:.3f}"),
        ("TPR (fails caught)", _rate(table.tpr)),
        ("TNR (passes kept)", _rate(table.tnr)),
        ("base rate (human fails)", _share(table.base_rate)),
        ("an always-pass judge agrees on", _share(table.always_pass_agreement)),
        ("cases consistent over repeats", _rate(repeats)),
    ):
        yield f"{what:32}{shown}"
    yield ""
    yield "calibrated" if not lacks else "not calibrated:"
    yield from (f"  {each}" for each in lacks)
    yield from (f"  {each}" for each in table.labels_needed)


def _rate(rate: Rate) -> str:
    if rate.interval is None:
        return "not defined"
    low, high = rate.interval
    return f"{_share(rate.value)} [{low:.3f}, {high:.3f}] ({rate.hits:,} of {rate.of:,})"


def _share(share: float | None) -> str:
    return "not defined" if share is None else f"{share:.3f}"
