"""The scorecard as a table for a terminal: a line a run, and below it why and where."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator

from drive_trace.scorecard.card import QUALIFIED, RunScore, ScoreCard
from drive_trace.scorecard.efficiency import Efficiency
from drive_trace.scorecard.render import caveats, compact, duration, not_read, plain, totals
from drive_trace.text.spans import terminal_columns

Paint = Callable[[str, str], str]
"""Gives a text the colours of its role: a run's standing, ``heading``, ``soft`` or ``warning``.

Green is for the standing ``correct`` and for nothing else.
"""

_VERDICT = 14
_FIGURES = (("INPUT", 6), ("OUTPUT", 6), ("TIME", 8), ("OVER", 7), ("ROUNDS", 6))
_REST = 2 + _VERDICT + sum(2 + width for _, width in _FIGURES)
_NARROWEST = 60


def table(card: ScoreCard, columns: int, paint: Paint) -> str:
    """All runs, in at most ``columns`` columns where names allow; 60 at least."""
    width = max(columns, _NARROWEST)
    lines = [
        paint(each, "warning")
        for said in not_read(card, plain)
        for each in _wrapped(f"! {said}", "", width)
    ]
    lines += [""] * bool(lines)
    if card.runs:
        lines.append(
            paint(
                _line("RUN", f"{'VERDICT':<{_VERDICT}}", [name for name, _ in _FIGURES], width),
                "heading",
            )
        )
    for run in card.runs:
        lines += _run(run, width, paint)
    lines += [""] * bool(lines)
    lines += [each for said in totals(card, plain) for each in _wrapped(said, "", width)]
    if card.runs:
        hint = "Grades, and what would change a verdict: --format text."
        lines.append(paint(hint, "soft"))
    return "\n".join(lines)


def _run(run: RunScore, width: int, paint: Paint) -> Iterator[str]:
    word, _, cause = run.headline.partition(" — ")
    if run.standing == QUALIFIED:
        word, _, cause = word.partition(" but ")
        word += " but"
    name = plain(run.run_id)
    if terminal_columns(name) > width - _REST:
        yield name
        name = ""
    figures = ["hidden"] if run.efficiency is None else _figures(run.efficiency)
    verdict = paint(word, run.standing) + " " * (_VERDICT - len(word))
    yield _line(name, verdict, figures, width)
    if cause:
        yield from _wrapped(cause, "  ", width)
    for caveat in caveats(run, plain):
        yield from (paint(each, "warning") for each in _wrapped(f"! {caveat}", "  ", width))
    yield from (paint(f"  in {plain(part.path)}", "soft") for part in run.parts if part.path)


def _figures(efficiency: Efficiency) -> list[str]:
    tokens, rounds = efficiency.tokens, efficiency.rounds_per_dispatch
    read, written = tokens["input_tokens"], tokens["output_tokens"]
    clock = efficiency.wall_clock
    return [
        "n/a" if read is None else compact(read),
        "n/a" if written is None else compact(written),
        "n/a" if clock.ms is None else duration(clock.ms),
        "" if clock.ms is None else f"{clock.counted}/{clock.of}" if clock.of else "clock",
        "n/a" if rounds is None else f"{rounds:.1f}",
    ]


def _line(name: str, verdict: str, figures: list[str], width: int) -> str:
    shown = name + " " * (width - _REST - terminal_columns(name))
    figures_in_columns = (
        f"{each:>{room}}" for each, (_, room) in zip(figures, _FIGURES, strict=False)
    )
    return "  ".join([shown, verdict, *figures_in_columns])


def _wrapped(text: str, indent: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width=width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
