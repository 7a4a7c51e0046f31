"""Measurements, their targets, and one table of both."""

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Literal

import psutil  # type: ignore[import-untyped]

_LIBRARIES = ("orjson", "pydantic", "pydantic-core", "msgspec", "pygls", "lsprotocol")
_HEAD = ("what", "median", "min–max", "ratio", "target", "result", "notes")


@dataclass(frozen=True)
class Target:
    """At most `limit`: of the median, in the row's unit, or of the row's ratio."""

    limit: float
    of: Literal["median", "ratio"] = "median"


@dataclass(frozen=True)
class Row:
    """One line of the report; the ratio divides the median by that of `base`.

    A base may still grow: the report looks at it when it is printed.
    """

    what: str
    samples: Sequence[float] = ()
    unit: str = "ms"
    base: Sequence[float] = ()
    targets: Sequence[Target] = ()
    notes: str = ""
    failure: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.samples)

    @property
    def ratio(self) -> float:
        return self.median / statistics.median(self.base)

    @property
    def missed(self) -> bool:
        """Whether it failed or is over its target."""
        if self.failure:
            return True
        values = {of: getattr(self, of) for of in {target.of for target in self.targets}}
        return any(values[target.of] > target.limit for target in self.targets)

    def cells(self) -> tuple[str, ...]:
        """The texts of the row's columns, as in the table's head."""
        if self.failure:
            return (self.what, "–", "–", "–", self._goal(), "MISS (failed)", self.failure)
        spread = f"{number(min(self.samples))}–{number(max(self.samples))}"
        ratio = f"{self.ratio:.2f}×" if self.base else ""
        result = "MISS" if self.missed else "ok" if self.targets else ""
        median = f"{number(self.median)} {self.unit}".rstrip()
        return (self.what, median, spread, ratio, self._goal(), result, self.notes)

    def _goal(self) -> str:
        units = {"ratio": "×", "median": f" {self.unit}".rstrip()}
        return ", ".join(f"≤ {each.limit:.4g}{units[each.of]}" for each in self.targets)


@dataclass(frozen=True)
class Heading:
    """A line of the report that names what follows."""

    text: str


def render(lines: Sequence[Row | Heading]) -> str:
    """The report as a Markdown table, aligned for a terminal too."""
    rows = [each.cells() if isinstance(each, Row) else _heading_cells(each) for each in lines]
    widths = [max(map(len, column)) for column in zip(_HEAD, *rows, strict=True)]
    rule = tuple("-" * width for width in widths)
    return "\n".join(
        "| " + " | ".join(map(str.ljust, cells, widths)) + " |" for cells in (_HEAD, rule, *rows)
    )


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


def first_line(error: BaseException) -> str:
    """An error in one line, for a cell."""
    text = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {text}"[:90].replace("|", "/")


def _heading_cells(heading: Heading) -> tuple[str, ...]:
    return (f"**{heading.text}**", *("" for _ in _HEAD[1:]))


def number(value: float) -> str:
    """A measurement, to three digits."""
    if value == 0 or value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3g}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
