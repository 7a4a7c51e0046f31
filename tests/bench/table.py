"""Rows that are measured, and the table that they make."""

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import psutil  # type: ignore[import-untyped]

from tests.bench.programs import CommandFailedError, Program
from tests.support.raw_client import ResponseError, ServerGoneError

_LIBRARIES = ("click", "msgspec", "orjson", "pydantic", "pygls", "lsprotocol")
_FAILURES = (CommandFailedError, OSError, ValueError, KeyError, ServerGoneError, ResponseError)
_WORSE = 1.1
"""A row that takes a tenth more than at the other commit is worse: less is noise."""

Cost = Callable[[Program], float]


@dataclass
class Row:
    """One thing that is measured, again and again, of one or two programs.

    `limit` is the most that it may take: times its floor if it has one, else in its unit.
    """

    what: str
    cost: Cost
    floor: "Row | None" = None
    limit: float | None = None
    unit: Literal["ms", "MiB"] = "ms"
    at_most: int = 99
    """How often it is measured, whatever is asked for: some take long, and differ little."""
    samples: list[float] = field(default_factory=list)
    samples_at_base: list[float] = field(default_factory=list)
    failure: str = ""

    def sample(self, program: Program, base: Program | None) -> None:
        """Measure once more, the two programs one after the other."""
        if len(self.samples) >= self.at_most or self.failure:
            return
        try:
            self.samples.append(self.cost(program))
            if base:
                self.samples_at_base.append(self.cost(base))
        except _FAILURES as error:
            self.failure = _first_line(error)

    @property
    def least(self) -> float:
        """The least of all samples: what a busy machine adds is no cost of the program's."""
        return min(self.samples)

    @property
    def ratio(self) -> float | None:
        """To its floor."""
        return self.least / self.floor.least if self.floor and self.floor.samples else None

    @property
    def change(self) -> float | None:
        """To the same at the other commit."""
        return self.least / min(self.samples_at_base) if self.samples_at_base else None

    @property
    def is_missed(self) -> bool:
        if self.failure or self.limit is None:
            return bool(self.failure)
        return (self.ratio or self.least) > self.limit

    @property
    def is_worse(self) -> bool:
        return (self.change or 0) > _WORSE

    def cells(self) -> list[str]:
        """The texts of the row, as in the table's head."""
        if self.failure:
            return [self.what, "–", "–", self._aim(), "–", f"FAILED: {self.failure}"]
        ratio = f"{self.ratio:.2f} ×" if self.ratio else ""
        change = f"{self.change:.2f} ×" if self.change else ""
        result = "missed" if self.is_missed else "met" if self.limit is not None else ""
        result += " WORSE" * self.is_worse
        least = f"{number(self.least)} {self.unit}"
        return [self.what, least, ratio, self._aim(), change, result.strip()]

    def _aim(self) -> str:
        if self.limit is None:
            return ""
        return f"≤ {self.limit:.4g} {'×' if self.floor else self.unit}"


@dataclass(frozen=True)
class Part:
    """Rows that belong together, with what stands above them."""

    heading: str
    rows: Sequence[Row]


_HEAD = ["what", "least", "× floor", "aim", "× base", "result"]


def render(parts: Sequence[Part]) -> str:
    """The table in Markdown, aligned for a terminal, too."""
    rows = [_HEAD]
    for part in parts:
        rows.append([f"**{part.heading}**", *[""] * (len(_HEAD) - 1)])
        rows += [row.cells() for row in part.rows]
    if not any(row.samples_at_base for part in parts for row in part.rows):
        rows = [
            [cell for name, cell in zip(_HEAD, row, strict=True) if name != "× base"]
            for row in rows
        ]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in rows)


def machine() -> str:
    """What it was measured on, and how busy that was."""
    libraries = " · ".join(f"{name} {version(name)}" for name in _LIBRARIES)
    memory = psutil.virtual_memory().total / 2**30
    load = " ".join(f"{each:.1f}" for each in os.getloadavg())
    return (
        f"{_processor()}, {psutil.cpu_count()} CPUs, {memory:.0f} GiB, {platform.platform()}\n"
        f"{platform.python_implementation()} {platform.python_version()} · {libraries}\n"
        f"load average at the start: {load}"
    )


def number(value: float) -> str:
    """A measurement, to three digits."""
    if value == 0 or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def _first_line(error: BaseException) -> str:
    text = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {text}"[:90].replace("|", "/")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
